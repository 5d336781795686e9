import JSONText
import SignalingProtocol

/// Judges the lines between clients and servers by the rules of `docs/PROTOCOL.md`, as they pass.
///
/// It stands on the wire, before any filter of a client: a server that sends an event twice is found although the
/// client drops the second one. It relies on nothing that a server reports about itself, and shares no decoder with the
/// product. It keeps a few bytes for each event and delivery, so that it can judge millions of signals.
///
/// The data of each signal must be unique in the session: it identifies the signal. Feed it with lines in the order in
/// which they pass, with one clock, and call ``violations(at:isSettled:)`` at the end.
public struct WireJudge: Sendable {
    /// What the server under test was told, and how exactly its clock can be judged.
    public struct Terms: Sendable {
        public var resumeWindow: Duration
        public var recoveryWindow: Duration
        public var heartbeat: Duration
        /// How long after its loss a connection counts as away (PRES-4).
        public var awayDelay: Duration
        /// The bounds of a session's log (RES-14).
        public var logEventCount: Int
        public var logByteCount: Int
        /// How late a server may act, and how far the tap's clock may be from the server's, before it counts as wrong.
        public var tolerance: Duration
        /// How much earlier than its window a connection may end before it counts as wrong; nil: ``tolerance``.
        public var earliness: Duration?
        /// Whether the server keeps its sessions even if it is killed. Clients then see a kill as a lost socket: no
        /// `lost`, no new epoch, and no departure of a client that comes back. Default: false.
        public var isDurable = false
        /// Which signals the server keeps as history; nil: nothing is judged of a history. Default: nil.
        public var history: KeptHistory?
        /// The wall clock when the judge's clock is at zero; nil: restrictions that end by themselves are not judged
        /// (MOD-2). Default: nil.
        public var wallTimeAtZero: WallTime?

        public init(
            resumeWindow: Duration, recoveryWindow: Duration, heartbeat: Duration, awayDelay: Duration,
            logEventCount: Int, logByteCount: Int, tolerance: Duration, earliness: Duration? = nil
        ) {
            self.resumeWindow = resumeWindow
            self.recoveryWindow = recoveryWindow
            self.heartbeat = heartbeat
            self.awayDelay = awayDelay
            self.logEventCount = logEventCount
            self.logByteCount = logByteCount
            self.tolerance = tolerance
            self.earliness = earliness
        }

        var allowedEarliness: Duration { earliness ?? tolerance }
    }

    /// The caller's number for a socket. Each number is used once.
    public typealias SocketNumber = Int

    typealias Name = WireOrder.Name

    struct Sending: Sendable {
        var from: Name?
        var to: WireOrder.Target
        var type: String?
        var isOnlineOnly: Bool
        /// When its request first passed.
        var sentAt: MonotonicInstant
        /// The socket on which its request first passed; nil for a signal by REST.
        var socket: SocketNumber?
        var epoch: Int32 = -1
        var seq = -1
        /// When its acknowledgement passed.
        var acknowledgedAt: MonotonicInstant?
        /// The epoch of the session when REST acknowledged the signal; -1 without such an acknowledgement.
        var restEpoch: Int32 = -1
    }

    struct Request: Sendable {
        var id: Int64
        var op: String
        var signal: Int32?
        /// The connection that a `forceDisconnect` names.
        var target: Name?
        /// What an `erase` names.
        var erasure: WireOrder.Erasure?
        /// The number of the action that a `moderate` asks for.
        var asked: Int?
    }

    struct Resume: Sendable {
        var connection: Name?
        var secret: String
        var epoch: String
        var after: Int
        /// The newest event that had passed to any client when this client asked.
        var knownThrough: Int
    }

