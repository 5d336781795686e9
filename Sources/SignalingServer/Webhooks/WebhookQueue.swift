import DequeModule
import SignalingProtocol

/// What one receiver still has to be told, in order, and when to try.
///
/// One post is under way at a time, so events arrive in the order in which they happened, as far as they arrive. A failed
/// one is repeated after a pause that doubles; a receiver that stays away costs a bounded number of bytes, and what is
/// dropped is counted. Events and `now` go in; what ``advance(to:using:)`` says has to be done.
public struct WebhookQueue: Sendable {
    /// What a receiver may cost.
    public struct Bounds: Sendable {
        /// Most events that wait, the one under way included. Over it the oldest are dropped: the newest say how things
        /// stand.
        public var count: Int
        /// The same in bytes of their bodies.
        public var byteCount: Int
        /// How old an event may be when a post of it begins. Older ones are dropped.
        public var age: Duration
        /// How long one post may take.
        public var postTime: Duration
        /// The pause after a first failure. It doubles with each failure after it.
        public var firstPause: Duration
        public var longestPause: Duration
        /// Between two reports of drops.
        public var reportInterval: Duration

        public init(
            count: Int = 10_000, byteCount: Int = 8 << 20, age: Duration = .seconds(3600),
            postTime: Duration = .seconds(10), firstPause: Duration = .seconds(1),
            longestPause: Duration = .seconds(60), reportInterval: Duration = .seconds(60)
        ) {
            self.count = count
            self.byteCount = byteCount
            self.age = age
            self.postTime = postTime
            self.firstPause = firstPause
            self.longestPause = longestPause
            self.reportInterval = reportInterval
        }
    }

    /// One event on its way.
    struct Delivery: Sendable, Equatable {
        /// 1, 2, 3, … for each event of the receiver, the dropped ones included: it sees a gap where one is missing.
        let number: Int64
        let body: [UInt8]
        let since: MonotonicInstant
    }

    /// Names one post, so that what is heard of an earlier one is known as such.
    struct Ticket: Hashable, Sendable {
        let rawValue: Int64
    }

    /// How a post went.
    enum Outcome: Hashable, Sendable {
        case delivered
        /// The receiver has read it and does not take it. Again would be the same.
        case refused
        /// Another time it may go well.
        case failed

        /// By HTTP status; nil when no answer came.
        init(status: Int?) {
            switch status {
            case .some(200..<300): self = .delivered
            case 400, 410, 413, 422: self = .refused
            // Redirects, too: they are not followed. 401, 404 and the like are faults of set-ups, which get repaired.
            case .some, nil: self = .failed
            }
        }
    }

    /// What never arrived, and why.
    struct Drops: Sendable, Equatable {
        /// The bounds were reached.
        var full = 0
        /// Older than ``Bounds/age``.
        var expired = 0
        var refused = 0
        /// The server stopped first. Of the last one, which was under way, nobody knows.
        var stopped = 0

        init() {}
        var count: Int { full + expired + refused + stopped }
    }

    /// What has to be done, in this order.
    enum Effect: Sendable, Equatable {
        case post(Delivery, Ticket)
        /// Too late: its outcome does not matter any more.
        case abandon(Ticket)
        /// The receiver does not answer as it should; once for each time that it begins to.
        case reportFailing
        case reportRecovered
        /// What was dropped since the last report.
        case reportDropped(Drops)
        /// After ``stop(by:)``: nothing is left.
        case finished
    }

    private enum Phase: Sendable {
        /// The next one may go.
        case ready
        /// `until`: when it is given up.
        case posting(Delivery, Ticket, until: MonotonicInstant)
        case pausing(until: MonotonicInstant)
        /// After a stop. Nothing is taken any more.
        case finished
    }

    let bounds: Bounds
    private var waiting: Deque<Delivery> = []
    private var phase = Phase.ready
    private var waitingByteCount = 0
    private var lastNumber: Int64 = 0
    private var lastTicket: Int64 = 0
    /// Without a success in between.
    private var failureCount = 0
    private var stopDeadline: MonotonicInstant?
    private var unreported = Drops()
    private var nextReportAt: MonotonicInstant?
    private var effects: [Effect] = []
    /// Since the beginning.
    private(set) var drops = Drops()
    private(set) var deliveredCount = 0

    init(bounds: Bounds = .init()) { self.bounds = bounds }

    /// How many events wait, the one under way included.
    var count: Int {
        switch phase {
        case .posting: waiting.count + 1
        case .ready, .pausing, .finished: waiting.count
        }
    }
    var byteCount: Int {
        switch phase {
        case .posting(let delivery, _, _): waitingByteCount + delivery.body.count
        case .ready, .pausing, .finished: waitingByteCount
        }
    }

