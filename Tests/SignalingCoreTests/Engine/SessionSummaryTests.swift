import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The summary of a kept session")
struct SessionSummaryTests {
    @Test("A summary has the connections, the events and the size of the commands", arguments: [0, 9])
    func live(snapshotAfter count: Int) throws {
        let commands =
            [.begin(Epoch("e"), .init(), after: .zero), join("ada"), join("bob")] + (1...10).map { signal($0) } + [
                detach("bob")
            ]
        let session = try kept(commands, snapshotAfter: count)
        let summary = SessionSummary(session)
        let live = try #require(summary.live)
        #expect(live.epoch == Epoch("e"))
        #expect([live.attachedCount, live.detachedCount] == [1, 1])
        #expect(live.eventCount == 12)
        #expect(live.lastSeq == Seq(12))
        let state = try SessionReplay(session).state
        #expect(live.eventByteCount == state?.log.byteCount)
        #expect(live.lastEvents == Array(repeating: .signal, count: SessionSummary.lastEventLimit))
        #expect(summary.lastNumber == 14)
        #expect(summary.commandCount == 14 - count)
        #expect(summary.commandByteCount == commands.dropFirst(count).reduce(0) { $0 + $1.encoded().count })
        #expect(summary.snapshotByteCount == session.snapshot?.bytes.count)
        #expect((summary.snapshotByteCount == nil) == (count == 0))
    }

    @Test("A summary names the kinds of the newest events in their order, and nothing else of them")
    func kinds() throws {
        let commands: [LoggedCommand] = [
            .begin(Epoch("e"), .init(), after: .zero), join("ada"), join("bob"), signal(1),
            signal(2, to: client("bob")),
        ]
        let summary = try SessionSummary(kept(commands))
        #expect(summary.live?.lastEvents == [.presence, .presence, .signal, .directedSignal])
        var dumped = ""
        dump(summary, to: &dumped)
        for secret in ["data of", "the-type", "the text", client("ada").rawValue] { #expect(!dumped.contains(secret)) }
    }

    @Test("A session that cannot be decoded, or lacks a command, is unreadable")
    func unreadable() throws {
        let session = try kept([.begin(Epoch("e"), .init(), after: .zero), join("ada"), signal(1)])
        func summary(
            _ entries: [CommandEntry], snapshot: KeptCommands.Snapshot? = nil
        ) -> SessionSummary {
            SessionSummary(KeptCommands.Session(id: room, snapshot: snapshot, entries: entries))
        }
        let last = session.entries[2]
        let cut = CommandEntry(
            session: room, position: last.position, time: last.time, bytes: last.bytes.dropLast())
        #expect(summary(session.entries.dropLast() + [cut]).content == .unreadable(.truncated))
        #expect(summary([session.entries[0], last]).content == .unreadable(.malformed))
        let later = summary([], snapshot: KeptCommands.Snapshot(position: last.position, bytes: [99]))
        #expect(later.content == .unreadable(.version(99)))
        #expect([later.lastNumber, UInt64(later.commandCount)] == [3, 0])
    }

    @Test("A session whose commands end it has ended")
    func ended() throws {
        let summary = try SessionSummary(kept([.begin(Epoch("e"), .init(), after: .zero), .end]))
        #expect(summary.content == .ended)
        #expect(summary.lastNumber == 2)
    }

    // MARK: - Commands

    private func join(_ name: String) -> LoggedCommand {
        .session(
            .join(
                JoinRequest(
                    connectionId: client(name), socket: SocketID(1), role: .publisher, data: "data of \(name)",
                    wallTime: WallTime(milliseconds: 5), secretHash: hash(name))))
    }

    private func signal(_ request: Int, to recipient: ConnectionID? = nil) -> LoggedCommand {
        .session(
            .signal(
                .connection(SocketBinding(client("ada"), SocketID(1)), RequestID(Int64(request))),
                SignalRequest(type: "the-type", data: "the text", to: recipient)))
    }

    private func detach(_ name: String) -> LoggedCommand {
        .session(.detach(SocketBinding(client(name), SocketID(1))))
    }

    /// A session with these commands in its log, or with a snapshot in the place of the first ones.
    private func kept(_ commands: [LoggedCommand], snapshotAfter count: Int = 0) throws -> KeptCommands.Session {
        let entries = commands.enumerated().map { index, command in
            let number = UInt64(index + 1)
            return CommandEntry(
                session: room,
                position: LogPosition(number: number, id: CommandID(run: RunID(1), counter: number)),
                time: MonotonicInstant(nanoseconds: Int64(index)), bytes: command.encoded())
        }
        if count == 0 { return KeptCommands.Session(id: room, snapshot: nil, entries: entries) }
        let first = KeptCommands.Session(id: room, snapshot: nil, entries: Array(entries.prefix(count)))
        let replay = try SessionReplay(first)
        let state = try #require(replay.state)
        return KeptCommands.Session(
            id: room,
            snapshot: KeptCommands.Snapshot(position: entries[count - 1].position, bytes: state.encoded()),
            entries: Array(entries.dropFirst(count)))
    }
}

extension SessionSummary {
    fileprivate var live: Live? {
        switch content {
        case .live(let live): live
        case .ended, .unreadable: nil
        }
    }
}
