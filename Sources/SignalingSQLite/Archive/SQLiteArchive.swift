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
public final class SQLiteArchive: MessageArchive {
    private let writer: ArchiveWriter
    private let reader: ArchiveReading
    private let answers: ArchiveAnswers

    /// Opens the archive of a state folder, or creates it. A database that is damaged, or that a later version wrote, is
    /// renamed, and a new one is created, which is logged.
    ///
    /// - Parameters:
    ///   - folder: exists, is private, and is locked by this process.
    ///   - post: executes work on the loop, after the calls that run. Called on other threads.
    /// - Throws: ``CommandLogFault`` `.unusable` when the folder or the files cannot be used.
    public init(
        folder: String, bounds: HistoryBounds, durability: Durability = .process, logger: Logger,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(CommandLogFault) {
        let files = try DatabaseFiles(folder: folder, name: DatabaseFiles.archive)
        let (database, _) = try Database.openOrSetAside(
            files, ArchiveSchema.schema, logger, consequence: "the history of all sessions is gone"
        ) { (database) throws(DatabaseError) in
            if let damage = try database.damage(in: .structure).first { throw DatabaseError(damaged: damage) }
        }
        do throws(DatabaseError) {
            // Nothing that was deleted may stay in the file (HIS-9). FAST would leave it in free pages.
            try database.execute("PRAGMA secure_delete = ON")
            try database.execute("PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")")
            database.lockTimeoutMilliseconds = 1_000
            // A process that was killed may have left erased content there (HIS-9).
            try? database.checkpoint(.truncate)
            let second = try Database(path: files.path, access: .readOnly)
            second.lockTimeoutMilliseconds = 1_000
            answers = ArchiveAnswers(post: post)
            writer = ArchiveWriter(
                try ArchiveStore(database, bounds: bounds), path: files.path, answers: answers, logger: logger)
            reader = ArchiveReading(try ArchiveReader(second), path: files.path, answers: answers, logger: logger)
        } catch {
            throw files.openingFault(error)
        }
    }

    /// Writes what waits, and closes the database. Waits for the disk.
    public func close() {
        reader.close()
        writer.close()
    }

    public var isEmpty: Bool { writer.totals.sessionCount == 0 && !writer.isBusy }
    public var byteCount: Int { writer.totals.byteCount }
    public var messageCount: Int { writer.totals.messageCount }

    public func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add(.append(messages, to: session), answers.note { answer($0.map { _ in () }) })
    }

    public func erase(
        _ erasure: Erasure, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        writer.add(.erase(erasure, of: session), answers.note { answer($0.map { _ in () }) })
    }

    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        writer.add(
            .sweep(now),
            answers.note { result in
                answer(result.map { if case .forgotten(let sessions) = $0 { sessions } else { [] } })
            })
    }

    public func changeBounds(to new: HistoryBounds) { writer.add(.changeBounds(new), nil) }

    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        reader.read(
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
        reader.read(
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
    }

    typealias Outcome = Result<Content, ArchiveFault>

    // Confined to the loop.
    private var waiting: [UInt64: (Outcome) -> Void] = [:]
    private var lastNumber: UInt64 = 0
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.post = post }

    func note(_ answer: @escaping (Outcome) -> Void) -> UInt64 {
        lastNumber += 1
        waiting[lastNumber] = answer
        return lastNumber
    }

    /// Called on any thread.
    func give(_ outcomes: [(number: UInt64, outcome: Outcome)]) {
        if outcomes.isEmpty { return }
        post { [self] in for (number, outcome) in outcomes { waiting.removeValue(forKey: number)?(outcome) } }
    }
}
