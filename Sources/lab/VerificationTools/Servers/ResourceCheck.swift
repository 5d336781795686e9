import Foundation
import SignalingClient
import SignalingVerification

/// G5: the server gives back its descriptors and its memory when the clients have left.
struct ResourceCheck {
    /// What was measured; nil where the system has no /proc.
    struct Result: Sendable {
        var descriptorsAtStart: Int
        var descriptorsAtEnd: Int
        /// Bytes after each round.
        var resident: [Int]
    }

    /// A round of the same clients and signals is repeated so often. The first half warms up the allocator.
    private static let roundCount = 4
    private static let signalsPerClient = 200
    /// The allocator keeps some memory, and its pages are shared out differently each time.
    private static let residentGrowthLimit = 4 << 20
    private static let returnTime = Duration.seconds(40)

    let stage: Stage

    func run() async throws -> Result? {
        for client in stage.rooms.flatMap(\.all) { await client.session.disconnect() }
        // Of several nodes, one stands for all: the rounds' clients meet on each.
        guard let process = stage.cluster.nodes[0].process, process.descriptorCount != nil else { return nil }
        var resident: [Int] = []
        for _ in 0..<Self.roundCount {
            try await playRound()
            resident.append(process.residentByteCount ?? 0)
        }
        let atEnd = await descriptorsAfterReturn(process)
        let result = Result(
            descriptorsAtStart: process.descriptorCountAtStart, descriptorsAtEnd: atEnd, resident: resident)
        if atEnd > result.descriptorsAtStart + stayingCount {
            stage.report(
                .g5, .wrong,
                "the server had \(result.descriptorsAtStart) descriptors at its start, and has \(atEnd) although all "
                    + "clients have left")
        }
        let growth = (resident.last ?? 0) - resident[Self.roundCount / 2 - 1]
        if growth > Self.residentGrowthLimit {
            stage.report(
                .g5, .wrong, "the server's memory grew by \(growth >> 10) KiB over two rounds of the same clients")
        }
        return result
    }

    /// The connections of the consumers of the feed, which stay: one waits for events, and one is kept for posts.
    private var stayingCount: Int { stage.feed == nil ? 0 : 2 }

    private func playRound() async throws {
        let room = try stage.addRoom(members: 3)
        for client in room.members { _ = await client.connect(until: .now + .seconds(20)) }
        await withTaskGroup(of: Void.self) { group in
            for client in room.members {
                group.addTask { await client.sendBurst(Self.signalsPerClient) }
            }
        }
        for client in room.members {
            await client.session.disconnect()
            client.relay.stop()
        }
        stage.removeRoom(room)
    }

    /// A half-open socket of a client that is gone lasts for two heartbeats.
    private func descriptorsAfterReturn(_ process: ServerProcess) async -> Int {
        let deadline = ContinuousClock.now + Self.returnTime
        while ContinuousClock.now < deadline {
            if let count = process.descriptorCount, count <= process.descriptorCountAtStart + stayingCount {
                return count
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return process.descriptorCount ?? 0
    }
}
