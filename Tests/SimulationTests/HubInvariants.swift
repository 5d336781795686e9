import SignalingCore

@testable import SignalingServer

/// The invariants of a hub, all of them at the end of each turn, with what only simulated sockets can show.
enum HubInvariants {
    static func violation(in hub: SimulatedServer.VirtualHub) -> String? {
        if let fault = hub.violation { return fault }
        // A real socket that is about to close is backlogged no more.
        for peer in hub.peers.values where !peer.state.isClosing && peer.isBacklogged != peer.socket.isBacklogged {
            return "G5: the hub is wrong about a backlog (socket \(peer.socket.id))"
        }
        return nil
    }
}
