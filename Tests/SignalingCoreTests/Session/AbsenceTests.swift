import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// Joins, on the socket of that number, with the option `connectionAwayEvents`.
private func join(
    _ name: String, _ session: inout SessionState, socket: UInt64 = 1, at seconds: Double = 0, resumes: Bool = false
) -> JoinResult? {
    var request = JoinRequest(
        connectionId: client(name), socket: SocketID(socket), role: .publisher, data: name, getsAbsences: true,
        wallTime: WallTime(milliseconds: 0), secretHash: hash(name))
    if resumes {
        request.resumption = Resumption(
            connectionId: client(name), secretHash: hash(name), epoch: Epoch("e"), after: session.log.lastSeq)
    }
    var effects: [SessionEffect] = []
    guard case .joined(let result) = session.handle(.join(request), now: .seconds(seconds), effects: &effects) else {
        return nil
    }
    return result
}

private func detach(_ name: String, _ session: inout SessionState, socket: UInt64 = 1, at seconds: Double) {
    var effects: [SessionEffect] = []
    _ = session.handle(.detach(SocketBinding(name, socket)), now: .seconds(seconds), effects: &effects)
}

/// An outbox with absences, as they are now.
private func listener(_ name: String, _ session: SessionState) -> Outbox {
    let welcome = Welcome(
        connection: Connection(connectionId: client(name), creationTime: WallTime(milliseconds: 0), data: ""),
        connections: [], role: .publisher, epoch: Epoch("e"), seq: session.log.lastSeq, outcome: .new,
        away: session.log.absences.ids,
        resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
    var outbox = Outbox(welcome, answering: RequestID(1), ClientEntry(absences: session.log.absences))
    _ = dequeueAll(&outbox, session.log)
    return outbox
}

private func threeMembers(resumeWindow: Double = 60) -> SessionState {
    var session = SessionState(id: room, epoch: Epoch("e"), bounds: .init(resumeWindow: .seconds(resumeWindow)))
    for name in ["ada", "bob", "eve"] { _ = join(name, &session) }
    return session
}

private func away(_ name: String) -> String { #"{"ev":"connectionAway","connectionId":"\#(name)"}"# }
private func back(_ name: String) -> String { #"{"ev":"connectionBack","connectionId":"\#(name)"}"# }

@Suite("Absence")
struct AbsenceTests {
    @Test("PRES-4: a connection is away 10 s after the loss of its socket, and back when it has resumed")
    func awayAndBack() {
        var session = threeMembers()
        var bob = listener("bob", session)
        detach("ada", &session, at: 5)
        #expect(session.nextDeadline == .seconds(15))
        session.advance(to: .seconds(14.999))
        #expect(dequeueAll(&bob, session.log).isEmpty)
        session.advance(to: .seconds(15))
        #expect(bob.isBehind(session.log))
        #expect(dequeueAll(&bob, session.log) == [away("ada")])
        #expect(!bob.isBehind(session.log) && dequeueAll(&bob, session.log).isEmpty, "told once")
        #expect(join("ada", &session, socket: 2, at: 20, resumes: true)?.absences?.ids == [])
        #expect(dequeueAll(&bob, session.log) == [back("ada")])
        #expect(session.log.lastSeq == Seq(3), "absences are no events")
    }

    @Test("PRES-4: a client is not told of its own absence, on a node that is lost and still has its socket")
    func ownAbsence() {
        var session = threeMembers()
        var (ada, bob) = (listener("ada", session), listener("bob", session))
        let before = session.log.absences.version
        detach("ada", &session, at: 5)
        session.advance(to: .seconds(15))
        var batch = SharedBatch(log: session.log, after: Seq(3), absences: before, onlineOnly: [])
        let forms = [batch.advance(&ada, log: session.log), batch.advance(&bob, log: session.log)]
        #expect(forms == [nil, .withAbsences])
        #expect(dequeueAll(&ada, session.log).isEmpty)
        _ = join("ada", &session, socket: 2, at: 20, resumes: true)
        #expect(dequeueAll(&ada, session.log).isEmpty)
    }

    @Test("PRES-4: a connection that resumes within 10 s was never away, and a later loss counts from its own moment")
    func shortLoss() {
        var session = threeMembers()
        var bob = listener("bob", session)
        detach("ada", &session, at: 5)
        _ = join("ada", &session, socket: 2, at: 14, resumes: true)
        detach("ada", &session, socket: 2, at: 14.5)
        session.advance(to: .seconds(24))
        #expect(dequeueAll(&bob, session.log).isEmpty)
        session.advance(to: .seconds(24.5))
        #expect(dequeueAll(&bob, session.log) == [away("ada")])
    }

    @Test("PRES-4: connectionDestroyed ends an absence without connectionBack, also for a client that reads late")
    func departure() {
        var session = threeMembers()
        var (bob, eve) = (listener("bob", session), listener("eve", session))
        detach("ada", &session, at: 0)
        session.advance(to: .seconds(10))
        #expect(dequeueAll(&bob, session.log) == [away("ada")])
        session.advance(to: .seconds(60))
        let destroyed = #"{"ev":"connectionDestroyed","seq":4,"connectionId":"ada","reason":"networkDisconnected"}"#
        #expect(dequeueAll(&bob, session.log) == [destroyed])
        #expect(dequeueAll(&eve, session.log) == [destroyed], "the absence is over")
        #expect(session.log.absences.ids.isEmpty)
    }

    @Test("PRES-4: a connection that expires at the moment of its absence, or before, is never away")
    func shortWindow() {
        for window in [0.0, 5, 10] {
            var session = threeMembers(resumeWindow: window)
            var bob = listener("bob", session)
            detach("ada", &session, at: 0)
            session.advance(to: .seconds(30))
            #expect(dequeueAll(&bob, session.log).count == 1, "connectionDestroyed alone")
        }
    }

    @Test("PRES-4: a client that reads late skips an absence that has ended, so away and back alternate")
    func coalesced() {
        var session = threeMembers()
        var bob = listener("bob", session)
        detach("ada", &session, at: 0)
        session.advance(to: .seconds(10))
        _ = join("ada", &session, socket: 2, at: 11, resumes: true)
        #expect(dequeueAll(&bob, session.log).isEmpty)
        detach("ada", &session, socket: 2, at: 12)
        session.advance(to: .seconds(22))
        #expect(dequeueAll(&bob, session.log) == [away("ada")])
        _ = join("ada", &session, socket: 3, at: 23, resumes: true)
        detach("ada", &session, socket: 3, at: 24)
        session.advance(to: .seconds(34))
        #expect(dequeueAll(&bob, session.log).isEmpty, "away before and after")
    }

    @Test("PRES-4, PRES-5: connected names the absences after the replay, and the replay does not end them")
    func named() throws {
        var session = threeMembers()
        detach("eve", &session, at: 0)
        _ = join("dan", &session, at: 1)
        detach("dan", &session, at: 1)
        session.advance(to: .seconds(11))
        var request = JoinRequest(
            connectionId: client("new"), socket: SocketID(2), role: .publisher, data: "eve", getsAbsences: true,
            wallTime: WallTime(milliseconds: 0), secretHash: hash("eve-2"))
        request.resumption = Resumption(
            connectionId: client("eve"), secretHash: hash("eve"), epoch: Epoch("e"), after: Seq(3))
        var effects: [SessionEffect] = []
        let outcome = session.handle(.join(request), now: .seconds(12), effects: &effects)
        guard case .joined(let result) = outcome else { return #expect(Bool(false)) }
        #expect(result.outcome == .resumed && result.absences?.ids == [client("dan")])
        let welcome = Welcome(
            connection: result.connection, connections: [], role: .publisher, epoch: result.epoch, seq: result.seq,
            outcome: .resumed, replayThrough: result.replayThrough, away: result.absences?.ids,
            resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
        var eve = Outbox(welcome, answering: RequestID(1), ClientEntry(absences: result.absences))
        // dan comes back while eve has not read the replay with its creation.
        _ = join("dan", &session, socket: 2, at: 13, resumes: true)
        let lines = dequeueAll(&eve, session.log)
        #expect(lines.count == 3 && lines[0].contains(#""away":["dan"]"#))
        #expect(lines[1].hasPrefix(#"{"ev":"connectionCreated","seq":4,"#) && lines[2] == back("dan"))
    }

    @Test("PRES-4, CON-4: clients without the option, or without presence, get no absences")
    func others() {
        var session = threeMembers()
        var plain = Outbox(owner: client("bob"), suppressesPresence: false, cursor: Seq(3))
        detach("ada", &session, at: 0)
        session.advance(to: .seconds(10))
        #expect(!plain.isBehind(session.log) && dequeueAll(&plain, session.log).isEmpty)
        let request = JoinRequest(
            connectionId: client("dan"), socket: socket1, role: .publisher, data: "", suppressesPresence: true,
            getsAbsences: true, wallTime: WallTime(milliseconds: 0), secretHash: hash("dan"))
        guard case .joined(let suppressed) = session.handle(.join(request)) else { return #expect(Bool(false)) }
        #expect(suppressed.absences == nil)
        guard case .joined(let other) = session.join("fay") else { return #expect(Bool(false)) }
        #expect(other.absences == nil)
    }

    @Test("G5, PRES-4: a session tells of at most 1,000 absences")
    func bounded() {
        var absences = Absences()
        for number in 0..<1_500 { absences.insert(client("\(number)")) }
        #expect(absences.ids.count == Limits.awayCount && absences.ids.last == client("999"))
        absences.remove(client("7"))
        absences.insert(client("1200"))
        #expect(absences.ids.count == Limits.awayCount && absences.contains(client("1200")))
    }

    @Test("PRES-4, G5: clients that are up to date share the bytes of one batch")
    func shared() {
        var session = threeMembers()
        var (bob, eve) = (listener("bob", session), listener("eve", session))
        var plain = Outbox(owner: client("fay"), suppressesPresence: false, cursor: Seq(3))
        let before = session.log.absences.version
        detach("ada", &session, at: 0)
        session.advance(to: .seconds(10))
        session.signal(from: "bob", data: "x")
        var batch = SharedBatch(log: session.log, after: Seq(3), absences: before, onlineOnly: [])
        let bytes = batch.bytes(for: &bob, log: session.log)
        #expect(bytes.map(lines)?.last == away("ada") && bytes.map(lines)?.count == 2)
        #expect(batch.bytes(for: &eve, log: session.log) == bytes)
        #expect(batch.bytes(for: &plain, log: session.log).map(lines)?.count == 1)
        #expect(!bob.isBehind(session.log) && !eve.isBehind(session.log) && !plain.isBehind(session.log))
        var late = SharedBatch(log: session.log, after: Seq(4), absences: before, onlineOnly: [])
        #expect(late.bytes(for: &eve, log: session.log) == nil, "eve knows newer absences than the batch begins with")
    }
}
