import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The engine over a command log")
struct LocalEngineTests {
    @Test(
        "G1, G2, G7: the engine over a log fulfils the contract of every engine",
        arguments: SessionEngineContract.Promise.allCases.filter { $0 != .reportsPresenceWhenItsSessionsEnd })
    func contract(_ promise: SessionEngineContract.Promise) async throws {
        let contract = SessionEngineContract {
            let node = Node()
            return SessionEngineContract.Subject(engine: node.engine, settle: { node.settle() })
        }
        try await contract.check(promise)
    }

    @Test("LOG-1: a command changes nothing and is not answered before the log has confirmed it")
    func confirmation() {
        let node = Node()
        node.join("ada")
        node.engine.advance(to: node.now)
        #expect(node.outcomes.isEmpty)
        #expect(node.engine.withLog(of: room) { $0.lastSeq } == nil)
        node.log.confirm()
        #expect(node.outcomes == ["1: joined ada at 1"])
    }

    @Test("the commands of one turn, of all sessions, are one append")
    func groupCommit() {
        let node = Node()
        node.join("ada")
        for number in 2...50 { node.signal("ada", number) }
        node.join("bob", in: SessionID("1_other"), request: 51)
        node.engine.advance(to: node.now)
        #expect(node.log.appendCount == 1)
        node.log.confirm()
        #expect(node.outcomes.count == 51)
        node.engine.advance(to: node.now)
        #expect(node.log.appendCount == 1, "a turn without commands appends nothing")
    }

    @Test(
        "G2, RES-15: after a crash everything that was confirmed is there, and nobody but clients without sockets has left",
        arguments: [0, 1, 3], [false, true])
    func crash(keeping count: Int, withSnapshot: Bool) {
        var node = Node()
        node.join("ada")
        node.join("bob", request: 2)
        for number in 3...20 { node.signal("ada", number) }
        node.settle()
        if withSnapshot { node.log.askForSnapshots() }
        for number in 21...30 { node.signal("ada", number) }
        node.settle()
        for number in 31...33 { node.signal("ada", number) }
        node.engine.advance(to: node.now)
        #expect(node.outcomes.count == 30, "the last three have no answer")

        node = node.restarted(keeping: count)
        node.settle()
        #expect(node.engine.withLog(of: room) { $0.lastSeq } == Seq(Int64(30 + count)))
        #expect(node.connections == ["ada", "bob"])
        #expect(node.presence.isEmpty, "nobody is told of the crash")
        // ada repeats the requests without an answer (RES-9): each is carried out once.
        node.resume("ada", after: 30, request: 100)
        for number in 31...33 { node.signal("ada", number, socket: 2) }
        node.settle()
        #expect(node.outcomes.first == "100: joined ada at 30 resumed through \(30 + count)")
        #expect(node.outcomes.dropFirst() == ["31: signalled 31", "32: signalled 32", "33: signalled 33"])
        #expect(node.epochs == 0, "the session kept its epoch")
    }

    @Test("LOG-13: the time to resume runs from the last sign of life, and the session then ends for good")
    func resumeWindow() {
        var node = Node()
        node.join("ada")
        node.settle()
        node.now = .seconds(100)
        node = node.restarted(keeping: 0, lostAt: .seconds(99))
        node.settle()
        node.now = .seconds(99 + 59)
        node.settle()
        #expect(node.connections == ["ada"])
        node.now = .seconds(99 + 60)
        node.settle()
        #expect(node.connections.isEmpty)
        #expect(node.presence == ["connectionDestroyed ada networkDisconnected", "sessionDestroyed"])
        node.now = .seconds(99 + 600)
        node.settle()
        #expect(node.engine.sessionCount == 0)
        #expect(node.log.keptSessions.isEmpty, "LOG-10: the log forgets a session that has ended")
    }

    @Test("LOG-10: a client that joins while the end of the session is on its way begins a new order")
    func joinAcrossTheEnd() {
        let node = Node(bounds: .init(recoveryWindow: .zero))
        node.join("ada")
        node.settle()
        node.leave("ada")
        node.engine.advance(to: node.now)
        node.log.confirm()
        node.engine.advance(to: node.now)
        node.join("bob", request: 2)
        node.settle()
        #expect(node.outcomes.last == "2: joined bob at 1")
        #expect(node.epochs == 2)
        #expect(node.connections == ["bob"])
        let restarted = node.restarted(keeping: 0)
        restarted.settle()
        #expect(restarted.connections == ["bob"])
    }

