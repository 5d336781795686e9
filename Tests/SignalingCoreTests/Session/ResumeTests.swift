import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session with a resume window of 60 s and a recovery window of 300 s by default.
private struct Resumable {
    var session: SessionState
    var effects: [SessionEffect] = []

    init(
        connectionCount: Int = 100, logEventCount: Int = 2048, resumeWindow: Double = 60,
        recoveryWindow: Double = 300, recoverableCount: Int = 1024
    ) {
        session = SessionState(
            id: room, epoch: Epoch("e"),
            bounds: .init(
                connectionCount: connectionCount, logEventCount: logEventCount, resumeWindow: .seconds(resumeWindow),
                recoveryWindow: .seconds(recoveryWindow), recoverableCount: recoverableCount))
    }

    @discardableResult
    mutating func handle(_ command: SessionCommand, at seconds: Double) -> String {
        effects = []
        defer {
            effects.removeAll { if case .presence = $0 { true } else { false } }
        }
        return session.handle(command, now: .seconds(seconds), effects: &effects).testDescription
    }

    @discardableResult
    mutating func join(
        _ name: String, _ role: Role = .publisher, suppressesPresence: Bool = false, at seconds: Double = 0
    ) -> String {
        let request = JoinRequest(
            connectionId: client(name), role: role, data: name, suppressesPresence: suppressesPresence,
            wallTime: .init(milliseconds: 0))
        return handle(.join(request), at: seconds)
    }

    mutating func detach(_ name: String, socket: UInt64 = 1, at seconds: Double) {
        handle(.detach(SocketBinding(name, socket)), at: seconds)
    }

    /// Reconnects as `name` on `socket`. A new connection would have the ID `name` followed by the socket.
    @discardableResult
    mutating func comeBack(
        _ name: String, by socket: UInt64, after: Int64, at seconds: Double, secret: String? = nil, epoch: String = "e",
        role: Role = .publisher, data: String? = nil, suppressesPresence: Bool = false, isUntimely: Bool = false
    ) -> String {
        let claim = Resumption(
            connectionId: client(name), secretHash: hash(secret ?? "\(name)-\(socket - 1)"), epoch: Epoch(epoch),
            after: Seq(after))
        var request = JoinRequest(
            connectionId: client("\(name)\(socket)"), role: role, data: data ?? name,
            suppressesPresence: suppressesPresence, wallTime: .init(milliseconds: 0), socket: socket,
            resumption: claim, isUntimely: isUntimely)
        request.secretHash = hash("\(name)-\(socket)")
        return handle(.join(request), at: seconds)
    }

    @discardableResult
    mutating func signal(_ name: String, socket: UInt64 = 1, request: Int64, at seconds: Double = 0) -> String {
        handle(
            .signal(.connection(SocketBinding(name, socket), RequestID(request)), SignalRequest(data: "\(request)")),
            at: seconds)
    }

    var destroyed: [String] { session.lines.filter { $0.contains("connectionDestroyed") } }
}

@Suite("Resuming and recovering a connection")
struct ResumeTests {
    @Test("RES-12: connections expire in the order of their losses, however late the session is advanced")
    func inTheOrderOfLosses() {
        var room = Resumable(recoveryWindow: 120)
        for name in ["ada", "bob", "eve"] { room.join(name) }
        room.detach("ada", at: 10)
        room.comeBack("ada", by: 2, after: 3, at: 20)
        room.detach("bob", at: 30)
        room.detach("ada", socket: 2, at: 40)
        room.signal("eve", request: 1, at: 101)
        #expect(room.destroyed.map { $0.contains("ada") } == [false, true])
        // Each recovery window runs from the loss, not from the late expiry.
        #expect(room.comeBack("bob", by: 2, after: 3, at: 149).contains("recovered"))
        #expect(room.comeBack("ada", by: 3, after: 3, at: 159).contains("recovered"))
    }

