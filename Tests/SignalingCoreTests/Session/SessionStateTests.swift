import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The rules of a session")
struct SessionStateTests {
    @Test("CON-3, SIG-10, RES-2, RES-14: the bounds of a session equal those in the specification")
    func bounds() throws {
        let text = try ProtocolText.load()
        let limits = Dictionary(uniqueKeysWithValues: text.table(after: "## 12. Limits").map { ($0[0], $0[1]) })
        let bounds = SessionState.Bounds()
        func digits(_ count: Int) -> String { "\(count / 1_000),\(String(1_000 + count % 1_000).dropFirst())" }
        #expect(limits["connections in a session"] == "\(digits(bounds.connectionCount)), configurable")
        #expect(
            limits["connections of a session that only a recovery can continue"] == digits(bounds.recoverableCount))
        #expect(
            limits["online-only signals that wait for delivery in a session"]
                == "\(PendingOnlineOnly.limit), \(digits(PendingOnlineOnly.byteLimit)) bytes")
    }

    // MARK: Joining and leaving

    @Test("CON-5, CON-6: a joining client gets all connections in the order of joining, and the seq of its own event")
    func join() throws {
        var session = SessionState()
        session.join("ada", at: 100)
        guard case .joined(let join) = session.join("bob", .moderator, at: 200) else {
            Issue.record("bob's join was refused")
            return
        }
        #expect(join.connection.connectionId == client("bob"))
        #expect(join.connection.data == "name=bob")
        #expect(join.role == .moderator)
        #expect(join.connections.map(\.connectionId) == [client("ada"), client("bob")])
        #expect(join.connections == session.connections)
        #expect(join.seq == Seq(2))
        #expect(join.epoch == Epoch("e"))
        #expect(session.contains(client("bob")))
        #expect(session.connectionCount == 2)
    }

    @Test("CON-4: a client that suppresses connection events gets only its own connection, and others see it join")
    func joinSuppressed() {
        var session = SessionState()
        session.join("ada")
        guard case .joined(let join) = session.join("bob", suppressesPresence: true) else {
            Issue.record("bob's join was refused")
            return
        }
        #expect(join.connections.map(\.connectionId) == [client("bob")])
        #expect(session.lines.last?.contains(#""connectionCreated""#) == true)
        #expect(session.connections.map(\.connectionId) == [client("ada"), client("bob")])
    }

    @Test("CON-5: creation times strictly increase, even within a millisecond and when the clock steps back")
    func creationTimes() {
        var session = SessionState()
        for (name, clock) in [("a", 100), ("b", 100), ("c", 100), ("d", 50), ("e", 103), ("f", 104), ("g", 104)] {
            session.join(name, at: Int64(clock))
        }
        #expect(session.connections.map(\.creationTime.milliseconds) == [100, 101, 102, 103, 104, 105, 106])
    }

    @Test("CON-5: a creation time is not used again after its connection has left")
    func creationTimesAfterLeaving() {
        var session = SessionState()
        session.join("a", at: 100)
        session.leave("a")
        session.join("b", at: 100)
        #expect(session.connections.map(\.creationTime.milliseconds) == [101])
    }

    @Test("CON-3, ERR-2: a full session refuses a join with 1027, and accepts one after a connection has left")
    func full() {
        var session = SessionState(connectionCount: 2)
        session.join("a")
        session.join("b")
        #expect(session.join("c").testDescription == "refused 1027 OT_CONNECTION_LIMIT_EXCEEDED")
        #expect(session.log.lastSeq == Seq(2), "ERR-2")
        #expect(session.connectionCount == 2)
        session.leave("a")
        #expect(session.join("c").testDescription == "joined c at 4")
    }

    @Test("a join with an ID in use is refused, and its connection stays unchanged")
    func takenID() {
        var session = SessionState()
        session.join("a", .moderator)
        #expect(session.join("a", .subscriber).testDescription == "refused 1006 OT_CONNECT_FAILED")
        #expect(session.log.lastSeq == Seq(1))
        #expect(session.signal(from: "a").testDescription == "signalled 2")
    }

    @Test("G7, PRES-2: each connection is created once and destroyed once, however often it is ended")
    func presenceOnce() {
        var session = SessionState()
        session.join("mod", .moderator, at: 1)
        session.join("ada", at: 2)
        session.join("bob", at: 3)
        #expect(session.forceDisconnect("ada", by: "mod").testDescription == "force-disconnected")
        #expect(session.leave("ada", .networkDisconnected).testDescription == "done")
        #expect(session.leave("bob", .networkDisconnected).testDescription == "done")
        #expect(session.leave("bob", .clientDisconnected).testDescription == "done")
        #expect(session.leave("nobody").testDescription == "done")
        #expect(session.leave("mod", .clientDisconnected).testDescription == "done")
        func created(_ seq: Int, _ name: String) -> String {
            #"{"ev":"connectionCreated","seq":\#(seq),"connection":"#
                + #"{"connectionId":"\#(name)","creationTime":\#(seq),"data":"name=\#(name)"}}"#
        }
        func destroyed(_ seq: Int, _ name: String, _ reason: String) -> String {
            #"{"ev":"connectionDestroyed","seq":\#(seq),"connectionId":"\#(name)","reason":"\#(reason)"}"#
        }
        #expect(
            session.lines == [
                created(1, "mod"), created(2, "ada"), created(3, "bob"), destroyed(4, "ada", "forceDisconnected"),
                destroyed(5, "bob", "networkDisconnected"), destroyed(6, "mod", "clientDisconnected"),
            ])
        #expect(session.isEmpty)
    }

    @Test("G1: a session whose last member has left continues its seqs for the next one")
    func orderGoesOn() {
        var session = SessionState()
        session.join("a")
        session.leave("a")
        #expect(session.join("a").testDescription == "joined a at 3")
    }

    // MARK: Signals

    @Test("SIG-4, SIG-7: a signal without a target is for everyone, and one with a target for that connection alone")
    func audience() {
        var session = SessionState()
        session.join("ada")
        session.join("bob")
        #expect(session.signal(from: "ada", data: "hello").testDescription == "signalled 3")
        #expect(session.signal(from: "ada", data: "psst", to: "bob").testDescription == "signalled 4")
        #expect(session.signal(from: "ada", data: "note", to: "ada").testDescription == "signalled 5")
        #expect(
            session.log.entries.suffix(3).map(\.audience) == [.everyone, .only(client("bob")), .only(client("ada"))])
        #expect(
            session.lines.suffix(2) == [
                #"{"ev":"signal","seq":4,"from":"ada","type":"chat","data":"psst","to":"bob"}"#,
                #"{"ev":"signal","seq":5,"from":"ada","type":"chat","data":"note","to":"ada"}"#,
            ])
    }

    @Test("G8, SIG-7: `from` is the sender's connection, and null for a signal by REST")
    func from() {
        var session = SessionState()
        session.join("ada")
        session.signal(from: "ada")
        session.signal(from: nil)
        #expect(
            session.lines.suffix(2) == [
                #"{"ev":"signal","seq":2,"from":"ada","type":"chat"}"#,
                #"{"ev":"signal","seq":3,"from":null,"type":"chat"}"#,
            ])
    }

    @Test(
        "SIG-5, CON-10: every role may signal but publisheronly",
        arguments: [(.subscriber, true), (.publisher, true), (.moderator, true), (.publisherOnly, false)]
            as [(Role, Bool)])
    func roles(_ role: Role, _ maySignal: Bool) {
        var session = SessionState()
        session.join("ada", role)
        for isOnlineOnly in [false, true] {
            var effects: [SessionEffect] = []
            let outcome = session.handle(
                .signal(.connection(client("ada")), SignalRequest(isOnlineOnly: isOnlineOnly)), now: .seconds(0),
                effects: &effects)
            if maySignal {
                #expect(outcome.testDescription == (isOnlineOnly ? "signalled" : "signalled 2"))
            } else {
                #expect(outcome.testDescription == "refused 403 OT_PERMISSION_DENIED")
                #expect(effects.isEmpty)
                #expect(session.log.lastSeq == Seq(1), "ERR-2")
            }
        }
    }

    @Test("SIG-5, ERR-2: the first check that fails is reported: role, data, to, type, presence")
    func checks() {
        let long = String(repeating: "x", count: Limits.dataLength + 1)
        var session = SessionState()
        session.join("mute", .publisherOnly)
        session.join("ada")
        let before = session.log.lastSeq
        func refusal(_ name: String?, _ type: String?, _ data: String?, _ to: String?) -> String {
            session.signal(from: name, type: type, data: data, to: to).testDescription
        }
        #expect(refusal("gone", "a b", long, "") == "refused 500 OT_NOT_CONNECTED")
        #expect(refusal("mute", "a b", long, "") == "refused 403 OT_PERMISSION_DENIED")
        #expect(refusal("ada", "a b", long, "") == "refused 413 OT_INVALID_PARAMETER")
        #expect(refusal("ada", "a b", nil, "") == "refused 400 OT_INVALID_PARAMETER")
        #expect(refusal("ada", "a b", nil, "nobody") == "refused 400 OT_INVALID_PARAMETER")
        #expect(refusal("ada", String(repeating: "t", count: 129), nil, "nobody") == "refused 413 OT_INVALID_PARAMETER")
        #expect(refusal("ada", "ok", nil, "nobody") == "refused 404 OT_NOT_FOUND")
        #expect(refusal(nil, "ok", long, "nobody") == "refused 413 OT_INVALID_PARAMETER")
        #expect(refusal(nil, "ok", nil, "nobody") == "refused 404 OT_NOT_FOUND")
        #expect(session.log.lastSeq == before, "ERR-2: a refused request changes nothing")
    }

    @Test("SIG-4: a signal to a connection that has left is refused with 404")
    func targetLeft() {
        var session = SessionState()
        session.join("ada")
        session.join("bob")
        session.leave("bob")
        #expect(session.signal(from: "ada", to: "bob").testDescription == "refused 404 OT_NOT_FOUND")
    }

    @Test("SIG-5, REST-2: a signal by REST to an empty session is refused with 404, after the checks of its limits")
    func nobodyThere() {
        var session = SessionState()
        #expect(session.signal(from: nil).testDescription == "refused 404 OT_NOT_FOUND")
        #expect(session.signal(from: nil, type: "a b").testDescription == "refused 400 OT_INVALID_PARAMETER")
        #expect(session.signal(from: nil, isOnlineOnly: true).testDescription == "refused 404 OT_NOT_FOUND")
        #expect(session.log.lastSeq == .zero)
    }

    @Test("PRES-3: a connection that has left cannot signal")
    func afterLeaving() {
        var session = SessionState()
        session.join("ada")
        session.join("bob")
        session.leave("ada")
        #expect(session.signal(from: "ada").testDescription == "refused 500 OT_NOT_CONNECTED")
        #expect(session.log.lastSeq == Seq(3))
    }

    @Test("SIG-10: an online-only signal has no seq, comes after the events in the log, and is not in the log")
    func onlineOnly() {
        var session = SessionState()
        session.join("ada")
        session.join("bob")
        var effects: [SessionEffect] = []
        let request = SignalRequest(type: "typing", data: "begin", to: client("bob"), isOnlineOnly: true)
        let outcome = session.handle(.signal(.connection(client("ada")), request), now: .seconds(0), effects: &effects)
        #expect(outcome.testDescription == "signalled")
        #expect(
            effects.map(\.testDescription) == [
                #"online-only after 2: {"ev":"signal","from":"ada","type":"typing","data":"begin","to":"bob"}"#
            ])
        guard case .onlineOnly(let signal) = effects.first else { return }
        #expect(signal.audience == .only(client("bob")))
        #expect(signal.from == client("ada"))
        #expect(signal.type == "typing")
        #expect(session.log.lastSeq == Seq(2))
        #expect(session.signal(from: "ada").testDescription == "signalled 3")
    }

    // MARK: Force-disconnect

    @Test("LEAVE-2, LEAVE-3: only a moderator may end other connections", arguments: Role.allCases)
    func moderators(_ role: Role) {
        var session = SessionState()
        session.join("ada", role)
        session.join("bob")
        var effects: [SessionEffect] = []
        let outcome = session.handle(
            .forceDisconnect(.connection(client("ada")), client("bob")), now: .seconds(0), effects: &effects)
        if role == .moderator {
            #expect(outcome.testDescription == "force-disconnected")
            #expect(
                effects.map(\.testDescription) == [
                    "connectionDestroyed bob forceDisconnected", "ended bob forceDisconnected",
                ])
            #expect(!session.contains(client("bob")))
            #expect(
                session.lines.last
                    == #"{"ev":"connectionDestroyed","seq":3,"connectionId":"bob","reason":"forceDisconnected"}"#)
        } else {
            #expect(outcome.testDescription == "refused 1520 OT_PERMISSION_DENIED")
            #expect(effects.isEmpty)
            #expect(session.contains(client("bob")))
        }
    }

    @Test(
        "LEAVE-2: forceDisconnect is refused with 1010 (not connected), else 1520 (not permitted), else 1011 (no target)"
    )
    func forceDisconnectRefusals() {
        var session = SessionState()
        session.join("ada")
        session.join("mod", .moderator)
        #expect(session.forceDisconnect("nobody", by: "gone").testDescription == "refused 1010 OT_NOT_CONNECTED")
        #expect(
            session.forceDisconnect("nobody", by: "ada").testDescription == "refused 1520 OT_PERMISSION_DENIED")
        #expect(
            session.forceDisconnect("nobody", by: "mod").testDescription == "refused 1011 OT_INVALID_PARAMETER")
        #expect(session.forceDisconnect("", by: "mod").testDescription == "refused 1011 OT_INVALID_PARAMETER")
        #expect(session.forceDisconnect("nobody", by: nil).testDescription == "refused 1011 OT_INVALID_PARAMETER")
        #expect(session.log.lastSeq == Seq(2), "ERR-2")
    }

    @Test("LEAVE-2: a moderator may end its own connection, and REST any connection")
    func forceDisconnectAnybody() {
        var session = SessionState()
        session.join("mod", .moderator)
        session.join("ada")
        #expect(session.forceDisconnect("mod", by: "mod").testDescription == "force-disconnected")
        #expect(session.forceDisconnect("ada", by: nil).testDescription == "force-disconnected")
        #expect(session.isEmpty)
    }

    @Test("the same commands give the same bytes")
    func repeatable() {
        func play() -> [String] {
            var session = SessionState()
            session.join("ada", at: 5)
            session.join("bob", .moderator, at: 5)
            session.signal(from: "ada", data: "x")
            _ = session.forceDisconnect("ada", by: "bob")
            return session.lines
        }
        #expect(play() == play())
    }
}