    struct Socket: Sendable {
        var session = ""
        /// What the token of the `connect` says; nil for a token that the judge was not told of.
        var claims: TokenClaims?
        /// The number of the token.
        var token: Int32 = -1
        var openedAt: MonotonicInstant
        /// When the `connect` passed.
        var askedAt: MonotonicInstant
        /// When `connected` passed, and when the socket ended.
        var connectedAt: MonotonicInstant?
        var closedAt: MonotonicInstant?
        /// The network was slow, or the client did not read: lines pass later than the server sent them.
        var isImpaired = false
        var resume: Resume?
        var suppressesPresence = false
        var getsPages = false
        /// The client asked for absences (PRES-4).
        var getsAbsences = false
        /// The requests without an answer, in their order.
        var requests: [Request] = []
        /// Answered requests at the front of `requests`.
        var answeredCount = 0
        var connection: Name?
        var epoch: Int32 = -1
        /// Events up to this seq belong to an earlier socket, or to nobody.
        var start = 0
        var replayThrough = 0
        /// Only broadcasts are due up to this seq (RES-2, `recovered`).
        var onlyBroadcastsThrough = 0
        /// The events that the server sent, in their order: the distances of their seqs from `start`.
        var received: [Int32] = []
        /// Before this seq the server claims to have sent everything (HB-2, SIG-6).
        var claimed = 0
        var isOpen = true
        /// The client has sent a close frame that ends its connection, perhaps before `connected` passed.
        var isLeft = false
        /// The client has sent `disconnect`.
        var hasAskedToLeave = false
        /// The connections that the client was told of; nil after a resume.
        var others: [Name]?
        /// The number of connections in pages that are still to come (CON-11).
        var listRest = 0
        /// The list was too long for a client without pages (CON-11).
        var isListCut = false
        var onlineOnly: Set<Int32> = []
        var told = ToldAbsences()
        /// Of the `connected`.
        var outcome = ""
        var isModerator = false
        /// What holds for the client, as `connected` says (MOD-5).
        var restrictions: [WireRestriction] = []
        /// When the client got `disconnected` with the reason `forceDisconnected`, and the ban that it names (MOD-3).
        var forcedOutAt: MonotonicInstant?
        var ban: WireRestriction?
        /// The page that the `connect` asked for, until `connected` passes (HIS-5).
        var pageOption: PageRequest?
        /// The requests for pages without an answer, in their order (HIS-7).
        var pageRequests: [PageRequest] = []

        init(openedAt: MonotonicInstant) { (self.openedAt, askedAt) = (openedAt, openedAt) }

        func seq(of distance: Int32) -> Int { start + Int(distance) }
        var lastReceived: Int? { received.last.map { seq(of: $0) } }
        /// Up to here the client has got everything that is meant for it.
        var position: Int { max(start, claimed, lastReceived ?? 0) }
    }

    struct Connection: Sendable {
        var session: String
        var epoch: Int32
        var joinSeq: Int
        var joinedAt: MonotonicInstant
        var socket: SocketNumber
        var suppressesPresence: Bool
        var getsAbsences: Bool
        var secret: String
        /// The number of the token with which it began.
        var token: Int32
        var isModerator: Bool
        /// When a signal of the connection last passed to a client, apart from replays.
        var lastHeardAt: MonotonicInstant?
        /// When the last socket ended; nil while one is open.
        var lostAt: MonotonicInstant?
        /// Whether the server could not notice the loss, because no socket closed.
        var isSilent = false
        /// The absence before the present socket.
        var lastAbsence: Absence?
        /// When the server confirmed a forced disconnect of this connection.
        var forcedAt: MonotonicInstant?
        var end: End?
        /// The server has said that it knows of the end.
        var isEndConfirmed = false
        /// Whether a client has tried to come back. The server may then have replaced the connection (RES-12), although
        /// no answer passed.
        var isSought = false

        enum End: Sendable {
            /// The client sent `disconnect`.
            case left
            case forceDisconnected
            /// Another connection of the same client replaced it (RES-12).
            case replaced
        }
    }

    private static let significantLogEventCount = 64
    /// Sockets that were closed with 4502 before any line named the forced disconnect.
    var unexplainedForcedCloses: [(socket: SocketNumber, connection: Name)] = []
    /// The connections that a client asked to disconnect, or whose departure has the reason `forceDisconnected`.
    var forceTargets: Set<Name> = []

    /// May change while lines pass.
    public var terms: Terms
    var found: [Violation] = []
    private var names: [String: Name] = [:]
    private(set) var ids: [String] = []
    private(set) var signalNumbers: [String: Int32] = [:]
    private(set) var sendings: [Sending] = []
    var sockets: [SocketNumber: Socket] = [:]
    var connections: [Name: Connection] = [:]
    /// As the first line with the connection told them.
    var details: [Name: Details] = [:]
    var claims: [String: TokenClaims] = [:]
    /// The connections that a request has asked to disconnect.
    var forceRequests: Set<Name> = []
    var moderation = ModerationNotes()
    private var epochNumbers: [String: Int32] = [:]
    var orders: [WireOrder] = []
    /// What is known of the history of each session.
    var histories: [String: WireHistory] = [:]
    /// Messages that a page lacks, or has as erased. An erasure that passes later explains them.
    var doubts: [Doubt] = []
    /// What pages have said of the whole history.
    var extents: [Extent] = []
    var files = FileNotes()
    /// The epoch of each session, while the server is known to keep it.
    private var currentEpochs: [String: Int32] = [:]
    private var retiredEpochs: Set<Int32> = []
    /// When the present server was ready.
    private(set) var startedAt = MonotonicInstant(nanoseconds: .min)

