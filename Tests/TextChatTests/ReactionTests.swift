import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChatTesting

@testable import TextChat

/// The vectors of `chat/reactions` have the rules; these are the calls of the Swift component.
@Suite("CHAT-15: a component reacts to messages", .timeLimit(.minutes(1)))
@MainActor
struct ReactionTests {
    private let session = MemorySession(changes: [.edit, .erase, .react])
    private let chat = TextChatComponent()
    private let channel: MemoryChannel
    private let bob: MemoryChannel
    private let now = ManualClock().now

    init() {
        bob = session.connect("bob", data: "name=Bob", user: UserID("bob"))
        channel = session.connect("me", user: UserID("me"))
        chat.channel = channel
        chat.isVisible = true
        hear()
    }

    private func hear() { for event in channel.removeEvents() { chat.handle(event, now: now) } }

    private func heard(_ text: String) async throws -> TimelineRow.ID {
        try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"\#(text)"}"#))
        hear()
        return try #require(chat.rows.last?.id)
    }

    private var reactions: [[String]] {
        chat.messages.map { $0.reactions.map { "\($0.key) \($0.count)" + ($0.isMine ? " mine" : "") } }
    }

    @Test("the user's reaction is shown with the answer, and counted with the event")
    func toggled() async throws {
        let row = try await heard("hi")
        try await bob.react(ReactRequest(Seq(3), keys: ["👍"]))
        hear()
        #expect(reactions == [["👍 1"]])
        #expect(chat.canReact(to: row))
        try await chat.toggleReaction(row, key: "👍", now: now)
        try await chat.toggleReaction(row, key: "🎉", now: now)
        #expect(reactions == [["👍 1 mine", "🎉 1 mine"]])
        hear()
        #expect(reactions == [["👍 2 mine", "🎉 1 mine"]])
        try await chat.toggleReaction(row, key: "👍", now: now)
        hear()
        #expect(reactions == [["👍 1", "🎉 1 mine"]])
        #expect(channel.reactionsSent.map(\.keys) == [["👍"], ["👍", "🎉"], ["🎉"]])
    }

    @Test("of the toggles while a request is on its way only the newest set is sent, and all of them end with it")
    func combined() async throws {
        let row = try await heard("hi")
        channel.holdAnswers()
        let keys = ["a", "b", "c", "b"]
        let toggles = keys.map { key in Task { try await chat.toggleReaction(row, key: key, now: now) } }
        try await channel.waitUntilReactionsSent(1)
        channel.releaseAnswer()
        try await channel.waitUntilReactionsSent(2)
        channel.releaseAllAnswers()
        for toggle in toggles { try await toggle.value }
        #expect(channel.reactionsSent.map(\.keys) == [["a"], ["a", "c"]])
        #expect(reactions == [["a 1 mine", "c 1 mine"]])
    }

    @Test("a refused reaction is not shown, and what waited for it fails with it")
    func refused() async throws {
        let row = try await heard("hi")
        channel.answer(.refused(SignalingError(.rateLimited, "slowly")))
        let toggles = ["a", "b"].map { key in Task { try await chat.toggleReaction(row, key: key, now: now) } }
        for toggle in toggles {
            await #expect(throws: ChangeError.refused(SignalingError(.rateLimited, ""))) { try await toggle.value }
        }
        #expect(reactions == [[]])
        #expect(channel.reactionsSent.count == 1)
    }

    @Test("what another device of the user has chosen is the user's here, too")
    func otherDevice() async throws {
        let phone = session.connect("phone", user: UserID("me"))
        _ = try await heard("hi")
        try await phone.react(ReactRequest(Seq(4), keys: ["👍"]))
        hear()
        #expect(reactions == [["👍 1 mine"]])
        try await phone.react(ReactRequest(Seq(4), keys: []))
        hear()
        #expect(reactions == [[]])
    }

    @Test("a page tells the counts and the user's own set, and an erasure takes both")
    func loaded() async throws {
        _ = try await heard("hi")
        try await channel.react(ReactRequest(Seq(3), keys: ["👍"]))
        try await bob.react(ReactRequest(Seq(3), keys: ["👍", "🎉"]))
        let late = TextChatComponent()
        late.channel = session.connect("late", user: UserID("me"))
        late.readHistory()
        while late.hasEarlier == nil { await Task.yield() }
        #expect(
            late.messages.map(\.reactions) == [
                [ChatReaction(key: "👍", count: 2, isMine: true), ChatReaction(key: "🎉", count: 1, isMine: false)]
            ])
        hear()
        session.erase(.message(Seq(3)))
        hear()
        #expect(reactions == [[]])
        let row = try #require(chat.rows.last?.id)
        await #expect(throws: ChangeError.erased) { try await chat.toggleReaction(row, key: "👍", now: now) }
    }

    @Test("an event that comes while a page is on its way is later than the page")
    func seam() async throws {
        _ = try await heard("hi")
        let late = TextChatComponent()
        let channel = PagingChannel()
        (channel.id, channel.userID, channel.keepsHistory) = (ConnectionID("late"), UserID("me"), true)
        late.channel = channel
        late.readHistory()
        while channel.asks.isEmpty { await Task.yield() }
        late.handle(
            .reactions(ReactionsEvent(seq: Seq(9), ref: Seq(3), counts: [ReactionCount("👍", 2)])), now: now)
        late.handle(.reacted(Seq(10), OwnReactions(ref: Seq(3), keys: ["👍"])), now: now)
        var page = try await bob.history(HistoryRequest())
        page.messages[0].reactions = HistoryMessage.Reactions([ReactionCount("👍", 1)], seq: Seq(8))
        try channel.answer(.success(page))
        while late.messages.isEmpty { await Task.yield() }
        #expect(late.messages[0].reactions == [ChatReaction(key: "👍", count: 2, isMine: true)])
    }

    @Test("an answer that comes behind a later event of another device is no news")
    func lateAnswer() throws {
        var requests = ReactionRequests()
        let (turn, _) = requests.toggle("👍", of: Seq(3), own: [])
        requests.told(OwnReactions(ref: Seq(3), keys: ["👍"]))
        requests.told(OwnReactions(ref: Seq(3), keys: []))
        #expect(requests.answered(turn.request.ref, hasFailed: false).own == nil)
    }

    @Test("an emoji is one key, however a keyboard writes it", arguments: try Vectors.cases("view/reactions.json"))
    func key(_ vector: VectorCase) throws {
        let key = ChatReaction.key(of: try #require(vector["text"]?.stringValue))
        #expect(key.utf8.elementsEqual(try #require(vector["key"]?.stringValue).utf8))
        #expect(ChatReaction(key: key, count: 1, isMine: false).shownKey == vector["shown"]?.stringValue)
    }

    @Test("guests cannot react, nor can a user whom a moderator keeps from writing")
    func refusals() async throws {
        let row = try await heard("hi")
        channel.restrict(Restriction(.mute))
        await #expect(throws: ChangeError.restricted(Restriction(.mute))) {
            try await chat.toggleReaction(row, key: "👍", now: now)
        }
        await #expect(throws: ChangeError.unknown) {
            try await chat.toggleReaction(.message(99), key: "👍", now: now)
        }
        chat.channel = session.connect("guest")
        chat.advance(to: now)
        #expect(!chat.canReact(to: row))
    }

    @Test("who has reacted is told with the names that the chat knows")
    func reactors() async throws {
        let row = try await heard("hi")
        try await bob.react(ReactRequest(Seq(3), keys: ["👍"]))
        try await session.connect("x", user: UserID("c-4711-u")).react(ReactRequest(Seq(3), keys: ["👍", "🎉"]))
        let found = try await chat.reactors(of: row, key: "👍")
        #expect(found.map(\.key) == ["👍"])
        #expect(found.map(\.count) == [2])
        #expect(found[0].users.map(\.user) == [UserID("bob"), UserID("c-4711-u")])
        #expect(found[0].users[0].name == "Bob")
        #expect(try await chat.reactors(of: row).map(\.key) == ["👍", "🎉"])
    }
}
