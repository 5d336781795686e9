import CLibwebsockets

/// The memory that OpenSSL frees in `exit`.
enum OpenSSLCleanup {
    /// Has OpenSSL free nothing in `exit`. Call it before any other function of OpenSSL; later it has no effect.
    ///
    /// A program may call `exit`, or return from `main`, on one thread while a loop makes a TLS context on its own. That
    /// thread would use what OpenSSL has just freed, and the program would end with SIGSEGV instead of its status.
    static func turnOff() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
