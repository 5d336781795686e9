import SignalingProtocol

/// Judges the lines between clients and servers by the rules of `docs/PROTOCOL.md`, as they pass.
///
/// It stands on the wire, before any filter of a client: a server that sends an event twice is found although the
/// client drops the second one. One ``WireRecord`` keeps what has passed, and each judge has one idea: it sees every line
/// of a server beside the record of everything before it, and the whole record at the end.
///
/// The data of each signal must be unique in the session: it identifies the signal. Feed it with lines in the order in
/// which they pass, with one clock, and call ``violations(at:isSettled:)`` at the end.
public struct WireJudge: Sendable {
    /// The caller's number for a socket. Each number is used once.
    public typealias SocketNumber = Int

    var record: WireRecord
    var found = Findings()

    private let resume = ResumeJudge()
    let sender = SenderJudge()
    private let order = OrderJudge()
    private let answer = AnswerJudge()
    private var presence = PresenceJudge()
    var history = HistoryJudge()
    private var moderation = ModerationJudge()
    private var markers = MarkerJudge()
    var feed = FeedJudge()

    public init(terms: Terms) { record = WireRecord(terms: terms) }

    /// May change while lines pass.
    public var terms: Terms {
        get { record.terms }
        set { record.terms = newValue }
    }

    // MARK: - The verdict

    /// All violations.
    ///
    /// - Parameter isSettled: every client that is connected had the time to receive everything.
    public func violations(at now: MonotonicInstant, isSettled: Bool) -> [Violation] {
        var found = found
        let judges: [any Judge] = [order, presence, answer, history, moderation, markers]
        for judge in judges { judge.conclude(record, at: now, isSettled: isSettled, &found) }
        feed.conclude(record, isSettled: isSettled, &found)
        return found.violations
    }

    /// The violations in what the programs of one session saw, beside what their wires carried.
    ///
    /// - Parameters:
    ///   - isSettled: every program that is connected had the time to receive everything.
    ///   - epochLimit: one more than the number of times that the server lost the session; nil: unlimited.
    public func violations(
        of programs: [ProgramRecord], isSettled: Bool, epochLimit: Int? = nil
    ) -> [Violation] {
        ProgramJudge.violations(in: programs, record, isSettled: isSettled, epochLimit: epochLimit)
    }

    /// The log of a server is one more reader, which gets everything (G1): the violations that it shows.
    public func violations(
        ofLog lines: [(seq: Seq, line: [UInt8])], of epoch: Epoch, in session: String
    ) -> [Violation] {
        guard let epoch = record.knownEpoch(epoch.rawValue, of: session) else { return [] }
        var (record, found) = (record, Findings())
        var created: Set<WireOrder.Name> = []
        for line in lines {
            guard let passage = record.read(log: line.line, of: epoch, in: session), let event = passage.placed?.event
            else {
                found.add(.g1, .wrong, "the log has \(String(decoding: line.line, as: UTF8.self)) at \(line.seq)")
                continue
            }
            let seq = Int(line.seq.rawValue)
            if let told = record.orders[Int(epoch)][seq], told != event, isToldToBackendsAlone(told, at: seq, in: epoch)
            {
                record.orders[Int(epoch)].forget(seq)
            }
            order.judge(event, at: seq, in: epoch, record, &found)
            record.note(logged: passage)
            if case .created(let name) = event { created.insert(name) }
        }
        let (told, logged) = (self.record.orders[Int(epoch)], Set(lines.map { Int($0.seq.rawValue) }))
        for seq in told.seqs where !logged.contains(seq) {
            guard let event = told[seq], !isToldToBackendsAlone(event, at: seq, in: epoch) else { continue }
            found.add(.g1, .wrong, "clients have \(record.text(event)) at \(seq), which is not in the log")
        }
        for (name, connection) in record.connectionsInOrder where connection.epoch == epoch && !created.contains(name) {
            found.add(.g7, .missing, "the log has no creation of \(record.id(name))")
        }
        order.conclude(record, at: .never, isSettled: true, &found)
        presence.judgePresence(ofEpoch: epoch, record, &found)
        ChangeJudge.judge(epoch, record, &found)
        if record.currentEpochs[session] == epoch {
            ReactionJudge().conclude(record, isSettled: true, hasAll: true, &found)
        }
        let bench = RestrictionBench(record: record)
        RestrictionWalk.judge(record.orders[Int(epoch)], bench, isSettled: false, &found)
        return found.violations
    }

    /// Whether only the answer to a backend shows an event. A session without connections may have ended with it (MOD-9),
    /// or have begun another order before, which no client knows.
    private func isToldToBackendsAlone(_ event: WireOrder.Event, at seq: Int, in epoch: Int32) -> Bool {
        guard case .moderated(let number) = event, record.actions[number].by == nil else { return false }
        return !record.sockets.values.contains { socket in
            socket.epoch == epoch && socket.received.contains(Int32(clamping: seq - socket.start))
        }
    }

    /// Whether a broken promise has been seen already.
    public var hasViolations: Bool { !found.violations.isEmpty }

