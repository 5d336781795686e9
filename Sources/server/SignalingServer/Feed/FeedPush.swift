import SignalingCore
import SignalingProtocol

/// Posts the feed of one project to its receiver, batch after batch (FEED-5).
///
/// One step is under way at a time: claim the feed, which another node may have, read a batch, post it until the receiver
/// has it, and keep the cursor. So after an end of the process at most the last batch is posted again.
/// Events and `now` go in, and the caller performs the effects.
struct FeedPush: Sendable {
    /// Identifies one attempt, so that the outcome of an earlier one is ignored.
    struct Ticket: Hashable, Sendable {
        let rawValue: Int64
    }

    enum Effect: Sendable {
        /// `claimed` follows.
        case claim
        /// `read` follows. A batch that failed is read again up to its end: what was erased meanwhile is not posted.
        case read(FeedStart, through: FeedOffset?)
        /// `posted` follows.
        case post(FeedBatch, Ticket)
        /// Cancel the attempt: it took too long.
        case abandon(Ticket)
        /// `kept` follows.
        case keepCursor(FeedOffset)
        /// The receiver has begun to fail. Reported once, until it recovers.
        case reportFailing
        case reportRecovered
        /// The receiver will never take so many events.
        case reportRefused(Int)
        /// The receiver was further behind than the feed reaches.
        case reportGap
    }

    private enum Phase: Sendable {
        /// Nothing to do before a moment, or an announcement.
        case idle(until: MonotonicInstant)
        case claiming
        case reading
        /// An attempt is under way, and is abandoned at `until`.
        case posting(FeedBatch, Ticket, until: MonotonicInstant)
        case pausing(FeedBatch, until: MonotonicInstant)
        case keeping(FeedBatch)
    }

    /// How long a node has a feed for itself without a sign of life.
    static let lease = Duration.seconds(20)
    /// How often it renews its claim.
    static let renewal = Duration.seconds(5)
    /// How long after a failure of the archive it tries again, and a node that has no claim looks for one.
    static let retry = Duration.seconds(1)

    private let bounds: WebhookBounds
    /// How often to look for entries of other nodes.
    private let pollInterval: Duration
    private var phase: Phase
    private var claimedAt: MonotonicInstant?
    private let tellsGaps: Bool
    /// Where the next batch begins.
    private var start = FeedStart.oldest
    /// The batch that failed, which is posted again.
    private var failed: FeedBatch?
    private var hasGap = false
    private var isAnnounced = false
    private var hasMore = false
    private var lastTicket: Int64 = 0
    private var failureCount = 0
    private var effects: [Effect] = []

    private(set) var deliveredCount = 0
    private(set) var refusedCount = 0
    private(set) var gapCount = 0

    /// - Parameter tellsGaps: whether the receiver hears of gaps. Otherwise only the operator does.
    init(bounds: WebhookBounds, pollInterval: Duration?, tellsGaps: Bool, now: MonotonicInstant) {
        self.bounds = bounds
        self.tellsGaps = tellsGaps
        self.pollInterval = pollInterval ?? .seconds(3_600)
        phase = .idle(until: now)
    }

    /// Whether this node posts the feed.
    var hasClaim: Bool { claimedAt != nil }

    /// Up to where the receiver has everything; `nil` if that is not known here.
    var cursor: FeedOffset? { if claimedAt != nil, case .after(let offset) = start { offset } else { nil } }

    /// Since when the oldest event of the batch on its way has waited; `nil` if none is on its way.
    var waitingSince: WallTime? {
        switch phase {
        case .posting(let batch, _, _), .pausing(let batch, _), .keeping(let batch): batch.since
        case .claiming, .reading, .idle: failed?.since
        }
    }

    var isFailing: Bool { failureCount > 0 }

    /// Whether the receiver has everything that the feed has, as far as is known.
    var isUpToDate: Bool {
        switch phase {
        case .idle: !isAnnounced && !hasMore
        case .claiming, .reading: !isAnnounced && !hasMore && failed == nil
        case .posting, .pausing, .keeping: false
        }
    }

    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    var nextDeadline: MonotonicInstant? {
        switch phase {
        case .idle(let until), .posting(_, _, let until), .pausing(_, let until): until
        case .claiming, .reading, .keeping: nil
        }
    }

    // MARK: - Events

    /// The feed has something new.
    mutating func announced(now: MonotonicInstant) {
        isAnnounced = true
        if case .idle = phase, claimedAt != nil { step(now) }
    }

