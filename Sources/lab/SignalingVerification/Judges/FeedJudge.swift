import SignalingProtocol

/// What the consumers of a project's feed have got (F1, F2, section 22 of `docs/PROTOCOL.md`), by what the wire has shown.
/// What an event says of a message, the judges of the history compare as in a page.
struct FeedJudge: Sendable {
    /// How many events a consumer may get again with the batch whose answer it owes.
    static let batchCount = 100
    /// How long before the end of its server an event may have been announced that its successor announces again.
    private static let repeatWindow = Duration.seconds(10)
    /// How long before it comes the content of a batch may have been read that a server posts.
    static let postAge = Duration.seconds(12)

    private static let orderedEvents: Set<String> = [
        "signal", "connectionCreated", "connectionDestroyed", "moderated", "erased",
    ]

    /// What a consumer was told of one session.
    private struct Told: Sendable {
        var lastSeq = 0
        /// When each event was told last, by its seq: the number of the telling.
        var tellings: [Int: Int] = [:]
        /// The version of each message that was told last.
        var versions: [Int: Int] = [:]
        var gaps: [ClosedRange<Int>] = []
        var removedThrough = 0
        var present: Set<String> = []
        /// When each user was last told of as having unread messages, since the user was connected.
        var reminded: [String: Int] = [:]

        func explains(_ seq: Int) -> Bool { gaps.contains { $0.contains(seq) } }
        /// Whether a message was told, or why it is not.
        func knows(_ seq: Int) -> Bool { tellings[seq] != nil || seq <= removedThrough || explains(seq) }
    }

    private struct Consumer: Sendable {
        let name: String
        /// It is told by posts: one that it has taken without an answer comes again.
        let isPosted: Bool
        var sessions: [String: Told] = [:]
        var count = 0
        /// The first telling since the feed began anew for it.
        var beginning = 0
        var tally = WireJudge.FeedTally()
    }

    private var consumers: [Consumer] = []
    /// When the servers of events that may be told again ended, and were back.
    private var disturbances: [ClosedRange<MonotonicInstant>] = []

    mutating func add(_ name: String, isPosted: Bool) -> Int {
        consumers.append(Consumer(name: name, isPosted: isPosted))
        return consumers.count - 1
    }

    mutating func noteDisturbance(_ time: ClosedRange<MonotonicInstant>) { disturbances.append(time) }

    func tally(of consumer: Int) -> WireJudge.FeedTally { consumers[consumer].tally }

    // MARK: - Events

    /// The consumer is told that events are gone, or that its place is one of another feed: it begins anew.
    mutating func begins(_ consumer: Int, anewIn record: WireRecord) {
        consumers[consumer].tally.restarts += 1
        consumers[consumer].beginning = consumers[consumer].count + 1
        for (session, history) in record.histories {
            let last = consumers[consumer].sessions[session]?.lastSeq ?? 0
            let known = max(history.acknowledgedThrough, history.messages.last?.seq ?? 0)
            if last < known { consumers[consumer].sessions[session, default: Told()].gaps.append((last + 1)...known) }
            consumers[consumer].sessions[session]?.lastSeq = 0
            consumers[consumer].sessions[session]?.present = []
        }
    }

    /// What an event says beside a message; a message is judged by the caller.
    ///
    /// - Parameter upSince: since when the consumer takes what comes at once.
    mutating func hear(
        _ event: WireLine, by number: Int, upSince: MonotonicInstant, at now: MonotonicInstant, _ record: WireRecord,
        _ found: inout Findings
    ) {
        guard let kind = event.text("event"), let session = event.text("sessionId") else {
            return found.add(.f2, .wrong, "\(consumers[number].name) got an event without its name or session (FEED-2)")
        }
        consumers[number].tally.events += 1
        var told = consumers[number].sessions.removeValue(forKey: session) ?? Told()
        defer { consumers[number].sessions[session] = told }
        let what = "\(consumers[number].name) got \(kind)"
        guard let seq = event.seq else {
            guard kind == "gap", let first = event.position("from"), let last = event.position("through"), first <= last
            else { return found.add(.f2, .wrong, "\(what) without its seq (FEED-2)") }
            consumers[number].tally.gaps += 1
            told.gaps.append(first...last)
            return
        }
        let moment = moment(of: event, record)
        switch kind {
        case _ where Self.orderedEvents.contains(kind):
            consumers[number].count += 1
            let count = consumers[number].count
            if let before = told.tellings.updateValue(count, forKey: seq) {
                consumers[number].tally.doubles += 1
                guard !mayRepeat(what: moment, toldAt: before, consumers[number], record) else { return }
                return found.add(.f2, .duplicate, "\(what) at \(seq) again, \(count - before) events later (FEED-1)")
            }
            // What a gap covers may have been announced twice, and be left once.
            if seq < told.lastSeq, !told.explains(seq) {
                found.add(.f2, .reordered, "\(what) at \(seq) behind \(told.lastSeq) of one session (FEED-1)")
            }
            told.lastSeq = max(told.lastSeq, seq)
            if let moment, moment > upSince { consumers[number].tally.delays.append(now.duration(since: moment)) }
            hear(kind, event, at: seq, what, in: session, &told, record, &found)
        case "change":
            if told.tellings[seq] == nil, !told.explains(seq) {
                found.add(.f2, .reordered, "\(what) of the message at \(seq) before that message (FEED-1)")
            }
        case "user.unread":
            guard let user = event.text("user") else { return }
            consumers[number].count += 1
            guard let before = told.reminded.updateValue(consumers[number].count, forKey: user) else { return }
            consumers[number].tally.doubles += 1
            if !mayRepeat(what: moment, toldAt: before, consumers[number], record) {
                found.add(.f2, .duplicate, "\(what) for \(user) twice, who has not connected again (FEED-6)")
            }
        default: found.add(.f2, .wrong, "\(what), which nobody knows (FEED-2)")
        }
    }

