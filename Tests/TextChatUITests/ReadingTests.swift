import Foundation
import SignalingProtocol
import Testing
import TextChatTesting

@testable import TextChat
@testable import TextChatUI

@MainActor
@Suite("What a user reads", .timeLimit(.minutes(2)))
struct ReadingTests {
    private let session = MemorySession(keepsHistory: true)
    private let model = ChatModel(words: ChatWords(locale: Locale(identifier: "en"), timeZone: .gmt))

    /// The user is connected, and others write these messages.
    private func connect() -> MemoryChannel {
        let channel = session.connect("me", data: "Me")
        model.chat.channel = channel
        hear(channel)
        return channel
    }

    private func hear(_ channel: MemoryChannel) { for event in channel.removeEvents() { model.handle(event) } }

    private func write(_ texts: String..., as sender: MemoryChannel, to channel: MemoryChannel) async throws {
        for text in texts { try await sender.send(SignalRequest(type: "TextChat", data: text)) }
        hear(channel)
    }

    @Test("in the background, and while the user reads older messages, nothing counts as read")
    func reading() async throws {
        let channel = connect()
        let bob = session.connect("bob")
        model.isVisible = true
        try await write("one", as: bob, to: channel)
        #expect(model.unreadCount == 0)
        model.isInBackground = true
        try await write("two", as: bob, to: channel)
        #expect((model.unreadCount, model.newMessages) == (1, nil))
        model.isInBackground = false
        #expect(model.rows.contains { $0.id == .unreadDivider }, "the user sees where the new messages begin")
        while model.unreadCount > 0, !Task.isCancelled { await Task.yield() }

        model.noteTop(model.rows.last?.id)
        model.noteTop(model.rows.first?.id)
        model.noteEnd(isVisible: false)
        try await write("three", "four", as: bob, to: channel)
        #expect((model.unreadCount, model.newMessages) == (2, "2 new messages"))
        model.goToNewMessages()
        #expect(model.scrollRequest?.value == .row(.unreadDivider))
        model.goToNewMessages()
        #expect((model.scrollRequest?.value, model.newMessages) == (.end, nil))
    }

    @Test("VoiceOver says messages that come: one as it is, several by their number, and none that the user wrote")
    func announcements() async throws {
        let channel = connect()
        let bob = session.connect("bob", data: "Bob")
        try await write("old", as: bob, to: channel)
        model.isVisible = true
        #expect(model.announcement == nil, "a chat begins quietly")
        try await write("Hi", as: bob, to: channel)
        let first = try #require(model.announcement)
        #expect(first.value.hasPrefix("Bob, Hi, "))
        try await write("Hi", as: bob, to: channel)
        #expect(model.announcement != first, "the same words are said again")
        let last = model.announcement
        model.draft = "mine"
        model.send()
        #expect(model.announcement == last)
        let names = model.chat.names
        let (rows, more) = (model.rows, model.rows.filter { $0.message?.message.text != "old" })
        #expect(model.words.announcement(from: more, to: rows, in: names) == nil, "in front of the last one")
        let old = Array(rows.prefix { $0.message?.message.text != "Hi" })
        #expect(model.words.announcement(from: old, to: rows, in: names) == "2 new messages")
        #expect(model.words.announcement(from: [], to: rows, in: names) == nil)
    }

    @Test("an own message goes to the end, also while the user reads older ones")
    func ownMessage() async throws {
        let channel = connect()
        try await write("one", "two", as: session.connect("bob"), to: channel)
        model.noteTop(model.rows.last?.id)
        model.noteTop(model.rows.first?.id)
        model.noteEnd(isVisible: false)
        let before = model.scrollRequest
        model.draft = "mine"
        model.send()
        #expect(model.scrollRequest?.value == .end)
        #expect(model.scrollRequest != before)
    }
}

@Suite("Where the list of a chat stands")
struct ScrollKeeperTests {
    /// Rows with these numbers, of others' messages; negative ones are own messages that are not sent yet.
    private func rows(_ numbers: Int...) -> [TimelineRow] {
        numbers.map { number in
            let message = ChatMessage(
                text: "\(number)", direction: number < 0 ? .sent : .received, state: number < 0 ? .sending : .sent)
            return TimelineRow(
                id: .message(number), content: .message(MessageRow(message, .single, rule: .standard)))
        }
    }

    @Test("it follows its end, although new rows push the end out of view, until the user scrolls up")
    func follows() {
        var keeper = ScrollKeeper()
        keeper.noteTop(.message(1), in: rows(1, 2))
        #expect(keeper.change(from: rows(1, 2), to: rows(1, 2, 3)) == .end)
        keeper.noteEnd(isVisible: false)
        #expect(keeper.followsEnd)
        keeper.noteTop(.message(2), in: rows(1, 2, 3))
        keeper.noteEnd(isVisible: true)
        keeper.noteTop(.message(1), in: rows(1, 2, 3))
        #expect(keeper.followsEnd, "the end is in view still")
        keeper.noteEnd(isVisible: false)
        #expect(!keeper.followsEnd)
        #expect(keeper.change(from: rows(1, 2, 3), to: rows(1, 2, 3, 4)) == nil, "the user reads")
        keeper.noteEnd(isVisible: true)
        #expect(keeper.followsEnd)
    }

    @Test("rows in front of those that the user reads leave them where they are")
    func earlier() {
        var keeper = ScrollKeeper()
        keeper.noteTop(.message(4), in: rows(3, 4, 5))
        keeper.noteTop(.message(3), in: rows(3, 4, 5))
        keeper.noteEnd(isVisible: false)
        #expect(keeper.change(from: rows(3, 4, 5), to: rows(1, 2, 3, 4, 5)) == .row(.message(3)))
        #expect(keeper.change(from: rows(1, 2, 3, 4, 5), to: rows(1, 2, 3, 4)) == nil)
        #expect(keeper.change(from: rows(3, 4), to: rows(3, 4, -5)) == .end)
        #expect(keeper.followsEnd)
    }

    @Test("the way to new messages leads to where they begin, and then to the end")
    func toNew() {
        var keeper = ScrollKeeper()
        let divided = [TimelineRow(id: .unreadDivider, content: .unreadDivider)] + rows(1)
        #expect(keeper.goToNew(in: divided) == .row(.unreadDivider))
        #expect(keeper.goToNew(in: divided) == .end)
        #expect(keeper.goToNew(in: rows(1)) == .end)
        #expect(keeper.goToNew(in: divided) == .row(.unreadDivider))
        keeper.noteEnd(isVisible: true)
        #expect(keeper.goToNew(in: divided) == .row(.unreadDivider), "the user has read to the end since")
    }
}
