import HeapModule
import SignalingProtocol

/// The next deadline of each session, and the earliest of them all.
///
/// A session may have several entries in the heap. Only the one that equals its moment in `scheduled` counts.
struct SessionDeadlines {
    private struct Deadline: Comparable {
        let moment: MonotonicInstant
        let session: SessionID

        static func < (left: Deadline, right: Deadline) -> Bool { left.moment < right.moment }
    }

    private var deadlines = Heap<Deadline>()
    private var scheduled: [SessionID: MonotonicInstant] = [:]

    /// The number of entries, outdated ones included.
    var entryCount: Int { deadlines.count }

    /// The earliest deadline, or an earlier moment at which nothing is due; `nil` when nothing is scheduled.
    var next: MonotonicInstant? { deadlines.min?.moment }

    /// When a session is checked next; `nil` if it is not scheduled.
    func moment(of session: SessionID) -> MonotonicInstant? { scheduled[session] }

    /// Notes the deadline of a session. Does nothing if an earlier one is noted: it is checked then.
    mutating func schedule(_ session: SessionID, at deadline: MonotonicInstant?) {
        guard let deadline else { return }
        if let earlier = scheduled[session], earlier <= deadline { return }
        scheduled[session] = deadline
        deadlines.insert(Deadline(moment: deadline, session: session))
        dropOutdated()
    }

    /// Removes and returns a session that is due; `nil` when none is.
    mutating func popDue(by now: MonotonicInstant) -> SessionID? {
        while let due = deadlines.min, due.moment <= now {
            deadlines.removeMin()
            // An earlier deadline of the same session has replaced this one.
            guard scheduled[due.session] == due.moment else { continue }
            scheduled[due.session] = nil
            return due.session
        }
        return nil
    }

    mutating func remove(_ session: SessionID) {
        scheduled[session] = nil
        dropOutdated()
    }

    /// An outdated entry keeps the text of a session's ID. When thousands of sessions have ended, these few bytes here
    /// and there would keep most pages of their memory from the operating system.
    private mutating func dropOutdated() {
        guard deadlines.count > 2 * scheduled.count + Self.fewEntries else { return }
        deadlines = Heap(scheduled.map { Deadline(moment: $1, session: $0) })
    }

    private static let fewEntries = 64

    mutating func removeAll() { self = SessionDeadlines() }
}
