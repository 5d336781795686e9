import CLibwebsockets
import Foundation
import SignalingTransport

/// How a test speaks TLS: OpenSSL, bare.
struct RawTLS: Sendable {
    static let modern = RawTLS()

    /// The only version to offer; nil for all that OpenSSL has.
    var version: Int32?
    /// For TLS 1.2; nil for OpenSSL's own.
    var ciphers: String?
    /// As ALPN has it on the wire: each name behind its length.
    var alpn: [UInt8] = []

    /// Made once, and only read from then on; OpenSSL counts its references safely.
    nonisolated(unsafe) private static let context: OpaquePointer? = {
        let context = SSL_CTX_new(TLS_client_method())
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        return SSL_CTX_load_verify_locations(context, Certificates.authority, nil) == 1 ? context : nil
    }()

    /// Checks the certificate against the test authority, and "127.0.0.1".
    func handshake(over descriptor: Int32) throws -> OpaquePointer {
        guard let context = Self.context, let tls = SSL_new(context) else {
            throw RawSocketError(description: "no TLS context")
        }
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), "127.0.0.1")
        if let version {
            // The macros behind these two numbers do not come across.
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

/// What a test runs over.
enum Wire: Sendable, CaseIterable {
    case plain
    case tls
}

/// Throw-away certificates, good until 2046; see `Tests/Vectors/README.md`.
enum Certificates {
    static let authority = path("authority.pem")
    static let otherAuthority = path("other-authority.pem")
    static let server = TransportServer.TLS(
        certificateFile: path("server.pem"), privateKeyFile: path("server.key.pem"))
    static let elsewhere = TransportServer.TLS(
        certificateFile: path("elsewhere.pem"), privateKeyFile: path("elsewhere.key.pem"))

    static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Vectors/tls").appending(path: name).path
    }
}