    @Test("RES-2, RES-4, G7: inside the resume window the same connection continues, without a presence event")
    func resumed() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 10)
        #expect(room.session.connections.map(\.connectionId) == [client("ada"), client("bob")])
        room.signal("bob", request: 1, at: 20)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 69.999) == "joined ada at 2 resumed through 3")
        #expect(room.effects.isEmpty)
        #expect(room.destroyed.isEmpty)
        #expect(room.signal("ada", socket: 2, request: 1, at: 70) == "signalled 4")
        #expect(room.signal("ada", socket: 1, request: 2, at: 70) == "refused 500 OT_NOT_CONNECTED", "the old socket")
        room.session.advance(to: .seconds(1000))
        #expect(room.destroyed.isEmpty, "a resumed connection does not expire")
    }

    @Test("CON-4: a resumed connection keeps its option whatever the connect says; a new one has the connect's")
    func options() {
        for suppresses in [true, false] {
            var room = Resumable()
            room.join("ada", suppressesPresence: suppresses)
            room.detach("ada", at: 0)
            let resumed = room.comeBack("ada", by: 2, after: 1, at: 1, suppressesPresence: !suppresses)
            #expect(resumed == "joined ada at 1 resumed through 1" + (suppresses ? " without presence" : ""))
            room.detach("ada", socket: 2, at: 2)
            let recovered = room.comeBack("ada", by: 3, after: 1, at: 70, suppressesPresence: !suppresses)
            #expect(recovered == "joined ada3 at 1 recovered through 2" + (suppresses ? "" : " without presence"))
            let lost = room.comeBack("ada", by: 4, after: 1, at: 70, suppressesPresence: !suppresses)
            #expect(lost == "joined ada4 at 4 lost" + (suppresses ? "" : " without presence"))
        }
    }

    @Test("RES-12, G7: at the end of the resume window the connection is destroyed, once")
    func expires() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 10)
        room.session.advance(to: .seconds(20))
        #expect(room.session.nextDeadline == .seconds(70))
        room.session.advance(to: .seconds(69.999))
        #expect(room.destroyed.isEmpty)
        room.session.advance(to: .seconds(70))
        #expect(room.destroyed.count == 1 && room.destroyed[0].contains("networkDisconnected"))
        room.detach("ada", at: 71)
        room.session.advance(to: .seconds(500))
        #expect(room.destroyed.count == 1)
    }

    @Test("RES-2: a command after the window finds the connection expired, even before the timer")
    func lateTimer() {
        var room = Resumable()
        room.join("ada")
        room.detach("ada", at: 0)
        #expect(room.comeBack("ada", by: 2, after: 1, at: 60) == "joined ada2 at 1 recovered through 2")
    }

    @Test("RES-2, RES-4: in the recovery window a new connection gets what the old one missed, once")
    func recovered() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        room.signal("bob", request: 1, at: 10)
        room.session.advance(to: .seconds(60))
        #expect(room.comeBack("ada", by: 2, after: 2, at: 299.999) == "joined ada2 at 2 recovered through 4")
        #expect(room.session.connections.map(\.connectionId) == [client("bob"), client("ada2")])
        #expect(
            room.comeBack("ada", by: 3, after: 2, at: 299.999, secret: "ada-1") == "joined ada3 at 6 lost",
            "its ticket is used up")
    }

    @Test("RES-2, G4: after the recovery window the outcome is lost")
    func lost() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 300) == "joined ada2 at 4 lost")
    }

    @Test("RES-2, G4: with another epoch the outcome is lost, and the old connection stays")
    func otherOrder() {
        var room = Resumable()
        room.join("ada")
        room.detach("ada", at: 0)
        #expect(room.comeBack("ada", by: 2, after: 1, at: 1, epoch: "f") == "joined ada2 at 2 lost")
        #expect(room.session.contains(client("ada")))
    }

    @Test("RES-3, RES-8, RES-12: with a seq that is still to come the outcome is lost, and the old connection ends")
    func seqOfTheFuture() {
        for after in [2, Int64.max] {
            var room = Resumable()
            room.join("ada")
            #expect(room.comeBack("ada", by: 2, after: after, at: 1) == "joined ada2 at 3 lost")
            #expect(room.effects.map(\.testDescription) == ["superseded 1"])
            #expect(room.destroyed.count == 1)
            room.detach("ada2", socket: 2, at: 1)
            room.session.advance(to: .seconds(61))
            #expect(
                room.comeBack("ada2", by: 3, after: max(after, 9), at: 62, secret: "ada-2", data: "ada")
                    == "joined ada23 at 5 lost")
        }
    }

    @Test("RES-3: a negative seq counts as 0")
    func negativeSeq() {
        var room = Resumable()
        room.join("ada")
        #expect(room.comeBack("ada", by: 2, after: -1, at: 1) == "joined ada at 1 resumed through 1")
    }

    @Test("ERR-2, CON-3: a connect that a full session refuses uses up no ticket")
    func fullSession() {
        var room = Resumable(connectionCount: 2)
        for name in ["ada", "bob"] { room.join(name) }
        room.detach("ada", at: 0)
        room.session.advance(to: .seconds(60))
        room.join("eve", at: 61)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 62) == "refused 1027 OT_CONNECTION_LIMIT_EXCEEDED")
        room.handle(.leave(SocketBinding("eve"), .clientDisconnected), at: 63)
        #expect(room.comeBack("ada", by: 3, after: 2, at: 64, secret: "ada-1").contains("recovered"))
    }

    @Test(
        "RES-2, RES-14, RES-16, G4: after a log overrun a new connection learns what is missing and gets the rest"
    )
    func overrun() {
        var room = Resumable(logEventCount: 3)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        for request in 1...3 { room.signal("bob", request: Int64(request)) }
        #expect(room.session.log.reachesBackTo == Seq(2))
        var other = room
        #expect(
            other.comeBack("ada", by: 2, after: 2, at: 1) == "joined ada at 2 resumed through 5",
            "exactly at the log's start")
        room.signal("bob", request: 4)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 1) == "joined ada2 at 5 lost through 7 without 3 to 5")
        #expect(!room.session.contains(client("ada")))
        #expect(room.session.lines.filter { $0.contains("connectionDestroyed") }.count == 1)
        // The same after the resume window.
        room.detach("ada2", socket: 2, at: 1)
        for request in 5...9 { room.signal("bob", request: Int64(request), at: 62) }
        #expect(
            room.comeBack("ada2", by: 3, after: 8, at: 63, secret: "ada-2", data: "ada")
                == "joined ada23 at 12 lost through 14 without 9 to 12")
    }

    @Test("RES-16, G4: of 2,480 missed signals those in the log are replayed, with their senders")
    func overrunByLittle() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        for request in 1...2_480 { room.signal("bob", request: Int64(request), at: 1) }
        #expect(room.comeBack("ada", by: 2, after: 2, at: 2) == "joined ada2 at 436 lost through 2483 without 3 to 436")
        var outbox = Outbox(
            owner: client("ada2"), suppressesPresence: false, cursor: Seq(436), recoversThrough: Seq(2_483))
        let lines = dequeueAll(&outbox, room.session.log)
        #expect(lines.count == 2_046, "all but ada's end and begin")
        #expect(lines.allSatisfy { $0.contains(#""connection":{"connectionId":"bob""#) })
        #expect(lines.first?.hasPrefix(#"{"ev":"signal","seq":437,"#) == true)
        #expect(lines.last?.hasPrefix(#"{"ev":"signal","seq":2482,"#) == true)
    }

    @Test("RES-16, RES-4: a lost connection that loses its socket before its replay gets what the log then has")
    func lostWhileReplaying() {
        var room = Resumable(logEventCount: 5)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        for request in 1...6 { room.signal("bob", request: Int64(request), at: 1) }
        #expect(room.comeBack("ada", by: 2, after: 2, at: 2) == "joined ada2 at 5 lost through 9 without 3 to 5")
        room.handle(.detach(SocketBinding("ada2", 2)), at: 3)
        #expect(
            room.comeBack("ada2", by: 3, after: 5, at: 4, secret: "ada-2", data: "ada")
                == "joined ada23 at 7 lost through 11 without 6 to 7")
    }

    @Test("RES-16: without a recovery window, and for an unknown connection, nothing is replayed after lost")
    func lostWithoutReplay() {
        var room = Resumable(logEventCount: 3, recoveryWindow: 0)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        for request in 1...4 { room.signal("bob", request: Int64(request), at: 1) }
        #expect(room.comeBack("ada", by: 2, after: 2, at: 1) == "joined ada2 at 8 lost")
        #expect(room.comeBack("eve", by: 2, after: 2, at: 1) == "joined eve2 at 9 lost")
    }

    @Test("RES-6: a connection ID without its secret resumes nothing, and changes nothing")
    func wrongSecret() {
        var room = Resumable()
        room.join("ada")
        #expect(room.comeBack("ada", by: 2, after: 1, at: 1, secret: "guess") == "joined ada2 at 2 lost")
        #expect(room.effects.isEmpty)
        #expect(room.signal("ada", request: 1) == "signalled 3", "ada's socket is still attached")
        room.detach("ada", at: 1)
        room.session.advance(to: .seconds(61))
        #expect(room.comeBack("ada", by: 3, after: 1, at: 62, secret: "guess") == "joined ada3 at 5 lost")
    }

    @Test("RES-6: every secret since the confirmed one is valid until a line arrives on a socket, then only that one")
    func secrets() {
        var room = Resumable()
        room.join("ada")
        room.detach("ada", at: 0)
        room.comeBack("ada", by: 2, after: 1, at: 1)
        room.detach("ada", socket: 2, at: 2)
        room.comeBack("ada", by: 3, after: 1, at: 3, secret: "ada-1")
        room.detach("ada", socket: 3, at: 4)
        for secret in ["ada-1", "ada-2", "ada-3"] {
            var other = room
            #expect(other.comeBack("ada", by: 4, after: 1, at: 5, secret: secret).contains("resumed"), "\(secret)")
        }
        room.comeBack("ada", by: 4, after: 1, at: 5, secret: "ada-2")
        room.handle(.heard(SocketBinding("ada", 3)), at: 6)
        var unconfirmed = room
        #expect(
            unconfirmed.comeBack("ada", by: 5, after: 1, at: 8, secret: "ada-1").contains("resumed"),
            "a line on an older socket confirms nothing")
        room.handle(.heard(SocketBinding("ada", 4)), at: 6)
        room.detach("ada", socket: 4, at: 7)
        for secret in ["ada-1", "ada-2", "ada-3"] {
            var other = room
            #expect(other.comeBack("ada", by: 5, after: 1, at: 8, secret: secret) == "superseded", "\(secret)")
            #expect(other.comeBack("ada", by: 5, after: 1, at: 8, secret: secret).hasSuffix("lost"), "\(secret)")
        }
        #expect(room.comeBack("ada", by: 5, after: 1, at: 8, secret: "ada-4").contains("resumed"))
    }

    @Test("RES-6, G5: of the unconfirmed secrets eight are kept, and always the confirmed and the claimed one")
    func boundOfSecrets() {
        var room = Resumable()
        room.join("ada")
        room.comeBack("ada", by: 2, after: 1, at: 1, secret: "ada-1")
        // The client has secret 2. The answers to its next attempts do not arrive.
        for socket in 3...20 { room.comeBack("ada", by: UInt64(socket), after: 1, at: 1, secret: "ada-2") }
        for (secret, outcome) in [
            ("ada-1", "resumed"), ("ada-2", "resumed"), ("ada-13", "lost"), ("ada-14", "resumed"),
            ("ada-20", "resumed"),
        ] {
            var other = room
            #expect(other.comeBack("ada", by: 30, after: 1, at: 1, secret: secret).contains(outcome), "\(secret)")
        }
    }

    @Test("RES-7: a token with another role or other connection data resumes nothing")
    func otherToken() {
        var room = Resumable()
        room.join("ada")
        room.detach("ada", at: 0)
        #expect(room.comeBack("ada", by: 2, after: 1, at: 1, role: .moderator).hasSuffix("lost"))
        #expect(room.comeBack("ada", by: 3, after: 1, at: 1, secret: "ada-1", data: "eve").hasSuffix("lost"))
        #expect(room.comeBack("ada", by: 4, after: 1, at: 1, secret: "ada-1").contains("resumed"))
    }

    @Test("RES-7, ERR-2: an expired token resumes a connection but begins none, and the refusal changes nothing")
    func expired() {
        var room = Resumable(logEventCount: 2)
        room.join("ada")
        room.detach("ada", at: 0)
        #expect(room.comeBack("ada", by: 2, after: 1, at: 1, isUntimely: true).contains("resumed"))
        room.join("bob", at: 1)
        for request in 1...3 { room.signal("bob", request: Int64(request), at: 1) }
        let before = room.session.log.lastSeq
        #expect(
            room.comeBack("ada", by: 3, after: 1, at: 2, isUntimely: true) == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(room.session.contains(client("ada")))
        #expect(
            room.comeBack("ada", by: 3, after: 1, at: 2, secret: "guess", isUntimely: true)
                == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(room.session.log.lastSeq == before)
    }

    @Test("RES-8: the newer of two sockets takes over the connection, and the older one is superseded")
    func superseded() {
        var room = Resumable()
        room.join("ada")
        #expect(room.comeBack("ada", by: 2, after: 1, at: 1) == "joined ada at 1 resumed through 1")
        #expect(room.effects.map(\.testDescription) == ["superseded 1"])
        #expect(room.signal("ada", socket: 1, request: 1) == "refused 500 OT_NOT_CONNECTED")
        room.handle(.leave(SocketBinding("ada", 1), .clientDisconnected), at: 2)
        room.detach("ada", socket: 1, at: 2)
        #expect(room.session.nextDeadline == nil, "the end of the older socket does not end the connection")
        #expect(room.signal("ada", socket: 2, request: 2) == "signalled 2")
    }

    @Test("RES-9, G3: a repeated request is not carried out again, and gets its first answer")
    func repeated() {
        var room = Resumable()
        room.join("mod", .moderator)
        room.join("bob")
        #expect(room.signal("mod", request: 2) == "signalled 3")
        let force = SessionCommand.forceDisconnect(.connection(SocketBinding("mod"), RequestID(3)), client("bob"))
        #expect(room.handle(force, at: 0) == "force-disconnected")
        let toBob = SignalRequest(to: client("bob"))
        let directed = SessionCommand.signal(.connection(SocketBinding("mod"), RequestID(4)), toBob)
        #expect(room.handle(directed, at: 0) == "refused 404 OT_NOT_FOUND")
        room.detach("mod", at: 1)
        room.comeBack("mod", by: 2, after: 2, at: 2, role: .moderator)
        let before = room.session.log.lastSeq
        #expect(room.signal("mod", socket: 2, request: 2) == "signalled 3")
        let again = SocketBinding("mod", 2)
        #expect(
            room.handle(.forceDisconnect(.connection(again, RequestID(3)), client("bob")), at: 2)
                == "force-disconnected")
        #expect(room.effects.isEmpty)
        #expect(
            room.handle(.signal(.connection(again, RequestID(4)), toBob), at: 2) == "refused 404 OT_NOT_FOUND")
        #expect(room.session.log.lastSeq == before)
        #expect(room.signal("mod", socket: 2, request: 5) == "signalled 5", "the next request is new")
    }

    @Test("RES-9: on one socket an ID that is used twice is no repetition")
    func sameSocket() {
        var room = Resumable()
        room.join("ada")
        #expect(room.signal("ada", request: 1) == "signalled 2")
        #expect(room.signal("ada", request: 1) == "signalled 3")
    }

    @Test("RES-9, G5: the session keeps 256 answers, and refuses an older request that is repeated")
    func forgotten() {
        var room = Resumable()
        room.join("ada")
        for request in 1...257 { room.signal("ada", request: Int64(request)) }
        room.detach("ada", at: 1)
        room.comeBack("ada", by: 2, after: 1, at: 2)
        #expect(room.signal("ada", socket: 2, request: 1) == "refused 1015 OT_ILLEGAL_STATE")
        #expect(room.signal("ada", socket: 2, request: 2) == "signalled 3")
        #expect(room.session.log.lastSeq == Seq(258))
    }

    @Test("RES-10: a connection that left or was force-disconnected cannot be resumed")
    func ended() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.handle(.leave(SocketBinding("ada"), .clientDisconnected), at: 1)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 2).hasSuffix("lost"))
        room.handle(.forceDisconnect(.server, client("bob")), at: 3)
        #expect(
            room.comeBack("bob", by: 2, after: 2, at: 4) == "was force-disconnected",
            "its socket may have been lost before `disconnected` arrived")
    }

    @Test(
        "RES-10: a client that was force-disconnected while away learns of it when it reconnects, and gets no new connection"
    )
    func forceDisconnectedWhileAway() {
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 1)
        room.handle(.forceDisconnect(.server, client("ada")), at: 2)
        room.handle(.leave(SocketBinding("bob"), .clientDisconnected), at: 2)
        #expect(room.session.isNeeded)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 3, secret: "guess").hasSuffix("lost"))
        #expect(room.comeBack("ada", by: 3, after: 2, at: 3, secret: "ada-1") == "was force-disconnected")
        #expect(
            room.comeBack("ada", by: 4, after: 2, at: 301.9, secret: "ada-1") == "was force-disconnected",
            "its first answer may have been lost")
        #expect(room.comeBack("ada", by: 5, after: 2, at: 302, secret: "ada-1").hasSuffix("lost"))
    }

    @Test(
        "G3, CON-7: without a resume window nothing is resumed, not even a connection whose loss was not noticed"
    )
    func unnoticedLossWithoutWindow() {
        var room = Resumable(resumeWindow: 0)
        room.join("ada")
        #expect(room.signal("ada", request: 2) == "signalled 2")
        #expect(room.comeBack("ada", by: 2, after: 1, at: 5) == "joined ada2 at 1 recovered through 3")
        #expect(room.effects.map(\.testDescription) == ["superseded 1"])
        #expect(room.destroyed.count == 1)
        var lost = Resumable(resumeWindow: 0, recoveryWindow: 0)
        lost.join("ada")
        #expect(lost.comeBack("ada", by: 2, after: 1, at: 5) == "joined ada2 at 3 lost")
    }

    @Test("RES-4, G4: a recovered connection that lost its socket before its replay recovers the same events again")
    func lostWhileRecovering() {
        for window in [0.0, 60] {
            var room = Resumable(resumeWindow: window)
            room.join("ada")
            room.join("bob")
            room.detach("ada", at: 1)
            room.signal("bob", request: 1, at: 70)
            #expect(room.comeBack("ada", by: 2, after: 2, at: 80).hasPrefix("joined ada2 at 2 recovered"))
            room.handle(.detach(SocketBinding("ada2", 2)), at: 81)
            let claim = Resumption(
                connectionId: client("ada2"), secretHash: hash("ada-2"), epoch: Epoch("e"), after: Seq(2))
            let request = JoinRequest(
                connectionId: client("ada3"), role: .publisher, data: "ada", wallTime: .init(milliseconds: 0),
                socket: 3, resumption: claim)
            #expect(room.handle(.join(request), at: 82).hasPrefix("joined ada3 at 2 recovered"))
        }
    }

    @Test("G4, RES-16: the outcome is lost if the client's own join pushes the first missed event out of the log")
    func recoveredFromFullLog() {
        var room = Resumable(logEventCount: 3, resumeWindow: 0)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 1)
        room.signal("bob", request: 1, at: 2)
        #expect(room.session.log.reachesBackTo == Seq(1))
        #expect(room.comeBack("ada", by: 2, after: 1, at: 3) == "joined ada2 at 2 lost through 4 without 2 to 2")
    }

    @Test("RES-11, G8: a client cannot read events from before its own connection, resumed or recovered")
    func beginning() {
        for window in [60.0, 0] {
            var room = Resumable(resumeWindow: window)
            room.join("bob")
            room.signal("bob", request: 1)
            room.join("ada")
            room.detach("ada", at: 0)
            let outcome = room.comeBack("ada", by: 2, after: 0, at: 1)
            #expect(outcome.contains(window > 0 ? "at 3 resumed" : "at 3 recovered"), "\(outcome)")
        }
    }

    @Test(
        "RES-2, RES-5: a recovered connection gets the missed broadcasts with their senders, and no missed presence"
    )
    func recoveredDelivery() {
        var room = Resumable(resumeWindow: 1)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        room.join("eve", at: 2)
        room.signal("eve", request: 1, at: 2)
        room.handle(.signal(.server, SignalRequest(data: "secret", to: client("bob"))), at: 2)
        room.handle(.leave(SocketBinding("eve"), .clientDisconnected), at: 2)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 3) == "joined ada2 at 2 recovered through 7")
        room.signal("bob", request: 1, at: 3)
        room.join("dora", at: 3)
        var outbox = Outbox(
            owner: client("ada2"), suppressesPresence: false, cursor: Seq(2), recoversThrough: Seq(7))
        #expect(
            dequeueAll(&outbox, room.session.log).map { String($0.prefix(130)) } == [
                #"{"ev":"signal","seq":5,"from":"eve","connection":{"connectionId":"eve","creationTime":2,"data":"eve"},"data":"1"}"#,
                #"{"ev":"signal","seq":9,"from":"bob","data":"1"}"#,
                #"{"ev":"connectionCreated","seq":10,"connection":{"connectionId":"dora","creationTime":4,"data":"dora"}}"#,
            ])
    }

    @Test("RES-5: a recovered connection does not share a batch with connections at the same seq")
    func recoveredBesideOthers() {
        var room = Resumable(resumeWindow: 0)
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        room.comeBack("ada", by: 2, after: 2, at: 1)
        var batch = SharedBatch(log: room.session.log, after: Seq(2), onlineOnly: [])
        var recovered = Outbox(
            owner: client("ada2"), suppressesPresence: false, cursor: Seq(2), recoversThrough: Seq(3))
        #expect(batch.bytes(for: &recovered, log: room.session.log) == nil)
        #expect(dequeueAll(&recovered, room.session.log) == [])
    }

    @Test("G5: the number of recoverable connections is bounded, and the oldest go first")
    func recoverableBound() {
        var room = Resumable(resumeWindow: 0, recoverableCount: 2)
        for name in ["ada", "bob", "eve"] {
            room.join(name)
            room.detach(name, at: 1)
        }
        #expect(room.comeBack("ada", by: 2, after: 6, at: 2).hasSuffix("lost"))
        #expect(room.comeBack("bob", by: 2, after: 3, at: 2).contains("recovered"))
        #expect(room.comeBack("eve", by: 2, after: 5, at: 2).contains("recovered"))
    }

    @Test("G4, RES-3: a client that has more than its server ever had is of another past, and is told")
    func beyondReach() {
        // A copy of the state was put back while the client stayed where it was: others have used its seqs meanwhile.
        for late in [false, true] {
            var room = Resumable()
            room.join("ada")
            room.join("bob")
            room.detach("ada", at: 0)
            for number in 1...5 { room.signal("bob", request: Int64(number), at: 1) }
            let answer = room.comeBack("ada", by: 2, after: 4, at: late ? 100 : 2)
            #expect(answer.hasSuffix("lost"), "\(answer)")
        }
        var room = Resumable()
        room.join("ada")
        room.join("bob")
        room.detach("ada", at: 0)
        room.signal("bob", request: 1, at: 1)
        #expect(room.comeBack("ada", by: 2, after: 2, at: 2).contains("resumed"), "what it can have")
    }

    @Test("RES-14, G5: events older than the recovery window are dropped")
    func age() {
        var room = Resumable()
        room.join("ada")
        room.signal("ada", request: 1, at: 100)
        room.signal("ada", request: 2, at: 300)
        #expect(room.session.log.entries.count == 3)
        room.signal("ada", request: 3, at: 300.5)
        #expect(room.session.log.entries.map(\.seq.rawValue) == [2, 3, 4])
    }

    @Test("RES-2: the engine keeps a session as long as a client may come back, and then deletes it")
    func kept() {
        var epochCount = 0
        let engine = MemoryEngine {
            epochCount += 1
            return Epoch("\(epochCount)")
        }
        let ticket = CommandTicket(origin: 1, request: nil)
        let ada = JoinRequest(connectionId: client("ada"), role: .publisher, data: "", wallTime: .init(milliseconds: 0))
        engine.submit(.join(ada), to: room, ticket: ticket, now: .seconds(0))
        engine.submit(.detach(SocketBinding("ada")), to: room, ticket: ticket, now: .seconds(10))
        #expect(engine.nextDeadline == .seconds(20), "PRES-4")
        engine.advance(to: .seconds(20))
        #expect(engine.nextDeadline == .seconds(70))
        engine.advance(to: .seconds(70))
        #expect(engine.connections(of: room).isEmpty)
        #expect(engine.sessionCount == 1)
        #expect(engine.nextDeadline == .seconds(310))
        engine.advance(to: .seconds(309))
        #expect(engine.sessionCount == 1)
        engine.advance(to: .seconds(310))
        #expect(engine.sessionCount == 0)
        #expect(engine.nextDeadline == nil)
    }
}

