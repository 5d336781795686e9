import SignalingCore
import SignalingProtocol
import Synchronization

/// The writer's results on their way to the loop. One post to the loop carries everything that has come meanwhile.
final class LogReports: Sendable {
    enum Report: Sendable {
        case confirmed([CommandEntry])
        case kept(LogPosition, SessionID, byteCount: Int)
        case needsSnapshots([SessionID])
        /// A session was to be woken: its snapshot, if it slept.
        case woken(SessionID, SessionKey, KeptCommands.Snapshot?)
        /// Sleeping sessions were read for the caller with this number.
        case sleepers(UInt64, Result<SleepingSessions, SleepersUnread>)
        /// A pass over the commands begins, or goes on: each part waits behind the work that has come meanwhile.
        case scrubs(ScrubPass)
        /// This number of sleeping sessions was forgotten.
        case forgotten(Int)
        case refused(SessionID, RefusedCommand)
        case health(CommandLogHealth)
    }

    private let pending = Mutex<[Report]>([])
    private let post: @Sendable () -> Void

    /// - Parameter post: asks the loop to call ``take()``.
    init(post: @escaping @Sendable () -> Void) { self.post = post }

    func add(_ reports: [Report]) {
        guard !reports.isEmpty else { return }
        let isFirst = pending.withLock { pending in
            defer { pending += reports }
            return pending.isEmpty
        }
        if isFirst { post() }
    }

    /// Adds reports on the loop, which calls ``take()`` without being asked.
    func addOnLoop(_ reports: [Report]) { pending.withLock { $0 += reports } }

    func take() -> [Report] {
        pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
    }
}
