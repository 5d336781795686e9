import Foundation
import SignalingClient

/// What a session can be told when it is made.
open class OTSessionSettings: NSObject {
    /// No `connectionCreated` and `connectionDestroyed` for others. Default false.
    public var connectionEventsSuppressed = false
    /// The server: `http`, `https`, `ws` or `wss`, host and port. `nil`: see ``OTSession/serverURL``.
    public var apiURL: URL?
    /// Means nothing here.
    public var ipWhitelist = false
    /// Means nothing here: no proxy is used.
    public var proxyURL: String?
    /// Not OpenTok's: a PEM file with certificates to trust beside the system's.
    public var trustedCertificatesFile: String?

    public override init() {}
}

/// What the token's role permits, as far as OpenTok's iOS library tells it.
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

/// Where a session stands.
public enum OTSessionConnectionStatus: Int32, CaseIterable, Sendable {
    case notConnected
    case connected
    case connecting
    case reconnecting
    case disconnecting
    /// The last attempt to connect failed; another may be made.
    case failed
}
