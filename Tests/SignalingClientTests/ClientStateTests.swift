import SignalingProtocol
import Testing

@testable import SignalingClient

let ada = Connection(connectionId: ConnectionID("ada"), creationTime: WallTime(milliseconds: 1), data: "Ada")
let bob = Connection(connectionId: ConnectionID("bob"), creationTime: WallTime(milliseconds: 2), data: "Bob")

func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

/// A client's rules, at a time that the test sets.
struct Driven {
    var state = ClientState(random: { 0.5 })
    var now = at(0)

    mutating func handle(_ input: ClientState.Input) -> [String] {
        state.handle(input, now: now).map(describe)
    }

    mutating func advance(to seconds: Double) -> [String] {
        now = at(seconds)
        return state.advance(to: now).map(describe)
    }

    /// Connected at time 0, as request 1, having seen everything up to seq 2.
    static func connected(_ welcome: Welcome = .test) -> Driven {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        _ = driven.handle(.socketOpened)
        _ = driven.handle(.received(.connected(RequestID(1), welcome)))
        return driven
    }

    mutating func signal(_ call: UInt64) -> [String] {
        handle(.signal(SignalRequest(type: "chat"), ClientState.CallID(rawValue: call)))
    }
}

func describe(_ effect: ClientState.Effect) -> String {
    switch effect {
    case .openSocket: "open"
    case .send(let message): "send " + String(decoding: message.encoded(), as: UTF8.self)
    case .closeSocket(let reason): "close \(reason.rawValue)"
    case .connectSucceeded: "connected"
    case .connectFailed(let error): "connect failed \(error.code.number)"
    case .callSucceeded(let call, let seq): "call \(call.rawValue) done" + (seq.map { " \($0)" } ?? "")
    case .restrictionsRead(let call, let records): "call \(call.rawValue) read \(records.count)"
    case .pageRead(let call, let page): "call \(call.rawValue) read \(page.messages.count)"
    case .callFailed(let call, let error): "call \(call.rawValue) failed \(error.code.number)"
    case .emit(.signal(let signal)): "signal \(signal.data ?? "-") from \(signal.from?.data ?? "-")"
    case .emit(.connectionCreated(let connection)): "created \(connection.data)"
    case .emit(.connectionDestroyed(let connection, let reason)): "destroyed \(connection.data) \(reason)"
    case .connectionReplaced(let welcome): "now \(welcome.connection.connectionId)"
    case .connectionResumed(let welcome): "still \(welcome.connection.connectionId)"
    case .emit(.connectionAway(let connection)): "away \(connection.data)"
    case .emit(.connectionBack(let connection)): "back \(connection.data)"
    case .emit(.reconnecting): "reconnecting"
    case .emit(.reconnected(let outcome, _)): "reconnected \(outcome)"
    case .emit(.disconnected(let reason, let ban)): "disconnected \(reason)" + (ban == nil ? "" : ", banned")
    case .emit(.userJoined(let user)): "user \(user.id) joined"
    case .emit(.userLeft(let user)): "user \(user.id) left"
    case .emit(.moderated(let event, let seq)): "moderated \(seq) \(event.action.name)"
    case .emit(.restricted(let restriction)): "restricted \(restriction.kind)"
    case .emit(.unrestricted(let kind)): "unrestricted \(kind)"
    case .emit(.overflowed): "overflowed"
    case .emit(.history(let page)): "history \(page.messages.count)"
    case .emit(.changed(let event)): "changed \(event.ref) at \(event.seq) by \(event.sender?.data ?? "-")"
    case .reactorsRead(let call, let reactors): "call \(call.rawValue) read \(reactors.count)"
    case .emit(.reactions(let event)): "reactions of \(event.ref) at \(event.seq): \(event.counts.map(\.key))"
    case .emit(.reacted(let seq, let own)): "reacted to \(own.ref) at \(seq): \(own.keys)"
    case .emit(.read(let marker)): "\(marker.user) has read \(marker.through)"
    case .emit(.erased): "erased"
    }
}

extension ConnectRequest {
    static let test = ConnectRequest(apiKey: APIKey("1"), sessionId: SessionID("1_s"), token: "t")
}