    /// How many events with a seq have passed to clients.
    public var deliveryCount: Int { record.sockets.values.reduce(0) { $0 + $1.received.count } }

    /// How long after its acknowledgement each ban had its effect: when the last signal of the banned user passed.
    public var banDelays: [Duration] { RestrictionBench(record: record).banDelays }

    // MARK: - Lines

    /// A token was issued. The connections that begin with it are judged by it.
    ///
    /// - Parameter user: nil for the token of a guest (USR-1).
    public mutating func issued(
        _ token: String, role: String, data: String, user: String? = nil, mayReadHistory: Bool = true
    ) {
        record.claims[token] = WireRecord.TokenClaims(
            role: role, data: data, user: user.map { record.user($0) }, mayReadHistory: mayReadHistory)
    }

    /// A text message from the client, of one or more lines (WIRE-3).
    public mutating func clientSent(
        _ message: UnsafeRawBufferPointer, on number: SocketNumber, at now: MonotonicInstant
    ) {
        for line in Self.lines(of: message) {
            record.clientSent(line, on: number, at: now)
            if line.op == "connect" { markers.opened(number, record) }
        }
    }

    /// A text message from the server.
    public mutating func serverSent(
        _ message: UnsafeRawBufferPointer, on number: SocketNumber, at now: MonotonicInstant
    ) {
        for line in Self.lines(of: message) {
            guard let passage = record.read(line, on: number, at: now) else { continue }
            guard record.sockets[number]?.isOpen == true else {
                if let (event, seq) = passage.placed { order.judge(event, at: seq, in: passage.epoch, record, &found) }
                record.note(behindLoss: passage)
                continue
            }
            resume.hear(passage, record, &found)
            sender.hear(passage, record, &found)
            order.hear(passage, record, &found)
            answer.hear(passage, record, &found)
            presence.hear(passage, record, &found)
            history.hear(passage, record, &found)
            moderation.hear(passage, record, &found)
            markers.hear(passage, record, &found)
            record.note(passage)
        }
    }

    /// Clients may send malformed lines on purpose; a malformed line of the server is found by its absence.
    private static func lines(of message: UnsafeRawBufferPointer) -> [WireLine] {
        message.split(separator: UInt8(ascii: "\n")).compactMap { WireLine($0) }
    }

    // MARK: - Sockets

    public mutating func opened(_ socket: SocketNumber, at now: MonotonicInstant) {
        record.sockets[socket] = WireRecord.Socket(openedAt: now)
    }

    /// The socket ended for the server. What it still sends, because it does not know yet or has sent it before, has its
    /// place in the order, and shows nothing else. Later calls do nothing.
    ///
    /// - Parameter isSilent: no socket closed, so that the server notices the loss only by the missing heartbeats.
    public mutating func closed(_ number: SocketNumber, at now: MonotonicInstant, isSilent: Bool = false) {
        record.close(number, at: now, isSilent: isSilent)
    }

    /// The server's node was declared lost: other nodes take the socket for lost, although it may be open for a while.
    public mutating func takenForLost(_ number: SocketNumber, at now: MonotonicInstant) {
        mayLoseMarkers(at: now)
        if let socket = record.sockets[number], socket.isOpen { record.lose(socket, number, at: now) }
    }

    /// The client of this socket reads slowly or not at all from now on: its lines do not show when the server sent
    /// them.
    public mutating func impaired(_ number: SocketNumber) { record.sockets[number]?.isImpaired = true }

    /// A close frame from the client. Codes 1000 and 1001 and a frame without a code end the connection (RES-10).
    public mutating func clientClosed(_ number: SocketNumber, code: Int?) {
        if code == nil || code == 1000 || code == 1001 { record.clientClosed(number) }
    }

    /// A close frame from the server: its code must have a reason (CLOSE-1).
    public mutating func serverClosed(_ number: SocketNumber, code: Int?) {
        presence.serverClosed(number, code: code, record, &found)
    }

    // MARK: - Backends

    /// A signal through REST was sent.
    public mutating func sentByREST(data: String, type: String?, to: String?) {
        record.sentByREST(data: data, type: type, to: to)
    }

    /// REST acknowledged a signal (status 204): the signal is in the order of the session (REST-2).
    public mutating func acknowledgedByREST(data: String, in session: String, at now: MonotonicInstant) {
        record.acknowledgedByREST(data: data, in: session, at: now)
    }

    /// A connection was force-disconnected through REST, and the server confirmed it.
    public mutating func forceDisconnectedByREST(_ id: String, at now: MonotonicInstant) {
        record.noteForced(record.name(id), at: now)
    }

    /// A backend does not know whether its request to end a connection was carried out.
    public mutating func mayBeForceDisconnected(_ id: String) { record.noteForceRequest(for: record.name(id)) }

    /// A backend asks to erase messages (HIS-10). No client may hear of it.
    public mutating func mayBeErasedByREST(_ erasure: Erasure, in session: String) {
        record.mayBeErasedByREST(erasure, in: session)
    }

