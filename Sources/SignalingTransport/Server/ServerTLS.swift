import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension TransportServer.TLS {
    /// Loads certificate and key into an `SSL_CTX`, and sets what is spoken. On a throw the context is as it was, but for
    /// rules.
    func configure(_ context: OpaquePointer) throws(TransportError) {
        guard signalbox_tls_server_rules(context) == 1 else {
            throw TransportError(.libraryFailed, "OpenSSL does not take the TLS settings: \(Self.firstReason())")
        }
        // A chain that fails half-way leaves half of it behind: tried on a context that nobody uses.
        guard let trial = SSL_CTX_new(TLS_server_method()) else {
            throw TransportError(.resourcesExhausted, "there is no memory for TLS")
        }
        defer { SSL_CTX_free(trial) }
        try load(into: trial)
        try load(into: context)
    }

    private func load(into context: OpaquePointer) throws(TransportError) {
        guard access(certificateFile, R_OK) == 0 else {
            throw TransportError(
                .certificateUnusable, "the certificate \(certificateFile) cannot be read: \(systemMessage(errno))")
        }
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw TransportError(
                .certificateUnusable, "the certificate \(certificateFile) cannot be used: \(Self.firstReason())")
        }
        let key = try readKey()
        defer { EVP_PKEY_free(key) }
        guard let certificate = SSL_CTX_get0_certificate(context), X509_check_private_key(certificate, key) == 1 else {
            throw TransportError(
                .privateKeyMismatch,
                "the private key \(privateKeyFile) does not belong to the certificate \(certificateFile)")
        }
        ERR_clear_error()
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw TransportError(
                .privateKeyUnusable, "the private key \(privateKeyFile) cannot be used: \(Self.firstReason())")
        }
    }

    private func readKey() throws(TransportError) -> OpaquePointer {
        guard access(privateKeyFile, R_OK) == 0, let file = BIO_new_file(privateKeyFile, "r") else {
            throw TransportError(
                .privateKeyUnusable, "the private key \(privateKeyFile) cannot be read: \(systemMessage(errno))")
        }
        defer { BIO_free(file) }
        ERR_clear_error()
        var isEncrypted = false
        // Without a callback of ours OpenSSL asks at the terminal, and waits.
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
                .privateKeyEncrypted, "the private key \(privateKeyFile) is encrypted; give one without a passphrase")
        }
        throw TransportError(
            .privateKeyUnusable, "the private key \(privateKeyFile) cannot be used: \(Self.firstReason())")
    }

    /// OpenSSL's words for what went wrong first; "no start line" is how it says that a file is not PEM.
    private static func firstReason() -> String {
        let code = ERR_peek_error()
        ERR_clear_error()
        if let words = ERR_reason_error_string(code) { return String(cString: words) }
        // The system's own numbers have no words there.
        return systemMessage(ERR_GET_REASON(code))
    }
}
