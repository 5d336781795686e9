import CLibwebsockets

/// The TLS settings of a test's client, which uses OpenSSL directly.
struct RawTLS: Sendable {
    static let modern = RawTLS()

    /// The only version to offer; nil for all of OpenSSL's.
    var version: Int32?
    /// The cipher list for TLS 1.2; nil for OpenSSL's default.
    var ciphers: String?
    /// The ALPN offer as on the wire: each name after its length.
    var alpn: [UInt8] = []

    /// Unsafe: created once and only read afterwards; OpenSSL counts its references atomically.
    nonisolated(unsafe) private static let context: OpaquePointer? = {
        let context = SSL_CTX_new(TLS_client_method())
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        return SSL_CTX_load_verify_locations(context, Certificates.authority, nil) == 1 ? context : nil
    }()

    /// Verifies the certificate against the test authority and the address 127.0.0.1.
    func handshake(over descriptor: Int32) throws -> OpaquePointer {
        guard let context = Self.context, let tls = SSL_new(context) else {
            throw RawSocketError(description: "no TLS context")
        }
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), "127.0.0.1")
        if let version {
            // The setters of these two are macros, which Swift does not import.
            SSL_ctrl(tls, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_ctrl(tls, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        if let ciphers { SSL_set_cipher_list(tls, ciphers) }
        if !alpn.isEmpty { SSL_set_alpn_protos(tls, alpn, UInt32(alpn.count)) }
        SSL_set_fd(tls, descriptor)
        guard SSL_connect(tls) == 1 else {
            SSL_free(tls)
            throw RawSocketError(description: "no TLS handshake")
        }
        return tls
    }
}
