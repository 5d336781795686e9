import SignalingCore
import SignalingProtocol

/// The events of one project that its receiver has not confirmed yet, and the times of the posts.
///
/// One post is under way at a time, so that the events of a session arrive in order. Sessions take turns, so that a
/// session with many events does not delay the others. After a failure the queue pauses, twice as long each time, and
/// repeats the post. The queue has bounds in count, bytes and age; it counts the events that it drops.
/// Events and `now` go in, and the caller performs the effects of ``advance(to:using:)``.
public struct WebhookQueue: Sendable {
    /// The bounds of one project's queue.
    public struct Bounds: Sendable {
        /// The maximum number of events, including the one under way. Above it the queue drops the oldest event of the
        /// session with the most bytes: the newest events describe the present state, and a session that floods the
        /// queue loses only its own.
        public var count: Int
        /// The maximum size in bytes of all events' bodies.
        public var byteCount: Int
        /// The maximum age of an event when its post begins. The queue drops older ones.
        public var age: Duration
        /// How long one post may take.
        public var postTime: Duration
        /// The pause after a first failure. It doubles with each failure after it.
        public var firstPause: Duration
        public var longestPause: Duration
        /// The minimum time between two reports of dropped events.
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

    /// One event for the receiver.
    struct Post: Sendable, Equatable {
        /// 1, 2, 3, … for each event, including dropped ones, so that the receiver sees gaps.
        let number: Int64
        let session: SessionID
        /// Set for an event that its session repeats until it is settled.
        let kept: KeptPresenceEvent?
        let body: [UInt8]
        let addedAt: MonotonicInstant
    }

    /// Identifies one attempt, so that the queue can ignore the outcome of an earlier one.
    struct Ticket: Hashable, Sendable {
        let rawValue: Int64
    }

    /// The outcome of an attempt.
    enum Outcome: Hashable, Sendable {
        case delivered
        /// The receiver rejects the event for good: a repetition would have the same outcome.
        case refused
        /// A later attempt may succeed.
        case failed

        /// - Parameter status: nil when there was no response.
        init(status: Int?) {
            if let status, (200..<300).contains(status) {
                self = .delivered
                return
            }
            switch status.flatMap(HTTPStatus.init(rawValue:)) {
            case .badRequest, .gone, .contentTooLarge, .unprocessableContent: self = .refused
            // Other statuses, such as redirects, 401 and 404, come from a wrong configuration, which may be corrected.
            default: self = .failed
            }
        }
    }

    /// The numbers of dropped events, by reason.
    struct Drops: Sendable, Equatable {
        /// The queue was full.
        var full = 0
        /// Older than ``Bounds/age``.
        var expired = 0
        var refused = 0
        /// The server stopped first. The receiver may have received the event under way.
        var stopped = 0

        init() {}
        var count: Int { full + expired + refused + stopped }
    }

    /// An action for the caller to perform. Perform them in order.
    enum Effect: Sendable, Equatable {
        case send(Post, Ticket)
        /// Cancel the attempt: it took too long.
        case abandon(Ticket)
        /// The receiver has the kept event, or will never get it.
        case settled(KeptPresenceEvent, SessionID)
        /// The receiver has begun to fail. Reported once, until it recovers.
        case reportFailing
        case reportRecovered
        /// The events dropped since the last report.
        case reportDropped(Drops)
        /// After ``stop(by:)``: the queue is empty.
        case finished
    }

    private enum Phase: Sendable {
        /// The next post may begin.
        case ready
        /// An attempt is under way, and is abandoned at `until`.
        case posting(Post, Ticket, until: MonotonicInstant)
        case pausing(until: MonotonicInstant)
        /// After a stop. The queue drops new events.
        case finished
    }

    let bounds: Bounds
    private var waiting = FairQueue<SessionID, Post> { $0.body.count }
    private var phase = Phase.ready
    private var lastNumber: Int64 = 0
    private var lastTicket: Int64 = 0
    /// Since the last success.
    private var failureCount = 0
    private var stopDeadline: MonotonicInstant?
    private var unreported = Drops()
    private var nextReportAt: MonotonicInstant?
    private var effects: [Effect] = []
    /// Since the queue was created.
    private(set) var drops = Drops()
    private(set) var deliveredCount = 0

    init(bounds: Bounds = .init()) { self.bounds = bounds }

    /// The number of events, including the one under way.
    var count: Int {
        switch phase {
        case .posting: waiting.count + 1
        case .ready, .pausing, .finished: waiting.count
        }
    }
    var byteCount: Int {
        switch phase {
        case .posting(let post, _, _): waiting.byteCount + post.body.count
        case .ready, .pausing, .finished: waiting.byteCount
        }
    }