    public init(terms: Terms) { self.terms = terms }

    /// How many events with a seq have passed to clients.
    public var deliveryCount: Int { sockets.values.reduce(0) { $0 + $1.received.count } }

    /// Whether a broken promise has been seen already.
    public var hasViolations: Bool { !found.isEmpty }

    mutating func report(_ promise: Violation.Promise, _ kind: Violation.Kind, _ text: String) {
        found.append(Violation(promise, kind, text))
    }

    mutating func name(_ id: String) -> Name {
        if let name = names[id] { return name }
        let name = Name(ids.count)
        ids.append(id)
        names[id] = name
        return name
    }

    /// The connection that a line of the server describes.
    private mutating func identify(_ connection: WireLine) -> Name? {
        guard let id = connection.text("connectionId") else { return nil }
        let name = name(id)
        noteDetails(of: name, in: connection)
        return name
    }

    // MARK: - What passes

    public mutating func opened(_ socket: SocketNumber, at now: MonotonicInstant) {
        sockets[socket] = Socket(openedAt: now)
    }

    /// The socket ended for the server: nothing more passes in either direction. Later calls do nothing.
    ///
    /// - Parameter isSilent: no socket closed, so that the server notices the loss only by the missing heartbeats.
    public mutating func closed(_ number: SocketNumber, at now: MonotonicInstant, isSilent: Bool = false) {
        guard let socket = sockets[number], socket.isOpen else { return }
        sockets[number]?.isOpen = false
        sockets[number]?.closedAt = now
        if let name = socket.connection, connections[name]?.socket == number {
            connections[name]?.lostAt = now
            connections[name]?.isSilent = isSilent
        }
    }

