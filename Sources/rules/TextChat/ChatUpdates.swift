/// One change of a ``TextChatComponent``, for the code that shows it.
public enum ChatUpdate: Equatable, Sendable {
    /// The whole list, first in every stream. Later changes start from it.
    case rows([TimelineRow])
    /// The steps from the previous list to the new one.
    case changes([TimelineChange])
    case unreadCount(Int)
    case draft(String, remaining: Int)
    /// The reader was too slow, and the stream ends here. Create another one.
    case overflowed
}

/// The streams of a component's updates. Each stream gets all updates from its creation on.
struct ChatUpdateStreams {
    /// How many updates one stream buffers (G5).
    static let bufferCount = 1000

    private var continuations: [AsyncStream<ChatUpdate>.Continuation] = []

    mutating func add(first: [ChatUpdate]) -> AsyncStream<ChatUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ChatUpdate.self, bufferingPolicy: .bufferingOldest(Self.bufferCount))
        for update in first { continuation.yield(update) }
        continuations.append(continuation)
        return stream
    }

    mutating func yield(_ update: ChatUpdate) {
        continuations.removeAll { continuation in
            switch continuation.yield(update) {
            case .enqueued(let remaining) where remaining <= 1:
                // The last slot of the buffer reports the overflow.
                continuation.yield(.overflowed)
                continuation.finish()
                return true
            case .enqueued: return false
            case .dropped, .terminated: return true
            @unknown default: return false
            }
        }
    }

    func finish() { for continuation in continuations { continuation.finish() } }
}
