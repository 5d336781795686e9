import Foundation

// OpenTok's settings of TURN servers. Media alone needs such servers, so Signalbox keeps the values and does not use
// them.

/// Which TURN servers media would use.
public enum OTSessionICEIncludeServers: Int32, Sendable {
    case all
    case custom
}

/// By which paths media would travel.
public enum OTSessionICETransportPolicy: Int32, Sendable {
    case all
    case relay
}

#if !canImport(ObjectiveC)
    /// Foundation's name on Apple's systems.
    public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

/// A configuration of TURN servers. It has no effect.
open class OTSessionICEConfig: NSObject {
    public var includeServers = OTSessionICEIncludeServers.all
    public var transportPolicy = OTSessionICETransportPolicy.all
    public var filterOutLanCandidates = false
    /// The added servers: each a dictionary with `url`, `userName` and `credential`.
    public private(set) var customIceServers: [[String: String]] = []

    public override init() {}

    /// Adds a server. The error is 1011 for an empty address.
    public func addICEServer(
        withURL url: String, userName: String, credential: String, error: NSErrorPointer = nil
    ) {
        error?.pointee = nil
        guard !url.isEmpty else {
            error?.pointee = OTError(.nullOrInvalidParameter, "the address of the TURN server is empty")
            return
        }
        customIceServers.append(["url": url, "userName": userName, "credential": credential])
    }
}