@Suite("A connection's recorded answers")
struct AnswerBookTests {
    @Test("RES-9: no request is a repetition before the socket changes")
    func noChange() {
        var book = AnswerBook()
        book.record(RequestID(1), .forceDisconnected)
        #expect(book.recall(RequestID(1)) == .new)
        book.socketChanged()
        #expect(book.recall(RequestID(1)) == .answered(.forceDisconnected))
        #expect(book.recall(RequestID(2)) == .new)
        book.record(RequestID(2), .signalled(Seq(4)))
        #expect(book.recall(RequestID(2)) == .new)
        #expect(book.recall(RequestID(0)) == .forgotten)
    }

    @Test("RES-9: every answer is recorded, with the code and name of an error")
    func answers() {
        var book = AnswerBook()
        let errors = SignalingError.Code.all.map { AnswerBook.Answer.refused(SignalingError($0, "why")) }
        let answers = [.forceDisconnected, .signalled(Seq(1)), .signalled(Seq(.max))] + errors
        for (id, answer) in answers.enumerated() { book.record(RequestID(Int64(id)), answer) }
        book.socketChanged()
        for (id, answer) in answers.enumerated() {
            #expect(book.recall(RequestID(Int64(id))) == .answered(answer))
        }
    }

    @Test("G5: the 256 answers of a connection take 4 KiB")
    func memory() {
        #expect(MemoryLayout<AnswerBook.Entry>.stride * Limits.unansweredRequests <= 4096)
    }
}
