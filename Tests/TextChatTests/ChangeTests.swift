import SignalingProtocol
import Testing
import TextChatTesting

@testable import TextChat

/// The vectors of `chat/changes` have the rules; these are the calls of the Swift component.
@Suite("CHAT-13, CHAT-14: a component changes messages", .timeLimit(.minutes(1)))
@MainActor
struct ChangeTests {
    private let session = MemorySession(changes: [.edit, .erase])
    private let chat = TextChatComponent()
    private let channel: MemoryChannel
    private let bob: MemoryChannel
    private let now = WallTime(milliseconds: 1_700_000_000_000)

    init() {
        bob = session.connect("bob", user: UserID("bob"))
        channel = session.connect("me", user: UserID("me"))
        chat.channel = channel
        chat.isVisible = true
        hear()
    }

    private func hear() { for event in channel.removeEvents() { chat.handle(event, now: now) } }

    /// The row of a message that the user has sent.
    private func send(_ text: String) async throws -> TimelineRow.ID {
        chat.edit(text)
        let localID = LocalID("1")
        #expect(await chat.send(now: now, localID: localID) == .sent)
        hear()
        return try #require(chat.timeline.rowID(of: localID))
    }

    private var texts: [String] { chat.messages.map(\.text) }

    @Test("the text changes with the answer, and the event that follows changes nothing")
    func answerFirst() async throws {
        let row = try await send("nine")
        try await chat.editMessage(row, text: "ten", now: now)
        #expect(texts == ["ten"])
        #expect(chat.messages[0].editedAt == now)
        for event in channel.removeEvents() { #expect(chat.handle(event, now: now) == []) }
        // Everybody else sees a whole message with the same name.
        let heard = TextChatComponent()
        for event in bob.removeEvents() { heard.handle(event, now: now) }
        #expect(heard.messages.map(\.text) == ["ten"])
        #expect(heard.messages[0].localID == LocalID("1"))
    }

    @Test("the text changes with the event, and the call returns before the answer")
    func eventFirst() async throws {
        let row = try await send("nine")
        channel.holdAnswers()
        let editing = Task { try await chat.editMessage(row, text: "ten", now: now) }
        try await channel.waitUntilChangesSent(1)
        #expect(texts == ["nine"], "no text is shown before the session has it")
        hear()
        #expect(texts == ["ten"])
        try await editing.value
        channel.releaseAllAnswers()
    }

    @Test("an edit that the server refuses changes nothing, and says why")
    func refused() async throws {
        let row = try await send("nine")
        channel.answer(.refused(SignalingError(.rateLimited, "slowly")))
        await #expect(throws: ChangeError.refused(SignalingError(.rateLimited, ""))) {
            try await chat.editMessage(row, text: "ten", now: now)
        }
        #expect(texts == ["nine"])
    }

    @Test("a cancelled task waits for no answer")
    func cancelled() async throws {
        let row = try await send("nine")
        channel.holdAnswers()
        let editing = Task { try await chat.editMessage(row, text: "ten", now: now) }
        try await channel.waitUntilChangesSent(1)
        editing.cancel()
        await #expect(throws: ChangeError.cancelled) { try await editing.value }
        channel.releaseAllAnswers()
    }

    @Test("a deleted message keeps its row, and no text of it is left")
    func deleted() async throws {
        let row = try await send("nine")
        try await chat.deleteMessage(row, now: now)
        #expect(chat.messages.map(\.isErased) == [true])
        #expect(texts == [ChatMessage.erasedText])
        await #expect(throws: ChangeError.erased) { try await chat.editMessage(row, text: "ten", now: now) }
        await #expect(throws: ChangeError.unknown) { try await chat.deleteMessage(.message(99), now: now) }
    }

    @Test("what a moderator keeps the user from writing is not sent")
    func restricted() async throws {
        let row = try await send("nine")
        channel.restrict(Restriction(.mute))
        await #expect(throws: ChangeError.restricted(Restriction(.mute))) {
            try await chat.editMessage(row, text: "ten", now: now)
        }
        #expect(channel.changesSent == [])
    }

    @Test("CHAT-11: an edit keeps what another program has added to the user's message")
    func keepsData() async throws {
        let data = #"{"text":"a file","localId":"x","sentOn":5,"data":{"file":{"url":"https://example.com/a"}}}"#
        try await channel.send(SignalRequest(type: "text-chat", data: data))
        hear()
        try await chat.editMessage(try #require(chat.rows.first?.id), text: "a picture", now: now)
        let events = bob.removeEvents()
        let edited = events.compactMap { event -> String? in
            guard case .changed(let event) = event, case .edit(let data, _) = event.change else { return nil }
            return data
        }
        #expect(
            edited == [
                #"{"text":"a picture","sender":{"id":"me"},"sentOn":5,"localId":"x","#
                    + #""data":{"file":{"url":"https://example.com/a"}}}"#
            ])
    }

    @Test("CHAT-5: an own message that a page has shown changed is sent, and shown once")
    func changedBeforeItsEcho() throws {
        var timeline = ChatTimeline()
        let localID = LocalID("1")
        _ = timeline.appendPending(ChatMessage(text: "hi", localID: localID, direction: .sent), now: now)
        var read = ChatMessage(text: "hi", seq: Seq(5), direction: .sent)
        read.erase()
        _ = timeline.insert(read, now: now)
        _ = timeline.confirm(localID, seq: Seq(5))
        let message = try #require(timeline.ownMessage(localID))
        #expect(message.state == .sent && message.isErased)
        #expect(timeline.messages == [message])
    }

    @Test("CHG-10: what was erased while the chat was away is gone when it is back")
    func erasedMeanwhile() async throws {
        try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"secret"}"#))
        hear()
        while chat.isLoadingEarlier || chat.hasEarlier == nil { await Task.yield() }
        #expect(texts == ["secret"])
        chat.handle(.reconnecting, now: now)
        session.erase(.message(Seq(3)))
        // The event was lost with the connection.
        _ = channel.removeEvents()
        let (readings, reading) = AsyncStream.makeStream(of: Void.self)
        chat.onActivity = { if case .historyRead = $0 { reading.yield() } }
        chat.handle(.lost, now: now)
        chat.handle(.reconnected, now: now)
        for await _ in readings where chat.rows.allSatisfy({ $0.content != .gap }) { break }
        #expect(texts == [ChatMessage.erasedText])
    }
}
