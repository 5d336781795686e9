import COpenSSL

/// What the TLS connections of a client to one service have in common: which certificates it trusts, and its own.
///
/// Confined to the thread that made it.
package final class TLSContext {
    /// Paths of PEM files.
    package struct Files: Hashable, Sendable {
        /// The certificates that are trusted; `nil`: those of the system.
        package var trusted: String?
        /// The client's own certificate with its chain, if it has one.
        package var certificate: String?
        /// The certificate's private key, without a passphrase.
        package var key: String?

        package init(trusted: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.trusted = trusted
            self.certificate = certificate
            self.key = key
        }
    }

    let pointer: OpaquePointer

    /// Reads the files.
    ///
    /// - Throws: ``TLSFailure`` `.file` or `.other`.
    package init(_ files: Files) throws(TLSFailure) {
        pointer = try withOpenSSL { () throws(TLSFailure) in
            guard let context = SSL_CTX_new(TLS_client_method()) else { throw .other(.lastOpenSSLReason) }
            do throws(TLSFailure) {
                try Self.prepare(context, files)
                return context
            } catch {
                SSL_CTX_free(context)
                throw error
            }
        }
    }

    deinit { SSL_CTX_free(pointer) }

    private static func prepare(_ context: OpaquePointer, _ files: Files) throws(TLSFailure) {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard signalbox_tls_set_least_version(context) == 1 else { throw .other(.lastOpenSSLReason) }
        // Without this callback OpenSSL asks for the passphrase at the terminal, and waits.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        if let path = files.trusted {
            try check(SSL_CTX_load_verify_file(context, path), path)
        } else if SSL_CTX_set_default_verify_paths(context) != 1 {
            throw .other(.lastOpenSSLReason)
        }
        if let path = files.certificate { try check(SSL_CTX_use_certificate_chain_file(context, path), path) }
        // Also finds a key of another certificate.
        if let path = files.key { try check(SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM), path) }
    }

    private static func check(_ outcome: Int32, _ path: String) throws(TLSFailure) {
        if outcome != 1 { throw .file(path: path, .lastOpenSSLReason) }
    }
}

/// Why there is no TLS connection.
package enum TLSFailure: Error, Equatable {
    /// A file of ``TLSContext/Files`` cannot be used.
    case file(path: String, String)
    /// The server's certificate is not trusted.
    case untrusted(Distrust, String)
    /// The peer does not answer as TLS does.
    case notTLS
    /// The peer refuses the connection, for example because of the client's certificate.
    case refused(String)
    case other(String)

    package enum Distrust: Equatable {
        /// No certificate that is trusted has signed it.
        case unknownIssuer
        case expired
        case notYetValid
        /// It is for other names.
        case otherName
        case other
    }

    /// - Parameter code: what OpenSSL has found wrong with the certificate.
    init(verification code: Int) {
        let distrust: Distrust =
            switch Int32(truncatingIfNeeded: code) {
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
                .unknownIssuer
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .otherName
            default: .other
            }
        self = .untrusted(distrust, String(cString: X509_verify_cert_error_string(code)))
    }

    /// - Parameter code: of OpenSSL's queue of errors.
    init(error code: UInt) {
        let reason = ERR_GET_REASON(code)
        switch reason {
        // They say that the first bytes are no record of TLS.
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_UNKNOWN_PROTOCOL,
            SSL_R_BAD_RECORD_TYPE:
            self = .notTLS
        // Alerts of the peer.
        case SSL_AD_REASON_OFFSET...(SSL_AD_REASON_OFFSET + 255): self = .refused(.openSSLReason(code))
        default: self = .other(.openSSLReason(code))
        }
    }
}

extension String {
    static var lastOpenSSLReason: String { openSSLReason(ERR_peek_last_error()) }

    static func openSSLReason(_ code: UInt) -> String {
        signalbox_openssl_reason(code).map { String(cString: $0) } ?? "OpenSSL gives no reason"
    }
}
