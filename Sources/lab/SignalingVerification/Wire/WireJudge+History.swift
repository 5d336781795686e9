import SignalingProtocol

/// The history of a session, as its pages show it (section 16 of `docs/PROTOCOL.md`).
extension WireJudge {
    private static let pageMessageLimit = 200
    private static let standardLimit = 50
    /// The bytes of a page's messages, and room for the members around them (HIS-6).
    private static let pageByteLimit = 49_152 + 512

    /// A client's request for a page.
    struct PageRequest: Sendable {
        enum Position: Sendable { case newest, before(Int), after(Int) }

        var id: Int64
        var position: Position
        var limit: Int
        var askedAt: MonotonicInstant
        /// Messages up to this seq were in the session when the client asked: the page has them (HIS-4).
        var boundary = 0
        /// Of the option of a connect: later messages are events for its client (HIS-5).
        var end = Int.max

        init(_ position: Position, limit: Int, askedAt: MonotonicInstant) {
            (id, self.position, self.limit, self.askedAt) = (0, position, limit, askedAt)
        }

        /// - Parameter line: a `history` request, or the option of a connect.
        init(_ id: Int64, _ line: WireLine, askedAt: MonotonicInstant) {
            self.id = id
            self.askedAt = askedAt
            if let seq = line.position("before") {
                position = .before(seq)
            } else if let seq = line.position("after") {
                position = .after(seq)
            } else {
                position = .newest
            }
            limit = Int(line.number("limit") ?? line.number("last") ?? Int64(WireJudge.standardLimit))
        }

        func admits(_ seq: Int) -> Bool {
            switch position {
            case .newest: seq <= end
            case .before(let limit): seq < limit && seq <= end
            case .after(let start): seq > start && seq <= end
            }
        }

        /// The seqs of which a page shows all messages; nil if it shows none.
        func span(from first: Int, through last: Int, more: Bool) -> ClosedRange<Int>? {
            let (lower, upper) =
                switch position {
                case .newest: (more ? first : 0, boundary)
                case .before(let end): (more ? first : 0, min(end - 1, boundary))
                case .after(let start): (start + 1, more ? min(last, boundary) : boundary)
                }
            return lower <= upper ? lower...upper : nil
        }
    }

    /// Something that only an erasure can explain.
    struct Doubt: Sendable {
        var session: String
        var seq: Int
        /// Of the sender, as a page says.
        var user: User?
        var kind: Violation.Kind
        var text: String
    }

    // MARK: - Requests

    mutating func notePageRequest(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let id = line.id, let socket = sockets[number] else { return }
        var request = PageRequest(id, line, askedAt: now)
        // What any client knows to be in the session is in it for every node (H1).
        request.boundary = max(socket.position, histories[socket.session]?.acknowledgedThrough ?? 0)
        sockets[number]?.pageRequests.append(request)
    }

    /// `connected` says whether this client may read a history. If so, the page of its option is due (HIS-5).
    mutating func beginPageOption(_ connected: WireLine, _ outcome: String, on number: SocketNumber) {
        guard let socket = sockets[number] else { return }
        let isTold = connected.isTrue("history")
        if let claims = socket.claims, terms.history != nil, isTold != claims.mayReadHistory {
            report(.h3, .wrong, "socket \(number) was told `history` \(isTold), against its token (HIS-8)")
        }
        sockets[number]?.pageOption = nil
        guard var request = socket.pageOption, isTold, outcome != "resumed" else { return }
        (request.boundary, request.end) = (socket.start, socket.start)
        sockets[number]?.pageRequests.append(request)
    }

    /// Whether an `error` is the answer to a request for a page. It may pass before other answers (HIS-7).
    mutating func isRefusedPage(_ line: WireLine, on number: SocketNumber) -> Bool {
        guard let socket = sockets[number],
            let index = socket.pageRequests.firstIndex(where: { $0.id == line.id })
        else { return false }
        sockets[number]?.pageRequests.remove(at: index)
        return true
    }

    // MARK: - Pages

