import Dispatch
import Logging
import SignalingCore
import SignalingProtocol
import Synchronization

/// The archive of one machine: a database of its own in the server's state folder, so that damage of the command log
/// leaves the history alone, and the other way round.
///
/// The loop's thread calls every method, and is never kept waiting for the disk, except by ``close()``. One thread
/// writes, and another one reads with a connection of its own.
public final class SQLiteArchive: MessageArchive, MessageFeed {
    private let writer: DatabaseThread<ArchiveTransactions>
    private let sizes: ArchiveSizes
    private let reading: ArchiveReading
    private let answers: ArchiveAnswers
    public let lastSweep: WallTime?
    public private(set) var lostOrderCount: Int
    private let isNew: Bool
    public var onAnnounced: ((SessionID) -> Void)?

    /// Opens the archive of a state folder, or creates it. A database that is damaged, or that a later version wrote, is
    /// renamed, and a new one is created, which is logged.
    ///
    /// - Parameters:
    ///   - folder: exists, is private, and is locked by this process.
    ///   - wallTime: the date.
    ///   - projectOf: reads the project of a session. Called on another thread.
    ///   - post: executes work on the loop, after the calls that run. Called on other threads.
    /// - Throws: ``CommandLogFault`` `.unusable` when the folder or the files cannot be used.
    public convenience init(
        folder: String, bounds: HistoryBounds, durability: Durability = .process, wallTime: WallTime? = nil,
        projectOf: @escaping @Sendable (SessionID) -> APIKey? = { _ in nil }, logger: Logger,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(CommandLogFault) {
        try self.init(
            folder: folder, bounds: bounds, durability: durability, wallTime: wallTime, projectOf: projectOf,
            logger: logger, post: post, tuning: ArchiveTuning())
    }

    init(
        folder: String, bounds: HistoryBounds, durability: Durability = .process, wallTime: WallTime? = nil,
        projectOf: @escaping @Sendable (SessionID) -> APIKey? = { _ in nil }, logger: Logger,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, tuning: ArchiveTuning
    ) throws(CommandLogFault) {
        let files = try DatabaseFiles(folder: folder, name: DatabaseFiles.archive)
        let place = ArchivePlace(
            files: files, durability: durability, wallTime: wallTime, projectOf: projectOf, logger: logger,
            tuning: tuning)
        let (opened, reader) = try place.open(bounds: bounds)
        let mark = opened.tail.content
        lastSweep = mark.sweptAt > 0 ? WallTime(milliseconds: mark.sweptAt) : nil
        (lostOrderCount, isNew) = (Int(clamping: mark.lostOrderCount), opened.isNew)
        answers = ArchiveAnswers(post: post)
        reading = ArchiveReading(reader, path: files.path, answers: answers, logger: logger)
        sizes = ArchiveSizes(opened.store)
        do throws(DatabaseError) {
            writer = try DatabaseThread(
                ArchiveTransactions(opened, at: place, reading: reading, answers: answers, sizes: sizes),
                name: "history")
        } catch {
            throw files.openingFault(error)
        }
    }

    deinit { writer.abandon() }

    /// Whether messages can be written. Called on the loop when it changes.
    public var onHealthChange: ((CommandLogHealth) -> Void)? {
        get { answers.onHealthChange }
        set { answers.onHealthChange = newValue }
    }
    public var health: CommandLogHealth { answers.health }
    public var fault: CommandLogFault? {
        switch health {
        case .keeping: nil
        case .stalled(let fault), .failed(let fault): fault
        }
    }

    /// Adds steps of one session, which nobody is told of, and waits for the disk if many wait. For the end of a process,
    /// and its beginning.
    public func finish(_ steps: [ArchiveStep], of session: SessionID, by deadline: DispatchTime = .distantFuture) {
        writer.add(steps.map { .write(ArchiveStore.Work($0, of: session), nil) })
        if writer.waitingCount > Self.finishedCount { writer.settle(by: deadline) }
    }

    /// The sessions of this folder begin anew. Adds what they had for the archive, and waits for the disk: the command log
    /// forgets them next. Call it before the first other call.
    ///
    /// - Parameter areCertain: whether there were sessions. Otherwise a new archive shows that there were none.
    public func noteLostOrders(of sessions: [KeptCommands.Session], areCertain: Bool) {
        if isNew, !areCertain { return }
        writer.add([.countLostOrders])
        for session in sessions { finish(session.waitingSteps(), of: session.id) }
        writer.settle()
        // Also if the disk is full, and the mark cannot say so.
        lostOrderCount = min(lostOrderCount + 1, Int(TailMark.Content.lostOrderLimit))
    }

    /// The steps that may wait in memory.
    private static let finishedCount = 1_024

    /// Writes what waits, and closes the database. Waits for the disk.
    ///
    /// - Parameter deadline: when to give up. What is not written then is in the states of its sessions still.
    public func close(by deadline: DispatchTime = .distantFuture) {
        reading.use(nil)
        try? writer.close(by: deadline)
    }

    public var isEmpty: Bool { sizes.totals.sessionCount == 0 && !writer.isBusy }
    public var byteCount: Int { sizes.usedByteCount }
    /// What the messages count for the bounds of their sessions.
    var messageByteCount: Int { sizes.totals.byteCount }
    public var messageCount: Int { sizes.totals.messageCount }

    /// The writer gets all steps at once, and commits them together if they are few.
    public func carryOut(
        _ steps: [ArchiveStep], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        var (waitingCount, result) = (steps.count, Result<Void, ArchiveFault>.success(()))
        if steps.isEmpty { return answer(result) }
        let isAnnounced = steps.contains { if case .announce = $0 { true } else { false } }
        writer.add(
            steps.map { step in
                let number = answers.note { [weak self] outcome in
                    waitingCount -= 1
                    if case .failure(let fault) = outcome { result = .failure(fault) }
                    guard waitingCount == 0 else { return }
                    if case .success = result, isAnnounced { self?.onAnnounced?(session) }
                    answer(result)
                }
                return .write(ArchiveStore.Work(step, of: session), number)
            })
    }

    public func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add([.write(.append(messages, to: session), answers.note { answer($0.map { _ in () }) })])
    }

