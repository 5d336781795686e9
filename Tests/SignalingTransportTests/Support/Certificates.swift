import Foundation
import SignalingTransport

/// Test certificates, valid until 2046; see `Tests/Vectors/README.md`.
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
