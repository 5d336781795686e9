import SignalingProtocol

/// One socket's way through the protocol: before connect, connected, closing.
///
/// Pure: the events of the socket, the token's verifier and the session go in, with `now`; effects come out. This file
/// has the transitions; `+Interface` has the inputs and effects, `+Joining` the join, and `+Closing` the ways in which
/// a connection ends.
public struct ConnectionState: Sendable {
    /// The state of a socket.
    enum Phase: Sendable {
        /// Open, without a connect. Next: `authenticating`, `closing`.
        case awaitingConnect(until: MonotonicInstant)
        /// The token is being checked. Next: `joining`, `closing`.
        indirect case authenticating(RequestID, ConnectRequest, until: MonotonicInstant)
        /// The session has been asked to add the connection. Next: `connected`, `closing`.
        indirect case joining(RequestID, Joining, until: MonotonicInstant)
        /// In its session. Next: `leaving`, `closing`.
        case connected(Connected)
        /// It has left its session, and earlier requests have no answer yet (WIRE-8). No line is handled. Next:
        /// `closing`.
        case leaving(until: MonotonicInstant)
        /// The close frame has been requested. No line is handled. The last state.
        case closing
    }

    struct Joining: Sendable {
        let session: SessionID
        let apiKey: APIKey
        let request: JoinRequest
        let resumeSecret: ResumeSecret
        /// See ``Admission/untimeliness``.
        let untimeliness: SignalingError?
        let tokenExpiry: TokenExpiry
        let busyWait: Duration
        let historyAccess: HistoryAccess
        /// The page that the client has asked for with its connect (HIS-5).
        let history: HistoryRequest?
        /// Whether the client asked for streams (STR-2).
        let getsStreams: Bool
    }

    /// What stays as it is while a client is in its session. An object, since the handling of a line copies the phase: it
    /// then counts one reference, not those of each text in it.
    final class Membership: Sendable {
        let session: SessionID
        let apiKey: APIKey
        /// Whether the session kept a history when the client came.
        let keepsHistory: Bool
        let historyAccess: HistoryAccess
        let binding: SocketBinding

        init(_ joining: Joining, _ result: JoinResult) {
            session = joining.session
            apiKey = joining.apiKey
            keepsHistory = result.hasHistory
            historyAccess = joining.historyAccess
            binding = SocketBinding(result.connection.connectionId, joining.request.socket)
        }
    }

    struct Connected: Sendable {
        private let membership: Membership
        var session: SessionID { membership.session }
        var apiKey: APIKey { membership.apiKey }
        var keepsHistory: Bool { membership.keepsHistory }
        var historyAccess: HistoryAccess { membership.historyAccess }
        var binding: SocketBinding { membership.binding }
        /// Replaced when the client presents a newer token.
        var tokenExpiry: TokenExpiry
        /// The connection was resumed on this socket, and no message from the client has arrived on it yet (RES-6).
        var isUnconfirmed: Bool
        var silence: Silence
        var nextPing: MonotonicInstant

        init(_ joining: Joining, _ result: JoinResult, nextPing: MonotonicInstant, now: MonotonicInstant) {
            membership = Membership(joining, result)
            tokenExpiry = joining.tokenExpiry
            isUnconfirmed = result.outcome == .resumed
            silence = .since(now)
            self.nextPing = nextPing
        }
    }

    /// Malformed lines that a socket may send before it is closed (WIRE-9). Before `connected`, every line but an
    /// accepted `connect` counts (CON-13).
    public static let malformedLimit = 10

    var phase: Phase
    var pending = PendingAnswers()
    let heartbeat: Duration
    private var malformedCount = 0
    var backPressure: BackPressure
    var historyReads = HistoryReads()
    var inputRate: InputRate
    /// The latest time for the next call of `advance`; `nil` when nothing is due.
    public private(set) var nextDeadline: MonotonicInstant?

