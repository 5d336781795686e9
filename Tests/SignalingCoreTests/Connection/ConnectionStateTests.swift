import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// The phase of a socket when an input arrives.
enum Phase: String, CaseIterable {
    case awaitingConnect, authenticating, joining, connected, leaving, closing

    /// A socket, opened at 0 s, that has reached this phase at 1 s.
    var state: ConnectionState {
        var state = ConnectionState(openedAt: .seconds(0))
        if self == .awaitingConnect { return state }
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
        if self == .authenticating { return state }
        _ = state.handle(.authenticated(.success(.test)), now: .seconds(1))
        if self == .joining { return state }
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1))
        if self == .connected { return state }
        if self == .leaving {
            _ = state.handle(.received(.signal(RequestID(6), SignalRequest())), now: .seconds(1))
            _ = state.handle(.received(.disconnect(RequestID(8))), now: .seconds(1))
            return state
        }
        _ = state.handle(.mustClose(.goingAway), now: .seconds(1))
        return state
    }

    /// The phase of a socket, derived from the reactions of a copy.
    init(_ state: ConnectionState) {
        var probe = state
        if state.isClosing {
            self = .closing
        } else if state.connected != nil {
            self = .connected
        } else if Self.endsWithItsLeave(state) {
            self = .leaving
        } else if !probe.handle(.authenticated(.success(.test)), now: .seconds(1)).isEmpty {
            self = .authenticating
        } else if !probe.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1)).isEmpty {
            self = .joining
        } else {
            self = .awaitingConnect
        }
    }

    private static func endsWithItsLeave(_ state: ConnectionState) -> Bool {
        var probe = state
        _ = probe.handle(.answered(RequestID(6), .signalled(Seq(5))), now: .seconds(1))
        for request in [7, 8] { _ = probe.handle(.answered(RequestID(Int64(request)), .done), now: .seconds(1)) }
        return probe.isClosing
    }
}

/// The expected result of one input in one phase.
enum Cell {
    /// These effects, in this order, then this phase; nil: the phase does not change.
    case gives([String], Phase?)
    /// The input is possible, and nothing happens.
    case ignored
    /// The input cannot occur here, for this reason. If it does, nothing happens.
    case impossible(String)

    /// Nothing now; this effect after the answer to the connect before it (WIRE-8).
    case waits(String)

    static func gives(_ effects: String..., to phase: Phase? = nil) -> Cell { .gives(effects, phase) }
}

struct Row: CustomTestStringConvertible {
    let name: String
    let step: @Sendable (inout ConnectionState) -> [ConnectionState.Effect]
    /// One cell for each phase, in order.
    let cells: [Cell]

    /// - Parameter asked: a request that a connected client has sent before.
    init(
        _ name: String, asked: ClientMessage? = nil, _ input: ConnectionState.Input, leaving: Cell = .ignored,
        _ cells: Cell...
    ) {
        self.name = name
        step = { state in
            if let asked, state.connected != nil { _ = state.handle(.received(asked), now: .seconds(2)) }
            return state.handle(input, now: .seconds(2))
        }
        self.cells = cells.dropLast() + [leaving] + cells.suffix(1)
    }

    /// - Parameter ping: when a connected client's ping was due, and was sent: the server was not suspended.
    init(
        _ name: String, advancingTo now: MonotonicInstant, after ping: MonotonicInstant? = nil,
        leaving: Cell = .ignored, _ cells: Cell...
    ) {
        self.name = name
        step = { state in
            if let ping, state.connected != nil { _ = state.advance(to: ping) }
            return state.advance(to: now)
        }
        self.cells = cells.dropLast() + [leaving] + cells.suffix(1)
    }

    var testDescription: String { name }

