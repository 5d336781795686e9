/// Removes erased content from the write-ahead log (HIS-9) while the writer goes on.
///
/// A truncating checkpoint would do it in one step, but it synchronizes two files and frees blocks, and every
/// acknowledgement waits that long: 14 to 85 ms after 10,000 erased messages. So another thread copies the log, the next
/// commit begins the log at its start, and the writer overwrites what is left behind the end, a part after each commit.
/// Used on the writer's thread.
struct LogCleaning {
    private enum Phase {
        case clean
        /// Until the log has begun at its start more often than this.
        case copying(beginCount: Int)
        /// The bytes of the file before this one are left.
        case overwriting(before: Int64)
    }

    /// What is overwritten after a commit: about a millisecond.
    private static let partByteCount: Int64 = 2 << 20
    /// The checkpoints, one a second, that may find the writer busy. Then the writer waits for the next one's rest.
    private static let patience = 10

    private var phase = Phase.clean
    private var checkpointCount = 0
    private var mustWait = false

    /// Whether the log must be written to, also if nothing else has to be.
    var needsCommit: Bool {
        switch phase {
        case .clean: false
        case .copying, .overwriting: true
        }
    }

    /// Everything that is to go has been overwritten in the database. The log has both contents.
    mutating func begin(_ database: Database, _ checkpoints: Checkpoints) {
        phase = .copying(beginCount: database.logBeginCount)
        checkpointCount = 0
        mustWait = false
        checkpoints.start()
    }

    /// Called after each commit.
    mutating func committed(isSignOfLife: Bool, _ database: Database, _ checkpoints: Checkpoints)
        throws(DatabaseError)
    {
        if case .copying(let count) = phase, database.logBeginCount > count {
            phase = .overwriting(before: try database.logFileByteCount())
        }
        switch phase {
        case .clean: break
        case .copying: copy(isSignOfLife: isSignOfLife, database, checkpoints)
        case .overwriting(let end): try overwrite(before: end, database)
        }
    }

    private mutating func overwrite(before end: Int64, _ database: Database) throws(DatabaseError) {
        let start = max(try database.logByteCount(), end - Self.partByteCount)
        guard start < end else {
            phase = .clean
            return
        }
        do throws(DatabaseError) {
            try database.overwriteLog(start..<end)
            phase = .overwriting(before: start)
        } catch {
            // A file system that never overwrites in place needs room. The commit itself was kept, and is not repeated.
            guard error.kind == .full else { throw error }
        }
    }

    private mutating func copy(isSignOfLife: Bool, _ database: Database, _ checkpoints: Checkpoints) {
        guard !checkpoints.isRunning else { return }
        if mustWait {
            // The other thread has just copied all but the last commits. A reader, such as a backup, may hold it back.
            mustWait = false
            try? database.checkpoint(.restart)
        } else if isSignOfLife {
            checkpointCount += 1
            mustWait = checkpointCount > Self.patience
            checkpoints.start()
        }
    }
}