    mutating func notePage(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number], let connection = socket.connection else { return }
        let name = id(connection)
        guard let index = socket.pageRequests.firstIndex(where: { $0.id == line.id }) else {
            return report(.h3, .wrong, "\(name) got a page that it has not asked for")
        }
        if index > 0 {
            report(.h3, .reordered, "\(name) got a page before the one that it had asked for earlier (HIS-7)")
        }
        let request = socket.pageRequests[index]
        sockets[number]?.pageRequests.remove(at: index)
        if socket.claims?.mayReadHistory == false {
            report(.h3, .wrong, "\(name) got a page, and its token does not permit it (HIS-8)")
        }
        // A page that could not be read (HIS-5). The client may ask again.
        if line.member("error") != nil { return }
        judge(line, for: request, of: socket.session, at: socket.position, by: name, now)
    }

    /// - Parameter position: of the client when it gets the page.
    mutating func judge(
        _ page: WireLine, for request: PageRequest, of session: String, at position: Int, by name: String,
        _ now: MonotonicInstant
    ) {
        let messages = page.list("messages") ?? []
        let seqs = messages.compactMap(\.seq)
        if seqs.count != messages.count || zip(seqs, seqs.dropFirst()).contains(where: { $0 >= $1 }) {
            report(.h3, .reordered, "\(name) got a page whose messages are not in the order of their seqs: \(seqs)")
        }
        if messages.count > max(1, min(request.limit, Self.pageMessageLimit))
            || (messages.count > 1 && page.byteCount > Self.pageByteLimit)
        {
            report(.g5, .wrong, "\(name) got a page of \(messages.count) messages, \(page.byteCount) bytes (HIS-6)")
        }
        if let stray = seqs.first(where: { !request.admits($0) }) {
            let end = request.end < .max ? " up to \(request.end)" : ""
            report(
                .h3, .wrong, "\(name) asked for messages \(request.position)\(end), and got the one at \(stray) (HIS-6)"
            )
        }
        let (first, last) = (page.position("first"), page.position("last"))
        if let low = seqs.first, let high = seqs.last, low < first ?? .max || high > last ?? 0 {
            report(.h3, .wrong, "\(name) got a page that is not within its `first` and `last` (HIS-6)")
        }
        for message in messages { judge(message, in: request, of: session, at: position, by: name, now) }
        judgeCompleteness(of: Set(seqs), first, page.isTrue("more"), for: request, of: session, by: name)
        noteExtent(first, last, of: session, by: name)
    }

    /// A message is the one that its clients have received as an event at this seq (H1, H2).
    private mutating func judge(
        _ message: WireLine, in request: PageRequest, of session: String, at position: Int, by name: String,
        _ now: MonotonicInstant
    ) {
        guard let seq = message.seq else { return }
        if message.number("time") == nil {
            report(.h1, .missing, "\(name) got the message at \(seq) without its time (HIS-6)")
        }
        let known = histories[session]
        if known?.isRemoved(seq, before: request.askedAt, orUpTo: position) == true {
            report(.h1, .wrong, "\(name) got the message at \(seq), and nothing should be left of it (HIS-9)")
        }
        if message.isTrue("erased") {
            if message.text("data") != nil || message.text("type") != nil {
                report(.h1, .wrong, "\(name) got the content of the erased message at \(seq) (HIS-9)")
            }
            // No client may have got it before its erasure.
            let user = message.member("connection")?.text("user").map { self.user($0) }
            if known?.mayBeErased(seq, of: user) != true {
                doubts.append(
                    Doubt(
                        session: session, seq: seq, user: user, kind: .missing,
                        text: "\(name) got the message at \(seq) as erased, and nobody has erased it"))
            }
            return
        }
        if known?.isErased(seq, before: request.askedAt, orUpTo: position) == true {
            report(.h1, .wrong, "\(name) got the message at \(seq) after its erasure (HIS-9)")
        }
        guard let data = message.text("data"), let signal = number(ofSignal: data) else {
            return report(.h1, .wrong, "\(name) got the message at \(seq), and nobody has sent what it says")
        }
        judgeContent(message, of: signal, at: seq, by: name)
        // An event that no client has received may be known from here.
        noteForHistory(.signal(signal, from: sendings[Int(signal)].from, to: .all), at: seq, of: session, now)
    }

    /// The members are those of the `signal` line (HIS-6, SIG-7, SIG-9).
    private mutating func judgeContent(_ message: WireLine, of signal: Int32, at seq: Int, by name: String) {
        let sending = sendings[Int(signal)]
        if sending.seq >= 0, sending.seq != seq {
            report(.h2, .wrong, "\(name) got signal \(signal) at \(seq), and it is the event at \(sending.seq)")
        }
        if sending.isOnlineOnly || sending.to != .all || terms.history?.keeps(sending.type) == false {
            report(.h1, .wrong, "\(name) got the message at \(seq), which no history keeps (HIS-1)")
        }
        if message.text("type") != sending.type || message.text("from") != sending.from.map(id) {
            report(.h1, .wrong, "\(name) got the message at \(seq) with another type or sender than its event")
        }
        guard let sender = message.member("connection") else {
            guard let from = sending.from else { return }
            return report(.h1, .missing, "\(name) got the message at \(seq) without its sender \(id(from)) (HIS-6)")
        }
        guard let from = sending.from, sender.text("connectionId") == id(from) else {
            return report(.h1, .wrong, "\(name) got the message at \(seq) with a connection that did not send it")
        }
        noteDetails(of: from, in: sender)
    }

    /// A page has every message of its span (H1): up to the moment of a connect, and from there on the client gets
    /// events (H3).
    private mutating func judgeCompleteness(
        of seqs: Set<Int>, _ first: Int?, _ more: Bool, for request: PageRequest, of session: String, by name: String
    ) {
        guard let kept = terms.history, let known = histories[session],
            var span = request.span(from: seqs.min() ?? 0, through: seqs.max() ?? 0, more: more)
        else { return }
        // Whether what is older may be trimmed is judged at the end.
        if kept.bound != nil, let first {
            guard first <= span.upperBound else { return }
            span = max(first, span.lowerBound)...span.upperBound
        }
        for message in known.due(in: span) where !seqs.contains(message.seq) {
            doubts.append(
                Doubt(
                    session: session, seq: message.seq, kind: .missing,
                    text: "\(name) got a page without the message at \(message.seq), and it is in \(span) (HIS-4)"))
        }
    }

    /// A backend asks to erase messages (HIS-10). No client may hear of it.
    public mutating func mayBeErasedByREST(_ erasure: Erasure, in session: String) {
        let erasure: WireOrder.Erasure =
            switch erasure {
            case .message(let seq): .message(Int(seq.rawValue))
            case .through(let seq): .through(Int(seq.rawValue))
            case .user(let user): .user(self.user(user.rawValue))
            }
        histories[session, default: WireHistory()].noteByREST(erasure)
    }

    /// nil if the line names nothing.
    mutating func erasure(_ line: WireLine) -> WireOrder.Erasure? {
        if let seq = line.position("ref") { return .message(seq) }
        if let seq = line.position("through") { return .through(seq) }
        return line.text("user").map { .user(user($0)) }
    }

    // MARK: - What the history keeps

    /// An event of a session: its history keeps it, or loses messages by it.
    mutating func noteForHistory(
        _ event: WireOrder.Event, at seq: Int, of session: String, _ now: MonotonicInstant
    ) {
        guard let kept = terms.history else { return }
        switch event {
        case .signal(let signal, _, .all):
            let sending = sendings[Int(signal)]
            guard !sending.isOnlineOnly, kept.keeps(sending.type) else { return }
            if let other = histories[session, default: WireHistory()].note(
                signal, of: sending.from.flatMap { details[$0]?.user }, at: seq)
            {
                report(.h2, .duplicate, "signals \(other) and \(signal) of one session have the seq \(seq) (HIS-3)")
            }
            judgeNewness(of: sending, at: seq, of: session)
        case .erased(let erasure): histories[session, default: WireHistory()].note(erasure, at: seq, now)
        case .signal, .created, .destroyed, .moderated, .restricted, .unrestricted: break
        }
    }

    /// A replay has nothing that was erased before its client connected (HIS-9).
    mutating func judgeReplayedContent(of data: String, at seq: Int, on number: SocketNumber) {
        guard let socket = sockets[number], let connection = socket.connection,
            histories[socket.session]?.isErased(seq, before: socket.openedAt) == true
        else { return }
        report(.h1, .wrong, "\(id(connection)) got \(data) at \(seq), which was erased before it connected (HIS-9)")
    }

    // MARK: - The verdict

    mutating func judgePageRequests(isSettled: Bool) {
        guard isSettled else { return }
        for (number, socket) in sockets.sorted(by: { $0.key < $1.key }) where socket.isOpen {
            guard let request = socket.pageRequests.first else { continue }
            report(.h3, .missing, "the request \(request.id) for a page on socket \(number) has no answer")
        }
    }

    mutating func judgeDoubts() {
        for doubt in doubts where histories[doubt.session]?.mayBeErased(doubt.seq, of: doubt.user) != true {
            report(.h1, doubt.kind, doubt.text)
        }
        doubts = []
    }
}
