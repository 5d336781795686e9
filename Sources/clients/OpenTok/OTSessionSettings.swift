import Foundation
import Logging
import SignalingClient

/// The settings of a new session.
open class OTSessionSettings: NSObject {
    /// Suppresses `connectionCreated` and `connectionDestroyed` for other clients. Default false.
    public var connectionEventsSuppressed = false
    /// The server: `http`, `https`, `ws` or `wss`, host and port. `nil`: see ``OTSession/serverURL``.
    public var apiURL: URL?
    /// Ignored.
    public var ipWhitelist = false
    /// Ignored: the client uses no proxy.
    public var proxyURL: String?
    /// Ignored: it concerns media.
    public var iceConfig: OTSessionICEConfig?
    /// Ignored: it concerns media.
    public var singlePeerConnection = false
    /// Ignored: a session moves to another node of the server without the application's help.
    public var sessionMigration = false
    /// Not in OpenTok: a PEM file with certificates to trust in addition to those of the system.
    public var trustedCertificatesFile: String?
    /// Not in OpenTok: gets a line for each step of the connection, never with tokens or data. `nil`: no log lines.
    public var logger: Logger?

    public override init() {}
}

/// The permissions of the token's role, in the form of OpenTok's iOS library.
public final class OTSessionCapabilities: NSObject, Sendable {
    public let canPublish: Bool
    public let canSubscribe: Bool
    public let canForceDisconnect: Bool
    public let canForceMute: Bool

    init(_ capabilities: Capabilities) {
        canPublish = capabilities.publish
        canSubscribe = capabilities.subscribe
        canForceDisconnect = capabilities.forceDisconnect
        canForceMute = capabilities.forceMute
    }
}

/// The state of a session's connection.
public enum OTSessionConnectionStatus: Int32, CaseIterable, Sendable {
    case notConnected
    case connected
    case connecting
    case reconnecting
    case disconnecting
    /// The last attempt to connect failed. The session can connect again.
    case failed
}