    /// - Parameter inputRate: the rate of the lines that the signal rate does not count (WIRE-15); `nil` for no limit.
    public init(
        openedAt now: MonotonicInstant, heartbeat: Duration = Limits.heartbeat,
        backPressure: BackPressure.Bounds = .standard, inputRate: RateLimit? = nil
    ) {
        phase = .awaitingConnect(until: now.advanced(by: Limits.connectTimeout))
        self.heartbeat = heartbeat
        self.backPressure = BackPressure(bounds: backPressure)
        self.inputRate = InputRate(limit: inputRate)
        nextDeadline = deadline
    }

    // MARK: - Questions

    /// The session and binding of a connected client.
    public var connected: (session: SessionID, binding: SocketBinding)? {
        switch phase {
        case .connected(let connected): (connected.session, connected.binding)
        case .awaitingConnect, .authenticating, .joining, .leaving, .closing: nil
        }
    }

    public var isClosing: Bool {
        switch phase {
        case .closing: true
        case .awaitingConnect, .authenticating, .joining, .connected, .leaving: false
        }
    }

    /// Between `pauseReading` and `resumeReading`.
    public var isReadingPaused: Bool { backPressure.isPaused }

    /// Whether the client is over its rate of lines (WIRE-15), so that its next lines wait.
    public var isOverLineRate: Bool { backPressure.overRateUntil != nil }

    /// When the client's allowance of lines will be whole again (WIRE-15); in the past if it is. A later connection with
    /// the same token begins with it: ``Admission/lineRateFullAt``.
    public var lineRateFullAt: MonotonicInstant { inputRate.fullAt }

    /// The largest message that the transport may deliver, in bytes (WIRE-10, CON-13).
    public var messageByteLimit: Int {
        switch phase {
        case .awaitingConnect, .authenticating, .joining: Limits.connectMessageByteCount
        case .connected, .leaving, .closing: Limits.messageByteCount
        }
    }

    /// Whether a backlog of this many bytes must be reported as
    /// ``Input/backlog(waitingByteCount:acknowledgedByteCount:)``. For most sockets it need not be, which saves time.
    public func mustHear(ofBacklog waitingByteCount: Int) -> Bool {
        backPressure.isAffected(byBacklog: waitingByteCount)
    }

    private var deadline: MonotonicInstant? {
        switch phase {
        case .awaitingConnect(let until), .authenticating(_, _, let until), .joining(_, _, let until),
            .leaving(let until):
            until
        case .connected(let connected):
            MonotonicInstant.earlier(
                .earlier(connected.nextPing, lossLimit(connected)),
                .earlier(connected.tokenExpiry.deadline, backPressure.overRateUntil))
        case .closing: nil
        }
    }

    /// When the client counts as lost. A client whose requests wait for the session, and for nothing else, is not lost:
    /// the server does not read, and the client has nothing to read (WIRE-14).
    private func lossLimit(_ connected: Connected) -> MonotonicInstant? {
        isReadingPaused
            ? backPressure.stallLimit(heartbeat: heartbeat) : connected.silence.limit(heartbeat: heartbeat)
    }

    // MARK: - Transitions

    /// Executes what is due.
    public mutating func advance(to now: MonotonicInstant) -> [Effect] {
        defer { nextDeadline = deadline }
        let effects = dueEffects(now)
        return backPressure.overRateUntil == nil ? effects : effects + changeReading(now) + readNextPage()
    }

