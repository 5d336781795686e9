import CLibwebsockets
import SignalingCryptography

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The certificate that a loop's servers use, with its chain and key. Confined to the loop.
///
/// Each handshake asks for it, so it can be replaced while connections are open: they keep what they began with. It is
/// not stored in the library's `SSL_CTX`, which would keep an old certificate beside a new one with another kind of key.
final class ServerCertificate {
    /// An `SSL_CTX` that only holds certificate, chain and key.
    private var store: OpaquePointer

    /// Reads the files.
    init(_ tls: TransportServer.TLS) throws(TransportError) { store = try tls.load() }

    deinit { SSL_CTX_free(store) }

    /// Has an `SSL_CTX` use this certificate, which must live longer.
    func serve(_ context: OpaquePointer) throws(TransportError) {
        guard signalbox_tls_server_rules(context) == 1 else {
            throw TransportError(
                .libraryFailed,
                "OpenSSL refuses the TLS settings: \(TransportServer.TLS.firstReason()). "
                    + "Check the system-wide OpenSSL configuration.")
        }
        SSL_CTX_set_cert_cb(
            context,
            { connection, certificate in
                guard let connection, let certificate else { return 0 }
                let store = Unmanaged<ServerCertificate>.fromOpaque(certificate).takeUnretainedValue().store
                return signalbox_tls_use_certificate(connection, store)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Reads the files again, for the handshakes that follow. If it throws, nothing has changed.
    ///
    /// - Returns: whether the certificate is another one.
    func reload(_ tls: TransportServer.TLS) throws(TransportError) -> Bool {
        let new = try tls.load()
        let isSame = X509_cmp(SSL_CTX_get0_certificate(store), SSL_CTX_get0_certificate(new)) == 0
        SSL_CTX_free(store)
        store = new
        return !isSame
    }
}

extension TransportServer.TLS {
    /// Reads the files as a server does at its start, and keeps nothing.
    ///
    /// - Throws: ``TransportError`` `.certificateUnusable`, `.privateKeyUnusable`, `.privateKeyEncrypted`,
    ///   `.privateKeyMismatch`.
    public func check() throws(TransportError) { SSL_CTX_free(try load()) }

    /// Reads certificate, chain and key into an `SSL_CTX` of their own, which the caller frees.
    fileprivate func load() throws(TransportError) -> OpaquePointer {
        // The check of the settings comes before the first loop.
        OpenSSLCleanup.turnOff()
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw TransportError(.resourcesExhausted, "Cannot create a TLS context: no memory is left.")
        }
        do throws(TransportError) {
            try load(into: context)
            return context
        } catch {
            SSL_CTX_free(context)
            throw error
        }
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
    fileprivate static func firstReason() -> String {
        let code = ERR_peek_error()
        ERR_clear_error()
        if let words = ERR_reason_error_string(code) { return String(cString: words) }
        // OpenSSL has no text for the operating system's error numbers.
        return systemMessage(ERR_GET_REASON(code))
    }
}
