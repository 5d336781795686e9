import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Some events of a feed, as JSON objects in their order.
struct FeedBatch: Sendable {
    var events: [[UInt8]] = []
    /// Behind the last one.
    var end: FeedOffset
    /// Whether nothing follows at present.
    var isUpToDate = false
    /// When the first of its entries was written; `nil` without any.
    var since: WallTime?

    /// The events as a JSON array.
    var array: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events.reduce(2) { $0 + $1.count + 1 })
        bytes.append(UInt8(ascii: "["))
        for (index, event) in events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: event)
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }
}

enum FeedFault: Error, Hashable, Sendable {
    /// The project has no feed.
    case absent
    /// Entries behind the offset are gone, or the archive is another one (FEED-4).
    case gone
    /// The archive or a session cannot be read at present.
    case unreadable
    /// Too many readers wait already.
    case crowded
}

/// Reads the feeds of the projects, and lets readers wait for what comes (FEED-3). Confined to the loop.
///
/// The entries name what there is, and the content is read from the histories now. So a reader gets no content that was
/// erased before.
final class FeedDesk {
    typealias Answer = (Result<FeedBatch, FeedFault>) -> Void

    /// Replaced when the settings are reloaded.
    var policy: HistoryPolicy
    private let engine: any SessionEngine
    private let feed: any MessageFeed
    private var waiters = FeedWaiters()
    private var underWay: [ReadKey: SharedRead] = [:]

    /// Readers at the same place share one read, which begins behind the request of each: what was erased before a
    /// request is not in its answer (HIS-9).
    private struct SharedRead {
        var readers: [Answer]
        /// Those who came since the read began. They get the next one.
        var next: [Answer] = []
    }

    private struct ReadKey: Hashable {
        let project: APIKey
        let start: FeedStart
        let end: FeedOffset?
        let limit: Int
        let types: KeptTypes
    }

    /// While readers wait.
    private var timer: RepeatingTimer?
    private let loop: LoopThread
    private var delayed: [() -> Void] = []
    private lazy var delayTimer = LoopTimer(loop: loop) { [weak self] in
        guard let self else { return }
        let work = delayed
        delayed = []
        for item in work { item() }
    }
    /// Counts what was announced on this node: an entry may come while a reader is told that there is none.
    private var announcedCounts: [APIKey: Int] = [:]
    /// Called when a project's feed has something new on this node.
    var onAnnounced: ((APIKey) -> Void)?
    /// Readers by pull, for operators.
    var readers = FeedReaders()
    /// The events that they have got.
    var readEventCount = 0

    /// - Parameter loop: the loop to which it is confined.
    init(loop: LoopThread, engine: any SessionEngine, feed: any MessageFeed, policy: HistoryPolicy) {
        self.loop = loop
        self.engine = engine
        self.feed = feed
        self.policy = policy
        feed.onAnnounced = { [weak self] session in
            guard let self, let project = try? SessionIDCodec.apiKey(of: session) else { return }
            announcedCounts[project, default: 0] += 1
            wake(project)
            onAnnounced?(project)
        }
    }

    // MARK: - Reading

    /// Reads the next events: at most about `limit`, since it reads whole entries, and at least one entry.
    ///
    /// - Parameters:
    ///   - end: reads nothing behind it: where an earlier batch ended, to read the same one again.
    ///   - types: of the messages that the reader wants.
    func read(
        _ project: APIKey, from start: FeedStart, through end: FeedOffset? = nil, limit: Int, types: KeptTypes = .all,
        answer: @escaping Answer
    ) {
        guard policy.hasFeed(project) else { return answer(.failure(.absent)) }
        let key = ReadKey(project: project, start: start, end: end, limit: limit, types: types)
        if underWay[key]?.next.append(answer) == nil { begin(key, for: [answer]) }
    }

    private func begin(_ key: ReadKey, for readers: [Answer]) {
        underWay[key] = SharedRead(readers: readers)
        var isWithinCall = true
        feed.read(key.project, from: key.start, limit: key.limit) { [weak self] result in
            if isWithinCall { self?.later { self?.use(result, key) } } else { self?.use(result, key) }
        }
        isWithinCall = false
    }

    /// Goes on in another turn: an archive in memory answers within the call, and whoever reads on and on would be a deep
    /// recursion.
    private func later(_ work: @escaping () -> Void) {
        delayed.append(work)
        if delayed.count == 1 { delayTimer.schedule(at: loop.now) }
    }

    private func use(_ result: Result<FeedReading, ArchiveFault>, _ key: ReadKey) {
        switch result {
        case .success(.page(let page)): expand(page, key) { [weak self] in self?.finish(key, $0) }
        case .success(.gone): finish(key, .failure(.gone))
        case .failure: finish(key, .failure(.unreadable))
        }
    }

    private func finish(_ key: ReadKey, _ result: Result<FeedBatch, FeedFault>) {
        guard let read = underWay.removeValue(forKey: key) else { return }
        if !read.next.isEmpty { begin(key, for: read.next) }
        for answer in read.readers { answer(result) }
    }

