import SignalingProtocol
import Testing
import TextChat
import TextChatTesting

/// A component on a connection of a session in memory, and another connection that talks to it.
@MainActor
final class Chatting {
    let session = MemorySession()
    let chat: TextChatComponent
    let channel: MemoryChannel
    let other: MemoryChannel
    var clock = ManualClock()
    private var lastNumber = 0

    init(_ chat: TextChatComponent = TextChatComponent()) {
        self.chat = chat
        other = session.connect("bob", data: "Bob")
        channel = session.connect("me", data: "Me")
        chat.channel = channel
        chat.isVisible = true
        hear()
    }

    /// Gives the component the events that have arrived.
    @discardableResult
    func hear() -> [TimelineChange] { channel.removeEvents().flatMap { chat.handle($0, now: clock.now) } }

    func send(_ text: String, as localID: String? = nil) async -> SendResult {
        lastNumber += 1
        #expect(chat.edit(text).isAccepted)
        return await chat.send(now: clock.now, localID: LocalID(localID ?? String(lastNumber)))
    }

    func say(_ text: String, from speaker: MemoryChannel? = nil) async throws {
        try await (speaker ?? other).send(SignalRequest(type: "TextChat", data: text))
        hear()
    }

    var texts: [String] { chat.messages.map(\.text) }
    var states: [ChatMessage.State] { chat.messages.map(\.state) }
}

let refusal = SignalingError(.permissionDenied, "no")
let loss = SignalingError(.notConnected, "lost")

/// A delegate that gives one answer and records the messages.
final class RecordingDelegate: TextChatDelegate {
    var answer: Bool
    var asked: [ChatMessage] = []

    init(answer: Bool) { self.answer = answer }

    func onMessageReadyToSend(_ message: ChatMessage) -> Bool {
        asked.append(message)
        return answer
    }
}
