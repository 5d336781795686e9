import SignalingProtocol
import SignalingVerification

@testable import SignalingCore

/// Authors edit and erase their messages while everything else happens (section 20).
extension Scenario {
    /// What authors may do in the run of a seed.
    static func permittedChanges(_ seed: UInt64) -> Set<ChangeKind> {
        switch seed % 6 {
        case 0: []
        case 1: [.edit]
        default: [.edit, .erase]
        }
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
