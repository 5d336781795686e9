import SignalingProtocol
import Testing
import TextChat
import TextChatTesting

/// Two tabs of one user, and a guest.
@Suite("A chat of users", .timeLimit(.minutes(5)))
@MainActor
struct UserTests {
    private let session = MemorySession(keepsHistory: true)
    private let tab: MemoryChannel
    private let otherTab: MemoryChannel
    private let guest: MemoryChannel
    private let chat = TextChatComponent()
    private let clock = ManualClock()

    init() {
        tab = session.connect("tab", data: "Ada", user: UserID("u-17"))
        otherTab = session.connect("other", data: "Ada", user: UserID("u-17"))
        guest = session.connect("u-17", data: "Ada")
        chat.channel = tab
        hear()
    }

    private func hear() { for event in tab.removeEvents() { chat.handle(event, now: clock.now) } }

    private func say(_ text: String, from channel: MemoryChannel) async throws {
        try await channel.send(SignalRequest(type: "text-chat", data: #"{"text":"\#(text)","localId":"\#(text)"}"#))
        hear()
    }

    @Test("CHAT-4, CHAT-9: a message from the user's other tab is an own one; a guest called like the user is another")
    func own() async throws {
        chat.isVisible = false
        try await say("a", from: otherTab)
        try await say("b", from: guest)
        #expect(chat.messages.map(\.direction) == [.sent, .received])
        #expect(chat.messages.map(\.author) == [.user(UserID("u-17")), .connection("u-17")])
        #expect(chat.unreadCount == 1)
    }

    @Test("CHAT-4: another's messages from two tabs are one group")
    func groups() async throws {
        let bob = (1...2).map { session.connect("bob \($0)", user: UserID("bob")) }
        hear()
        for (index, text) in ["a", "b", "c"].enumerated() { try await say(text, from: bob[index % 2]) }
        #expect(chat.rows.compactMap(\.message?.position) == [.first, .middle, .last])
    }

    @Test("CHAT-4: whoever joins later reads the name that the token of a message had, not the one that it claims")
    func late() async throws {
        let mallory = session.connect("m", data: "Mallory", user: UserID("u-9"))
        let data = #"{"text":"Wire the money","sender":{"alias":"Boss"}}"#
        try await mallory.send(SignalRequest(type: "text-chat", data: data))
        mallory.disconnect()
        hear()
        #expect(chat.messages.map { chat.names.name(of: $0) } == [.name("Mallory")])
        let late = TextChatComponent()
        late.channel = session.connect("late", user: UserID("u-5"))
        let (pages, page) = AsyncStream.makeStream(of: Void.self)
        late.onActivity = { if case .historyRead = $0 { page.yield() } }
        late.readHistory()
        for await _ in pages { break }
        #expect(late.messages.map { late.names.name(of: $0) } == [.name("Mallory")])
    }

    @Test("CHAT-9: after a reload the user's earlier messages in the history are own ones")
    func reload() async throws {
        try await say("a", from: tab)
        tab.disconnect()
        let again = session.connect("again", user: UserID("u-17"))
        let reloaded = TextChatComponent()
        reloaded.channel = again
        let (pages, page) = AsyncStream.makeStream(of: Void.self)
        reloaded.onActivity = { if case .historyRead = $0 { page.yield() } }
        reloaded.readHistory()
        for await _ in pages { break }
        #expect(reloaded.messages.map(\.direction) == [.sent])
    }

    @Test("TYP-10: the user's other tab is not shown as typing, and another's two tabs are shown once")
    func typing() async throws {
        chat.typing.start { MonotonicInstant(nanoseconds: 0) }
        let bob = (1...2).map { session.connect("bob \($0)", data: "Bob", user: UserID("bob")) }
        for channel in [otherTab] + bob { try await channel.send(TypingSignal(.begin, n: 1).request(.actions)) }
        hear()
        #expect(chat.typing.current.typing.map(\.user) == [UserID("bob")])
        try await guest.send(TypingSignal(.begin, n: 1).request(.actions))
        hear()
        #expect(chat.typing.current.typingCount == 2)
    }

    @Test("HIS-9: the messages of a user lose their content; those of others and later ones do not")
    func erased() async throws {
        try await say("a", from: otherTab)
        try await say("b", from: guest)
        session.erase(.user(UserID("u-17")))
        hear()
        try await say("c", from: otherTab)
        #expect(chat.messages.map(\.isErased) == [true, false, false])
        #expect(session.connect("late").user == nil)
    }
}
