import Foundation
import SignalingProtocol
import Testing
import TextChat

@testable import TextChatUI

@MainActor
@Suite("A moderator's menu")
struct ModeratorTests {
    private final class Room: ModeratedSession, @unchecked Sendable {
        var capabilities = Capabilities(publish: true, subscribe: true, moderate: true)
        var hasHistory = true
        var connections: [Connection] = []
        var failure: SignalingError?
        /// They have left.
        var gone: Set<ConnectionID> = []
        // Unchecked: the tests use it on the main actor.
        var done: [ModeratorAction.Command] = []

        private func note(_ command: ModeratorAction.Command) throws(SignalingError) {
            done.append(command)
            if let failure { throw failure }
        }
        func erase(_ erasure: Erasure) async throws(SignalingError) { try note(.erase(erasure)) }
        func moderate(_ request: ModerationRequest) async throws(SignalingError) -> Seq? {
            try note(.moderate(request))
            return nil
        }
        func forceDisconnect(_ connection: ConnectionID) async throws(SignalingError) {
            if gone.contains(connection) { throw SignalingError(.badTarget, "") }
            try note(.remove(nil, sender: connection.rawValue))
        }
    }

    private let room = Room()
    private let words = ChatWords(locale: Locale(identifier: "en"))

    private func connection(_ id: String, user: String? = nil) -> Connection {
        Connection(
            connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: "",
            user: user.map { UserID($0) })
    }

    private func titles(_ message: ChatMessage) -> [String] {
        words.actions(for: message, of: "Ada", in: room).map(\.title)
    }

    @Test("MOD-1: the menu offers what can be done with the message and its author")
    func menu() {
        let ofUser = ChatMessage(text: "hi", senderID: "a1", senderUser: UserID("ada"), seq: Seq(4))
        room.connections = [connection("a2", user: "ada"), connection("g")]
        #expect(
            titles(ofUser) == [
                "Delete this message…", "Mute for 10 minutes…", "Mute for 1 hour…", "Mute until lifted…", "Remove…",
                "Ban…", "Delete all messages of Ada…",
            ])
        #expect(
            words.actions(for: ofUser, of: "Ada", in: room).map(\.command) == [
                .erase(.message(Seq(4))), .moderate(.mute(.user(UserID("ada")), .init(seconds: 600))),
                .moderate(.mute(.user(UserID("ada")), .init(seconds: 3600))),
                .moderate(.mute(.user(UserID("ada")))), .remove(UserID("ada"), sender: "a1"),
                .moderate(.ban(.user(UserID("ada")))), .erase(.user(UserID("ada"))),
            ])
        let ofGuest = ChatMessage(text: "hi", senderID: "g", seq: Seq(5))
        #expect(titles(ofGuest) == ["Delete this message…", "Remove…", "Ban…"])
        room.connections = []
        room.hasHistory = false
        #expect(titles(ofGuest) == [], "a guest who has left cannot be banned")
        #expect(titles(ChatMessage(text: "hi", seq: Seq(6), direction: .sent)) == [])
        #expect(titles(ChatMessage(text: "hi", senderID: "g", direction: .sent)) == [], "it is not in the session yet")
        room.capabilities = .none
        #expect(titles(ofUser) == [])
    }

    @Test("MOD-1: an action says what it does, is carried out, and a failure is told")
    func carriesOut() async throws {
        let model = ChatModel(words: words)
        model.session = room
        model.refresh()
        let message = ChatMessage(text: "hi", senderID: "a1", senderUser: UserID("ada"), seq: Seq(4))
        let delete = try #require(model.actions(for: message).first)
        #expect(delete.question == "Delete this message of ada?")
        #expect((delete.confirmation, delete.isDestructive) == ("Delete", true))
        await model.carryOut(delete).value
        #expect((room.done, model.notice) == ([.erase(.message(Seq(4)))], nil))
        room.failure = SignalingError(.notFound, "")
        await model.carryOut(delete).value
        #expect(model.notice == .actionTooLate)
        room.failure = SignalingError(.notConnected, "")
        await model.carryOut(delete).value
        #expect(model.notice == .actionFailed)
    }

    @Test("MOD-1: a removal is of the connections of that moment, and goes on past one that has just left")
    func removes() async throws {
        let model = ChatModel(words: words)
        model.session = room
        model.refresh()
        room.connections = [connection("a1", user: "ada")]
        let message = ChatMessage(text: "hi", senderID: "a1", senderUser: UserID("ada"), seq: Seq(4))
        let remove = try #require(model.actions(for: message).first { $0.title == "Remove…" })
        // Ada has reloaded her page, and has another one open.
        room.connections = ["a1", "a2", "a3"].map { connection($0, user: "ada") } + [connection("bob", user: "bob")]
        room.gone = [ConnectionID("a1")]
        await model.carryOut(remove).value
        #expect(room.done == [.remove(nil, sender: "a2"), .remove(nil, sender: "a3")] && model.notice == nil)
        room.gone = Set(["a1", "a2", "a3"].map { ConnectionID($0) })
        await model.carryOut(remove).value
        #expect(model.notice == .actionTooLate)
    }
}