    static let table: [Row] = [
        Row(
            "connect", .received(.connect(RequestID(7), .test)),
            .gives("authenticate T1==", to: .authenticating),
            .waits("send error 7 1015 OT_ILLEGAL_STATE"),
            .waits("send error 7 1015 OT_ILLEGAL_STATE"),
            .gives("send error 7 1015 OT_ILLEGAL_STATE"),
            .ignored),
        Row(
            "signal", .received(.signal(RequestID(7), SignalRequest(type: "chat"))),
            .gives("send error 7 500 OT_NOT_CONNECTED"),
            .waits("send error 7 500 OT_NOT_CONNECTED"),
            .waits("send error 7 500 OT_NOT_CONNECTED"),
            .gives("submit signal chat of ada to 1_room as 7"),
            .ignored),
        Row(
            "forceDisconnect", .received(.forceDisconnect(RequestID(7), client("bob"))),
            .gives("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .gives("submit forceDisconnect bob by ada to 1_room as 7"),
            .ignored),
        Row(
            "moderate", .received(.moderate(RequestID(7), .freeze())),
            .gives("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .gives("moderate freeze by ada in 1_room as 7"),
            .ignored),
        Row(
            "restrictions", .received(.restrictions(RequestID(7))),
            .gives("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .waits("send error 7 1010 OT_NOT_CONNECTED"),
            .gives("submit restrictions of ada to 1_room as 7"),
            .ignored),
        Row(
            "disconnect", .received(.disconnect(RequestID(7))),
            .gives("send error 7 500 OT_NOT_CONNECTED"),
            .waits("send error 7 500 OT_NOT_CONNECTED"),
            .waits("send error 7 500 OT_NOT_CONNECTED"),
            .gives("submit leave ada clientDisconnected to 1_room as 7", to: .leaving),
            .ignored),
        Row("pong", .received(.pong), .ignored, .ignored, .ignored, .ignored, .ignored),
        Row(
            "a malformed line with an id",
            .receivedMalformed(ClientMessageError(id: RequestID(7), SignalingError(.invalidParameter, "no"))),
            .gives("send error 7 400 OT_INVALID_PARAMETER"), .waits("send error 7 400 OT_INVALID_PARAMETER"),
            .waits("send error 7 400 OT_INVALID_PARAMETER"), .gives("send error 7 400 OT_INVALID_PARAMETER"), .ignored),
        Row(
            "a malformed line without id",
            .receivedMalformed(ClientMessageError(id: nil, SignalingError(.invalidParameter, "no"))),
            .gives("send error - 400 OT_INVALID_PARAMETER"), .waits("send error - 400 OT_INVALID_PARAMETER"),
            .waits("send error - 400 OT_INVALID_PARAMETER"), .gives("send error - 400 OT_INVALID_PARAMETER"), .ignored),
        Row(
            "the token is good", .authenticated(.success(.test)),
            .impossible("nothing was asked"),
            .gives("submit join ada publisher name=Ada to 1_room as 1", to: .joining),
            .impossible("it was answered"), .impossible("it was answered"), .ignored),
        Row(
            "the token is refused", .authenticated(.failure(SignalingError(.authenticationError, "expired"))),
            .impossible("nothing was asked"),
            .gives("send error 1 1004 OT_AUTHENTICATION_ERROR", "close 4501", to: .closing),
            .impossible("it was answered"), .impossible("it was answered"), .ignored),
        Row(
            "the session adds the connection", .answered(RequestID(1), .joined(.test)),
            .impossible("nothing was asked"), .impossible("nothing was asked"),
            .gives("enter 1 ada", to: .connected), .impossible("it was answered"), .ignored),
        Row(
            "the session refuses", .answered(RequestID(1), .refused(SignalingError(.connectionLimitExceeded, "full"))),
            .impossible("nothing was asked"), .impossible("nothing was asked"),
            .gives("send error 1 1027 OT_CONNECTION_LIMIT_EXCEEDED", "close 4005", to: .closing),
            .impossible("it was answered"), .ignored),
        Row(
            "a signal has its seq", asked: .signal(RequestID(7), SignalRequest()),
            .answered(RequestID(7), .signalled(Seq(9))),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("no signal was passed on"),
            .gives("send ack 7 9"), .ignored),
        Row(
            "an online-only signal was accepted", asked: .signal(RequestID(7), SignalRequest()),
            .answered(RequestID(7), .signalled(nil)),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("no signal was passed on"),
            .gives("send ack 7"), .ignored),
        Row(
            "a connection was force-disconnected", asked: .signal(RequestID(7), SignalRequest()),
            .answered(RequestID(7), .forceDisconnected),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("no request was passed on"),
            .gives("send ack 7"), .ignored),
        Row(
            "an action was carried out", asked: .moderate(RequestID(7), .unfreeze),
            .answered(RequestID(7), .moderated(.test, of: .session)),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("no request was passed on"),
            .gives("send ack 7 9"), .ignored),
        Row(
            "restrictions were read", asked: .restrictions(RequestID(7)), .answered(RequestID(7), .restrictions([])),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("no request was passed on"),
            .gives(#"send {"ev":"restrictions","id":7,"restrictions":[]}"#), .ignored),
        Row(
            "a request was refused", asked: .signal(RequestID(7), SignalRequest()),
            .answered(RequestID(7), .refused(SignalingError(.notFound, "gone"))),
            .impossible("nothing was asked"), .impossible("nothing was asked"),
            .gives("send error 1 404 OT_NOT_FOUND", "close 4501", to: .closing),
            .gives("send error 7 404 OT_NOT_FOUND"), .ignored),
        Row(
            "the node has lost the session, and the request may be in the log",
            .answered(RequestID(7), .unavailable(mayBeCarriedOut: true)),
            .impossible("nothing was asked"), .impossible("nothing was asked"),
            .gives(
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 2500 ms", "close 1001", to: .closing),
            .ignored, .ignored),
        Row(
            "the node has lost the session before it sent the request",
            .answered(RequestID(7), .unavailable(mayBeCarriedOut: false)),
            .impossible("nothing was asked"), .impossible("nothing was asked"),
            .gives("send disconnected networkDisconnected, come back after 2500 ms", "close 1001", to: .closing),
            .ignored, .ignored),
        Row(
            "the answer to the request before the disconnect", .answered(RequestID(6), .signalled(Seq(9))),
            leaving: .gives("send ack 6 9"),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("nothing was asked"),
            .impossible("nothing was asked"), .ignored),
        Row(
            "more bytes wait than the bound", .backlog(waitingByteCount: 65_537, acknowledgedByteCount: 1),
            leaving: .gives("pause reading"),
            .gives("pause reading"), .gives("pause reading"), .gives("pause reading"), .gives("pause reading"),
            .ignored),
        Row(
            "as many bytes wait as the bound", .backlog(waitingByteCount: 65_536, acknowledgedByteCount: 1),
            .ignored, .ignored, .ignored, .ignored, .ignored),
        Row(
            "an answer without a request", .answered(nil, .signalled(Seq(9))),
            .impossible("nothing was asked"), .impossible("nothing was asked"), .impossible("nothing was asked"),
            .ignored, .ignored),
        Row(
            "the session has removed the connection", .answered(nil, .done),
            .impossible("it was not in"), .impossible("it was not in"), .impossible("it has not left"),
            .impossible("a client that leaves is closing"), .ignored),
        Row(
            "force-disconnected", .ended(.forceDisconnected),
            leaving: .gives("send disconnected forceDisconnected", "close 4502", to: .closing),
            .impossible("it was not in"), .impossible("it was not in"),
            .impossible("the answer to the join comes first"),
            .gives("send disconnected forceDisconnected", "close 4502", to: .closing), .ignored),
        Row(
            "banned", .ended(.forceDisconnected, ban: Restriction(.ban)),
            leaving: .gives("send disconnected forceDisconnected because of a ban", "close 4502", to: .closing),
            .impossible("it was not in"), .impossible("it was not in"),
            .impossible("the answer to the join comes first"),
            .gives("send disconnected forceDisconnected because of a ban", "close 4502", to: .closing), .ignored),
        Row(
            "lost by the engine", .ended(.networkDisconnected),
            leaving: .gives("send disconnected networkDisconnected, come back", "close 1001", to: .closing),
            .impossible("it was not in"), .impossible("it was not in"),
            .impossible("the answer to the join comes first"),
            .gives("send disconnected networkDisconnected, come back", "close 1001", to: .closing), .ignored),
        Row(
            "the connection continues on a newer socket", .superseded,
            .impossible("it was not in"), .impossible("it was not in"),
            .impossible("the answer to the join comes first"),
            .gives("send disconnected networkDisconnected, come back", "close 4004", to: .closing), .ignored),
        Row(
            "a binary message", .mustClose(.unsupportedData), leaving: .gives("close 1003", to: .closing),
            .gives("close 1003", to: .closing), .gives("close 1003", to: .closing),
            .gives("submit leave ada networkDisconnected to 1_room", "close 1003", to: .closing),
            .gives(
                "submit leave ada networkDisconnected to 1_room", "send disconnected networkDisconnected", "close 1003",
                to: .closing),
            .ignored),
        Row(
            "the server stops", .serverStops(returnAfter: .milliseconds(1_500)),
            leaving: .gives("close 1001", to: .closing),
            .gives("send disconnected networkDisconnected, come back after 1500 ms", "close 1001", to: .closing),
            .gives("send disconnected networkDisconnected, come back after 1500 ms", "close 1001", to: .closing),
            // The client never learned of the connection that its join may have begun.
            .gives(
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 1500 ms", "close 1001", to: .closing),
            // A stopping server removes no connection: to tell each client of each would cost the square of their
            // number.
            .gives("send disconnected networkDisconnected, come back after 1500 ms", "close 1001", to: .closing),
            .ignored),
        Row(
            "the client reads too slowly", .mustClose(.slowConsumer), leaving: .gives("close 4002", to: .closing),
            .gives("close 4002", to: .closing), .gives("close 4002", to: .closing),
            .gives("submit leave ada networkDisconnected to 1_room", "close 4002", to: .closing),
            .gives(
                "submit detach ada to 1_room", "send disconnected networkDisconnected, come back",
                "close 4002", to: .closing),
            .ignored),
        Row(
            "the client closes with 1000", .socketClosed(code: 1000), leaving: .gives([], .closing),
            .gives([], .closing), .gives([], .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing), .ignored),
        Row(
            "the page goes away with 1001", .socketClosed(code: 1001), leaving: .gives([], .closing),
            .gives([], .closing), .gives([], .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing), .ignored),
        Row(
            "the socket closes without a code", .socketClosed(code: 1005), leaving: .gives([], .closing),
            .gives([], .closing), .gives([], .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing),
            .gives("submit leave ada clientDisconnected to 1_room", to: .closing), .ignored),
        Row(
            "the socket closes with another code", .socketClosed(code: 1002), leaving: .gives([], .closing),
            .gives([], .closing), .gives([], .closing),
            .gives("submit leave ada networkDisconnected to 1_room", to: .closing),
            .gives("submit detach ada to 1_room", to: .closing), .ignored),
        Row(
            "the socket is lost without a code", .socketClosed(code: nil), leaving: .gives([], .closing),
            .gives([], .closing), .gives([], .closing),
            .gives("submit leave ada networkDisconnected to 1_room", to: .closing),
            .gives("submit detach ada to 1_room", to: .closing), .ignored),
        Row(
            "nothing is due", advancingTo: .seconds(9.999_999_999),
            .ignored, .ignored, .ignored, .ignored, .ignored),
        Row(
            "10 s after the socket was opened", advancingTo: .seconds(10),
            .gives("close 4003", to: .closing), .gives("close 4003", to: .closing),
            .gives(
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 2500 ms", "close 1001", to: .closing),
            .ignored, .ignored),
        Row(
            "a heartbeat after it was let in", advancingTo: .seconds(11),
            .gives("close 4003", to: .closing), .gives("close 4003", to: .closing),
            .gives(
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 2500 ms", "close 1001", to: .closing),
            .gives("ping"), .ignored),
        Row(
            "two heartbeats of silence", advancingTo: .seconds(21), after: .seconds(11),
            leaving: .gives("close 1000 after all unsent bytes", to: .closing),
            .gives("close 4003", to: .closing), .gives("close 4003", to: .closing),
            .gives(
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 2500 ms", "close 1001", to: .closing),
            .gives(
                "submit detach ada to 1_room", "send disconnected networkDisconnected, come back",
                "close 4001", to: .closing),
            .ignored),
    ]
}

extension ConnectRequest {
    static let test = ConnectRequest(apiKey: APIKey("100"), sessionId: room, token: "T1==")
}

extension ConnectionState.Admission {
    static let test = ConnectionState.Admission(
        session: room, connectionId: client("ada"), role: .publisher, data: "name=Ada",
        wallTime: WallTime(milliseconds: 1), socket: socket1,
        resumeSecret: ResumeSecret("secret"),
        secretHash: hash("secret"), busyWait: .milliseconds(2_500))
}

extension JoinResult {
    static let test: JoinResult = {
        let ada = Connection(connectionId: client("ada"), creationTime: WallTime(milliseconds: 1), data: "name=Ada")
        return JoinResult(
            connection: ada, role: .publisher, suppressesPresence: false, epoch: Epoch("e"),
            seq: Seq(1), outcome: .new, resumeWindow: .seconds(60), recoveryWindow: .seconds(300))
    }()
}

@Suite("A connection's state machine")
struct ConnectionStateTests {
    @Test("each input in each phase has the effects in the table", arguments: Row.table)
    func table(_ row: Row) throws {
        try #require(row.cells.count == Phase.allCases.count)
        for (phase, cell) in zip(Phase.allCases, row.cells) {
            var state = phase.state
            #expect(Phase(state) == phase)
            let effects = row.step(&state).map(\.testDescription)
            switch cell {
            case .gives(let expected, let next):
                #expect(effects == expected, "\(row.name), \(phase)")
                #expect(Phase(state) == next ?? phase, "\(row.name), \(phase)")
            case .ignored:
                #expect(effects.isEmpty, "\(row.name), \(phase)")
                #expect(Phase(state) == phase, "\(row.name), \(phase)")
            case .waits(let expected):
                #expect(effects.isEmpty, "\(row.name), \(phase)")
                #expect(Phase(state) == phase, "\(row.name), \(phase)")
                _ = state.handle(.authenticated(.success(.test)), now: .seconds(2))
                let later = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(2))
                #expect(later.map(\.testDescription) == ["enter 1 ada", expected], "\(row.name), \(phase)")
            case .impossible(let reason):
                #expect(effects.isEmpty, "\(row.name), \(phase): impossible since \(reason)")
                #expect(Phase(state) == phase, "\(row.name), \(phase): impossible since \(reason)")
            }
        }
    }

    @Test("for any two inputs, a closing socket does nothing and a connection leaves its session once")
    func everyPair() {
        for phase in Phase.allCases {
            for first in Row.table {
                for second in Row.table {
                    var state = phase.state
                    var effects = first.step(&state)
                    let wasClosing = state.isClosing
                    let more = second.step(&state)
                    if wasClosing { #expect(more.isEmpty, "\(phase), \(first.name), \(second.name)") }
                    effects += more
                    let shown = effects.map(\.testDescription)
                    #expect(
                        shown.count { $0.hasPrefix("submit leave") } <= 1, "\(phase), \(first.name), \(second.name)")
                    #expect(shown.count { $0.hasPrefix("close") } <= 1, "\(phase), \(first.name), \(second.name)")
                    if let close = shown.firstIndex(where: { $0.hasPrefix("close") }) {
                        #expect(close == shown.count - 1, "nothing comes after a close: \(shown)")
                    }
                }
            }
        }
    }

    // MARK: Connecting

    @Test("RES-4, G3: only a new connection with a replay gets a ping, without which it could not resume yet")
    func pingAfterReplay() {
        func effects(_ outcome: Welcome.Outcome, replayThrough: Seq?) -> [String] {
            var result = JoinResult.test
            result.outcome = outcome
            result.replayThrough = replayThrough
            var state = Phase.joining.state
            return state.handle(.answered(RequestID(1), .joined(result)), now: .seconds(2)).map(\.testDescription)
        }
        #expect(effects(.recovered, replayThrough: Seq(4)) == ["enter 1 ada recovered", "ping"])
        #expect(effects(.lost, replayThrough: Seq(4)) == ["enter 1 ada lost", "ping"])
        #expect(effects(.lost, replayThrough: nil) == ["enter 1 ada lost"])
        #expect(effects(.resumed, replayThrough: Seq(4)) == ["enter 1 ada resumed"])
        #expect(effects(.new, replayThrough: nil) == ["enter 1 ada"])
    }

    @Test("CON-2: the connect timeout is exactly 10 s from the opening of the socket")
    func connectTimeout() {
        var state = ConnectionState(openedAt: .seconds(5))
        #expect(state.nextDeadline == .seconds(15))
        var silent = state
        #expect(silent.advance(to: .seconds(15)).map(\.testDescription) == ["close 4003"])
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(14))
        #expect(state.nextDeadline == .seconds(15), "checking a token takes nothing off it and adds nothing")
        _ = state.handle(.authenticated(.success(.test)), now: .seconds(14))
        #expect(state.nextDeadline == .seconds(15))
        #expect(state.advance(to: .seconds(14.999_999_999)).isEmpty)
        #expect(
            state.advance(to: .seconds(15)).map(\.testDescription) == [
                "submit leave ada networkDisconnected to 1_room",
                "send disconnected networkDisconnected, come back after 2500 ms", "close 1001",
            ], "the client has connected in time, and its session is slow")
        #expect(state.nextDeadline == nil)
    }

    @Test("LEAVE-5, CON-2: a resume that waits for its session when the server stops can be tried again")
    func stopWhileResuming() {
        var request = ConnectRequest.test
        request.resume = ResumeRequest(
            connectionId: client("bob"), secret: ResumeSecret("s"), epoch: Epoch("e"), after: Seq(3))
        var admission = ConnectionState.Admission.test
        admission.claimedSecretHash = hash("s")
        var state = ConnectionState(openedAt: .seconds(0))
        _ = state.handle(.received(.connect(RequestID(1), request)), now: .seconds(0))
        _ = state.handle(.authenticated(.success(admission)), now: .seconds(0))
        #expect(
            state.handle(.serverStops(returnAfter: .milliseconds(40)), now: .seconds(1)).map(\.testDescription) == [
                "submit leave ada networkDisconnected to 1_room", "submit detach bob to 1_room",
                "send disconnected networkDisconnected, come back after 40 ms", "close 1001",
            ])
        #expect(state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(2)).isEmpty, "too late")
    }

    @Test("CON-8: the first connection continues after a second connect")
    func secondConnect() {
        var state = Phase.connected.state
        _ = state.handle(.received(.connect(RequestID(2), .test)), now: .seconds(2))
        #expect(state.connected?.binding == SocketBinding("ada"))
        #expect(
            state.handle(.received(.signal(RequestID(3), SignalRequest(type: "x"))), now: .seconds(2))
                .map(\.testDescription) == ["submit signal x of ada to 1_room as 3"])
    }

    @Test("CON-4: the client's option reaches its session, and the session's answer decides")
    func suppressesPresence() {
        var request = ConnectRequest.test
        request.connectionEventsSuppressed = true
        var state = ConnectionState(openedAt: .seconds(0))
        _ = state.handle(.received(.connect(RequestID(1), request)), now: .seconds(0))
        let join = state.handle(.authenticated(.success(.test)), now: .seconds(0))
        guard case .submit(.join(let asked), _, _) = join.first else {
            Issue.record("no join: \(join)")
            return
        }
        #expect(asked.suppressesPresence)
        var kept = state
        #expect(
            kept.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(0)).map(\.testDescription)
                == ["enter 1 ada"])
        var result = JoinResult.test
        result.suppressesPresence = true
        #expect(
            state.handle(.answered(RequestID(1), .joined(result)), now: .seconds(0)).map(\.testDescription)
                == ["enter 1 ada without presence"])
    }

    @Test("G8: the session is always the one in the token, whatever the request names")
    func sessionOfTheToken() {
        var request = ConnectRequest.test
        request.sessionId = SessionID("1_other")
        var state = ConnectionState(openedAt: .seconds(0))
        _ = state.handle(.received(.connect(RequestID(1), request)), now: .seconds(0))
        var effects = state.handle(.authenticated(.success(.test)), now: .seconds(0))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(0))
        #expect(state.connected?.session == room)
        effects += state.handle(.received(.signal(RequestID(2), SignalRequest())), now: .seconds(0))
        effects += state.handle(.socketClosed(code: nil), now: .seconds(0))
        let sessions = effects.compactMap { effect in
            if case .submit(_, let session, _) = effect { session } else { nil }
        }
        #expect(sessions == [room, room, room])
    }

    // MARK: Malformed lines

    @Test("WIRE-9: nine malformed lines are answered, the tenth closes", arguments: Phase.allCases.dropLast(2))
    func malformed(_ phase: Phase) {
        var state = phase.state
        let line = ConnectionState.Input.receivedMalformed(
            ClientMessageError(id: nil, SignalingError(.invalidParameter, "no")))
        // While its connect has no answer these wait for that, and what waits at the close is not said.
        let isFirst = phase == .awaitingConnect || phase == .connected
        let answer = isFirst ? ["send error - 400 OT_INVALID_PARAMETER"] : []
        for _ in 1...9 { #expect(state.handle(line, now: .seconds(2)).map(\.testDescription) == answer) }
        #expect(Phase(state) == phase)
        let last = state.handle(line, now: .seconds(2)).map(\.testDescription)
        #expect(last.prefix(answer.count) == answer[...])
        #expect(last.last == "close 4503")
        #expect(
            last.contains("submit leave ada networkDisconnected to 1_room")
                == (phase == .joining || phase == .connected))
        #expect(state.isClosing)
    }

    @Test("WIRE-9: malformed lines are counted over the whole life of a socket; valid ones do not reset the count")
    func malformedAmongOthers() {
        var state = ConnectionState(openedAt: .seconds(0))
        let line = ConnectionState.Input.receivedMalformed(
            ClientMessageError(id: nil, SignalingError(.invalidParameter, "no")))
        for _ in 1...5 { _ = state.handle(line, now: .seconds(0)) }
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
        _ = state.handle(.authenticated(.success(.test)), now: .seconds(1))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1))
        for _ in 6...9 {
            _ = state.handle(line, now: .seconds(1))
            _ = state.handle(.received(.pong), now: .seconds(1))
        }
        #expect(!state.isClosing)
        _ = state.handle(line, now: .seconds(1))
        #expect(state.isClosing)
    }

    @Test("WIRE-9: a well-formed request with a value that no request may have gets its 400, and does not count")
    func refusedValues() {
        var state = Phase.connected.state
        let line = ConnectionState.Input.receivedMalformed(
            ClientMessageError(id: RequestID(5), SignalingError(.invalidParameter, "no"), isMalformed: false))
        for _ in 1...30 {
            #expect(
                state.handle(line, now: .seconds(2)).map(\.testDescription) == ["send error 5 400 OT_INVALID_PARAMETER"]
            )
        }
    }

    // MARK: Before connect, and the rate of lines

    @Test(
        "CON-13, CON-1: before `connected`, the tenth line of any kind closes with 4503",
        arguments: Phase.allCases.prefix(3))
    func unconnected(_ phase: Phase) {
        let lines: [ConnectionState.Input] = [
            .received(.pong), .receivedEmpty, .received(.signal(RequestID(7), SignalRequest())),
            .received(.forceDisconnect(RequestID(7), client("bob"))), .received(.disconnect(RequestID(7))),
            .receivedMalformed(ClientMessageError(id: nil, SignalingError(.invalidParameter, "no"))),
        ]
        for line in lines {
            var state = phase.state
            for _ in 1...9 { _ = state.handle(line, now: .seconds(2)) }
            #expect(!state.isClosing, "\(line)")
            #expect(state.handle(line, now: .seconds(2)).last?.testDescription == "close 4503", "\(line)")
        }
    }

    @Test("WIRE-15, G5: each further frame of a message counts as a line, before `connected` none does")
    func frames() {
        var state = limited()
        #expect(state.handle(.receivedInFrames(20), now: .seconds(1)).isEmpty)
        #expect(state.handle(.receivedInFrames(2), now: .seconds(1)).last?.testDescription == "pause reading")
        for phase in Phase.allCases.prefix(3) {
            var state = phase.state
            for _ in 1...20 { #expect(state.handle(.receivedInFrames(64), now: .seconds(2)).isEmpty) }
        }
    }

    @Test("CON-13, WIRE-10: the largest message grows when the connect is accepted")
    func messageSize() {
        let sizes = Phase.allCases.dropLast().map(\.state.messageByteLimit)
        #expect(sizes == [20_480, 20_480, 20_480, 65_536, 65_536])
    }

    /// A connected client whose lines are limited to 10 a second, 20 at once.
    private func limited() -> ConnectionState {
        var state = ConnectionState(openedAt: .seconds(0), inputRate: RateLimit(perSecond: 10, burst: 20))
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
        _ = state.handle(.authenticated(.success(.test)), now: .seconds(1))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1))
        return state
    }

    @Test("WIRE-15, G5: over their rate lines wait; signals that the session accepts do not count")
    func inputRate() {
        var state = limited()
        for id in 2...500 {
            #expect(state.handle(.received(.signal(RequestID(Int64(id)), .init())), now: .seconds(1)).count == 1)
            #expect(state.handle(.answered(RequestID(Int64(id)), .signalled(Seq(1))), now: .seconds(1)).count == 1)
        }
        let refused = SessionOutcome.refused(SignalingError(.rateLimited, "wait"))
        let id = RequestID(501)
        var costly: [(ConnectionState.Input, setUp: ConnectionState.Input?)] = [
            (.received(.pong), nil), (.receivedEmpty, nil), (.received(.connect(RequestID(7), .test)), nil),
            (.received(.signal(RequestID(7), SignalRequest(isOnlineOnly: true))), nil),
            (.answered(id, refused), setUp: .received(.signal(id, .init()))),
            (.answered(id, .forceDisconnected), setUp: .received(.forceDisconnect(id, client("bob")))),
            (.answered(id, .moderated(.test, of: .session)), setUp: .received(.moderate(id, .unfreeze))),
        ]
        costly.append((.receivedInFrames(2), nil))
        costly.append((.receivedMalformed(ClientMessageError(id: nil, .init(.invalidParameter, ""))), nil))
        for (input, setUp) in costly {
            var state = limited()
            for _ in 1...18 { _ = state.handle(.received(.pong), now: .seconds(1)) }
            #expect(!state.isReadingPaused)
            if let setUp { _ = state.handle(setUp, now: .seconds(1)) }
            #expect(state.handle(input, now: .seconds(1)).last?.testDescription != "pause reading", "\(input)")
            if let setUp { _ = state.handle(setUp, now: .seconds(1)) }
            #expect(state.handle(input, now: .seconds(1)).last?.testDescription == "pause reading", "\(input)")
        }
    }

    @Test("WIRE-15, HB-3: a client over its rate is read from again when its tokens are back, and is not silent")
    func inputRateResumes() {
        var state = limited()
        for _ in 1...21 { _ = state.handle(.received(.pong), now: .seconds(1)) }
        #expect(state.isReadingPaused)
        #expect(state.nextDeadline == .seconds(1.2), "one token is owed, and one more must be there")
        #expect(state.advance(to: .seconds(1.199)).isEmpty)
        #expect(state.advance(to: .seconds(1.2)).map(\.testDescription) == ["resume reading"])
        #expect(!state.isReadingPaused)
        #expect(state.nextDeadline == .seconds(11), "the next ping")
        // A long line costs more: 21 pieces now, and the burst again in 2 s.
        #expect(state.handle(.received(.pong, byteCount: 20 * 1024), now: .seconds(9)).count == 1)
        #expect(state.nextDeadline == .seconds(9.2))
    }

    @Test("WIRE-15: a connection continues with the allowance that an earlier one with its token has left")
    func inputRateIsTakenOver() {
        var earlier = limited()
        for _ in 1...19 { _ = earlier.handle(.received(.pong), now: .seconds(1)) }
        #expect(!earlier.isOverLineRate)
        #expect(earlier.lineRateFullAt == .seconds(2.9))
        var admission = ConnectionState.Admission.test
        admission.lineRateFullAt = earlier.lineRateFullAt
        var state = ConnectionState(openedAt: .seconds(0), inputRate: RateLimit(perSecond: 10, burst: 20))
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
        _ = state.handle(.authenticated(.success(admission)), now: .seconds(1))
        #expect(state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1)).count > 0)
        #expect(!state.isReadingPaused, "one token is left")
        #expect(state.handle(.received(.pong), now: .seconds(1)).map(\.testDescription) == ["pause reading"])
        #expect(state.isOverLineRate)
    }

    // MARK: Heartbeat

    @Test("HB-1: a ping every heartbeat, as long as the client answers")
    func pings() {
        var state = Phase.connected.state
        for beat in 1...5 {
            let now = MonotonicInstant.seconds(1 + Double(beat) * 10)
            #expect(state.nextDeadline == now)
            #expect(state.advance(to: now).map(\.testDescription) == ["ping"])
            #expect(state.advance(to: now).isEmpty)
            #expect(state.handle(.received(.pong), now: now.advanced(by: .seconds(1))).isEmpty)
        }
    }

    @Test("HB-3: every line from the client is a sign of life, even a malformed one; the server's ping is not")
    func signsOfLife() {
        let signs: [ConnectionState.Input] = [
            .received(.pong), .received(.signal(RequestID(1), SignalRequest())),
            .receivedMalformed(ClientMessageError(id: nil, SignalingError(.invalidParameter, "no"))),
        ]
        for sign in signs {
            var state = Phase.connected.state
            _ = state.advance(to: .seconds(11))
            _ = state.handle(sign, now: .seconds(12))
            #expect(state.advance(to: .seconds(21)).map(\.testDescription) == ["ping"])
            #expect(state.advance(to: .seconds(31.999_999_999)).map(\.testDescription) == ["ping"])
            #expect(state.nextDeadline == .seconds(32))
            #expect(state.advance(to: .seconds(32)).map(\.testDescription).last == "close 4001")
        }
    }

    @Test("HB-3: an answer of the session is no sign of life of the client")
    func answersAreNoSigns() {
        var state = Phase.connected.state
        _ = state.advance(to: .seconds(11))
        _ = state.handle(.answered(RequestID(1), .signalled(Seq(1))), now: .seconds(20))
        #expect(state.advance(to: .seconds(21)).map(\.testDescription).last == "close 4001")
    }

    @Test("HB-1: after a pause of the whole process there is one ping, not a burst, and the next one a heartbeat later")
    func pause() {
        var state = Phase.connected.state
        _ = state.handle(.received(.pong), now: .seconds(9))
        #expect(state.advance(to: .seconds(28)).map(\.testDescription) == ["ping"])
        #expect(state.advance(to: .seconds(28)).isEmpty)
        _ = state.handle(.received(.pong), now: .seconds(28))
        #expect(state.nextDeadline == .seconds(38))
    }

    @Test("a heartbeat may have any length, up to the longest duration")
    func heartbeats() {
        for (heartbeat, deadline) in [
            (Duration.seconds(3), MonotonicInstant.seconds(3)),
            (.seconds(Int64.max), MonotonicInstant(nanoseconds: .max)),
        ] {
            var state = ConnectionState(openedAt: .seconds(0), heartbeat: heartbeat)
            _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(0))
            _ = state.handle(.authenticated(.success(.test)), now: .seconds(0))
            _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(0))
            #expect(state.nextDeadline == deadline)
        }
    }

    @Test("an effect happens at the deadline, and none before it", arguments: Phase.allCases)
    func deadlines(_ phase: Phase) {
        var state = phase.state
        guard let deadline = state.nextDeadline else {
            #expect(phase == .closing)
            return
        }
        #expect(state.advance(to: MonotonicInstant(nanoseconds: deadline.nanoseconds - 1)).isEmpty)
        #expect(!state.advance(to: deadline).isEmpty)
    }

    // MARK: Leaving

    @Test("G7: a socket that is lost during its join leaves no connection behind")
    func lostWhileJoining() {
        var session = SessionState()
        session.join("bob")
        var state = Phase.authenticating.state
        var submitted: [SessionCommand] = []
        for input in [.authenticated(.success(.test)), .socketClosed(code: nil)] as [ConnectionState.Input] {
            for effect in state.handle(input, now: .seconds(2)) {
                if case .submit(let command, _, _) = effect { submitted.append(command) }
            }
        }
        // The session answers only now, when the socket is gone and may have been forgotten.
        let outcomes = submitted.map { session.handle($0).testDescription }
        #expect(outcomes == ["joined ada at 2", "done"])
        #expect(session.connections.map(\.connectionId) == [client("bob")])
        #expect(
            session.lines.last
                == #"{"ev":"connectionDestroyed","seq":3,"connectionId":"ada","reason":"networkDisconnected"}"#)
        #expect(state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(3)).isEmpty)
    }

    @Test(
        "LEAVE-4: `disconnected` agrees with the close code on whether to reconnect",
        arguments: CloseReason.allCases)
    func disconnected(_ reason: CloseReason) {
        var state = Phase.connected.state
        let effects = state.handle(.mustClose(reason), now: .seconds(2))
        let farewells = effects.compactMap { effect -> Reconnect? in
            guard case .send(.disconnected(.networkDisconnected, let reconnect, _)) = effect else { return nil }
            return reconnect
        }
        #expect(farewells == [reason.shouldReconnect ? .yes : .never], "\(effects.map(\.testDescription))")
    }
}

extension ModerationRecord {
    fileprivate static let test = ModerationRecord(
        seq: Seq(9), time: WallTime(milliseconds: 1), event: ModerationEvent(action: .unfreeze, until: nil, by: nil))
}
