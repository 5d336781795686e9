import COpenSSL

/// The memory that OpenSSL frees in `exit`.
package enum OpenSSLCleanup {
    /// Has OpenSSL free nothing in `exit`. It has an effect only before every other use of OpenSSL in the process, also
    /// by libraries: a `URLSession` uses it, too. Loops call it at their start, and so does each use of this target.
    ///
    /// A program may call `exit`, or return from `main`, on one thread while another verifies a token, or a loop makes a
    /// TLS context. That thread would use what OpenSSL has just freed, and the program would end with SIGSEGV instead of
    /// its status.
    package static func turnOff() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}

/// Runs calls of OpenSSL, and leaves the thread's queue of errors as it was.
///
/// libwebsockets and the transport read the same queue on the loop's thread: an error from here would look like a failed
/// TLS connection there.
func withOpenSSL<Value, Failure>(_ calls: () throws(Failure) -> Value) throws(Failure) -> Value {
    OpenSSLCleanup.turnOff()
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return try calls()
}