    /// The server's node was declared lost: other nodes take the socket for lost, although it may be open for a while.
    public mutating func takenForLost(_ number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], socket.isOpen, let name = socket.connection,
            connections[name]?.socket == number
        else { return }
        connections[name]?.lostAt = now
    }

    /// The client of this socket reads slowly or not at all from now on: its lines do not show when the server sent
    /// them.
    public mutating func impaired(_ number: SocketNumber) { sockets[number]?.isImpaired = true }

    /// A close frame from the client. Codes 1000 and 1001 and a frame without a code end the connection (RES-10).
    public mutating func clientClosed(_ number: SocketNumber, code: Int?) {
        guard let socket = sockets[number], socket.isOpen, code == nil || code == 1000 || code == 1001 else { return }
        sockets[number]?.isLeft = true
        if let name = socket.connection, connections[name]?.end == nil { connections[name]?.end = .left }
    }

    /// A close frame from the server: its code must have a reason (CLOSE-1).
    public mutating func serverClosed(_ number: SocketNumber, code: Int?) {
        guard let socket = sockets[number], socket.isOpen else { return }
        let end = socket.connection.flatMap { connections[$0]?.end }
        switch code {
        case 4502 where end != .forceDisconnected:
            // The server need not announce it to a full socket (LEAVE-4), and its confirmation may pass later.
            if let name = socket.connection { unexplainedForcedCloses.append((number, name)) }
        case 1000 where socket.connection != nil && end != .left && !socket.hasAskedToLeave && !socket.isLeft:
            report(.g7, .wrong, "socket \(number) was closed with 1000, and its client had not disconnected")
        // A log of a few events is overrun between two writes, however fast the client reads.
        case 4002 where !socket.isImpaired && terms.logEventCount >= Self.significantLogEventCount:
            report(.g5, .wrong, "socket \(number) was closed with 4002, and its client read all the time")
        case 1003, 1007, 1009, 4503:
            report(.g5, .wrong, "socket \(number) was closed with \(code ?? 0), and its client kept the protocol")
        default: break
        }
    }

    /// A signal through REST was sent.
    public mutating func sentByREST(data: String, type: String?, to: String?) {
        let target = to.map { WireOrder.Target.connection(name($0)) } ?? .all
        addSending(data, Sending(from: nil, to: target, type: type, isOnlineOnly: false, sentAt: .never))
    }

    /// REST acknowledged a signal (status 204): the signal is in the order of the session (REST-2).
    public mutating func acknowledgedByREST(data: String, in session: String, at now: MonotonicInstant) {
        guard let signal = signalNumbers[data], let epoch = currentEpochs[session] else { return }
        sendings[Int(signal)].acknowledgedAt = now
        sendings[Int(signal)].restEpoch = epoch
    }

    /// A connection was force-disconnected through REST, and the server confirmed it.
    public mutating func forceDisconnectedByREST(_ id: String, at now: MonotonicInstant) {
        noteForced(name(id), at: now)
    }

    /// A backend does not know whether its request to end a connection was carried out.
    public mutating func mayBeForceDisconnected(_ id: String) { noteForceRequest(for: name(id)) }

    private mutating func noteForceRequest(for target: Name) {
        forceTargets.insert(target)
        forceRequests.insert(target)
    }

    private mutating func noteForced(_ target: Name, at now: MonotonicInstant) {
        forceRequests.insert(target)
        connections[target]?.end = .forceDisconnected
        connections[target]?.forcedAt = now
        connections[target]?.isEndConfirmed = true
    }

    /// A server is ready: from now on it has the time to do what its predecessor could not.
    public mutating func serverStarted(at now: MonotonicInstant) {
        startedAt = now
        noteStartForHistory()
    }

    /// The server was killed (SIGKILL). It loses its sessions unless it is durable.
    public mutating func serverKilled(at now: MonotonicInstant) {
        if !terms.isDurable { serverLostSessions(at: now) }
    }

    /// The server lost its sessions: its successor had no state. What was due before is judged now.
    public mutating func serverLostSessions(at now: MonotonicInstant) {
        judgeDepartures(at: now)
        judgeRESTSignals(at: now, isSettled: false)
        retiredEpochs.formUnion(currentEpochs.values)
        currentEpochs = [:]
        judgeDoubts()
        judgeExtents()
        // What is in memory is gone with the sessions. A stored history is not, and its seqs go on to name it (HIS-3).
        if !terms.isDurable { histories = [:] }
    }

    /// A text message from the client, of one or more lines (WIRE-3).
    public mutating func clientSent(
        _ message: UnsafeRawBufferPointer, on number: SocketNumber, at now: MonotonicInstant
    ) {
        forEachLine(message) { judge, line in judge.clientSent(line, on: number, at: now) }
    }

    /// A text message from the server.
    public mutating func serverSent(
        _ message: UnsafeRawBufferPointer, on number: SocketNumber, at now: MonotonicInstant
    ) {
        forEachLine(message) { judge, line in judge.serverSent(line, on: number, at: now) }
    }

    private mutating func forEachLine(
        _ message: UnsafeRawBufferPointer, _ body: (inout WireJudge, WireLine) -> Void
    ) {
        for line in message.split(separator: UInt8(ascii: "\n")) {
            // Clients may send malformed lines on purpose; a malformed line of the server is found by its absence.
            if let line = WireLine(line) { body(&self, line) }
        }
    }

    // MARK: - The client's lines

    private mutating func clientSent(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let op = line.op, sockets[number] != nil else { return }
        if op == "pong" { return }
        var signal: Int32?
        switch op {
        case "connect": noteConnect(line, on: number, at: now)
        case "history": return notePageRequest(line, on: number, at: now)
        case "signal": signal = noteSignal(line, on: number, at: now)
        case "disconnect":
            // A moderator may end the connection before the server knows.
            sockets[number]?.hasAskedToLeave = true
            if let name = sockets[number]?.connection { connections[name]?.end = .left }
        default: break
        }
        if let id = line.id {
            let target = op == "forceDisconnect" ? line.text("connectionId").map { name($0) } : nil
            if let target { noteForceRequest(for: target) }
            let erasure = op == "erase" ? erasure(line) : nil
            let asked = op == "moderate" ? noteModerate(line, id, on: number, at: now) : nil
            sockets[number]?.requests.append(
                Request(id: id, op: op, signal: signal, target: target, erasure: erasure, asked: asked))
        }
    }

    private mutating func noteConnect(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        sockets[number]?.session = line.text("sessionId") ?? ""
        sockets[number]?.askedAt = now
        sockets[number]?.claims = line.text("token").flatMap { claims[$0] }
        sockets[number]?.token = line.text("token").map { moderation.number(ofToken: $0) } ?? -1
        sockets[number]?.suppressesPresence =
            line.member("options")?.isTrue("connectionEventsSuppressed") ?? false
        sockets[number]?.getsPages = line.member("options")?.isTrue("connectionPages") ?? false
        sockets[number]?.getsAbsences = line.member("options")?.isTrue("connectionAwayEvents") ?? false
        sockets[number]?.pageOption = line.member("options")?.member("history").flatMap { option in
            line.id.map { PageRequest($0, option, askedAt: now) }
        }
        guard let resume = line.member("resume") else { return }
        if let old = resume.text("connectionId").flatMap({ names[$0] }) { connections[old]?.isSought = true }
        let epoch = resume.text("epoch") ?? ""
        let order = knownEpoch(epoch, of: line.text("sessionId") ?? "").map { orders[Int($0)] }
        sockets[number]?.resume = Resume(
            connection: resume.text("connectionId").flatMap { names[$0] }, secret: resume.text("secret") ?? "",
            epoch: epoch, after: Int(resume.number("after") ?? 0), knownThrough: order?.lastSeq ?? 0)
    }

    private mutating func noteSignal(
        _ line: WireLine, on number: SocketNumber, at now: MonotonicInstant
    ) -> Int32? {
        guard let data = line.text("data"), let from = sockets[number]?.connection else { return nil }
        let target = line.text("to").map { WireOrder.Target.connection(name($0)) } ?? .all
        let isOnlineOnly = line.isTrue("onlineOnly")
        let signal = addSending(
            data,
            Sending(
                from: from, to: target, type: line.text("type"), isOnlineOnly: isOnlineOnly, sentAt: now, socket: number
            ))
        if isOnlineOnly { noteOnlineOnlyRequest(signal, on: number) }
        return signal
    }

    @discardableResult
    private mutating func addSending(_ data: String, _ sending: Sending) -> Int32 {
        // A request that is repeated after a resume is the same signal (RES-9).
        if let number = signalNumbers[data] { return number }
        let number = Int32(sendings.count)
        signalNumbers[data] = number
        sendings.append(sending)
        return number
    }

    // MARK: - The server's lines

    private mutating func serverSent(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], socket.isOpen else { return }
        if socket.listRest > 0, line.ev != "connections", line.ev != "disconnected" {
            report(.g7, .missing, "socket \(number) got `\(line.ev ?? "")` in the middle of its list (CON-11)")
            sockets[number]?.listRest = 0
        }
        switch line.ev {
        case "connected": noteConnected(line, on: number, at: now)
        case "signal": noteReceivedSignal(line, on: number, at: now)
        case "connectionCreated":
            if let connection = line.member("connection"), let name = identify(connection), let seq = line.seq {
                receive(.created(name), at: seq, line.byteCount, on: number, now)
            }
        case "connectionDestroyed":
            if let id = line.text("connectionId"), let seq = line.seq {
                let name = name(id)
                receive(.destroyed(name), at: seq, line.byteCount, on: number, now)
                noteDeparture(of: name, on: number, at: now)
                if line.text("reason") == "forceDisconnected" { forceTargets.insert(name) }
                if line.text("reason") == "networkDisconnected", let epoch = sockets[number]?.epoch {
                    orders[Int(epoch)].noteNetworkLoss(of: name)
                }
            }
        case "connections":
            let page = line.list("connections")?.compactMap { identify($0) } ?? []
            sockets[number]?.others?.append(contentsOf: page)
            let due = socket.listRest - page.count
            sockets[number]?.listRest = due
            if let rest = line.number("rest"), rest != due {
                report(.g7, .wrong, "socket \(number) is due \(due) connections, and `rest` is \(rest) (CON-11)")
            }
        case "connectionAway": if let id = line.text("connectionId") { noteAway(name(id), on: number, at: now) }
        case "connectionBack": if let id = line.text("connectionId") { noteBack(name(id), on: number, at: now) }
        case "ping": if let seq = line.seq { claim(seq, on: number) }
        case "ack": noteAnswer(line, isAck: true, on: number, at: now)
        case "error": if !isRefusedPage(line, on: number) { noteAnswer(line, isAck: false, on: number, at: now) }
        case "history": notePage(line, on: number, at: now)
        case "erased":
            if let erasure = erasure(line), let seq = line.seq {
                receive(.erased(erasure), at: seq, line.byteCount, on: number, now)
            }
        case "moderated", "restricted", "unrestricted":
            if let seq = line.seq, let event = moderationEvent(line, on: number, at: now) {
                receive(event, at: seq, line.byteCount, on: number, now)
            }
        case "restrictions": _ = answeredRequest(line, on: number)
        case "disconnected":
            if line.text("reason") == "forceDisconnected" {
                sockets[number]?.forcedOutAt = now
                sockets[number]?.ban = line.member("restriction").flatMap { WireRestriction($0) }
            }
            guard let name = sockets[number]?.connection else { return }
            if line.text("reason") == "forceDisconnected" { connections[name]?.end = .forceDisconnected }
            if line.text("reason") != "networkDisconnected" { connections[name]?.isEndConfirmed = true }
        default: break
        }
    }

    private mutating func claim(_ seq: Int, on number: SocketNumber) {
        guard let claimed = sockets[number]?.claimed else { return }
        sockets[number]?.claimed = max(claimed, seq)
    }

    /// WIRE-8: answers come in the order of the requests.
    private mutating func answeredRequest(_ line: WireLine, on number: SocketNumber) -> Request? {
        guard let id = line.id, let socket = sockets[number] else { return nil }
        guard socket.answeredCount < socket.requests.count else {
            report(.g2, .wrong, "socket \(number) got an answer to request \(id), which has no answer due")
            return nil
        }
        let request = socket.requests[socket.answeredCount]
        sockets[number]?.answeredCount += 1
        if request.id != id {
            report(
                .g2, .reordered,
                "socket \(number) got the answer to request \(id) before that to request \(request.id) (WIRE-8)")
        }
        // Keep the list short on a long socket.
        if socket.answeredCount >= 1_024 {
            sockets[number]?.requests.removeFirst(socket.answeredCount + 1)
            sockets[number]?.answeredCount = 0
        }
        return request
    }

    private mutating func noteAnswer(
        _ line: WireLine, isAck: Bool, on number: SocketNumber, at now: MonotonicInstant
    ) {
        guard let request = answeredRequest(line, on: number) else { return }
        if let asked = request.asked { noteModerateAnswer(line, to: asked, isAck: isAck, on: number, at: now) }
        guard isAck else { return noteRefusal(line, of: request, on: number, at: now) }
        if let target = request.target { noteForced(target, at: now) }
        if let erasure = request.erasure, let seq = line.seq, let epoch = sockets[number]?.epoch {
            note(.erased(erasure), at: seq, line.byteCount, epoch, now)
        }
        guard let signal = request.signal, let socket = sockets[number], let connection = socket.connection else {
            return
        }
        let sending = sendings[Int(signal)]
        sendings[Int(signal)].acknowledgedAt = now
        guard let seq = line.seq else {
            if sending.isOnlineOnly {
                noteOnlineOnlyAck(signal, at: now)
            } else {
                report(.g2, .wrong, "signal \(signal) of \(id(connection)) was acknowledged without a seq")
            }
            return
        }
        note(.signal(signal, from: connection, to: sending.to), at: seq, line.byteCount, socket.epoch, now)
        noteAcknowledgedForHistory(sending, at: seq, of: socket.session, now)
        let isForItself = sending.to == .all || sending.to == .connection(connection)
        // A backend may have erased it meanwhile, and no client has heard of that yet.
        if isForItself, seq > socket.start, socket.lastReceived.map({ $0 < seq }) ?? true,
            !orders[Int(socket.epoch)].isErased(seq, user: { details[$0]?.user }),
            histories[socket.session]?.mayBeErased(seq, of: details[connection]?.user) != true
        {
            report(.g2, .reordered, "\(id(connection)) got the ack of its signal at \(seq) before the signal (SIG-6)")
        }
        claim(seq, on: number)
    }

    private mutating func noteReceivedSignal(
        _ line: WireLine, on number: SocketNumber, at now: MonotonicInstant
    ) {
        guard let data = line.text("data"), let socket = sockets[number], let connection = socket.connection else {
            return
        }
        guard let signal = signalNumbers[data] else {
            report(.g8, .wrong, "\(id(connection)) got \(data), which was never sent")
            return
        }
        let from = line.text("from").map { name($0) }
        let sending = sendings[Int(signal)]
        judgeSender(line, from: from, on: number)
        judgeAddress(line, of: sending, on: number)
        if from != sending.from {
            report(
                .g8, .wrong,
                "\(data) came from \(from.map(id) ?? "the server"), and was sent by \(sending.from.map(id) ?? "REST")")
        }
        if let from, line.seq.map({ $0 > socket.replayThrough }) ?? true { connections[from]?.lastHeardAt = now }
        guard let seq = line.seq else {
            noteOnlineOnlyDelivery(signal, on: number, at: now)
            return noteOnlineOnly(signal, sending, data, on: number, connection)
        }
        receive(.signal(signal, from: from, to: sending.to), at: seq, line.byteCount, on: number, now)
        if sending.to == .all { judgeReplayedContent(of: data, at: seq, on: number) }
    }

    private mutating func noteOnlineOnly(
        _ signal: Int32, _ sending: Sending, _ data: String, on number: SocketNumber, _ connection: Name
    ) {
        guard let socket = sockets[number] else { return }
        if !sending.isOnlineOnly { report(.g6, .wrong, "\(data) came to \(id(connection)) without a seq") }
        if sockets[number]?.onlineOnly.insert(signal).inserted == false {
            report(.g6, .duplicate, "\(id(connection)) got \(data) twice")
        }
        if let acknowledgedAt = sending.acknowledgedAt, acknowledgedAt < socket.openedAt {
            report(
                .g6, .wrong, "\(id(connection)) got \(data), which was acknowledged before its socket was opened")
        }
    }

    /// An event with a seq passes to a client.
    private mutating func receive(
        _ event: WireOrder.Event, at seq: Int, _ byteCount: Int, on number: SocketNumber, _ now: MonotonicInstant
    ) {
        guard let connection = sockets[number]?.connection, let epoch = sockets[number]?.epoch,
            let start = sockets[number]?.start, let reader = reader(number)
        else { return }
        // No copy of the socket is alive below: the append would copy the whole list.
        note(event, at: seq, byteCount, epoch, now)
        if seq <= start {
            report(
                .g3, .duplicate,
                "\(id(connection)) got the event at \(seq), and its socket starts after \(start) (CON-6)")
        } else if let last = sockets[number]?.lastReceived, seq <= last {
            report(
                seq == last ? .g3 : .g1, seq == last ? .duplicate : .reordered,
                "\(id(connection)) got the event at \(seq) after the one at \(last)")
        }
        if event.isMeant(for: reader) == false {
            report(.g8, .wrong, "\(id(connection)) got the event at \(seq), which is not meant for it")
        }
        sockets[number]?.received.append(Int32(clamping: seq - start))
    }

    /// All clients see one order, and a signal has one seq.
    mutating func note(
        _ event: WireOrder.Event, at seq: Int, _ byteCount: Int, _ epoch: Int32, _ now: MonotonicInstant
    ) {
        guard orders.indices.contains(Int(epoch)) else { return }
        guard orders[Int(epoch)].canHave(seq) else {
            let last = orders[Int(epoch)].lastSeq
            return report(.g1, .wrong, "the event at \(seq) is far from the others, which end at \(last)")
        }
        noteForHistory(event, at: seq, of: orders[Int(epoch)].session, now)
        if let known = orders[Int(epoch)].note(event, at: seq, byteCount: byteCount, seen: now) {
            report(
                .g1, .reordered, "the event at \(seq) is \(text(known)) for one client and \(text(event)) for another")
        }
        guard case .signal(let signal, _, _) = event else { return }
        let sending = sendings[Int(signal)]
        if sending.isOnlineOnly { report(.g6, .wrong, "online-only signal \(signal) has the seq \(seq)") }
        if sending.seq >= 0, sending.seq != seq || sending.epoch != epoch {
            report(.g3, .duplicate, "signal \(signal) is in the order twice, at \(sending.seq) and \(seq)")
        }
        sendings[Int(signal)].seq = seq
        sendings[Int(signal)].epoch = epoch
    }

    // MARK: - connected

    private mutating func noteConnected(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        _ = answeredRequest(line, on: number)
        guard var socket = sockets[number], let name = line.member("connection").flatMap({ identify($0) }),
            let epochText = line.text("epoch"), let seq = line.seq, let outcome = line.text("outcome")
        else { return report(.g4, .wrong, "socket \(number) got an incomplete connected") }
        judgeIdentity(line, of: name, on: number)
        let epoch = epochNumber(epochText, of: socket.session, at: now)
        judge(outcome, seq: seq, name, socket, at: now)
        if let missing = line.member("missing") { judge(missing, seq: seq, socket) }
        if let resume = socket.resume, outcome == "resumed" || outcome == "recovered",
            let through = line.number("replayThrough"), through < resume.knownThrough
        {
            report(
                .g4, .missing,
                "the replay of \(id(name)) goes through \(through), and \(resume.knownThrough) had been sent before (RES-4)"
            )
        }
        socket.connection = name
        socket.connectedAt = now
        socket.epoch = epoch
        socket.start = seq
        socket.claimed = seq
        socket.outcome = outcome
        socket.isModerator = line.text("role") == "moderator"
        socket.restrictions = line.list("restrictions")?.compactMap { WireRestriction($0) } ?? []
        socket.replayThrough = line.number("replayThrough").map { Int($0) } ?? 0
        // A new connection gets broadcasts of the time before it, and nothing else from that time.
        if outcome != "resumed" { socket.onlyBroadcastsThrough = socket.replayThrough }
        if outcome == "resumed", let known = connections[name] {
            // The options belong to the connection (CON-4).
            socket.suppressesPresence = known.suppressesPresence
            socket.getsAbsences = known.getsAbsences
        } else {
            socket.others = line.list("connections")?.compactMap { identify($0) }
            if let count = line.number("connectionCount") {
                if socket.getsPages {
                    socket.listRest = Int(count) - (socket.others?.count ?? 0)
                } else {
                    socket.isListCut = true
                }
            }
        }
        sockets[number] = socket
        if outcome == "new" || outcome == "lost", socket.replayThrough == 0 {
            note(.created(name), at: seq, 0, epoch, now)  // CON-6
        }
        let known = outcome == "resumed" ? connections[name] : nil
        let joinSeq = known?.joinSeq ?? max(seq, socket.replayThrough)
        connections[name] = Connection(
            session: socket.session, epoch: epoch, joinSeq: joinSeq, joinedAt: known?.joinedAt ?? now, socket: number,
            suppressesPresence: socket.suppressesPresence, getsAbsences: socket.getsAbsences,
            secret: line.member("resume")?.text("secret") ?? "", token: known?.token ?? socket.token,
            isModerator: socket.isModerator, lastHeardAt: known?.lastHeardAt)
        if socket.isLeft { connections[name]?.end = .left }
        if let lostAt = known?.lostAt {
            connections[name]?.lastAbsence = Absence(lostAt: lostAt, backAt: now)
            judgeAbsence(of: name, since: lostAt, isSilent: known?.isSilent ?? false, at: now)
        }
        beginPageOption(line, outcome, on: number)
        noteAwayList(line.texts("away")?.map { self.name($0) }, on: number, at: now)
    }

    private mutating func epochNumber(_ text: String, of session: String, at now: MonotonicInstant) -> Int32 {
        let key = "\(session) \(text)"
        if let number = epochNumbers[key] {
            if retiredEpochs.contains(number) {
                report(.g4, .wrong, "a server that lost its sessions continues the epoch \(text)")
            }
            return number
        }
        let number = Int32(orders.count)
        epochNumbers[key] = number
        orders.append(WireOrder(session: session))
        if let current = currentEpochs[session], !retiredEpochs.contains(current) {
            if isNeeded(current) {
                report(.g4, .missing, "the session has the new epoch \(text), although the server kept its sessions")
            } else if histories[session]?.isEmpty == false {
                report(.h2, .missing, "the session has the new epoch \(text), although it has a history (HIS-3)")
            } else {
                judgeForgottenRestrictions(of: current, in: text, at: now)
            }
        }
        // A session whose history was empty has ended: its seqs begin anew.
        if histories[session]?.isEmpty == true { histories[session] = nil }
        currentEpochs[session] = number
        return number
    }

    /// A session's epoch may end only when no connection is left to which a client could come back.
    private func isNeeded(_ epoch: Int32) -> Bool {
        connections.values.contains { $0.epoch == epoch && $0.end == nil && $0.lostAt == nil }
    }
}

extension WireJudge {
    func id(_ name: Name) -> String { ids[Int(name)] }

    /// The number of the signal with this data.
    func number(ofSignal data: String) -> Int32? { signalNumbers[data] }

    /// Whether the server still keeps the order of this epoch.
    func isKept(_ epoch: Int32) -> Bool { !retiredEpochs.contains(epoch) }

    /// The epoch of the session, while the server is known to keep it.
    func currentEpoch(of session: String) -> Int32? { currentEpochs[session] }

    /// The number of an epoch that the wire has shown.
    func knownEpoch(_ text: String, of session: String) -> Int32? { epochNumbers["\(session) \(text)"] }
}
