import Dispatch
import Synchronization

/// Copies the write-ahead log into the database from time to time, so that the log stays short (LOG-22).
///
/// A checkpoint synchronizes the disk, which takes milliseconds. It runs on another thread with a connection of its
/// own, and the writer goes on. A writer that never pauses lets the log grow all the same, since the log begins at its
/// start only when everything in it is copied. So at the limit the writer waits for one checkpoint.
final class Checkpoints {
    private let queue = DispatchQueue(label: "signalbox.log-checkpoints")
    private let worker: Worker
    private let interval: Int
    private let limit: Int
    /// The length of the log at which the next checkpoint begins.
    private var next: Int
    /// The length of the log at which the writer waits for a checkpoint.
    private var nextStop: Int

    /// - Parameters:
    ///   - database: a connection that nothing else uses.
    ///   - interval: the pages between two checkpoints.
    ///   - limit: the pages at which the writer waits for a checkpoint.
    init(_ database: sending Database, interval: Int, limit: Int) {
        // The connection opens the log with its first read. After this one, the process has all its descriptors. A fault
        // comes again with the first checkpoint.
        _ = try? database.integer("SELECT count(*) FROM sqlite_schema")
        worker = Worker(database)
        self.interval = interval
        self.limit = limit
        next = interval
        nextStop = limit
    }

    /// Starts a checkpoint if the log has grown enough.
    ///
    /// - Throws: also the error of an earlier checkpoint on the other thread, unless the disk was full: then nothing
    ///   is lost, and a later checkpoint copies the same pages.
    func committed(on database: Database) throws(DatabaseError) {
        if let error = worker.takeError() { throw error }
        let length = database.logPageCount
        if length < interval { (next, nextStop) = (interval, limit) }
        if length >= nextStop {
            queue.sync {}
            try restart(database)
            // While a backup reads, the log can't begin at its start.
            nextStop = length + interval
        } else if length >= next {
            next = length + interval
            start()
        }
    }

    /// Whether no checkpoint runs, waits, or is due.
    func areQuiet(_ database: Database) -> Bool { !isRunning && database.logPageCount < next }

    /// Whether a checkpoint runs or waits.
    var isRunning: Bool { worker.isRunning }

    /// Starts a checkpoint on the other thread.
    func start() {
        worker.noteStart()
        queue.async { [worker] in worker.checkpoint() }
    }

    /// Waits for the checkpoint that runs, and closes the connection.
    func stop() { queue.sync { [worker] in worker.close() } }

    private func restart(_ database: Database) throws(DatabaseError) {
        do throws(DatabaseError) {
            try database.checkpoint(.restart)
        } catch {
            guard error.kind == .full || error.kind == .busy else { throw error }
        }
    }
}

/// Unchecked: the queue guards the connection.
private final class Worker: @unchecked Sendable {
    private var database: Database?
    private let error = Mutex<DatabaseError?>(nil)
    private let waitingCount = Atomic(0)

    init(_ database: sending Database) { self.database = database }

    var isRunning: Bool { waitingCount.load(ordering: .acquiring) > 0 }

    func noteStart() { waitingCount.add(1, ordering: .relaxed) }

    func checkpoint() {
        defer { waitingCount.subtract(1, ordering: .releasing) }
        do throws(DatabaseError) {
            try database?.checkpoint(.passive)
        } catch {
            guard error.kind != .full, error.kind != .busy else { return }
            self.error.withLock { $0 = error }
        }
    }

    func close() { database = nil }

    func takeError() -> DatabaseError? {
        error.withLock { error in
            defer { error = nil }
            return error
        }
    }
}