    private func hear(
        _ kind: String, _ event: WireLine, at seq: Int, _ what: String, in session: String, _ told: inout Told,
        _ record: WireRecord, _ found: inout Findings
    ) {
        if let known = record.event(at: seq, in: session), Self.name(of: known) != kind {
            found.add(.f2, .wrong, "\(what) at \(seq), and \(record.text(known)) is there (FEED-2)")
        }
        let connection = event.member("connection")
        switch kind {
        case "connectionCreated":
            guard let id = connection?.text("connectionId") else { return }
            if !told.present.insert(id).inserted {
                found.add(.f2, .wrong, "\(what) at \(seq) for \(id), which is there already (FEED-2)")
            }
            if let user = connection?.text("user") { told.reminded[user] = nil }
        case "connectionDestroyed":
            guard let id = connection?.text("connectionId") else { return }
            if told.present.remove(id) == nil, told.gaps.isEmpty {
                found.add(.f2, .reordered, "\(what) at \(seq) for \(id), which was not there (FEED-2)")
            }
        case "erased": told.removedThrough = max(told.removedThrough, event.position("through") ?? 0)
        default: break
        }
    }

    /// What a consumer knows of a message since an event of it.
    mutating func note(_ message: Passage.Message, told number: Int, in session: String) {
        guard let seq = message.seq else { return }
        let version = message.line.isTrue("erased") ? Int.max : message.version ?? 0
        consumers[number].sessions[session, default: Told()].versions[seq] = version
    }

    private static func name(of event: WireOrder.Event) -> String? {
        switch event {
        case .signal(_, _, to: .all): "signal"
        case .created: "connectionCreated"
        case .destroyed: "connectionDestroyed"
        case .erased: "erased"
        case .moderated: "moderated"
        case .signal, .changed, .told, .restricted, .unrestricted: nil
        }
    }

    // MARK: - Doubles

    /// When the event happened, by its server.
    private func moment(of event: WireLine, _ record: WireRecord) -> MonotonicInstant? {
        guard let time = event.number("time"), let zero = record.terms.wallTimeAtZero else { return nil }
        return MonotonicInstant(nanoseconds: (time - zero.milliseconds) * 1_000_000)
    }

    private func mayRepeat(
        what moment: MonotonicInstant?, toldAt before: Int, _ consumer: Consumer, _ record: WireRecord
    ) -> Bool {
        before < consumer.beginning || (consumer.isPosted && consumer.count - before <= Self.batchCount)
            || isDisturbed(moment, record)
    }

    /// Whether the event may have been announced by a server that could not note it, and by its successor.
    private func isDisturbed(_ moment: MonotonicInstant?, _ record: WireRecord) -> Bool {
        guard let moment else { return false }
        let window = Self.repeatWindow + record.terms.tolerance
        return disturbances.contains { $0.lowerBound <= moment.advanced(by: window) && moment <= $0.upperBound }
    }

    // MARK: - The verdict

    /// Whether an event that is known has not come to a consumer yet. Only the newest ones of each session count.
    func isBehind(_ record: WireRecord) -> Bool {
        consumers.contains { consumer in
            record.orders.contains { order in
                let told = consumer.sessions[order.session] ?? Told()
                let last = order.seqs.reversed().first { seq in order[seq].map { isDue($0, record) } ?? false }
                return last.map { !told.knows($0) } ?? false
            }
        }
    }

    private func isDue(_ event: WireOrder.Event, _ record: WireRecord) -> Bool {
        switch event {
        case .signal(let signal, _, to: .all): record.keeps(record.sending(signal))
        case .created, .destroyed, .erased, .moderated: true
        case .signal, .changed, .told, .restricted, .unrestricted: false
        }
    }

    /// Everything is told, or a gap in its place.
    func conclude(_ record: WireRecord, isSettled: Bool, _ found: inout Findings) {
        guard isSettled else { return }
        for consumer in consumers {
            for order in record.orders {
                let told = consumer.sessions[order.session] ?? Told()
                for seq in order.seqs {
                    guard let event = order[seq], isDue(event, record), told.tellings[seq] == nil, !told.explains(seq)
                    else { continue }
                    // Messages are judged below.
                    if case .signal = event { continue }
                    found.add(
                        .f1, .missing, "\(consumer.name) was not told of \(record.text(event)) at \(seq) (FEED-1)")
                }
            }
            for (session, history) in record.histories {
                judge(consumer.name, consumer.sessions[session] ?? Told(), history, record, &found)
            }
        }
    }

    private func judge(
        _ name: String, _ told: Told, _ history: WireHistory, _ record: WireRecord, _ found: inout Findings
    ) {
        for message in history.messages where history.isKept(message.seq) {
            let seq = message.seq
            guard told.knows(seq) else {
                found.add(.f1, .missing, "\(name) was not told of the message at \(seq) (FEED-1)")
                continue
            }
            if let version = told.versions[seq], let edition = history.edition(of: seq), version < edition.version,
                !history.mayBeErased(seq)
            {
                found.add(
                    .f1, .missing,
                    "\(name) was not told of the edit at \(edition.version) of the message at \(seq) (FEED-2)")
            }
        }
    }
}

extension WireRecord {
    /// What happened at a seq of a session, as far as clients have seen it.
    fileprivate func event(at seq: Int, in session: String) -> WireOrder.Event? {
        orders.last { $0.session == session && $0[seq] != nil }?[seq]
    }
}