    @Test("SIG-11, LOG-10: an empty session ends when its access tokens have their allowances again, over a crash")
    func allowances() {
        var node = Node(bounds: .init(signalRate: RateLimit(perSecond: 1, burst: 5)))
        var request = JoinRequest(
            connectionId: client("ada"), role: .publisher, data: "", wallTime: WallTime(milliseconds: 0))
        request.token = TokenFingerprint(1)
        node.engine.submit(.join(request), to: room, ticket: node.ticket(1), now: node.now)
        for number in 2...6 { node.signal("ada", number) }
        node.leave("ada")
        node.settle()
        #expect(node.engine.sessionCount == 1 && node.connections.isEmpty)
        node = node.restarted(keeping: 0)
        node.settle()
        #expect(node.engine.sessionCount == 1)
        node.now = node.now.advanced(by: .seconds(1))
        node.settle()
        #expect(node.engine.sessionCount == 0)
        #expect(node.log.keptSessions.isEmpty)
    }

    @Test("a command that reaches a session behind its end is refused as in an empty one, and leaves nothing behind")
    func signalAcrossTheEnd() {
        let node = Node(bounds: .init(resumeWindow: .zero, recoveryWindow: .zero))
        node.join("ada")
        node.leave("ada")
        node.settle(turns: 1)
        node.engine.advance(to: node.now)
        node.engine.submit(.signal(.server, SignalRequest()), to: room, ticket: node.ticket(5), now: node.now)
        node.settle()
        #expect(node.outcomes.last == "5: refused 404 OT_NOT_FOUND")
        #expect(node.engine.sessionCount == 0)
        #expect(node.log.keptSessions.isEmpty)
    }

    @Test("SIG-10, LOG-8: an online-only signal is in no log, and waits for the earlier commands to its session")
    func onlineOnly() {
        let node = Node()
        node.join("ada")
        node.engine.submit(
            .signal(.connection(client("ada")), SignalRequest(type: "typing", isOnlineOnly: true)), to: room,
            ticket: node.ticket(2), now: node.now)
        node.engine.advance(to: node.now)
        #expect(node.outcomes.isEmpty)
        node.log.confirm()
        #expect(node.outcomes == ["1: joined ada at 1", "2: signalled"])
        #expect(node.log.keptEntries(of: room).count == 2, "begin and join")
    }

    @Test("the stopwatch has the time of each append until its last command is confirmed, and of each snapshot")
    func stopwatch() {
        let node = Node()
        var confirmed: [Duration] = []
        var keptCount = 0
        node.engine.stopwatch = LogStopwatch(
            now: { [unowned node] in node.now }, onConfirmed: { confirmed.append($0) }, onKept: { _ in keptCount += 1 })
        node.join("ada")
        node.engine.advance(to: node.now)
        node.now = .seconds(1)
        for number in 2...3 { node.signal("ada", number) }
        node.engine.advance(to: node.now)
        node.now = .seconds(3)
        node.log.confirm(3)
        #expect(confirmed == [.seconds(3)], "the second append is not complete")
        node.log.confirm()
        #expect(confirmed == [.seconds(3), .seconds(2)] && keptCount == 0)
        node.log.askForSnapshots()
        #expect(keptCount == 1)
    }

    @Test("LOG-9: the engine keeps a snapshot when the commands outgrow it, and never by the clock")
    func snapshots() {
        var node = Node(bounds: .init(logEventCount: 100))
        node.join("ada")
        for number in 2..<2_000 { node.signal("ada", number, data: String(repeating: "x", count: 1_000)) }
        node.settle()
        #expect((10...32).contains(node.log.snapshotCount))
        let count = node.log.snapshotCount
        node.now = .seconds(20)
        node.settle()
        #expect(node.log.snapshotCount == count)
        #expect(node.log.keptEntries(of: room).count < 250)
        node = node.restarted(keeping: 0)
        node.settle()
        #expect(node.engine.withLog(of: room) { $0.lastSeq } == Seq(1_999))
        #expect(node.engine.withLog(of: room) { $0.entries.count } == 100)
    }