    public func put(
        _ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add([.write(.put(forms, of: session), answers.note { answer($0.map { _ in () }) })])
    }

    public func erase(
        _ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add([.write(.erase(erasure, of: session), answers.note { answer($0.map { _ in () }) })])
    }

    // MARK: - Feeds

    public var feed: any MessageFeed { self }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut([.announce(entries)], of: session, answer: answer)
    }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, in feed: APIKey,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add([
            .write(.announce(entries, of: session, in: feed), answers.note { answer($0.map { _ in () }) })
        ])
    }

    public func read(
        _ project: APIKey, from start: FeedStart, limit: Int,
        answer: @escaping (Result<FeedReading, ArchiveFault>) -> Void
    ) {
        reading.read(
            .feed(project, start, limit: limit),
            answers.note { [weak self] outcome in
                // A reader that has read what is before it meets the damaged entry next.
                if case .success(.feed(.gone, let damaged?)) = outcome {
                    self?.writer.add([.write(.removeDamaged(of: project, through: damaged), nil)])
                }
                answer(outcome.map { if case .feed(let reading, _) = $0 { reading } else { .gone } })
            })
    }

    public func keepCursor(
        _ offset: FeedOffset, of project: APIKey, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add([.write(.keepCursor(offset, of: project), answers.note { answer($0.map { _ in () }) })])
    }

    public func cursor(of project: APIKey, answer: @escaping (Result<FeedOffset?, ArchiveFault>) -> Void) {
        reading.read(
            .cursor(project),
            answers.note { answer($0.map { if case .cursor(let offset) = $0 { offset } else { nil } }) })
    }

    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        let number = answers.note { result in
            answer(result.map { if case .forgotten(let sessions) = $0 { sessions } else { [] } })
        }
        writer.add([.sweep(at: now, number)])
    }

    public func changeBounds(to new: HistoryBounds) { writer.add([.write(.changeBounds(new), nil)]) }

    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        reading.read(
            .page(request, session),
            answers.note { result in
                answer(
                    result.map {
                        if case .page(let page) = $0 {
                            page
                        } else {
                            ArchivePage(range: nil, more: false, messages: [])
                        }
                    })
            })
    }

    public func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        // The writer may be about to add the session.
        let isKnown = !isEmpty
        guard isKnown else { return answer(.success(nil)) }
        reading.read(
            .lastSeq(session),
            answers.note { result in answer(result.map { if case .lastSeq(let seq) = $0 { seq } else { nil } }) })
    }
}

/// The answers on their way to the loop. The closures stay there, and only their numbers go to the other threads.
final class ArchiveAnswers: @unchecked Sendable {
    enum Content: Sendable {
        case done
        case forgotten([SessionID])
        case page(ArchivePage)
        case lastSeq(Seq?)
        case feed(FeedReading, damaged: Int64?)
        case cursor(FeedOffset?)
    }

    typealias Outcome = Result<Content, ArchiveFault>

    // Confined to the loop.
    private var waiting: [UInt64: (Outcome) -> Void] = [:]
    private var lastNumber: UInt64 = 0
    fileprivate(set) var health = CommandLogHealth.keeping
    var onHealthChange: ((CommandLogHealth) -> Void)?
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.post = post }

    func note(_ answer: @escaping (Outcome) -> Void) -> UInt64 {
        lastNumber += 1
        waiting[lastNumber] = answer
        return lastNumber
    }

    /// Called on any thread.
    func report(_ health: CommandLogHealth) {
        post { [self] in
            self.health = health
            onHealthChange?(health)
        }
    }

    /// Called on any thread.
    func give(_ outcomes: [(number: UInt64, outcome: Outcome)]) {
        if outcomes.isEmpty { return }
        post { [self] in for (number, outcome) in outcomes { waiting.removeValue(forKey: number)?(outcome) } }
    }
}
