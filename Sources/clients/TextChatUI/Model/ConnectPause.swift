/// The wait of a chat before it connects again. The user or the network can end it early.
@MainActor
final class ConnectPause {
    private var task: Task<Void, Never>?
    var isWaiting: Bool { task != nil }

    /// Waits, or until ``end()`` if the duration is nil. The end of the caller's task ends the wait, too.
    func wait(_ duration: Duration?) async {
        let task = Task<Void, Never> {
            repeat {
                try? await Task.sleep(for: duration ?? .seconds(86_400))
            } while duration == nil && !Task.isCancelled
        }
        self.task = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        self.task = nil
    }

    /// Nothing happens if nobody waits.
    func end() { task?.cancel() }
}