    @Test("LOG-6: the limits of the new process replace those of the sessions that it continues")
    func limits() {
        var node = Node()
        node.join("ada")
        for number in 2...20 { node.signal("ada", number) }
        node.settle()
        let bounds = SessionState.Bounds(logEventCount: 5, signalRate: RateLimit(perSecond: 1, burst: 1))
        node = node.restarted(keeping: 0, bounds: bounds)
        node.settle()
        #expect(node.engine.withLog(of: room) { $0.entries.count } == 5)
        node.resume("ada", after: 20, request: 21)
        node.signal("ada", 22, socket: 2)
        node.signal("ada", 23, socket: 2)
        node.settle()
        #expect(node.outcomes.suffix(2) == ["22: signalled 21", "23: refused 429 OT_RATE_LIMIT_EXCEEDED"])
    }

    @Test("LOG-7: a session that this version cannot read is given up, and the others continue")
    func unreadable() {
        var node = Node()
        node.join("ada")
        node.join("bob", in: SessionID("1_other"), request: 2)
        node.settle()
        var kept = node.log.crash(keeping: 0, lostAt: node.now)
        let index = kept.sessions.firstIndex { $0.id == room }!
        let old = kept.sessions[index]
        kept.sessions[index] = KeptCommands.Session(
            id: room, snapshot: KeptCommands.Snapshot(position: old.entries[0].position, bytes: [255, 1, 2]),
            entries: Array(old.entries.dropFirst()))
        node = Node(continuing: node, kept)
        node.settle()
        #expect(node.unreadable == [room])
        #expect(node.log.keptSessions == [SessionID("1_other")])
        node.resume("ada", after: 1, request: 7)
        node.settle()
        #expect(node.outcomes == ["7: joined ada' at 1 lost"])
    }

    @Test("LOG-22: the engine is saturated while too many bytes wait for the log")
    func saturation() {
        let node = Node()
        node.join("ada")
        node.settle()
        let data = String(repeating: "x", count: 8_000)
        for number in 2..<2_200 { node.signal("ada", number, data: data) }
        #expect(!node.engine.isSaturated)
        node.engine.advance(to: node.now)
        #expect(node.engine.isSaturated)
        node.log.confirm()
        #expect(!node.engine.isSaturated)
    }

    @Test("LOG-11: presence events are reported again, with the same IDs, until the engine learns that they were told")
    func untold() throws {
        var bounds = SessionState.Bounds(recoveryWindow: .zero)
        bounds.untoldEventCount = 10
        var node = Node(bounds: bounds)
        node.join("ada")
        node.settle()
        #expect(node.presence == ["2.0 sessionCreated", "2.1 connectionCreated ada"])
        node = node.restarted(keeping: 0)
        node.engine.reportUntold()
        #expect(node.presence == ["2.0 sessionCreated", "2.1 connectionCreated ada"])
        let last = try #require(node.lastKept)
        #expect(last.completesCommand)
        node.engine.noteTold(last, of: room)
        node.settle()
        node = node.restarted(keeping: 0)
        node.engine.reportUntold()
        #expect(node.presence.isEmpty)
        node.settle()
        node.leave("ada", socket: 1)
        node.now = .seconds(100)
        node.settle()
        #expect(node.presence.last?.hasSuffix("sessionDestroyed") == true)
        #expect(node.log.keptSessions == [room], "the session waits for its last events to be told")
        node.engine.noteTold(try #require(node.lastKept), of: room)
        node.settle()
        #expect(node.log.keptSessions.isEmpty)
        #expect(node.engine.sessionCount == 0)
    }

    @Test("a deadline is appended once, however long the log takes")
    func deadlines() {
        let node = Node()
        node.join("ada")
        node.settle()
        node.engine.submit(.detach(SocketBinding("ada")), to: room, ticket: node.ticket(nil), now: node.now)
        node.settle()
        node.now = .seconds(60)
        #expect(node.engine.nextDeadline.map { $0 <= node.now } == true)
        let count = node.log.appendCount
        for _ in 0..<5 { node.engine.advance(to: node.now) }
        #expect(node.log.appendCount == count + 1)
        node.settle()
        #expect(node.connections.isEmpty)
    }
}

/// One process: an engine over a log that keeps what it confirmed.
private final class Node: SessionEngineObserver {
    let log: MemoryCommandLog
    let engine: LocalEngine
    var now = MonotonicInstant.seconds(0)
    private let bounds: SessionState.Bounds
    private let run: UInt64
    private(set) var outcomes: [String] = []
    private(set) var presence: [String] = []
    private(set) var unreadable: [SessionID] = []
    private(set) var lastKept: KeptPresenceEvent?
    private let counter = Counter()

