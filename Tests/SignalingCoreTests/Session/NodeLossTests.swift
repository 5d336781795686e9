import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session of some connections that joined at 0 s with `sharedToken`.
private struct Room {
    var session: SessionState
    var effects: [SessionEffect] = []
    let sharedToken = TokenFingerprint(7)

    init(_ names: [String], bounds: SessionState.Bounds = .init()) {
        session = SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
        for name in names { join(name) }
        effects = []
    }

    private func request(_ name: String, socket: UInt64 = 1, resumption: Resumption? = nil) -> JoinRequest {
        var request = JoinRequest(
            connectionId: client(resumption == nil ? name : "\(name)2"), role: .publisher, data: "",
            wallTime: WallTime(milliseconds: 0), socket: socket, resumption: resumption)
        request.secretHash = hash("\(name)-\(socket)")
        request.token = sharedToken
        request.getsAbsences = true
        return request
    }

    @discardableResult
    mutating func handle(_ command: SessionCommand, at seconds: Double) -> SessionOutcome {
        session.handle(command, now: .seconds(seconds), effects: &effects)
    }

    mutating func detach(_ name: String, at seconds: Double) { handle(.detach(SocketBinding(name)), at: seconds) }

    /// The client comes back with the secret of its first socket.
    mutating func comeBack(_ name: String, after seq: Seq? = nil, at seconds: Double) -> String {
        let claim = Resumption(
            connectionId: client(name), secretHash: hash("\(name)-1"), epoch: Epoch("e"),
            after: seq ?? session.log.lastSeq)
        return handle(.join(request(name, socket: 2, resumption: claim)), at: seconds).testDescription
    }

    mutating func join(_ name: String) { handle(.join(request(name)), at: 0) }

    mutating func loseNode(_ run: RunID? = nil, at lost: Double, now: Double) {
        session.nodeLost(run, at: .seconds(lost), now: .seconds(now))
        session.advance(to: .seconds(now), effects: &effects)
    }

    var names: [String] { session.connections.map(\.connectionId.rawValue) }
    var lossOrder: [String] { session.detachments.losses.map(\.connectionId.rawValue) }
    var presence: [String] { effects.map(\.testDescription) }
}

@Suite("LOG-13: the process that had the sockets is lost")
struct NodeLossTests {
    @Test("LOG-13, RES-15: each connection loses its socket when the process was last alive, and can resume from then")
    func windows() {
        var room = Room(["ada", "bob"])
        room.loseNode(at: 10, now: 40)
        #expect(room.session.connections.count == 2 && room.presence.isEmpty, "nobody is told of the loss")
        #expect(room.comeBack("ada", at: 69.9).hasPrefix("joined ada at 2 resumed"))
        room.session.advance(to: .seconds(69.9), effects: &room.effects)
        #expect(room.names == ["ada", "bob"])
        room.session.advance(to: .seconds(70), effects: &room.effects)
        #expect(room.presence == ["connectionDestroyed bob networkDisconnected"])
        room.session.advance(to: .seconds(700), effects: &room.effects)
        #expect(room.names == ["ada"], "a connection that came back stays")
    }