    /// A backend asks for an action (MOD-7).
    ///
    /// - Parameter body: the JSON of the request.
    /// - Returns: the number of the request for ``moderatedByREST(_:seq:at:)``; nil for a body that names no action.
    public mutating func asksByREST(_ body: String, in session: String, at now: MonotonicInstant) -> Int? {
        WireLine(body.utf8).flatMap { record.asksByREST($0, in: session, at: now) }
    }

    /// The answer to a backend that has asked for an action: its seq, or nil for a refusal. Without an answer, call
    /// nothing: the action may have been carried out.
    public mutating func moderatedByREST(_ request: Int, seq: Int?, at now: MonotonicInstant) {
        guard let seq else { return record.asked[request].fate = .refused }
        let asked = record.asked[request]
        guard let epoch = record.currentEpochs[asked.session] else { return }
        let event = WireOrder.Event.moderated(record.actions.number(of: asked.action))
        order.judge(event, at: seq, in: epoch, record, &found)
        record.place(event, at: seq, 0, in: epoch, now)
        record.noteCarriedOut(request, at: seq, in: epoch, now)
    }

    /// A request of a backend for a page.
    public struct RESTPageRequest: Sendable {
        let session: String
        let request: WireRecord.PageRequest
    }

    /// A backend asks for a page (HIS-10).
    public func asksPageByREST(
        _ request: HistoryRequest, in session: String, at now: MonotonicInstant
    ) -> RESTPageRequest {
        let position: WireRecord.PageRequest.Position =
            switch request.position {
            case .newest: .newest
            case .before(let seq): .before(Int(seq.rawValue))
            case .after(let seq): .after(Int(seq.rawValue))
            case .changedAfter(let seq): .changedAfter(Int(seq.rawValue))
            }
        var page = WireRecord.PageRequest(position, limit: request.limit, askedAt: now)
        page.boundary = record.histories[session]?.acknowledgedThrough ?? 0
        return RESTPageRequest(session: session, request: page)
    }

    /// A backend got the page.
    public mutating func pageByREST(
        _ body: some Collection<UInt8>, for asked: RESTPageRequest, at now: MonotonicInstant
    ) {
        guard let page = WireLine(body) else {
            return found.add(.h3, .wrong, "a backend got a page that is no JSON object (HIS-10)")
        }
        var described: [(name: WireOrder.Name, details: WireRecord.Details)] = []
        let messages = record.messages(in: page, &described)
        let reader = HistoryJudge.Reader(name: "a backend", session: asked.session, position: 0)
        sender.judge(described, record, &found)
        history.judge(page, messages, for: asked.request, by: reader, record, &found)
        record.note(messages, of: asked.session, now)
    }

    // MARK: - Servers

    /// A server is ready: from now on it has the time to do what its predecessor could not.
    public mutating func serverStarted(at now: MonotonicInstant) {
        history.serverStarted(record, &found)
        record.serverStarted(at: now)
    }

    /// The server stopped in order (SIGTERM): its archive has every message.
    public mutating func serverStopped() { record.changeHistories { $0.noteStop() } }

    /// The server was killed (SIGKILL). It loses its sessions unless it is durable.
    public mutating func serverKilled(at now: MonotonicInstant) {
        mayLoseMarkers(at: now)
        if !terms.isDurable { serverLostSessions(at: now) }
    }

    /// A server died, or was taken for lost: the markers of its last second may be gone (READ-1).
    public mutating func mayLoseMarkers(at now: MonotonicInstant) { markers.serverDied(at: now) }

    /// The server lost its sessions: its successor had no state. What was due before is judged now.
    public mutating func serverLostSessions(at now: MonotonicInstant) {
        presence.judgeDepartures(record, at: now, &found)
        answer.judgeRESTSignals(record, at: now, isSettled: false, &found)
        history.judgeWhatIsKept(record, &found)
        record.serverLostSessions()
        markers.serverLostSessions()
    }

    // MARK: - Files

    /// The data of the messages that were erased.
    public var erasedData: Set<String> {
        Set(record.signals.keys.filter { FileJudge.erasure(of: $0, record) != nil })
            .union(FileJudge.erasedEditions(record).keys)
    }

    /// Data was found in a file that the server writes.
    public mutating func foundOnDisk(_ data: String, in file: String, at now: MonotonicInstant) {
        FileJudge.judge(data, in: file, record, at: now, &found)
    }

    /// The files of the server are copied now. Everything that was acknowledged has passed.
    public mutating func stateCopied() { record.changeHistories { $0.noteCopy() } }

    /// The server has died, and the next one continues the copy.
    ///
    /// The clients know newer events, so the sessions begin new epochs far above them (RES-3, HIS-3).
    public mutating func copyPutBack(at now: MonotonicInstant) {
        serverLostSessions(at: now)
        record.copyPutBackAt = now
        record.changeHistories { $0.losesWhatFollowedTheCopy() }
    }

    /// The history of a running server is removed: the server must notice that at once, and end (LOG-23).
    public mutating func historyRemoved(at now: MonotonicInstant) { record.historyRemovedAt = now }
}