    private final class Counter { var value = 0 }

    var epochs: Int { counter.value }

    private init(log: MemoryCommandLog, bounds: SessionState.Bounds, run: UInt64, now: MonotonicInstant) {
        self.log = log
        self.bounds = bounds
        self.run = run
        self.now = now
        engine = LocalEngine(log: log, run: RunID(run), bounds: bounds, now: now) { [counter] in
            counter.value += 1
            return Epoch("epoch \(run).\(counter.value)")
        }
        engine.observer = self
    }

    convenience init(bounds: SessionState.Bounds = .init()) {
        self.init(log: MemoryCommandLog(), bounds: bounds, run: 1, now: .seconds(0))
    }

    convenience init(continuing old: Node, _ kept: KeptCommands, bounds: SessionState.Bounds? = nil) {
        self.init(log: old.log, bounds: bounds ?? old.bounds, run: old.run + 1, now: old.now)
        unreadable = engine.restore(kept)
    }

    func restarted(
        keeping count: Int, lostAt: MonotonicInstant? = nil, bounds: SessionState.Bounds? = nil
    ) -> Node {
        Node(continuing: self, log.crash(keeping: count, lostAt: lostAt ?? now), bounds: bounds)
    }

    /// Turns the loop until the log has nothing to confirm.
    func settle(turns: Int = 100) {
        for _ in 0..<turns {
            engine.advance(to: now)
            if log.inFlightCount == 0 { return }
            log.confirm()
        }
    }

    var connections: [String] { engine.connections(of: room).map(\.connectionId.rawValue) }

    func ticket(_ request: Int?) -> CommandTicket {
        CommandTicket(origin: 7, request: request.map { RequestID(Int64($0)) })
    }

    func join(_ name: String, in session: SessionID = room, request: Int = 1) {
        let join = JoinRequest(
            connectionId: client(name), socket: SocketID(1), role: .publisher, data: "",
            wallTime: WallTime(milliseconds: 5), secretHash: hash(name))
        engine.submit(.join(join), to: session, ticket: ticket(request), now: now)
    }

    func resume(_ name: String, after: Int64, request: Int) {
        let join = JoinRequest(
            connectionId: client("\(name)'"), socket: SocketID(2), role: .publisher, data: "",
            wallTime: WallTime(milliseconds: 5), secretHash: hash("\(name)'"),
            resumption: Resumption(
                connectionId: client(name), secretHash: hash(name), epoch: Epoch("epoch 1.1"), after: Seq(after)))
        engine.submit(.join(join), to: room, ticket: ticket(request), now: now)
    }

    func leave(_ name: String, socket: UInt64 = 1) {
        engine.submit(
            .leave(SocketBinding(client(name), SocketID(socket)), .clientDisconnected), to: room, ticket: ticket(nil),
            now: now)
    }

    func signal(_ name: String, _ request: Int, data: String = "x", socket: UInt64 = 1) {
        engine.submit(
            .signal(
                .connection(SocketBinding(client(name), SocketID(socket)), RequestID(Int64(request))),
                SignalRequest(type: "t", data: data)),
            to: room, ticket: ticket(request), now: now)
    }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        guard let request = ticket.request else { return }
        outcomes.append("\(request): \(outcome.testDescription)")
    }
    func engine(sessionChanged session: SessionID) {}
    func engine(lost session: SessionID) { Issue.record("a log of one node loses no session") }
    func engine(_ session: SessionID, caused effect: SessionEffect) {
        switch effect {
        case .presence: presence.append(effect.testDescription)
        case .keptPresence(let event):
            presence.append(effect.testDescription)
            lastKept = event
        case .onlineOnly, .onlineOnlyDropped, .ended, .superseded: break
        }
    }
}
