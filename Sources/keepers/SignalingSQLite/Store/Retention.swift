import DequeModule
import SignalingCore
import SignalingProtocol

/// Which commands the database must keep, and the sessions whose snapshots would let it drop the oldest ones.
///
/// Commands are in one order of global positions, and only a prefix of it is deleted. A command is needed until a
/// snapshot of its session covers it, or until its session has ended. The oldest needed command pins all later ones.
struct Retention {
    /// Memory per command: 16 bytes for the row, and 8 for its position in the session.
    private struct Row {
        let key: SessionKey
        let byteCount: Int
    }

    private struct Session {
        let id: SessionID
        /// The positions of the needed commands, which have consecutive numbers.
        var needed: Deque<Int64> = []
        /// The number of the last command, whether it is needed or not.
        var lastNumber: UInt64
        var snapshotByteCount = 0
        var request: Request?
    }

    /// A snapshot that the engine was asked for.
    private struct Request {
        /// The session's last command when it was asked. The snapshot that answers covers at least this one.
        let asked: UInt64
        /// The last command of the session that pins the order.
        var needed: UInt64
    }

    /// The bytes of a row beside the command's own: its numbers and its share of a page.
    private static let rowByteCount = 64

    /// The position of the last command.
    private(set) var lastPosition: Int64
    /// All commands in the database, the oldest first.
    private var rows: Deque<Row> = []
    /// The rows before this index are not needed, and can be deleted.
    private var firstNeeded = 0
    /// The sessions of the rows before this index have been asked for snapshots.
    private var firstUnasked = 0
    private var unaskedByteCount = 0
    private var snapshotByteCount = 0
    private var sessions: [SessionKey: Session] = [:]
    private let minimumByteCount: Int

    /// - Parameters:
    ///   - lastPosition: the position before the first added command.
    ///   - minimumByteCount: commands of this size never need a snapshot.
    init(lastPosition: Int64, minimumByteCount: Int) {
        self.lastPosition = lastPosition
        self.minimumByteCount = minimumByteCount
    }

    var isEmpty: Bool { sessions.isEmpty }
    var sessionCount: Int { sessions.count }

    /// The commands that can be deleted: their count, and the position of the last of them.
    var droppable: (count: Int, last: Int64) {
        (firstNeeded, lastPosition - Int64(rows.count) + Int64(firstNeeded))
    }

    // MARK: - Changes

    mutating func begin(_ key: SessionKey, id: SessionID, lastNumber: UInt64 = 0) {
        sessions[key] = Session(id: id, lastNumber: lastNumber)
    }

    /// Adds the command at the next position.
    mutating func append(_ key: SessionKey, byteCount: Int, isNeeded: Bool = true) {
        lastPosition += 1
        let row = Row(key: key, byteCount: byteCount + Self.rowByteCount)
        rows.append(row)
        unaskedByteCount += row.byteCount
        guard isNeeded else { return findFirstNeeded() }
        sessions[key]?.needed.append(lastPosition)
        sessions[key]?.lastNumber += 1
    }

    /// The position of the command with this number; `nil` if it is not needed any more, or does not exist.
    func position(of number: UInt64, in key: SessionKey) -> Int64? {
        guard let session = sessions[key], number <= session.lastNumber else { return nil }
        let count = Self.count(in: session, through: number)
        return count == 0 ? nil : session.needed[count - 1]
    }

    /// Commands up to this number are not needed any more, since a snapshot covers them.
    ///
    /// - Returns: whether the engine has to be asked for a newer snapshot of the session.
    mutating func keep(_ number: UInt64, of key: SessionKey, byteCount: Int) -> Bool {
        guard var session = sessions[key] else { return false }
        snapshotByteCount += byteCount - session.snapshotByteCount
        session.snapshotByteCount = byteCount
        session.needed.removeFirst(Self.count(in: session, through: number))
        var mustAsk = false
        if let request = session.request {
            if number >= request.needed {
                session.request = nil
            } else if number >= request.asked {
                session.request = Request(asked: session.lastNumber, needed: request.needed)
                mustAsk = true
            }
        }
        sessions[key] = session
        findFirstNeeded()
        return mustAsk
    }

    /// Commands up to this number are not needed any more, since their session has ended, and its name is used again.
    mutating func cover(_ number: UInt64, of key: SessionKey) {
        guard var session = sessions[key] else { return }
        session.needed.removeFirst(Self.count(in: session, through: number))
        snapshotByteCount -= session.snapshotByteCount
        session.snapshotByteCount = 0
        if let request = session.request, request.needed <= number { session.request = nil }
        sessions[key] = session
        findFirstNeeded()
    }

    mutating func end(_ key: SessionKey) {
        guard let session = sessions.removeValue(forKey: key) else { return }
        snapshotByteCount -= session.snapshotByteCount
        findFirstNeeded()
    }

    /// The rows up to this position have been deleted.
    mutating func dropped(through position: Int64) {
        let count = Int(position - (lastPosition - Int64(rows.count)))
        if firstUnasked < count {
            for row in rows[firstUnasked..<count] { unaskedByteCount -= row.byteCount }
        }
        rows.removeFirst(count)
        firstNeeded -= count
        firstUnasked = max(firstUnasked - count, 0)
    }

    func id(of key: SessionKey) -> SessionID? { sessions[key]?.id }

    /// Sessions that the engine has to be asked for, because the commands kept exceed the limit. Each is returned once
    /// until its snapshot comes.
    mutating func sessionsToAsk() -> [SessionID] {
        let limit = max(minimumByteCount, 2 * snapshotByteCount)
        var asked: [SessionID] = []
        while firstUnasked < rows.count, unaskedByteCount > limit || firstUnasked < firstNeeded {
            let row = rows[firstUnasked]
            let position = lastPosition - Int64(rows.count) + Int64(firstUnasked) + 1
            firstUnasked += 1
            unaskedByteCount -= row.byteCount
            guard var session = sessions[row.key], let first = session.needed.first, first <= position else { continue }
            // The needed commands have consecutive numbers, up to the last one.
            let index = Self.count(in: session, atOrBefore: position)
            let number = session.lastNumber - UInt64(session.needed.count - index)
            if session.request != nil {
                session.request?.needed = number
            } else {
                session.request = Request(asked: session.lastNumber, needed: number)
                asked.append(session.id)
            }
            sessions[row.key] = session
        }
        return asked
    }

    // MARK: - Details

    /// Each row is looked at once: a row that is not needed never becomes needed again.
    private mutating func findFirstNeeded() {
        let base = lastPosition - Int64(rows.count) + 1
        while firstNeeded < rows.count {
            if let first = sessions[rows[firstNeeded].key]?.needed.first, first <= base + Int64(firstNeeded) { return }
            firstNeeded += 1
        }
    }

    private static func count(in session: Session, through number: UInt64) -> Int {
        let unneeded = session.lastNumber - UInt64(session.needed.count)
        return number <= unneeded ? 0 : min(Int(clamping: number - unneeded), session.needed.count)
    }

    private static func count(in session: Session, atOrBefore position: Int64) -> Int {
        var (low, high) = (0, session.needed.count)
        while low < high {
            let middle = (low + high) / 2
            if session.needed[middle] <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
