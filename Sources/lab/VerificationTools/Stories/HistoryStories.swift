import SignalingClient
import SignalingProtocol
import SignalingVerification

/// Clients that read a history, and messages that are erased. The judge of the wire compares the pages with the events.
enum HistoryStories {
    enum Erasure: CaseIterable { case oneByModerator, oneByREST, allButTheLatest }

    /// The messages that an erasure of all leaves.
    private static let latestCount: Int64 = 40
    /// Sizes of pages, so that pages end at different messages in the two directions.
    private static let (backwardLimit, forwardLimit) = (200, 37)
    private static let connectTime = Duration.seconds(90)

    /// A guest reads while the others send, and faults happen: it may not come to the end.
    static func read(in room: Stage.Room, on stage: Stage) async {
        let begin = stage.elapsed
        _ = try? await withReader(in: room, on: stage) { reader in
            _ = try? await messages(for: reader, backward: true, on: stage)
            _ = try? await messages(for: reader, backward: false, on: stage)
        }
        stage.mark("reader", since: begin)
    }

    /// A guest reads when everything has been sent: it gets the same messages in both directions.
    static func readAll(of room: Stage.Room, on stage: Stage) async {
        do {
            try await withReader(in: room, on: stage) { reader throws in
                let newestFirst = try await messages(for: reader, backward: true, on: stage)
                let oldestFirst = try await messages(for: reader, backward: false, on: stage)
                // The bound may have taken some of the others meanwhile.
                let count = stage.terms.historyBound ?? .max
                if newestFirst.suffix(count) != oldestFirst.suffix(count) {
                    stage.report(
                        .h3, .wrong,
                        "\(reader.name) got \(newestFirst.count) messages backward, and others, \(oldestFirst.count), "
                            + "forward (HIS-6)")
                }
            }
        } catch { stage.report(.h3, .missing, "the history of session \(room.number) cannot be read: \(error)") }
    }

    static func erase(_ erasure: Erasure, in room: Stage.Room, on stage: Stage) async {
        guard let seq = room.members.compactMap(\.lastAcknowledgedSeq).max(), let moderator = room.members.first
        else { return }
        switch erasure {
        case .oneByModerator: try? await moderator.session.erase(.message(seq))
        case .oneByREST: await room.backend.erase(.message(seq), port: stage.cluster.somePort)
        case .allButTheLatest:
            try? await moderator.session.erase(.through(Seq(max(0, seq.rawValue - latestCount))))
        }
        stage.mark("erasure")
    }

    private static func withReader(
        in room: Stage.Room, on stage: Stage, _ body: (VerifiedClient) async throws -> Void
    ) async throws {
        let reader = try stage.addGuest(
            to: room, suppressesPresence: false, history: HistoryRequest(.newest, limit: forwardLimit))
        if await reader.connect(until: .now + connectTime) { try await body(reader) }
        await reader.depart()
    }

    /// All messages of the history, oldest first.
    private static func messages(
        for reader: VerifiedClient, backward: Bool, on stage: Stage
    ) async throws -> [HistoryMessage] {
        var pages: [[HistoryMessage]] = []
        var position = backward ? HistoryRequest.Position.newest : .after(.zero)
        while true {
            let limit = backward ? backwardLimit : forwardLimit
            let page = try await reader.session.history(HistoryRequest(position, limit: limit))
            stage.pagesRead.add(1)
            stage.messagesRead.add(page.messages.count)
            pages.append(page.messages)
            guard page.more, let edge = backward ? page.messages.first : page.messages.last else { break }
            position = backward ? .before(edge.seq) : .after(edge.seq)
        }
        return Array((backward ? pages.reversed() : pages).joined())
    }
}
