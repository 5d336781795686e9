import Foundation
import SignalingProtocol
import Testing
import TextChat
import TextChatTesting

@testable import TextChatUI

@MainActor
@Suite("CHAT-13: messages that change, for a view", .timeLimit(.minutes(1)))
struct ChangeModelTests {
    private let session = MemorySession(changes: [.edit, .erase])
    private let model = ChatModel(words: ChatWords(locale: Locale(identifier: "en")))
    private let channel: MemoryChannel

    init() {
        channel = session.connect("me", user: UserID("me"))
        model.chat.channel = channel
        hear()
    }

    private func hear() { for event in channel.removeEvents() { model.handle(event) } }

    private func send(_ text: String) async throws -> TimelineRow.ID {
        model.draft = text
        model.send()
        let localID = try #require(model.chat.messages.last?.localID)
        #expect(await model.chat.outcome(of: localID) == .sent)
        hear()
        return try #require(model.rows.last?.id)
    }

    private var last: ChatMessage { get throws { try #require(model.rows.last?.message?.message) } }

    @Test("the editor stays open until the server has answered, and the draft stays")
    func edits() async throws {
        let row = try await send("nine")
        model.draft = "next"
        model.beginEdit(row)
        #expect(model.editText == "nine")
        model.editText = "ten"
        channel.holdAnswers()
        let saving = try #require(model.saveEdit())
        try await channel.waitUntilChangesSent(1)
        #expect(model.edit?.isSaving == true)
        channel.releaseAllAnswers()
        await saving.value
        #expect(model.edit == nil)
        #expect((try last.text, model.draft) == ("ten", "next"))
        #expect(model.spoken(try last).contains("ten, edited"))
    }

    @Test("after an error the text stays in the editor, with one sentence")
    func refused() async throws {
        let row = try await send("nine")
        model.beginEdit(row)
        model.editText = "ten"
        channel.answer(.refused(SignalingError(.rateLimited, "slowly")))
        await model.saveEdit()?.value
        #expect(model.edit?.notice == .changeTooFast)
        #expect((model.editText, try last.text) == ("ten", "nine"))
        model.editText = "nine"
        await model.saveEdit()?.value
        #expect(model.edit == nil, "an unchanged text closes the editor")
    }

    @Test("an editor whose message is erased puts its text into the empty draft")
    func erasedMeanwhile() async throws {
        let row = try await send("nine")
        model.beginEdit(row)
        model.editText = "ten"
        session.erase(.message(try #require(try last.seq)))
        hear()
        #expect(model.edit == nil)
        #expect((model.draft, model.notice) == ("ten", .editLost))
    }

    @Test("the user deletes an own message, and reads that it was deleted")
    func deletes() async throws {
        let row = try await send("nine")
        await model.delete(row).value
        #expect(model.words.text(of: try last) == model.words(.erased))
        await model.delete(row).value
        #expect(model.notice == .changeRefused)
    }

    @Test("CHAT-12: a reply names whom it answers, and shows what")
    func replies() async throws {
        let bob = session.connect("bob", data: "name=Bob", user: UserID("bob"))
        try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"nine?"}"#))
        hear()
        let row = try #require(model.rows.last?.id)
        model.reply(to: row)
        #expect(model.replyTitle == model.words(.replyTo, ["name": .name("Bob")]))
        _ = try await send("yes")
        #expect(model.replyTitle == nil)
        let answer = try last
        let quote = try #require(model.quote(of: answer))
        #expect((quote.name, quote.line) == ("Bob", "nine?"))
        session.erase(.message(Seq(3)))
        hear()
        #expect(model.quote(of: answer)?.line == model.words(.erased))
    }
}