    private mutating func dueEffects(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .awaitingConnect(let until), .authenticating(_, _, let until):
            return now >= until ? close(.connectTimeout) : []
        case .joining(_, let joining, let until):
            // CON-2: the session engine is slow, not the client.
            return now >= until ? postpone(joining, returnAfter: joining.busyWait) : []
        case .connected(var connected):
            if connected.tokenExpiry.isOver(at: now) { return close(.tokenExpired) }
            connected.silence.excuse(pingDue: connected.nextPing, heartbeat: heartbeat, now: now)
            phase = .connected(connected)
            if let limit = lossLimit(connected), now >= limit {
                return close(isReadingPaused ? .slowConsumer : .heartbeatMissed)
            }
            guard now >= connected.nextPing else { return [] }
            // Counted from now, not from the last ping: after the whole process was paused, one ping is sent, not a
            // burst.
            connected.nextPing = now.advanced(by: heartbeat)
            phase = .connected(connected)
            return backPressure.hasBacklog ? [] : [.ping]
        case .leaving(let until):
            return now >= until ? close(.normal) : []
        case .closing:
            return []
        }
    }

    public mutating func handle(_ input: Input, now: MonotonicInstant) -> [Effect] {
        defer { nextDeadline = deadline }
        let effects = Self.sequence(effects(of: input, now: now), changeReading(now))
        return Self.sequence(effects, readNextPage())
    }

    /// Both, without a new array if one is empty.
    private static func sequence(_ first: [Effect], _ second: [Effect]) -> [Effect] {
        first.isEmpty ? second : second.isEmpty ? first : first + second
    }

    /// Pauses or resumes reading (WIRE-13, WIRE-15).
    private mutating func changeReading(_ now: MonotonicInstant) -> [Effect] {
        if isClosing { return [] }
        switch backPressure.judge(unansweredCount: pending.count + historyReads.count, now: now) {
        case nil: return []
        case .pause: return [.pauseReading]
        case .resume:
            // The server received nothing during the pause, so the client's silence counts from now.
            if case .connected(var connected) = phase {
                connected.silence = .since(now)
                phase = .connected(connected)
            }
            return [.resumeReading]
        }
    }

    private mutating func effects(of input: Input, now: MonotonicInstant) -> [Effect] {
        switch input {
        case .received(let message, let byteCount):
            if message.isCharged { charge(byteCount: byteCount, now) }
            return Self.sequence(noteHeard(now), received(message, now))
        case .receivedMalformed(let error, let byteCount):
            charge(byteCount: byteCount, now)
            return Self.sequence(noteHeard(now), receivedMalformed(error))
        case .receivedEmpty:
            charge(byteCount: 0, now)
            return countUnconnected()
        case .receivedInFrames(let count):
            charge(lineCount: count - 1, now)
            return []
        case .authenticated(let result): return authenticated(result)
        case .verified(let request, let result): return verified(request, result, now: now)
        case .answered(let request, let outcome): return answered(request, outcome, now: now)
        case .pageRead(let request, let result): return pageRead(request, result, now)
        case .backlog(let waiting, let acknowledged):
            backPressure.note(waitingByteCount: waiting, acknowledgedByteCount: acknowledged, now: now)
            return []
        case .inputWaits:
            if case .connected(var connected) = phase {
                connected.silence = .since(now)
                phase = .connected(connected)
            }
            return []
        case .ended(let reason, let ban): return closeEnded(reason, ban: ban)
        case .superseded: return closeSuperseded()
        case .mustClose(let reason): return close(reason)
        case .serverStops(let wait): return closeStopping(returnAfter: wait)
        case .socketClosed(let code): return socketClosed(code)
        }
    }

    private mutating func charge(byteCount: Int, _ now: MonotonicInstant) {
        charge(lineCount: InputRate.lineCount(of: byteCount), now)
    }

    private mutating func charge(for answer: ServerMessage, _ now: MonotonicInstant) {
        charge(lineCount: EncodedLine(answer).byteCount / InputRate.pieceByteCount, now)
    }

    mutating func charge(lineCount: Int, _ now: MonotonicInstant) {
        switch phase {
        case .connected, .leaving:
            if let moment = inputRate.charge(lineCount: lineCount, now: now) {
                backPressure.noteOverRate(until: moment)
            }
        // The number of lines is bounded instead (CON-13).
        case .awaitingConnect, .authenticating, .joining, .closing: break
        }
    }

    private mutating func noteHeard(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .connected(var connected):
            let isFirst = connected.isUnconfirmed
            connected.silence = .since(now)
            connected.isUnconfirmed = false
            phase = .connected(connected)
            return isFirst ? [.submit(.heard(connected.binding), connected.session, nil)] : []
        case .awaitingConnect, .authenticating, .joining, .leaving, .closing: return []
        }
    }

    private mutating func received(_ message: ClientMessage, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .awaitingConnect(let until):
            guard case .connect(let id, let request) = message else { return refuseUnconnected(message) }
            phase = .authenticating(id, request, until: until)
            pending.expect(id)
            return [.authenticate(request)]
        case .authenticating, .joining:
            if case .connect(let id, _) = message {
                return answer(.error(id, .alreadyConnecting)) + countUnconnected()
            }
            return refuseUnconnected(message)
        case .connected(let connected):
            switch message {
            case .connect(let id, _): return answer(.error(id, .alreadyConnecting))
            case .signal(let id, let request):
                pending.expect(id)
                return [.submit(.signal(.connection(connected.binding, id), request), connected.session, id)]
            case .forceDisconnect(let id, let target):
                pending.expect(id)
                let sender = CommandSender.connection(connected.binding, id)
                return [.submit(.forceDisconnect(sender, target), connected.session, id)]
            case .refreshToken(let id, let token):
                pending.expect(id)
                return [
                    .verify(id, TokenRefresh(apiKey: connected.apiKey, session: connected.session, token: token))
                ]
            case .history(let id, let request): return askForHistory(id, request, connected)
            case .change(let id, let request):
                pending.expect(id)
                return [.submit(.change(.connection(connected.binding, id), request), connected.session, id)]
            case .react(let id, let request):
                pending.expect(id)
                return [.submit(.react(.connection(connected.binding, id), request), connected.session, id)]
            case .reactors(let id, let request): return askForReactors(id, request, connected)
            case .read(let id, let seq):
                pending.expect(id)
                return [.submit(.read(connected.binding, through: seq), connected.session, id)]
            case .erase(let id, let erasure):
                pending.expect(id)
                return [.submit(.erase(.connection(connected.binding, id), erasure), connected.session, id)]
            case .moderate(let id, let request):
                pending.expect(id)
                return [.moderate(.connection(connected.binding, id), request, connected.session, id)]
            case .restrictions(let id):
                pending.expect(id)
                return [.submit(.restrictions(connected.binding), connected.session, id)]
            case .streams(let id, let streams):
                pending.expect(id)
                return [.submit(.streams(.connection(connected.binding, id), streams), connected.session, id)]
            case .disconnect(let id):
                phase = .leaving(until: now.advanced(by: heartbeat * 2))
                // Acknowledged when the departure cannot be lost any more (LOG-14).
                pending.expect(id)
                return [.submit(.leave(connected.binding, .clientDisconnected), connected.session, id)]
            case .pong: return []
            }
        case .leaving, .closing:
            return []
        }
    }

    /// CON-1: before connect, no other request is valid.
    private mutating func refuseUnconnected(_ message: ClientMessage) -> [Effect] {
        let refusal: [Effect] =
            switch message {
            case .connect, .pong: []
            case .signal(let id, _), .change(let id, _), .react(let id, _), .reactors(let id, _), .read(let id, _),
                .refreshToken(let id, _), .history(let id, _),
                .streams(let id, _), .disconnect(let id):
                answer(.error(id, SignalingError(.notConnected, "connect first")))
            case .forceDisconnect(let id, _), .erase(let id, _), .moderate(let id, _), .restrictions(let id):
                answer(.error(id, SignalingError(.notConnectedToModerate, "connect first")))
            }
        return refusal + countUnconnected()
    }

    /// CON-13: a client without a session may send only a few lines.
    private mutating func countUnconnected() -> [Effect] {
        switch phase {
        case .connected, .leaving, .closing: return []
        case .awaitingConnect, .authenticating, .joining: break
        }
        malformedCount += 1
        return malformedCount < Self.malformedLimit ? [] : close(.tooManyErrors)
    }

    private mutating func receivedMalformed(_ error: ClientMessageError) -> [Effect] {
        switch phase {
        case .leaving, .closing: return []
        case .awaitingConnect, .authenticating, .joining, .connected: break
        }
        let answer = answer(.error(error.id, error.error))
        if case .connected = phase, !error.isMalformed { return answer }
        malformedCount += 1
        return malformedCount < Self.malformedLimit ? answer : answer + close(.tooManyErrors)
    }

    // MARK: - Answers

    mutating func answered(
        _ request: RequestID?, _ outcome: SessionOutcome, now: MonotonicInstant
    ) -> [Effect] {
        switch phase {
        case .joining(let id, let joining, _): return joined(id, joining, outcome, now: now)
        case .connected, .leaving:
            guard let request else { return [] }
            let answer: PendingAnswers.Answer
            if case .refreshed(let expiry) = outcome { tokenRefreshed(expiry) }
            switch outcome {
            case .signalled(let seq): answer = .ack(request, seq)
            case .changed(let seq), .erased(let seq): answer = .ack(request, seq)
            case .moderated(let action, _): answer = .ack(request, action.seq)
            case .announced(let seq): answer = .ack(request, seq)
            case .restrictions(let records): answer = .restrictions(request, records)
            case .reactors(let ref, let reactors): answer = .reactors(request, ref, reactors)
            case .forceDisconnected, .refreshed, .reacted, .marked: answer = .ack(request, nil)
            case .refused(let error): answer = .error(request, error)
            case .done: answer = .goodbye(request)
            case .joined, .wasForceDisconnected, .superseded: return []
            // The node disconnects every client of the session.
            case .unavailable: return []
            }
            let isOnly = pending.resolveOnly(request)
            guard let answers = isOnly ? [] : pending.resolve(request, with: answer) else { return [] }
            switch outcome {
            case .refused, .forceDisconnected, .erased, .moderated: charge(byteCount: 0, now)
            // It was charged as a line when it arrived (MOD-6).
            case .restrictions(let records): charge(for: .restrictions(request, records), now)
            case .reactors(let ref, let reactors): charge(for: .reactors(request, ref, reactors), now)
            case .signalled, .changed, .reacted, .marked, .announced, .refreshed, .done, .joined, .wasForceDisconnected,
                .superseded,
                .unavailable:
                break
            }
            backPressure.noteAnswer(now: now)
            if isOnly { return send(answer) }
            if answers.count == 1 { return send(answers[0]) }
            return answers.flatMap { send($0) }
        case .awaitingConnect, .authenticating, .closing:
            return []
        }
    }

    /// Answers a request without the session, after the answers to earlier requests.
    mutating func answer(_ answer: PendingAnswers.Answer) -> [Effect] {
        pending.add(answer).map { send($0) } ?? []
    }

    mutating func send(_ answer: PendingAnswers.Answer) -> [Effect] {
        switch answer {
        case .ack(let id, let seq): return [.send(.ack(id, seq))]
        case .error(let id, let error): return [.send(.error(id, error))]
        case .restrictions(let id, let records): return [.send(.restrictions(id, records))]
        case .reactors(let id, let ref, let reactors): return [.send(.reactors(id, ref, reactors))]
        case .goodbye(let id):
            phase = .closing
            return [
                .send(.ack(id, nil)), .send(.disconnected(.clientDisconnected, .never)), .close(.normal, .deliver),
            ]
        }
    }
}

extension ClientMessage {
    /// Whether the line is charged when it arrives (WIRE-15). The answer of the session charges the others.
    fileprivate var isCharged: Bool {
        switch self {
        case .signal(_, let request): request.isOnlineOnly
        case .forceDisconnect, .change, .react, .erase, .moderate, .streams: false
        case .connect, .refreshToken, .history, .reactors, .read, .restrictions, .disconnect, .pong: true
        }
    }
}

extension SignalingError {
    static var alreadyConnecting: SignalingError {
        SignalingError(.illegalState, "this socket has a connect already")
    }
}