extension Welcome {
    /// Of a server that resumes nothing.
    static let test = Welcome(
        connection: bob, connections: [ada, bob], role: .publisher, epoch: Epoch("e"), seq: Seq(2), outcome: .new,
        resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
}

func event(_ seq: Int64?, _ data: String, from: String? = "ada") -> ServerMessage {
    .signal(SignalEvent(seq: seq.map { Seq($0) }, from: from.map { ConnectionID($0) }, type: nil, data: data))
}

@Suite("A client's side of a connection, as rules")
struct ClientStateTests {
    @Test("CON-1: connect is the first message, sent when the socket is open")
    func connect() {
        var driven = Driven()
        #expect(driven.handle(.connect(.test)) == ["open"])
        #expect(
            driven.handle(.socketOpened)
                == [
                    #"send {"op":"connect","id":1,"apiKey":"1","sessionId":"1_s","token":"t","#
                        + #""options":{"connectionPages":true}}"#
                ])
        #expect(driven.handle(.received(.connected(RequestID(1), .test))) == ["connected"])
        #expect(driven.state.connection == bob)
    }

    @Test("a second connect fails with 1015, and the first continues")
    func secondConnect() {
        var driven = Driven.connected()
        #expect(driven.handle(.connect(.test)) == ["connect failed 1015"])
        #expect(driven.signal(1) == [#"send {"op":"signal","id":2,"type":"chat"}"#])
    }

