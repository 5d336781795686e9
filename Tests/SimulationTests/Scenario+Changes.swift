import SignalingProtocol
import SignalingVerification

@testable import SignalingCore

/// Authors edit and erase their messages while everything else happens (section 20).
extension Scenario {
    /// What the session of a seed keeps, and what users may do with it.
    static func policy(_ seed: UInt64, keepsAll: Bool) -> HistoryPolicy {
        let changes: Set<ChangeKind> =
            switch seed % 6 {
            case 0: []
            case 1: [.edit, .react]
            case 2: [.edit, .erase]
            default: [.edit, .erase, .react]
            }
        var policy = HistoryPolicy(standard: keepsAll ? .all : .only(["a"]), changes: changes)
        policy.readMarkers = seed % 7 == 0 ? .off : seed % 7 < 3 ? .own : .shared
        return policy
    }

    /// A reaction, or a marker.
    func react() {
        guard let client = clients.filter(\.isConnected).randomElement(using: &world.random) else { return }
        if world.chance(3) { client.markRead() }
        for _ in 0..<Int.random(in: 0...2, using: &world.random) { client.react() }
    }

    /// Some edits of one message, the erasure of one, or a question what has changed.
    func change() {
        let connected = clients.filter(\.isConnected)
        guard let client = (world.chance(6) ? clients : connected).randomElement(using: &world.random),
            let message = client.randomMessage()
        else { return }
        switch Int.random(in: 0..<10, using: &world.random) {
        case 0..<6:
            for _ in 0..<Int.random(in: 1...3, using: &world.random) { client.edit(message) }
            if world.chance(6) { client.erase(message) }
        case 6: client.erase(message)
        default: client.readChanges(after: Seq(Int64.random(in: 0...80, using: &world.random)))
        }
    }
}
