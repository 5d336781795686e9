import Foundation
import SignalingProtocol
import Testing
import TextChat
import TextChatTesting

@testable import TextChatUI

@MainActor
@Suite("CHAT-15, CHAT-16: reactions and receipts, for a view", .timeLimit(.minutes(1)))
struct ReactionModelTests {
    private let session = MemorySession(changes: [.edit, .react], readMarkers: .shared)
    private let model = ChatModel(words: ChatWords(locale: Locale(identifier: "en")))
    private let channel: MemoryChannel
    private let ada: MemoryChannel

    init() {
        ada = session.connect("ada", data: "name=Ada", user: UserID("u-1"))
        channel = session.connect("me", user: UserID("me"))
        model.chat.channel = channel
        hear()
    }

    private func hear() { for event in channel.removeEvents() { model.handle(event) } }

    private func send(_ text: String) async throws -> Seq {
        let seq = try await channel.send(SignalRequest(type: "text-chat", data: #"{"text":"\#(text)"}"#))
        hear()
        return try #require(seq)
    }

    @Test("a reaction is added, said, and taken back")
    func reacts() async throws {
        let seq = try await send("nine")
        let row = try #require(model.rows.last?.id)
        #expect(model.canReact(to: row))
        await model.toggleReaction("👍", to: row).value
        try await ada.react(ReactRequest(seq, keys: ["👍", "🎉"]))
        hear()
        let reactions = try #require(model.rows.last?.message?.message.reactions)
        #expect(reactions.map(model.spoken) == ["👍, 2 people, you too", "🎉, 1 person"])
        channel.answer(.refused(SignalingError(.rateLimited, "slowly")))
        await model.toggleReaction("👍", to: row).value
        #expect(model.notice == .changeTooFast)
        await model.toggleReaction("👍", to: row).value
        hear()
        #expect(model.notice == nil)
        #expect(model.rows.last?.message?.message.reactions.map(\.isMine) == [false, false])
    }

    @Test("in a chat of two a message is seen, and in a larger one it is seen by these users")
    func receipts() async throws {
        try await ada.send(SignalRequest(type: "text-chat", data: #"{"text":"when?"}"#))
        let seq = try await send("nine")
        #expect(model.receipt == nil)
        try await ada.markRead(through: seq)
        hear()
        #expect(model.receipt?.text == "Seen")
        #expect(model.receipt?.row == model.rows.last?.id)
        let bob = session.connect("bob", user: UserID("Bob"))
        try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"hi"}"#))
        hear()
        #expect(model.receipt?.text == "Seen by Ada")
        try await bob.markRead(through: seq)
        hear()
        #expect(model.receipt?.text == "Seen by Bob and Ada")
    }

    @Test("what a page brings is read a while after the user sees it")
    func readsPage() async throws {
        let seq = try await send("nine")
        try await channel.markRead(through: seq)
        try await ada.send(SignalRequest(type: "text-chat", data: #"{"text":"ten"}"#))
        let late = ChatModel()
        late.isVisible = true
        late.chat.channel = session.connect("late", user: UserID("me"))
        late.chat.readHistory()
        while late.unreadCount == 0, !Task.isCancelled { await Task.yield() }
        #expect(late.rows.contains { $0.id == .unreadDivider })
        while late.unreadCount > 0, !Task.isCancelled { await Task.yield() }
    }
}