    /// When ``advance(to:using:)`` has to be called at the latest; nil: not before something happens.
    var nextDeadline: MonotonicInstant? {
        let step: MonotonicInstant? =
            switch phase {
            case .ready, .finished: nil
            case .posting(_, _, let until), .pausing(let until): until
            }
        let report = unreported.count > 0 ? nextReportAt : nil
        return [step, report, stopDeadline].compactMap(\.self).min()
    }

    /// One more event. To be followed by ``advance(to:using:)``, as the other inputs.
    mutating func add(_ body: [UInt8], now: MonotonicInstant) {
        lastNumber += 1
        if case .finished = phase { return drop(1, \.stopped) }
        waiting.append(Delivery(number: lastNumber, body: body, since: now))
        waitingByteCount += body.count
        while count > bounds.count || byteCount > bounds.byteCount, takeFirst() != nil { drop(1, \.full) }
    }

    /// How a post went. Nothing happens when it has been abandoned meanwhile.
    mutating func posted(
        _ ticket: Ticket, _ outcome: Outcome, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        guard case .posting(let delivery, ticket, _) = phase else { return }
        switch outcome {
        case .delivered:
            deliveredCount += 1
            succeed()
        case .refused:
            drop(1, \.refused)
            succeed()
        case .failed: fail(delivery, now: now, using: &generator)
        }
    }

    /// The server stops: no pauses from here on, and the first failure is the last.
    mutating func stop(by deadline: MonotonicInstant) {
        if stopDeadline != nil { return }
        stopDeadline = deadline
        if case .pausing = phase { phase = .ready }
    }

    /// Does what is due.
    ///
    /// - Parameter generator: spreads the pauses, so that the servers that lost one receiver do not come back at once.
    mutating func advance(
        to now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        if case .posting(let delivery, let ticket, let until) = phase, min(until, stopDeadline ?? until) <= now {
            effects.append(.abandon(ticket))
            fail(delivery, now: now, using: &generator)
        }
        if let stopDeadline, stopDeadline <= now { finish() }
        if case .pausing(let until) = phase, until <= now { phase = .ready }
        if case .ready = phase { postNext(now) }
        report(now)
        defer { effects = [] }
        return effects
    }

    private mutating func postNext(_ now: MonotonicInstant) {
        while let first = waiting.first, first.since.advanced(by: bounds.age) <= now {
            _ = takeFirst()
            drop(1, \.expired)
        }
        guard let delivery = takeFirst() else {
            if stopDeadline != nil { finish() }
            return
        }
        lastTicket += 1
        let ticket = Ticket(rawValue: lastTicket)
        phase = .posting(delivery, ticket, until: now.advanced(by: bounds.postTime))
        effects.append(.post(delivery, ticket))
    }

    private mutating func succeed() {
        phase = .ready
        if failureCount > 0 { effects.append(.reportRecovered) }
        failureCount = 0
    }

    private mutating func fail(
        _ delivery: Delivery, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        waiting.prepend(delivery)
        waitingByteCount += delivery.body.count
        if failureCount == 0 { effects.append(.reportFailing) }
        failureCount += 1
        guard stopDeadline == nil else { return finish() }
        phase = .pausing(until: now.advanced(by: pause(using: &generator)))
    }

    /// Between half of the full pause and all of it.
    private func pause(using generator: inout some RandomNumberGenerator) -> Duration {
        // 2^32 of the shortest pauses are longer than any: the shift stays far from the integer's end.
        let full = min(bounds.firstPause * (1 << min(failureCount - 1, 32)), bounds.longestPause).wholeNanoseconds
        return .nanoseconds(full / 2 + Int64.random(in: 0...max(0, full / 2), using: &generator))
    }

    private mutating func finish() {
        if case .finished = phase { return }
        stopDeadline = nil
        phase = .finished
        drop(waiting.count, \.stopped)
        waiting = []
        waitingByteCount = 0
        if unreported.count > 0 { reportDrops() }
        effects.append(.finished)
    }

    private mutating func takeFirst() -> Delivery? {
        guard let first = waiting.popFirst() else { return nil }
        waitingByteCount -= first.body.count
        return first
    }

    private mutating func drop(_ count: Int, _ cause: WritableKeyPath<Drops, Int>) {
        drops[keyPath: cause] += count
        unreported[keyPath: cause] += count
    }

    private mutating func report(_ now: MonotonicInstant) {
        guard unreported.count > 0, nextReportAt.map({ $0 <= now }) ?? true else { return }
        nextReportAt = now.advanced(by: bounds.reportInterval)
        reportDrops()
    }

    private mutating func reportDrops() {
        effects.append(.reportDropped(unreported))
        unreported = Drops()
    }
}