    /// When the oldest waiting event was added; nil if there is none. Takes time in proportion to the sessions.
    var oldestAddedAt: MonotonicInstant? {
        let waiting = waiting.firstElements.map(\.addedAt).min()
        guard case .posting(let post, _, _) = phase else { return waiting }
        return min(waiting ?? post.addedAt, post.addedAt)
    }

    /// The latest time for the next ``advance(to:using:)``; nil when it is not due before another input.
    var nextDeadline: MonotonicInstant? {
        let step: MonotonicInstant? =
            switch phase {
            case .ready, .finished: nil
            case .posting(_, _, let until), .pausing(let until): until
            }
        let report = unreported.count > 0 ? nextReportAt : nil
        return [step, report, stopDeadline].compactMap(\.self).min()
    }

    /// Adds an event of a session. Call ``advance(to:using:)`` after this and every other input.
    ///
    /// - Parameter kept: an event that its session repeats until it is settled. After a stop it waits for the next
    ///   process, so it is not dropped.
    mutating func add(
        _ body: [UInt8], of session: SessionID, kept: KeptPresenceEvent? = nil, now: MonotonicInstant
    ) {
        lastNumber += 1
        let post = Post(number: lastNumber, session: session, kept: kept, body: body, addedAt: now)
        if case .finished = phase { return dropStopped(post) }
        waiting.append(post, of: session)
        while count > bounds.count || byteCount > bounds.byteCount, let dropped = waiting.popFromLargest() {
            drop(1, \.full)
            settle(dropped)
        }
    }

    /// Reports the outcome of an attempt. Ignored for an attempt that was abandoned.
    mutating func posted(
        _ ticket: Ticket, _ outcome: Outcome, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        guard case .posting(let post, ticket, _) = phase else { return }
        switch outcome {
        case .delivered:
            deliveredCount += 1
            settle(post)
            succeed()
        case .refused:
            drop(1, \.refused)
            settle(post)
            succeed()
        case .failed: fail(post, now: now, using: &generator)
        }
    }

    /// Stops the queue: there are no pauses from now on, and the first failure ends it.
    mutating func stop(by deadline: MonotonicInstant) {
        if stopDeadline != nil { return }
        stopDeadline = deadline
        if case .pausing = phase { phase = .ready }
    }

    /// Does everything that is due.
    ///
    /// - Parameter generator: spreads the pauses, so that several servers do not retry at the same moment.
    mutating func advance(
        to now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        if case .posting(let post, let ticket, let until) = phase, min(until, stopDeadline ?? until) <= now {
            effects.append(.abandon(ticket))
            fail(post, now: now, using: &generator)
        }
        if let stopDeadline, stopDeadline <= now { finish() }
        if case .pausing(let until) = phase, until <= now { phase = .ready }
        if case .ready = phase { sendNext(now) }
        report(now)
        defer { effects = [] }
        return effects
    }

    private mutating func sendNext(_ now: MonotonicInstant) {
        while let post = waiting.popFirst() {
            guard post.addedAt.advanced(by: bounds.age) > now else {
                drop(1, \.expired)
                settle(post)
                continue
            }
            lastTicket += 1
            let ticket = Ticket(rawValue: lastTicket)
            phase = .posting(post, ticket, until: now.advanced(by: bounds.postTime))
            effects.append(.send(post, ticket))
            return
        }
        if stopDeadline != nil { finish() }
    }

    private mutating func succeed() {
        phase = .ready
        if failureCount > 0 { effects.append(.reportRecovered) }
        failureCount = 0
    }

    private mutating func fail(
        _ post: Post, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        waiting.prepend(post, of: post.session)
        if failureCount == 0 { effects.append(.reportFailing) }
        failureCount += 1
        guard stopDeadline == nil else { return finish() }
        phase = .pausing(until: now.advanced(by: pause(using: &generator)))
    }

    /// A random duration between half of the full pause and all of it.
    private func pause(using generator: inout some RandomNumberGenerator) -> Duration {
        // The limit of 32 keeps the shift from overflowing.
        let full = min(bounds.firstPause * (1 << min(failureCount - 1, 32)), bounds.longestPause).wholeNanoseconds
        return .nanoseconds(full / 2 + Int64.random(in: 0...max(0, full / 2), using: &generator))
    }

    private mutating func finish() {
        if case .finished = phase { return }
        stopDeadline = nil
        phase = .finished
        while let post = waiting.popFirst() { dropStopped(post) }
        if unreported.count > 0 { reportDrops() }
        effects.append(.finished)
    }

    /// After a stop. The next process posts a kept event.
    private mutating func dropStopped(_ post: Post) { if post.kept == nil { drop(1, \.stopped) } }

    private mutating func settle(_ post: Post) {
        if let kept = post.kept { effects.append(.settled(kept, post.session)) }
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