    @Test("CON-3: a refused connect fails with the server's error")
    func refused() {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        _ = driven.handle(.socketOpened)
        let refusal = SignalingError(.authenticationError, "")
        #expect(
            driven.handle(.received(.error(RequestID(1), refusal))) == ["close 1000", "connect failed 1004"])
        #expect(driven.handle(.socketClosed(code: 4501)) == [])
        #expect(driven.handle(.connect(.test)) == ["open"])
    }

    @Test("CON-2: a connect without an answer fails after 15 s, and not before")
    func unanswered() {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        _ = driven.handle(.socketOpened)
        #expect(driven.state.nextDeadline == at(15))
        #expect(driven.advance(to: 14.9) == [])
        #expect(driven.advance(to: 15) == ["close 1000", "connect failed 1006"])
    }

    @Test("a socket that cannot be opened, or closes while connecting, fails the connect")
    func socketFails() {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        #expect(driven.handle(.socketFailed(SignalingError(.connectFailed, ""))) == ["connect failed 1006"])
        _ = driven.handle(.connect(.test))
        _ = driven.handle(.socketOpened)
        #expect(driven.handle(.socketClosed(code: 4500)) == ["connect failed 1006"])
    }

    @Test("WIRE-8: an answer completes the call with its id; an answer to an unknown id is ignored")
    func answers() {
        var driven = Driven.connected()
        _ = driven.signal(7)
        _ = driven.signal(8)
        #expect(driven.handle(.received(.ack(RequestID(99), Seq(3)))) == [])
        #expect(driven.handle(.received(.error(RequestID(3), SignalingError(.notFound, "")))) == ["call 8 failed 404"])
        #expect(driven.handle(.received(.ack(RequestID(2), Seq(3)))) == ["call 7 done 3"])
        #expect(driven.handle(.received(.ack(RequestID(2), Seq(3)))) == [])
        #expect(driven.handle(.received(.error(nil, SignalingError(.invalidParameter, "")))) == [])
    }

    @Test("without a connection a signal fails with 500, a forced disconnect with 1010")
    func notConnected() {
        var driven = Driven()
        #expect(driven.signal(1) == ["call 1 failed 500"])
        let force = ClientState.Input.forceDisconnect(ConnectionID("ada"), ClientState.CallID(rawValue: 2))
        #expect(driven.handle(force) == ["call 2 failed 1010"])
    }

    @Test("G5: pending calls are bounded; the next one fails with 429")
    func bounded() {
        var driven = Driven.connected()
        for call in 0..<PendingRequests.limit { _ = driven.signal(UInt64(call)) }
        #expect(driven.signal(1_000_000) == ["call 1000000 failed 429"])
        #expect(
            driven.handle(.received(.ack(RequestID(2), Seq(3))))
                == ["call 0 done 3", #"send {"op":"signal","id":258,"type":"chat"}"#], "256 are on the way at a time")
        #expect(driven.signal(1_000_001) == [])
    }

    @Test("G3: an event is emitted once; online-only signals have no seq and are always emitted")
    func once() {
        var driven = Driven.connected()
        #expect(driven.handle(.received(event(3, "a"))) == ["signal a from Ada"])
        #expect(driven.handle(.received(event(3, "a"))) == [])
        #expect(driven.handle(.received(event(2, "old"))) == [])
        #expect(driven.handle(.received(event(7, "after a gap"))) == ["signal after a gap from Ada"])
        #expect(driven.handle(.received(event(nil, "now"))) == ["signal now from Ada"])
        #expect(driven.handle(.received(event(nil, "now"))) == ["signal now from Ada"])
        #expect(driven.state.view?.seq == Seq(7))
    }

    @Test("SIG-7, SIG-9: a signal names its sender: a peer, the sender in the message, or the project's own server")
    func senders() {
        var driven = Driven.connected()
        #expect(driven.handle(.received(event(3, "x", from: nil))) == ["signal x from -"])
        let eve = Connection(connectionId: ConnectionID("eve"), creationTime: WallTime(milliseconds: 3), data: "Eve")
        let brought = SignalEvent(seq: Seq(4), from: eve.connectionId, sender: eve, type: nil, data: "y")
        #expect(driven.handle(.received(.signal(brought))) == ["signal y from Eve"])
    }

    @Test("PRES-1: a peer is created once and destroyed once")
    func presence() {
        var driven = Driven.connected()
        let eve = Connection(connectionId: ConnectionID("eve"), creationTime: WallTime(milliseconds: 3), data: "Eve")
        #expect(driven.handle(.received(.connectionCreated(Seq(3), eve))) == ["created Eve"])
        let left = ServerMessage.connectionDestroyed(Seq(4), ConnectionID("eve"), .networkDisconnected)
        #expect(driven.handle(.received(left)) == ["destroyed Eve networkDisconnected"])
        #expect(driven.handle(.received(left)) == [])
        let stranger = ServerMessage.connectionDestroyed(Seq(5), ConnectionID("who"), .networkDisconnected)
        #expect(driven.handle(.received(stranger)) == [])
    }

    @Test("HB-1, HB-2: a ping is answered, and advances the last seq")
    func ping() {
        var driven = Driven.connected()
        #expect(driven.handle(.received(.ping(Seq(9)))) == [#"send {"op":"pong"}"#])
        #expect(driven.state.view?.seq == Seq(9))
    }

    @Test("HB-3: silence of two heartbeats is a loss, exactly then; each message restarts the count")
    func silence() {
        var driven = Driven.connected()
        #expect(driven.advance(to: 19.9) == [])
        _ = driven.handle(.received(.ping(Seq(2))))
        #expect(driven.advance(to: 39.8) == [])
        _ = driven.signal(5)
        #expect(driven.advance(to: 39.9) == ["close 4001", "call 5 failed 500", "disconnected networkDisconnected"])
        #expect(driven.state.connection == nil)
    }

    @Test("a lost connection fails each pending call in order, then emits disconnected")
    func lost() {
        var driven = Driven.connected()
        for call in 1...3 { _ = driven.signal(UInt64(call)) }
        #expect(
            driven.handle(.socketClosed(code: nil))
                == ["call 1 failed 500", "call 2 failed 500", "call 3 failed 500", "disconnected networkDisconnected"])
        #expect(driven.handle(.socketClosed(code: nil)) == [])
    }

    @Test("LEAVE-3: a forced disconnect ends with that reason, by message or by close code alone")
    func forcedOut() {
        var driven = Driven.connected()
        #expect(
            driven.handle(.received(.disconnected(.forceDisconnected, .never)))
                == ["close 1000", "disconnected forceDisconnected"])
        #expect(driven.handle(.socketClosed(code: 4502)) == [])
        driven = .connected()
        #expect(driven.handle(.socketClosed(code: 4502)) == ["disconnected forceDisconnected"])
    }

    @Test("LEAVE-1: disconnect ends with the server's close, or after 15 s without one")
    func leave() {
        var driven = Driven.connected()
        #expect(driven.handle(.disconnect) == [#"send {"op":"disconnect","id":2}"#])
        #expect(driven.signal(1) == ["call 1 failed 500"])
        #expect(driven.handle(.disconnect) == [])
        var other = driven
        #expect(driven.handle(.socketClosed(code: 1000)) == ["disconnected clientDisconnected"])
        #expect(other.advance(to: 15) == ["close 1000", "disconnected clientDisconnected"])
    }

    @Test("LEAVE-1: disconnect while connecting fails the connect")
    func leaveEarly() {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        #expect(driven.handle(.disconnect) == ["close 1000", "connect failed 1006"])
        #expect(driven.handle(.socketOpened) == [])
    }

    @Test("G4: a malformed message ends the connection: what it meant to say is unknown")
    func malformed() {
        var driven = Driven.connected()
        _ = driven.signal(1)
        #expect(
            driven.handle(.receivedMalformed(SignalingError(.unexpectedServerResponse, "")))
                == ["close 1000", "call 1 failed 500", "disconnected networkDisconnected"])
    }
}
