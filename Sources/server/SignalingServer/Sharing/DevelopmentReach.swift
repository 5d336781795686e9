import SignalingProtocol
import SignalingTransport

/// From where a request to a server in development mode comes, and what it may do there.
///
/// The address of the peer and the header `Host` decide together. A page of another site reaches this machine by its own
/// host name (DNS rebinding); a client of another machine through a proxy, whose address is of this machine.
enum DevelopmentReach: Hashable {
    /// A program or a page on this machine: it may do everything.
    case thisMachine
    /// A device of the local network, with `--share`: it gets the page, and joins rooms without moderating them.
    case localNetwork
    case elsewhere

    init(isOfThisMachine: Bool, isOfLocalNetwork: Bool, host: String?, isShared: Bool) {
        if isOfThisMachine, LoopbackName.matches(host) {
            self = .thisMachine
        } else if isShared, isOfLocalNetwork, let host, LocalNetwork.contains(literal: Self.name(in: host)) {
            self = .localNetwork
        } else {
            self = .elsewhere
        }
    }

    /// Requests that name a project have its credentials, or fail for want of them, from wherever they come; only a shared
    /// server is reached from elsewhere at all.
    func permits(_ route: Route, isShared: Bool) -> Bool {
        switch (self, route) {
        case (.thisMachine, _): true
        case (.localNetwork, .file), (.localNetwork, .room), (.localNetwork, .link), (.localNetwork, .livez),
            (.localNetwork, .readyz):
            true
        case (.localNetwork, .metrics), (.localNetwork, .admin), (.localNetwork, .createSession),
            (.localNetwork, .project):
            false
        case (.elsewhere, .room): false
        case (.elsewhere, _): !isShared
        }
    }

    func permits(_ role: Role) -> Bool {
        switch (self, role) {
        case (.thisMachine, _): true
        case (.localNetwork, .moderator), (.elsewhere, _): false
        case (.localNetwork, .publisher), (.localNetwork, .subscriber), (.localNetwork, .publisherOnly): true
        }
    }

    /// The host without its port.
    private static func name(in host: String) -> Substring {
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end] }
        return host.prefix { $0 != ":" }
    }
}
