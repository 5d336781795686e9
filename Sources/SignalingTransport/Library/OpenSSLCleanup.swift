import CLibwebsockets

/// The memory that OpenSSL frees in `exit`.
package enum OpenSSLCleanup {
    /// Has OpenSSL free nothing in `exit`. It has an effect only before every other use of OpenSSL in the process, also
    /// by libraries: a `URLSession` uses it, too. Loops call it at their start.
    ///
    /// A program may call `exit`, or return from `main`, on one thread while a loop makes a TLS context on its own. That
    /// thread would use what OpenSSL has just freed, and the program would end with SIGSEGV instead of its status.
    package static func turnOff() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
