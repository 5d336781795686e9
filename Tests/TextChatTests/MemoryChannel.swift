import SignalingProtocol
import Synchronization
import TextChat

/// A session in memory: keeps what is sent, and answers as it is told to.
final class MemoryChannel: SignalChannel {
    private struct State {
        var connectionID: ConnectionID?
        var sent: [SignalRequest] = []
        var answers: [SignalingError?] = []
    }

    private let state: Mutex<State>
    /// Called before the answer, as an echo that is faster than the acknowledgement would be.
    private let beforeAnswer: @MainActor () -> Void

    init(_ connectionID: String? = "me", beforeAnswer: @escaping @MainActor () -> Void = {}) {
        state = Mutex(State(connectionID: connectionID.map { ConnectionID($0) }))
        self.beforeAnswer = beforeAnswer
    }

    var connectionID: ConnectionID? {
        get { state.withLock { $0.connectionID } }
        set { state.withLock { $0.connectionID = newValue } }
    }

    var sent: [SignalRequest] { state.withLock { $0.sent } }

    /// The next sends fail like this, nil for success; after these, all succeed.
    func answer(_ answers: SignalingError?...) { state.withLock { $0.answers += answers } }

    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        await beforeAnswer()
        let (seq, error) = state.withLock { state in
            state.sent.append(signal)
            return (Int64(state.sent.count), state.answers.isEmpty ? nil : state.answers.removeFirst())
        }
        if let error { throw error }
        return Seq(seq)
    }
}

/// A delegate that gives one answer and remembers what it was asked.
final class RecordingDelegate: TextChatDelegate {
    var answer: Bool
    var asked: [ChatMessage] = []

    init(answer: Bool) { self.answer = answer }

    func onMessageReadyToSend(_ message: ChatMessage) -> Bool {
        asked.append(message)
        return answer
    }
}

/// A signal as it arrives; `senderData` is what the sender's token says of it.
func incoming(
    type: String? = nil, data: String? = nil, from: ConnectionID? = nil, senderData: String? = nil, seq: Seq? = nil
) -> Signal {
    Signal(type: type, data: data, from: from.map { connection($0.rawValue, data: senderData ?? "") }, seq: seq)
}

func connection(_ id: String, data: String = "") -> Connection {
    Connection(connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: data)
}
