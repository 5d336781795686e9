import SignalingProtocol
import SignalingVerification
import Testing

@Suite("the judge of the wire")
struct WireJudgeTests {
    /// Each wire breaks one promise, and only that one.
    private func expect(_ promise: Violation.Promise, _ wire: inout Wire, isSettled: Bool = true) {
        let found = wire.violations(isSettled: isSettled)
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.promise == promise }, "\(found)")
    }

    @Test("a session without a fault has no violation")
    func good() {
        var wire = Wire.ofTwo()
        wire.exchange("a", seq: 3, id: 2)
        wire.up(1, signal("b", 3, to: "bob"), signal("c", 4, onlineOnly: true))
        wire.down(1, ack(3, 4), received("c", nil), ack(4, nil))
        wire.down(2, received("b", 4, to: "bob"), received("c", nil), #"{"ev":"ping","seq":4}"#)
        wire.up(2, #"{"op":"pong"}"#)
        wire.judge.closed(2, at: wire.now)
        wire.pass(3)
        wire.exchange("d", seq: 5, id: 5)
        wire.resume(3, "bob", after: 4, "resumed", seq: 4, replayThrough: 5)
        wire.down(3, received("d", 5))
        #expect(wire.violations() == [])
        #expect(wire.judge.deliveryCount == 6)
    }

    @Test("G3: an event that one client does not get")
    func missing() {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2))
        wire.down(1, received("a", 3), ack(2, 3))
        wire.exchange("b", seq: 4, id: 3)
        expect(.g3, &wire)
    }

    @Test("G3: a ping claims what was not sent (HB-2)")
    func claimed() {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2))
        wire.down(1, received("a", 3), ack(2, 3))
        wire.down(2, #"{"ev":"ping","seq":3}"#)
        expect(.g3, &wire, isSettled: false)
    }

    @Test("G3: a resume that replays what the client has")
    func oldReplay() {
        var wire = Wire.ofTwo()
        wire.exchange("a", seq: 3, id: 2)
        wire.judge.closed(2, at: wire.now)
        wire.resume(3, "bob", after: 3, "resumed", seq: 3, replayThrough: 3)
        wire.down(3, received("a", 3))
        expect(.g3, &wire)
    }

    @Test("G4: a resume that skips what the client misses")
    func silentResume() {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.up(1, signal("a", 2))
        wire.down(1, received("a", 3), ack(2, 3))
        wire.resume(3, "bob", after: 2, "resumed", seq: 3)
        expect(.g4, &wire)
    }

    @Test("G1: two clients see different events at one seq", arguments: ["a", "b"])
    func order(second: String) {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2), signal("b", 3))
        wire.down(1, received("a", 3), received("b", 4), ack(2, 3), ack(3, 4))
        wire.down(2, received(second, second == "a" ? 4 : 3))
        #expect(wire.violations().contains { $0.promise == .g1 })
    }

    @Test("G1: what passes behind the loss of a socket has its place in the order", arguments: [true, false])
    func behindLoss(isSame: Bool) {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now, isSilent: true)
        wire.up(1, signal("1", 2), signal("2", 3))
        // The server does not know of the loss.
        wire.down(2, received("1", 3))
        wire.down(1, received(isSame ? "1" : "2", 3))
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g1 } == !isSame)
    }

    @Test("G3: a signal is in the order twice")
    func twice() {
        var wire = Wire.ofTwo()
        wire.exchange("a", seq: 3, id: 2)
        wire.down(1, received("a", 4))
        wire.down(2, received("a", 4))
        expect(.g3, &wire)
    }

    @Test("G8: a wrong sender")
    func from() {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2, onlineOnly: true))
        wire.down(1, received("a", nil), ack(2, nil))
        wire.down(2, received("a", nil, from: "bob"))
        expect(.g8, &wire)
    }

    @Test("G2: answers out of order, early and missing (WIRE-8, SIG-6)", arguments: 0..<3)
    func answers(fault: Int) {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2), signal("b", 3))
        switch fault {
        case 0: wire.down(1, received("a", 3), received("b", 4), ack(3, 4), ack(2, 3))
        case 1: wire.down(1, ack(2, 3), received("a", 3), received("b", 4), ack(3, 4))
        default: wire.down(1, received("a", 3), received("b", 4), ack(2, 3))
        }
        wire.down(2, received("a", 3), received("b", 4))
        #expect(wire.violations().contains { $0.promise == .g2 })
    }

    @Test("G4: a needless lost, and a needless recovered", arguments: ["lost", "recovered"])
    func needless(outcome: String) {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.pass(20)
        wire.resume(3, "bob", after: 2, outcome, as: "bob2", seq: 4, replayThrough: nil, others: ["ada"])
        wire.down(1, destroyed("bob", 3), created("bob2", 4))
        expect(.g4, &wire)
    }

    @Test("a lost after the windows, or from an overrun log, is right", arguments: [true, false])
    func rightLost(isLate: Bool) {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        if !isLate { for number in 0..<200 { wire.exchangeAlone("d\(number)", seq: 3 + number, id: 2 + number) } }
        wire.pass(isLate ? 400 : 20)
        let seq = isLate ? 3 : 203
        wire.down(1, destroyed("bob", seq), created("bob2", seq + 1))
        wire.resume(3, "bob", after: 2, "lost", as: "bob2", seq: seq + 1, others: ["ada"])
        // A late departure would be another fault.
        #expect(wire.violations(isSettled: false) == [])
    }

    @Test("G4: an epoch ends without a reason, or goes on after the sessions were lost", arguments: [true, false])
    func epochs(isConstant: Bool) {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        if isConstant {
            wire.judge.closed(1, at: wire.now)
            wire.judge.serverLostSessions(at: wire.now)
        }
        wire.resume(
            3, "bob", after: 2, "lost", as: "bob2", seq: 7, others: isConstant ? [] : ["ada"],
            epoch: isConstant ? "e" : "f")
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g4 })
    }

    @Test("G7: a departure that nobody is told, or too late, or too early", arguments: 0..<3)
    func departures(fault: Int) {
        var wire = Wire.ofTwo()
        wire.pass(1)
        wire.judge.closed(2, at: wire.now)
        switch fault {
        case 0: wire.pass(90)
        case 1:
            wire.pass(190)
            wire.down(1, destroyed("bob", 3))
        default:
            wire.pass(20)
            wire.down(1, destroyed("bob", 3))
        }
        expect(.g7, &wire)
    }

    @Test("a departure in time is right")
    func departure() {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.pass(70)
        wire.down(1, destroyed("bob", 3))
        wire.pass(60)
        #expect(wire.violations() == [])
    }

    @Test(
        "LOG-32: the windows begin when other nodes take a socket for lost, and not when it closes",
        arguments: [true, false])
    func takenForLost(isTaken: Bool) {
        var wire = Wire.ofTwo()
        if isTaken { wire.judge.takenForLost(2, at: wire.now) }
        wire.judge.closed(1, at: wire.now)
        wire.pass(100)
        // By then nobody was left who could be told of the departures.
        wire.connect(3, as: "cleo", seq: 5)
        wire.pass(10)
        wire.judge.closed(2, at: wire.now)
        wire.pass(200)
        #expect(wire.violations().map(\.promise) == (isTaken ? [] : [.g7]))
    }

    @Test("G7: a connection that is told twice, or is not in the list, or signals after its end", arguments: 0..<3)
    func presence(fault: Int) {
        var wire = Wire.ofTwo()
        switch fault {
        case 0:
            wire.down(1, created("bob", 3))
        case 1: wire.connect(3, as: "cleo", seq: 3, others: ["ada"])
        default:
            wire.down(1, destroyed("bob", 3, "clientDisconnected"))
            wire.up(2, signal("late", 2))
            wire.down(1, received("late", 4, from: "bob"))
        }
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g7 })
    }

    @Test("G7, CON-11: a list in pages lacks a connection if its last page has come without it", arguments: [0, 1])
    func pages(rest: Int) {
        var wire = Wire.ofTwo()
        wire.judge.opened(3, at: wire.now)
        wire.up(
            3,
            #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t","options":{"connectionPages":true}}"#)
        wire.down(
            3,
            wire.connected("cleo", seq: 3, "new").replacing(#","epoch""#, with: #","connectionCount":3,"epoch""#),
            #"{"ev":"connections","connections":[{"connectionId":"ada"}],"rest":\#(rest)}"#)
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g7 } == (rest == 0))
    }

    @Test("G7: a resume long after the window")
    func neverExpired() {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.pass(120)
        wire.resume(3, "bob", after: 2, "resumed", seq: 2)
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g7 })
    }

    @Test("G6: an online-only signal twice, or on a socket that was opened after it")
    func onlineOnly() {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2, onlineOnly: true))
        wire.down(1, received("a", nil), ack(2, nil), received("a", nil))
        expect(.g6, &wire)
        wire = Wire.ofTwo()
        wire.up(1, signal("a", 2, onlineOnly: true))
        wire.down(1, received("a", nil), ack(2, nil))
        wire.judge.closed(2, at: wire.now)
        wire.pass(1)
        wire.resume(3, "bob", after: 2, "resumed", seq: 2)
        wire.down(3, received("a", nil))
        expect(.g6, &wire)
    }

    @Test("G2: a signal with the status 204 that is not in the order (REST-2)", arguments: [true, false])
    func rest(isKept: Bool) {
        var wire = Wire.ofTwo()
        wire.judge.sentByREST(data: "r", type: nil, to: nil)
        if isKept {
            let line = #"{"ev":"signal","seq":3,"from":null,"data":"r"}"#
            wire.down(1, line)
            wire.down(2, line)
        }
        wire.judge.acknowledgedByREST(data: "r", in: "s", at: wire.now)
        #expect(wire.violations().map(\.promise) == (isKept ? [] : [.g2]))
    }

    @Test("G2: the same before a kill, if a client could have received it", arguments: [1.0, 10])
    func restBeforeKill(seconds: Double) {
        var wire = Wire.ofTwo()
        wire.judge.sentByREST(data: "r", type: nil, to: nil)
        wire.judge.acknowledgedByREST(data: "r", in: "s", at: wire.now)
        wire.pass(seconds)
        wire.judge.closed(1, at: wire.now)
        wire.judge.closed(2, at: wire.now)
        wire.judge.serverKilled(at: wire.now)
        #expect(wire.violations(isSettled: false).map(\.promise) == (seconds < 5 ? [] : [.g2]))
    }

    @Test("G7: a forced disconnect is confirmed, and the socket stays open (LEAVE-3)")
    func forced() {
        var wire = Wire.ofTwo()
        wire.judge.forceDisconnectedByREST("bob", at: wire.now)
        wire.pass(10)
        expect(.g7, &wire)
    }

    @Test(
        "G7: a connection is resumed after its forced disconnect, unless both were in one turn", arguments: [0.0, 6.0])
    func resumedAfterForced(seconds: Double) {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.judge.forceDisconnectedByREST("bob", at: wire.now)
        wire.pass(seconds)
        wire.resume(3, "bob", after: 2, "resumed", seq: 2)
        #expect(wire.violations(isSettled: false).map(\.promise) == (seconds == 0 ? [] : [.g7]))
    }

    @Test("a close without its reason: forced, left, slow, malformed", arguments: [4502, 1000, 4002, 4503])
    func closes(code: Int) {
        var wire = Wire.ofTwo()
        wire.judge.serverClosed(2, code: code)
        #expect(wire.violations(isSettled: false).count == 1)
    }

    @Test("a close with its reason: after a forced disconnect, from a slow client, at a stop")
    func rightCloses() {
        var wire = Wire.ofTwo()
        wire.down(2, #"{"ev":"disconnected","reason":"forceDisconnected","reconnect":false}"#)
        wire.judge.serverClosed(2, code: 4502)
        wire.judge.impaired(1)
        wire.judge.serverClosed(1, code: 4002)
        wire.connect(3, as: "cleo", seq: 3, others: ["ada", "bob"])
        wire.judge.serverClosed(3, code: 1001)
        #expect(wire.violations(isSettled: false) == [])
    }

    @Test("a close of a client that leaves while a backend ends its connection")
    func leftAndForced() {
        for closes in [false, true] {
            var wire = Wire.ofTwo()
            if !closes { wire.up(2, #"{"op":"disconnect","id":2}"#) }
            wire.judge.forceDisconnectedByREST("bob", at: wire.now)
            if closes { wire.judge.clientClosed(2, code: 1000) }
            wire.judge.serverClosed(2, code: 1000)
            #expect(wire.violations(isSettled: false) == [])
        }
    }

    @Test("a client that gives up its connect: `connected` passes after its close frame")
    func closeBeforeConnected() {
        var wire = Wire()
        wire.judge.opened(1, at: wire.now)
        wire.up(1, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
        wire.judge.clientClosed(1, code: 1000)
        wire.down(1, wire.connected("ada", seq: 1, "new"))
        wire.judge.serverClosed(1, code: 1000)
        #expect(wire.violations(isSettled: false) == [])
    }

    @Test("G7: after a confirmed disconnect the others are told at once")
    func lateDeparture() {
        var wire = Wire.ofTwo()
        wire.pass(1)
        wire.up(2, #"{"op":"disconnect","id":2}"#)
        wire.down(
            2, ack(2, nil), #"{"ev":"disconnected","reason":"clientDisconnected","reconnect":false}"#)
        wire.judge.closed(2, at: wire.now)
        wire.pass(20)
        wire.down(1, destroyed("bob", 3, "clientDisconnected"))
        expect(.g7, &wire)
    }

    @Test("CON-4: presence for a client that suppresses it")
    func suppressed() {
        var wire = Wire.ofTwo()
        wire.connect(3, as: "cleo", seq: 3, options: #"{"connectionEventsSuppressed":true}"#)
        wire.down(1, created("cleo", 3))
        wire.down(2, created("cleo", 3))
        #expect(wire.violations() == [])
        wire.down(1, destroyed("bob", 4, "clientDisconnected"))
        wire.down(3, destroyed("bob", 4, "clientDisconnected"))
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g8 })
    }

    // MARK: - Senders

    /// Ada has sent one signal with the seq 4, and one online-only signal. Cleo gets no presence.
    private func wireWithoutPresence(seen: String, seenOnline: String) -> Wire {
        var wire = Wire.ofTwo()
        wire.connect(3, as: "cleo", seq: 3, options: #"{"connectionEventsSuppressed":true}"#)
        wire.down(1, created("cleo", 3))
        wire.down(2, created("cleo", 3))
        wire.up(1, signal("a", 2), signal("b", 3, onlineOnly: true))
        wire.down(1, received("a", 4), ack(2, 4), received("b", nil), ack(3, nil))
        wire.down(2, received("a", 4), received("b", nil))
        wire.down(3, seen, seenOnline)
        return wire
    }

    /// Bob comes back after his resume window, and gets the signal that Ada has sent meanwhile.
    private func recoveredWire(seen: String) -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.exchangeAlone("a", seq: 3, id: 2)
        wire.pass(60)
        wire.down(1, destroyed("bob", 4))
        wire.pass(10)
        wire.resume(3, "bob", after: 2, "recovered", as: "bob2", seq: 2, replayThrough: 5, others: ["ada"])
        wire.down(1, created("bob2", 5))
        wire.down(3, seen)
        return wire
    }

    @Test("SIG-9, RES-5: a receiver that cannot know the sender is told who it is")
    func senders() {
        let ada = details("ada")
        var wire = wireWithoutPresence(seen: received("a", 4, sender: ada), seenOnline: received("b", nil, sender: ada))
        #expect(wire.violations() == [])
        wire = recoveredWire(seen: received("a", 3, sender: ada))
        // After the replay the receiver knows the sender from its list.
        wire.up(1, signal("c", 3))
        wire.down(1, received("c", 6), ack(3, 6))
        wire.down(3, received("c", 6))
        #expect(wire.violations() == [])
    }

    @Test("G8: no details of the sender, another's, and other ones than before (SIG-9, RES-5)", arguments: 0..<5)
    func wrongSenders(fault: Int) {
        let (ada, right) = (details("ada"), received("b", nil, sender: details("ada")))
        var wire =
            switch fault {
            case 0: wireWithoutPresence(seen: received("a", 4), seenOnline: right)
            case 1: wireWithoutPresence(seen: received("a", 4, sender: ada), seenOnline: received("b", nil))
            case 2: wireWithoutPresence(seen: received("a", 4, sender: details("bob")), seenOnline: right)
            case 3: wireWithoutPresence(seen: received("a", 4, sender: details("ada", data: "x")), seenOnline: right)
            default: recoveredWire(seen: received("a", 3))
            }
        expect(.g8, &wire)
    }

    @Test("G8: a signal by REST with the details of a sender (SIG-9)")
    func senderOfREST() {
        var wire = Wire.ofTwo()
        wire.judge.sentByREST(data: "r", type: nil, to: nil)
        for socket in 1...2 {
            wire.down(socket, #"{"ev":"signal","seq":3,"from":null,"connection":\#(details("ada")),"data":"r"}"#)
        }
        expect(.g8, &wire)
    }

    @Test("G8: a signal arrives with another type or target (SIG-7)", arguments: 0..<3)
    func wrongAddress(fault: Int) {
        var wire = Wire.ofTwo()
        wire.up(1, signal("a", 2, to: "bob"))
        wire.down(1, ack(2, 3))
        switch fault {
        case 0: wire.down(2, received("a", 3))
        case 1: wire.down(2, received("a", 3, to: "ada"))
        default: wire.down(2, received("a", 3, to: "bob", type: "x"))
        }
        expect(.g8, &wire)
    }

    @Test("G8: a connection has another role, or other data, than its token, or is told with other data (CON-5)")
    func wrongIdentity() {
        for (role, data) in [("moderator", ""), ("publisher", "x"), ("publisher", "")] {
            var wire = Wire()
            wire.judge.issued("t", role: "publisher", data: "")
            wire.judge.opened(1, at: wire.now)
            wire.up(1, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
            let ada = details("ada", data: data)
            wire.down(
                1,
                #"{"ev":"connected","id":1,"connection":\#(ada),"connections":[\#(ada)],"role":"\#(role)","epoch":"e","#
                    + #""seq":1,"outcome":"new","resume":{"secret":"secret"}}"#)
            if (role, data) != ("publisher", "") {
                expect(.g8, &wire)
                continue
            }
            #expect(wire.violations() == [])
            wire.connect(2, as: "bob", seq: 2, others: ["ada"])
            wire.down(1, created("bob", 2))
            // Without any data, Bob's list has no data of Ada, and he himself has none of his token.
            #expect(wire.violations().map(\.promise) == [.g8, .g8])
        }
    }

    /// Cleo enters a session of two and asks for pages.
    private func pagedWire() -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.opened(3, at: wire.now)
        wire.up(
            3,
            #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t","options":{"connectionPages":true}}"#)
        wire.down(
            3,
            #"{"ev":"connected","id":1,"connection":{"connectionId":"cleo"},"connections":[{"connectionId":"cleo"}],"#
                + #""connectionCount":3,"epoch":"e","seq":3,"outcome":"new","resume":{"secret":"secret"}}"#)
        wire.down(1, created("cleo", 3))
        wire.down(2, created("cleo", 3))
        return wire
    }

    private func page(_ ids: String..., rest: Int) -> String {
        let list = ids.map { #"{"connectionId":"\#($0)"}"# }.joined(separator: ",")
        return #"{"ev":"connections","connections":[\#(list)],"rest":\#(rest)}"#
    }

    @Test("CON-11: a list may come in pages, and is lost with its socket")
    func pages() {
        var wire = pagedWire()
        wire.down(3, page("ada", rest: 1), page("bob", rest: 0))
        #expect(wire.violations() == [])
        wire = pagedWire()
        wire.judge.closed(3, at: wire.now)
        #expect(wire.violations() == [])
    }

    @Test("CON-11: a page is missing, miscounted, or comes after an event")
    func wrongPages() {
        var wire = pagedWire()
        wire.down(3, page("ada", rest: 0), page("bob", rest: 0))
        expect(.g7, &wire)
        wire = pagedWire()
        wire.down(3, page("ada", rest: 1), #"{"ev":"ping","seq":3}"#)
        expect(.g7, &wire)
        wire = pagedWire()
        wire.down(3, page("ada", rest: 1))
        expect(.g7, &wire)
    }

    @Test("RES-16: a range of missing events that begins too late", arguments: [4, 5])
    func missingRange(first: Int) {
        var wire = Wire.ofTwo()
        wire.exchange("a", seq: 3, id: 2)
        wire.judge.closed(2, at: wire.now)
        for number in 0..<200 { wire.exchangeAlone("d\(number)", seq: 4 + number, id: 3 + number) }
        wire.askToResume(3, "bob", after: 3)
        wire.down(1, destroyed("bob", 204), created("bob2", 205))
        wire.down(
            3,
            #"{"ev":"connected","id":1,"connection":{"connectionId":"bob2"},"connections":[{"connectionId":"bob2"},"#
                + #"{"connectionId":"ada"}],"epoch":"e","seq":205,"outcome":"lost","replayThrough":205,"#
                + #""missing":{"first":\#(first),"last":205},"resume":{"secret":"secret"}}"#)
        let found = wire.violations(isSettled: false)
        #expect(found.map(\.promise) == (first == 4 ? [] : [.g4]), "\(found)")
    }

    // MARK: - Absences

    /// Ada asked for absences, and Bob has no socket since the first second.
    private func absentWire() -> Wire {
        var wire = Wire()
        wire.judge.opened(1, at: wire.now)
        wire.up(
            1,
            #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t","options":{"connectionAwayEvents":true}}"#
        )
        wire.down(1, wire.connected("ada", seq: 1, "new", away: []))
        wire.connect(2, as: "bob", seq: 2, others: ["ada"])
        wire.down(1, created("bob", 2))
        wire.pass(1)
        wire.judge.closed(2, at: wire.now)
        return wire
    }

    private func away(_ id: String) -> String { #"{"ev":"connectionAway","connectionId":"\#(id)"}"# }
    private func back(_ id: String) -> String { #"{"ev":"connectionBack","connectionId":"\#(id)"}"# }

    @Test("PRES-4: an absence is told once, and so is its end, also when it passes before `connected`")
    func absence() {
        var wire = absentWire()
        wire.pass(10)
        wire.down(1, away("bob"))
        wire.pass(10)
        wire.askToResume(3, "bob", after: 2)
        wire.down(1, back("bob"))
        wire.down(3, wire.connected("bob", seq: 2, "resumed"))
        #expect(wire.violations() == [])
    }

    @Test("PRES-4: away twice, too early, of a client that left, back without away", arguments: 0..<4)
    func wrongAbsences(fault: Int) {
        var wire = absentWire()
        switch fault {
        case 0:
            wire.pass(10)
            wire.down(1, away("bob"), away("bob"))
        case 1:
            wire.pass(2)
            wire.down(1, away("bob"))
        case 2:
            wire.pass(60)
            wire.down(1, away("bob"), destroyed("bob", 3), away("bob"))
        default:
            wire.pass(2)
            wire.down(1, back("bob"))
        }
        expect(.g7, &wire, isSettled: false)
    }

    @Test("PRES-4: an absence is not told, or its end is not", arguments: [true, false])
    func untoldAbsence(isBackUntold: Bool) {
        var wire = absentWire()
        wire.pass(20)
        if isBackUntold { wire.down(1, away("bob")) }
        wire.resume(3, "bob", after: 2, "resumed", seq: 2)
        wire.pass(20)
        expect(.g7, &wire)
    }

    @Test("PRES-4: an absence in which the machine stood still need not be told", arguments: [true, false])
    func stalledAbsence(isStalled: Bool) {
        var wire = absentWire()
        var meter = StallMeter(at: wire.now)
        let steps = Array(repeating: 0.5, count: 24) + (isStalled ? [8] : Array(repeating: 0.5, count: 16))
        for step in steps {
            wire.pass(step)
            meter.tick(at: wire.now)
        }
        #expect(meter.total == (isStalled ? .seconds(8) : .zero))
        wire.judge.terms = wire.judge.terms.tolerating(meter.total)
        wire.resume(3, "bob", after: 2, "resumed", seq: 2)
        #expect(wire.violations(isSettled: false).isEmpty == isStalled)
    }

    @Test("PRES-4: a client that did not ask for absences is told of none")
    func unaskedAbsence() {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.pass(11)
        wire.down(1, away("bob"))
        expect(.g7, &wire, isSettled: false)
    }

    // MARK: - A server that keeps its sessions when it is killed

    /// Ada and Bob lose their sockets because the server is killed.
    private func killedWire(isDurable: Bool) -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.terms.isDurable = isDurable
        wire.exchange("a", seq: 3, id: 2)
        wire.judge.closed(1, at: wire.now)
        wire.judge.closed(2, at: wire.now)
        wire.pass(1)
        wire.judge.serverKilled(at: wire.now)
        wire.judge.serverStarted(at: wire.now)
        return wire
    }

    @Test("a durable server that is killed: clients see a lost socket, and nothing is judged as lost")
    func durable() {
        var wire = killedWire(isDurable: true)
        wire.resume(3, "ada", after: 3, "resumed", seq: 3)
        wire.resume(4, "bob", after: 3, "resumed", seq: 3)
        #expect(wire.violations() == [])
    }

    @Test(
        "G4: after a kill a client gets lost in a new epoch: right without a durable log, and wrong with one",
        arguments: [false, true])
    func lostAfterKill(isDurable: Bool) {
        var wire = killedWire(isDurable: isDurable)
        wire.resume(3, "ada", after: 3, "lost", as: "ada2", seq: 1, epoch: "f")
        wire.resume(4, "bob", after: 3, "lost", as: "bob2", seq: 2, others: ["ada2"], epoch: "f")
        wire.down(3, created("bob2", 2))
        let found = wire.violations(isSettled: false)
        #expect(found.isEmpty == !isDurable, "\(found)")
        #expect(found.allSatisfy { $0.promise == .g4 }, "\(found)")
    }

    @Test(
        "G4, G7: after a kill in the same epoch: a needless lost, and the departure of a client that came back",
        arguments: [true, false])
    func flickerAfterKill(isLost: Bool) {
        var wire = killedWire(isDurable: true)
        wire.resume(3, "ada", after: 3, "resumed", seq: 3)
        if isLost {
            wire.resume(4, "bob", after: 3, "lost", as: "bob2", seq: 5, others: ["ada"])
        } else {
            wire.resume(4, "bob", after: 3, "resumed", seq: 3)
        }
        wire.down(3, destroyed("bob", 4))
        #expect(wire.violations(isSettled: false).contains { $0.promise == (isLost ? .g4 : .g7) })
    }

    @Test("RES-4: a replay ends before an event that had been sent to another client")
    func shortReplay() {
        var wire = Wire.ofTwo()
        wire.judge.closed(2, at: wire.now)
        wire.up(1, signal("a", 2))
        wire.down(1, received("a", 3), ack(2, 3))
        wire.resume(3, "bob", after: 2, "resumed", seq: 2, replayThrough: 2)
        wire.down(3, received("a", 3))
        expect(.g4, &wire)
    }
}
