import Dispatch
import SignalingCore
import SignalingProtocol

/// Reads sleeping sessions for operators, on a thread and connections of its own, so that no commit waits for it.
final class SleeperReader: Sendable {
    private let queue = DispatchQueue(label: "signalbox.sleepers")
    private let path: String
    private let injectedFault: (@Sendable (String) -> Int32?)?

    init(path: String, injectedFault: (@Sendable (String) -> Int32?)?) {
        self.path = path
        self.injectedFault = injectedFault
    }

    /// - Parameter answer: called on the thread.
    func read(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping @Sendable (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        queue.async { [self] in
            do throws(DatabaseError) {
                // A connection for each read: an open one would keep the write-ahead log when the server stops.
                let database = try Database(path: path, access: .readOnly)
                database.injectedFault = injectedFault
                database.lockTimeoutMilliseconds = 1_000
                answer(.success(try SleeperTable.read(database, in: range, atMost: count)))
            } catch {
                answer(.failure(SleepersUnread()))
            }
        }
    }

    /// Waits for the reads that are under way.
    func finish() { queue.sync {} }
}