    private func expand(_ page: FeedPage, _ key: ReadKey, _ done: @escaping Answer) {
        let rows = page.rows(limit: key.limit, through: key.end)
        let batch = FeedBatch(
            end: rows.last?.end ?? page.end, isUpToDate: rows.count == page.rows.count && !page.more,
            since: rows.first?.time)
        FeedExpansion(engine: engine, rows: rows, types: key.types, batch: batch, done: done).proceed()
    }

    func keepCursor(_ offset: FeedOffset, of project: APIKey, answer: @escaping (Bool) -> Void) {
        feed.keepCursor(offset, of: project) { answer((try? $0.get()) != nil) }
    }

    /// Lets another node post a feed.
    func release(_ project: APIKey) { feed.claim(project, for: .zero) { _ in } }

    func claim(_ project: APIKey, answer: @escaping (FeedClaim?) -> Void) {
        feed.claim(project, for: FeedPush.lease) { answer(try? $0.get()) }
    }

    var pollInterval: Duration? { feed.pollInterval }

    /// Reads one event that a session has handed to a feed of its own (``WebhookPost``).
    func readSingle(_ feed: APIKey, from start: FeedStart, answer: @escaping Answer) {
        readEntries(of: feed, from: start, limit: 1) { reading in
            switch reading {
            case .page(let page)?:
                let row = page.rows.first
                var batch = FeedBatch(end: page.end, isUpToDate: !page.more, since: row?.time)
                if case .event(let bytes)? = row?.entry.announcements.first { batch.events = [bytes] }
                answer(.success(batch))
            case .gone?: answer(.failure(.gone))
            case nil: answer(.failure(.unreadable))
            }
        }
    }

    /// Hands an event to a feed of its own.
    func announce(
        _ announcement: Announcement, of session: SessionID, in name: APIKey, answer: @escaping (Bool) -> Void
    ) {
        feed.announce([FeedEntry([announcement])], of: session, in: name) { answer((try? $0.get()) != nil) }
    }

    /// Reads entries without what they announce; `nil` if the archive cannot be read.
    func readEntries(
        of project: APIKey, from start: FeedStart, limit: Int, answer: @escaping (FeedReading?) -> Void
    ) { feed.read(project, from: start, limit: limit) { answer(try? $0.get()) } }

    // MARK: - Waiting

    /// As ``read(_:from:limit:answer:)``, but waits for an event until a moment. Then the batch is empty.
    func wait(
        _ project: APIKey, from start: FeedStart, limit: Int, until deadline: MonotonicInstant,
        answer: @escaping Answer
    ) {
        let count = announcedCounts[project]
        read(project, from: start, limit: limit) { [weak self] result in
            guard let self, case .success(let batch) = result, batch.events.isEmpty else { return answer(result) }
            // What there was is gone, and more follows.
            guard batch.isUpToDate else {
                return wait(project, from: .after(batch.end), limit: limit, until: deadline, answer: answer)
            }
            let waiter = FeedWaiters.Waiter(
                project: project, offset: batch.end, limit: limit, deadline: deadline, answer: answer)
            guard announcedCounts[project] == count else { return readAgain(waiter) }
            guard waiters.add(waiter) else { return answer(.failure(.crowded)) }
            if timer == nil {
                timer = RepeatingTimer(loop: loop, every: feed.pollInterval ?? .seconds(1)) { [weak self, loop] in
                    self?.poll(now: loop.now)
                }
            }
        }
    }

    private func wake(_ project: APIKey) {
        for waiter in takeWaiters(where: { $0.project == project }) { readAgain(waiter) }
    }

    private func readAgain(_ waiter: FeedWaiters.Waiter) {
        wait(
            waiter.project, from: .after(waiter.offset), limit: waiter.limit, until: waiter.deadline,
            answer: waiter.answer)
    }

    private func takeWaiters(where isTaken: (FeedWaiters.Waiter) -> Bool) -> [FeedWaiters.Waiter] {
        let taken = waiters.take(where: isTaken)
        if waiters.count == 0 { timer = nil }
        return taken
    }

    /// Answers those who have waited long enough, and looks for entries of other nodes.
    private func poll(now: MonotonicInstant) {
        for waiter in takeWaiters(where: { $0.deadline <= now }) {
            waiter.answer(.success(FeedBatch(end: waiter.offset, isUpToDate: true)))
        }
        if feed.pollInterval != nil { for waiter in takeWaiters(where: { _ in true }) { readAgain(waiter) } }
    }

    /// Answers everybody: the server stops.
    func endWaiting() {
        for waiter in takeWaiters(where: { _ in true }) {
            waiter.answer(.success(FeedBatch(end: waiter.offset, isUpToDate: true)))
        }
    }
}

extension FeedPage {
    /// The first entries, with about so many events.
    ///
    /// - Parameter end: where they end at the latest.
    func rows(limit: Int, through end: FeedOffset?) -> ArraySlice<Row> {
        var (count, index) = (0, rows.startIndex)
        while index < rows.endIndex {
            count += rows[index].entry.eventCount
            if count > limit, index > rows.startIndex { break }
            index += 1
            if rows[index - 1].end == end { break }
        }
        return rows[..<index]
    }
}