    @Test("LOG-13, RES-2: windows that ended without a server end at once, and their clients may recover")
    func downtime() {
        var room = Room(["ada", "bob"])
        room.loseNode(at: 10, now: 100)
        #expect(
            room.presence == [
                "connectionDestroyed ada networkDisconnected", "connectionDestroyed bob networkDisconnected",
                "sessionDestroyed",
            ])
        #expect(room.comeBack("ada", after: Seq(2), at: 101).contains("recovered"))
        #expect(room.session.expiredTickets.neededUntil == .seconds(310), "bob's window runs from the loss, too")
    }

    @Test("LOG-13, RES-12: a connection that had no socket keeps its window, and losses stay in their order")
    func earlierAndLaterLosses() {
        var room = Room(["ada", "bob", "cem", "dan"])
        room.detach("cem", at: 5)
        // The last sign of life is older than the last command: it is written once a second.
        room.detach("ada", at: 10.5)
        room.loseNode(at: 10, now: 20)
        #expect(room.lossOrder == ["cem", "bob", "dan", "ada"])
        #expect(room.session.nextDeadline == .seconds(30), "away (PRES-4)")
        room.session.advance(to: .seconds(64.9), effects: &room.effects)
        #expect(room.names == ["ada", "bob", "cem", "dan"])
        for (moment, left) in [(65.0, ["ada", "bob", "dan"]), (70, ["ada"]), (70.5, [])] {
            #expect(room.session.nextDeadline == .seconds(moment))
            room.session.advance(to: .seconds(moment), effects: &room.effects)
            #expect(room.names == left)
        }
    }

    @Test("PRES-4: the time without a server does not count, and those that were away already stay away")
    func absences() {
        var room = Room(["ada", "bob", "cem"])
        room.detach("ada", at: 0)
        room.detach("bob", at: 9)
        room.session.advance(to: .seconds(10), effects: &room.effects)
        room.loseNode(at: 11, now: 41)
        #expect(room.session.log.absences.ids == [client("ada")])
        room.session.advance(to: .seconds(50.9), effects: &room.effects)
        #expect(room.session.log.absences.ids == [client("ada")])
        room.session.advance(to: .seconds(51), effects: &room.effects)
        #expect(room.session.log.absences.ids == ["ada", "bob", "cem"].map(client))
        #expect(room.comeBack("ada", at: 52).contains("resumed"))
        #expect(room.session.log.absences.ids == [client("bob"), client("cem")])
    }

    @Test("RES-12: the loss of a process does not count for a token, and later losses do")
    func tokens() {
        var room = Room((1...6).map { "c\($0)" }, bounds: .init(detachedCountPerToken: 2))
        room.loseNode(at: 10, now: 11)
        #expect(room.names.count == 6)
        for name in ["c1", "c2", "c3"] { #expect(room.comeBack(name, at: 12).contains("resumed")) }
        for name in ["c1", "c2", "c3"] { room.handle(.detach(SocketBinding(name, 2)), at: 13) }
        #expect(room.presence == ["connectionDestroyed c1 networkDisconnected"])
    }

    @Test("RES-9, SIG-11: answers and allowances outlast the loss")
    func answersAndAllowances() {
        var room = Room(["ada"], bounds: .init(signalRate: RateLimit(perSecond: 1, burst: 1)))
        func signal(_ request: Int64, socket: UInt64 = 1) -> SessionCommand {
            .signal(.connection(SocketBinding("ada", socket), RequestID(request)), SignalRequest(data: "\(request)"))
        }
        #expect(room.handle(signal(1), at: 10).testDescription == "signalled 2")
        room.loseNode(at: 10, now: 10.5)
        #expect(room.comeBack("ada", at: 10.5).contains("resumed"))
        #expect(room.handle(signal(1, socket: 2), at: 10.6).testDescription == "signalled 2")
        #expect(room.handle(signal(2, socket: 2), at: 10.6).testDescription == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(room.handle(signal(3, socket: 2), at: 11).testDescription == "signalled 3")
    }

    @Test("a loss that the log dates after its own entry happens with the entry")
    func lossInTheFuture() {
        var room = Room(["ada"])
        room.loseNode(at: 99, now: 10)
        #expect(room.session.detachments.nextDeadline == .seconds(70))
    }

    @Test("LOG-32: the loss of one node takes the sockets of that node alone")
    func oneNode() {
        var room = Room([])
        for (run, name) in [(1, "ada"), (2, "bob"), (1, "cem")] as [(UInt64, String)] {
            room.session.submitter = RunID(run)
            room.join(name)
        }
        room.detach("cem", at: 5)
        room.session.keeper = RunID(1)
        room.session.submitter = RunID(2)
        room.loseNode(RunID(1), at: 10, now: 25)
        #expect(room.lossOrder == ["cem", "ada"])
        #expect(room.session.keeper == RunID(2))
        #expect(room.session.nodes == [RunID(2)])
        room.session.advance(to: .seconds(34.9), effects: &room.effects)
        #expect(room.session.log.absences.ids == [client("cem")], "PRES-4: an earlier loss keeps its time")
        room.session.advance(to: .seconds(35), effects: &room.effects)
        #expect(room.session.log.absences.ids == [client("cem"), client("ada")])
        room.session.advance(to: .seconds(71), effects: &room.effects)
        #expect(room.names == ["bob"])
    }

    @Test("LOG-11: a keeper that stops leaves its place to the submitter of the next command")
    func keeper() {
        var session = SessionState(id: room, epoch: Epoch("e"))
        func begin(_ run: UInt64, _ number: UInt64) {
            session.beginCommand(
                at: LogPosition(number: number, id: CommandID(run: RunID(run), counter: number)), by: .current)
        }
        begin(1, 1)
        #expect(session.keeper == RunID(1))
        begin(2, 2)
        session.nodeLost(RunID(3), at: .seconds(0), now: .seconds(0))
        #expect(session.keeper == RunID(1), "the loss of another node")
        begin(1, 3)
        session.nodeLost(RunID(1), at: .seconds(0), now: .seconds(0))
        #expect(session.keeper == nil)
        begin(1, 4)
        session.nodeLost(RunID(1), at: .seconds(0), now: .seconds(0))
        #expect(session.keeper == nil, "the second report of the same stop")
        begin(2, 5)
        #expect(session.keeper == RunID(2))
        begin(3, 6)
        session.nodeLost(nil, at: .seconds(0), now: .seconds(0))
        #expect(session.keeper == RunID(3), "a restart of a single node")
    }

    @Test("LOG-13: a second loss changes nothing for connections that did not come back")
    func twice() {
        var room = Room(["ada", "bob"])
        room.loseNode(at: 10, now: 11)
        #expect(room.comeBack("bob", at: 20).contains("resumed"))
        room.loseNode(at: 30, now: 31)
        #expect(room.lossOrder == ["ada", "bob"])
        #expect(room.session.detachments.nextDeadline == .seconds(70))
    }
}