    mutating func advance(to now: MonotonicInstant) {
        switch phase {
        case .idle(let until): if until <= now { step(now) }
        case .pausing(let batch, let until):
            guard until <= now else { return }
            failed = batch
            step(now)
        case .posting(let batch, let ticket, let until):
            guard until <= now else { return }
            effects.append(.abandon(ticket))
            fail(batch, now, jitter: 0)
        case .claiming, .reading, .keeping: break
        }
    }

    /// - Parameter claim: `nil` if the archive cannot be asked.
    mutating func claimed(_ claim: FeedClaim?, now: MonotonicInstant) {
        guard case .claiming = phase else { return }
        switch claim {
        case nil: phase = .idle(until: now.advanced(by: Self.retry))
        case .taken:
            (claimedAt, failed) = (nil, nil)
            phase = .idle(until: now.advanced(by: Self.retry))
        case .granted(let cursor):
            // A receiver that has got nothing yet hears of a gap, too, if the feed no longer has its beginning.
            if claimedAt == nil { start = .after(cursor ?? .start()) }
            claimedAt = now
            step(now)
        }
    }

    mutating func read(_ result: Result<FeedBatch, FeedFault>, now: MonotonicInstant) {
        guard case .reading = phase else { return }
        switch result {
        case .success(let batch):
            // Of a repeated batch nobody knows what follows.
            hasMore = failed != nil || !batch.isUpToDate
            var batch = batch
            if hasGap { batch.events.insert(Self.gap, at: 0) }
            hasGap = false
            failed = nil
            guard !batch.events.isEmpty else {
                let isMoved = batch.end != cursor
                start = .after(batch.end)
                // What does not concern the receiver is passed by.
                if isMoved, hasMore { return keep(batch) }
                phase = .idle(until: now.advanced(by: min(pollInterval, Self.renewal)))
                if isAnnounced || hasMore { step(now) }
                return
            }
            post(batch, now)
        case .failure(.gone):
            failed = nil
            gapCount += 1
            effects.append(.reportGap)
            // The receiver hears of it with what is left.
            (start, hasGap) = (.oldest, tellsGaps)
            step(now)
        case .failure(.absent), .failure(.unreadable), .failure(.crowded):
            phase = .idle(until: now.advanced(by: Self.retry))
        }
    }

    private static let gap = Array(#"{"event":"gap"}"#.utf8)

    /// - Parameter jitter: 0 to 0.5: how much shorter a pause is.
    mutating func posted(
        _ ticket: Ticket, _ outcome: WebhookOutcome, now: MonotonicInstant, jitter: Double
    ) {
        guard case .posting(let batch, ticket, _) = phase else { return }
        switch outcome {
        case .delivered:
            deliveredCount += batch.events.count
            recover()
            keep(batch)
        case .refused:
            refusedCount += batch.events.count
            effects.append(.reportRefused(batch.events.count))
            recover()
            keep(batch)
        case .failed: fail(batch, now, jitter: jitter)
        }
    }

    /// The cursor is kept, or cannot be: then the batch may be posted again by the next process.
    mutating func kept(now: MonotonicInstant) {
        guard case .keeping = phase else { return }
        step(now)
    }

    // MARK: - Steps

    private mutating func step(_ now: MonotonicInstant) {
        guard let claimedAt, now.duration(since: claimedAt) < Self.renewal else {
            phase = .claiming
            return effects.append(.claim)
        }
        if failed == nil { isAnnounced = false }
        phase = .reading
        effects.append(.read(start, through: failed?.end))
    }

    private mutating func post(_ batch: FeedBatch, _ now: MonotonicInstant) {
        failed = nil
        lastTicket += 1
        let ticket = Ticket(rawValue: lastTicket)
        phase = .posting(batch, ticket, until: now.advanced(by: bounds.postTime))
        effects.append(.post(batch, ticket))
    }

    private mutating func keep(_ batch: FeedBatch) {
        phase = .keeping(batch)
        start = .after(batch.end)
        effects.append(.keepCursor(batch.end))
    }

    private mutating func recover() {
        if failureCount > 0 { effects.append(.reportRecovered) }
        failureCount = 0
    }

    private mutating func fail(_ batch: FeedBatch, _ now: MonotonicInstant, jitter: Double) {
        failureCount += 1
        if failureCount == 1 { effects.append(.reportFailing) }
        // It is told again with the batch.
        if batch.events.first == Self.gap { hasGap = true }
        var pause = bounds.firstPause
        for _ in 1..<min(failureCount, 32) where pause < bounds.longestPause { pause *= 2 }
        phase = .pausing(batch, until: now.advanced(by: min(pause, bounds.longestPause) * (1 - jitter)))
    }
}
