import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension TransportServer.TLS {
    /// Loads certificate and key into an `SSL_CTX`, and sets the TLS versions and ciphers. If it throws, the context
    /// has the certificate and key that it had before.
    func configure(_ context: OpaquePointer) throws(TransportError) {
        guard signalbox_tls_server_rules(context) == 1 else {
            throw TransportError(
                .libraryFailed,
                "OpenSSL refuses the TLS settings: \(Self.firstReason()). Check the system-wide OpenSSL configuration.")
        }
        // A chain that fails half-way leaves its first half behind, so load it into a context of its own first.
        guard let trial = SSL_CTX_new(TLS_server_method()) else {
            throw TransportError(.resourcesExhausted, "Cannot create a TLS context: no memory is left.")
        }
        defer { SSL_CTX_free(trial) }
        try load(into: trial)
        try load(into: context)
    }

    private func load(into context: OpaquePointer) throws(TransportError) {
        guard access(certificateFile, R_OK) == 0 else {
            throw TransportError(
                .certificateUnusable,
                "Cannot read the certificate \(certificateFile): \(systemMessage(errno)). "
                    + "Check the path and its permissions.")
        }
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw TransportError(
                .certificateUnusable,
                "Cannot use the certificate \(certificateFile): \(Self.firstReason()). It must be a PEM file.")
        }
        let key = try readKey()
        defer { EVP_PKEY_free(key) }
        guard let certificate = SSL_CTX_get0_certificate(context), X509_check_private_key(certificate, key) == 1 else {
            throw TransportError(
                .privateKeyMismatch,
                "The private key \(privateKeyFile) does not match the certificate \(certificateFile). "
                    + "Use the key that the certificate was issued for.")
        }
        ERR_clear_error()
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw TransportError(
                .privateKeyUnusable,
                "Cannot use the private key \(privateKeyFile): \(Self.firstReason()). It must be a PEM file.")
        }
    }

    private func readKey() throws(TransportError) -> OpaquePointer {
        guard access(privateKeyFile, R_OK) == 0, let file = BIO_new_file(privateKeyFile, "r") else {
            throw TransportError(
                .privateKeyUnusable,
                "Cannot read the private key \(privateKeyFile): \(systemMessage(errno)). "
                    + "Check the path and its permissions.")
        }
        defer { BIO_free(file) }
        ERR_clear_error()
        var isEncrypted = false
        // Without this callback OpenSSL asks for the passphrase at the terminal, and waits.
        let key = withUnsafeMutablePointer(to: &isEncrypted) { isEncrypted in
            PEM_read_bio_PrivateKey(
                file, nil,
                { _, _, _, isEncrypted in
                    isEncrypted?.storeBytes(of: true, as: Bool.self)
                    return -1
                }, isEncrypted)
        }
        if let key { return key }
        if isEncrypted {
            throw TransportError(
                .privateKeyEncrypted,
                "The private key \(privateKeyFile) has a passphrase. "
                    + "Use a key without one (openssl pkey -in … -out …).")
        }
        throw TransportError(
            .privateKeyUnusable,
            "Cannot use the private key \(privateKeyFile): \(Self.firstReason()). It must be a PEM file.")
    }

    /// OpenSSL's text for the first error. "no start line" means that a file is not PEM.
    private static func firstReason() -> String {
        let code = ERR_peek_error()
        ERR_clear_error()
        if let words = ERR_reason_error_string(code) { return String(cString: words) }
        // OpenSSL has no text for the operating system's error numbers.
        return systemMessage(ERR_GET_REASON(code))
    }
}
