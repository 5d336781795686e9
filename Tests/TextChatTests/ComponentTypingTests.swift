import Foundation
import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatFoundation
import TextChatTesting

/// Users in one session in memory, each with a component. The test moves the clock of their typing.
@MainActor
private final class TypingRoom {
    let session = MemorySession()
    var clock = ManualClock()
    private(set) var people: [Person] = []

    /// One user: the room publishes its signals at once.
    @MainActor
    final class Person {
        let chat: TextChatComponent
        let channel: MemoryChannel
        var isOnline = true
        var sentPosts = 0

        init(_ chat: TextChatComponent, _ channel: MemoryChannel) {
            self.chat = chat
            self.channel = channel
        }

        var seen: [String] { chat.typing.current.typing.compactMap(\.name) }
        var paused: [String] { chat.typing.current.paused.compactMap(\.name) }
        /// The typing signals that it has published.
        var signals: [TypingSignal] {
            channel.sent.filter { $0.type != "text-chat" }
                .compactMap { TypingSignal(Signal(type: $0.type, data: $0.data)) }
        }
        var actions: [TypingAction] { signals.map(\.action) }
    }

    func join(
        _ name: String, policy: TypingPolicy = .plain, composer: Composer = Composer(), data: String? = nil
    ) -> Person {
        let chat = TextChatComponent(composer: composer, typing: policy)
        let person = Person(chat, session.connect(name, data: data ?? name))
        chat.typing.start { [unowned self] in clock.instant }
        chat.channel = person.channel
        people.append(person)
        return person
    }

    /// Publishes signals and delivers events until none is left.
    func settle() async {
        var isBusy = true
        while isBusy {
            isBusy = false
            for person in people where person.isOnline {
                if let post = person.chat.typing.dequeueSignal() {
                    isBusy = true
                    person.sentPosts += 1
                    do throws(SignalingError) { try await person.channel.send(post.request) } catch {
                        person.chat.typing.publishFailed(n: post.n)
                    }
                }
                for event in person.channel.removeEvents() {
                    isBusy = true
                    person.chat.handle(event, now: clock.now)
                }
            }
        }
    }

    /// Lets time pass, with every timer served to the instant.
    func pass(_ duration: Duration) async {
        let end = clock.instant.advanced(by: duration)
        while true {
            await settle()
            let next = people.compactMap { $0.chat.typing.nextDeadline }.min()
            let now = min(max(next ?? end, clock.instant), end)
            clock.advance(by: now.duration(since: clock.instant))
            for person in people { person.chat.typing.advance(to: clock.instant) }
            if now == end, next.map({ $0 > end }) ?? true { break }
        }
        await settle()
    }

    func send(_ text: String, from person: Person, as localID: String) async -> SendResult {
        person.chat.edit(text)
        await settle()
        let result = await person.chat.send(now: clock.now, localID: LocalID(localID))
        await settle()
        return result
    }
}

extension TypingPolicy {
    /// The standard without linger: the snapshot shows the state.
    static let plain: TypingPolicy = {
        var settings = standard.settings
        settings.linger = nil
        do { return try TypingPolicy(settings) } catch { preconditionFailure("\(error)") }
    }()
}

@Suite("Typing in the component", .timeLimit(.minutes(5)))
@MainActor
struct ComponentTypingTests {
    private func number(_ request: SignalRequest) throws -> Int64? {
        try JSONValue(parsing: request.data ?? "")["typingN"]?.integerValue
    }

    private func messages(of person: TypingRoom.Person) -> [SignalRequest] {
        person.channel.sent.filter { $0.type == "text-chat" }
    }

    // MARK: From the user's keys

    @Test("TYP-1, TYP-7: an edit shows its author as typing; pause and finish follow by themselves")
    func edits() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        #expect(ada.seen.isEmpty, "TYP-10")
        await room.pass(.seconds(5))
        #expect((bob.seen, bob.paused) == ([], ["Ada"]))
        await room.pass(.seconds(10))
        #expect(bob.chat.typing.current == .nobody)
        #expect(ada.actions == [.begin, .pause, .finish])
        #expect(ada.channel.sent.allSatisfy { $0.isOnlineOnly }, "TYP-1")
    }

    @Test("a draft that the program sets, restores or clears is no key")
    func programs() async {
        let room = TypingRoom()
        let ada = room.join("Ada")
        await room.settle()
        ada.chat.setDraft("prepared")
        ada.chat.restore(messages: [], draft: "old", now: room.clock.now)
        await room.pass(.seconds(30))
        #expect(ada.channel.sent.isEmpty)
        ada.chat.edit("old")
        await room.settle()
        #expect(ada.channel.sent.isEmpty, "the same text is no edit")
        ada.chat.edit("old!")
        await room.settle()
        #expect(ada.actions == [.begin])
    }

    @Test("an edit that is refused, or of white space alone, is no key")
    func refusedEdits() async {
        let room = TypingRoom()
        let ada = room.join("Ada", composer: Composer(maxLength: 3))
        await room.settle()
        ada.chat.edit("four")
        ada.chat.edit("  ")
        await room.settle()
        #expect(ada.channel.sent.isEmpty)
    }

    @Test("an app may send actions itself, as often as it likes")
    func explicit() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        for _ in 0..<10 { ada.chat.typing.send(.begin) }
        await room.settle()
        #expect((ada.actions, bob.seen) == ([.begin], ["Ada"]))
        await room.pass(.seconds(1))
        ada.chat.typing.send(.pause)
        await room.settle()
        #expect((bob.seen, bob.paused) == ([], ["Ada"]))
        await room.pass(.seconds(1))
        ada.chat.typing.send(.finish)
        await room.settle()
        #expect(bob.chat.typing.current == .nobody)
    }

    @Test("a user has finished when the chat becomes invisible")
    func turningAway() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        ada.chat.isVisible = true
        await room.settle()
        ada.chat.edit("h")
        await room.pass(.seconds(2))
        #expect(bob.seen == ["Ada"])
        ada.chat.isVisible = false
        await room.settle()
        #expect(bob.seen.isEmpty)
    }

    // MARK: Messages

    @Test("TYP-5: a message carries the number of the last typing signal, and ends the typing of its author only")
    func messageEnds() async throws {
        let room = TypingRoom()
        let (ada, bob, eve) = (room.join("Ada"), room.join("Bob"), room.join("Eve"))
        await room.settle()
        ada.chat.edit("h")
        eve.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Ada", "Eve"])
        #expect(await room.send("hi", from: ada, as: "1") == .sent)
        #expect(bob.seen == ["Eve"])
        #expect(try messages(of: ada).map(number) == [1])
        #expect(ada.actions == [.begin], "the message says it all")
        #expect(bob.chat.messages.map(\.typingN) == [1])
    }

    @Test("TYP-5: a retry carries the number that the message had, although its author has typed since")
    func retryKeepsNumber() async throws {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        ada.channel.answer(.refused(loss))
        #expect(await room.send("hi", from: ada, as: "1") == .failed(.error(loss)))
        await room.pass(.seconds(2))
        ada.chat.edit("the next")
        await room.settle()
        #expect(ada.signals.map(\.n) == [1, 2])
        #expect(await ada.chat.retry(LocalID("1")) == .sent)
        await room.settle()
        #expect(try messages(of: ada).map(number) == [1, 1])
        #expect(messages(of: ada)[0] == messages(of: ada)[1])
        #expect(bob.seen == ["Ada"], "the next one is still being written")
    }

    @Test("TYP-5: Layer's finish leaves before the message, and the message carries its number")
    func finishBefore() async throws {
        let room = TypingRoom()
        let ada = room.join("Ada", policy: .layer)
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        ada.chat.edit("hi")
        #expect(ada.chat.enqueue(now: room.clock.now, localID: LocalID("1")) == nil)
        #expect(ada.chat.messages[0].typingN == 2)
        await room.settle()
        #expect(await ada.chat.outcome(of: LocalID("1")) == .sent)
        #expect(ada.actions == [.begin, .finish])
        #expect(try messages(of: ada).map(number) == [2])
    }

    @Test("G6: typing that starts again shows no user from before")
    func startedTwice() async throws {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("hi")
        await room.settle()
        var shown = bob.chat.typing.snapshotStream().makeAsyncIterator()
        #expect(await shown.next(isolation: #isolation)?.typing.compactMap(\.name) == ["Ada"])
        bob.chat.typing.start { room.clock.instant }
        #expect(await shown.next(isolation: #isolation) == .nobody)
        ada.chat.typing.leave()
        await room.pass(.seconds(2))
        ada.chat.edit("hello")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        await room.pass(.seconds(60))
        #expect(bob.seen.isEmpty && bob.paused.isEmpty)
    }

    @Test("G6: a signal for another recipient does not replace a finish that was not sent yet")
    func finishToTheFormerRecipient() async throws {
        let room = TypingRoom()
        let (ada, bob, eve) = (room.join("Ada", policy: .layer), room.join("Bob"), room.join("Eve"))
        await room.settle()
        ada.chat.typing.recipient = bob.channel.connectionId
        ada.chat.edit("hi")
        await room.settle()
        #expect(bob.seen == ["Ada"] && eve.seen.isEmpty)
        // Nothing is dequeued between these two.
        ada.chat.typing.recipient = eve.channel.connectionId
        ada.chat.edit("hi Eve")
        await room.settle()
        #expect(bob.seen.isEmpty && eve.seen == ["Ada"])
    }

    @Test("without a channel typing goes on after a reconnect")
    func reconnectedWithoutChannel() {
        let chat = TextChatComponent(typing: .plain)
        let clock = ManualClock()
        chat.typing.start { clock.instant }
        chat.handle(.connected(ConnectionID("me")), now: clock.now)
        chat.handle(.reconnecting, now: clock.now)
        chat.handle(.reconnected, now: clock.now)
        chat.edit("h")
        #expect(chat.typing.dequeueSignal() != nil)
    }

    @Test("a begin that did not leave before its message never leaves; the next key begins at once")
    func staleBegin() async throws {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("hi")
        _ = await ada.chat.send(now: room.clock.now, localID: LocalID("1"))
        await room.pass(.seconds(1))
        #expect(ada.actions.isEmpty)
        #expect(bob.seen.isEmpty)
        ada.chat.edit("more")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        let begin = try #require(ada.signals.first?.n)
        #expect(try #require(try messages(of: ada).map(number)[0]) < begin, "or the message would end it")
    }

    @Test("a second delivery and the user's own message end no other user's typing")
    func endsOnce() async throws {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        try await ada.channel.send(SignalRequest(type: "text-chat", data: #"{"text":"x","localId":"1"}"#))
        let events = bob.channel.removeEvents()
        for event in events { bob.chat.handle(event, now: room.clock.now) }
        ada.chat.edit("h")
        await room.settle()
        for event in events { bob.chat.handle(event, now: room.clock.now) }
        #expect(bob.seen == ["Ada"])
        #expect(await room.send("mine", from: bob, as: "b") == .sent)
        #expect(bob.seen == ["Ada"])
    }

    @Test("while typing rests messages carry no number, and nothing is sent or shown")
    func rests() async throws {
        let it = Chatting()
        it.chat.edit("h")
        try await it.other.send(TypingSignal(.begin, n: 1).request(.actions))
        #expect(await it.send("hi") == .sent)
        it.hear()
        #expect(it.channel.sent.map(\.type) == ["text-chat"])
        #expect(try number(it.channel.sent[0]) == nil)
        #expect(it.chat.typing.current == .nobody)
        #expect(it.chat.typing.nextDeadline == nil)
        #expect(it.chat.typing.dequeueSignal() == nil)
    }

    @Test("a restored message carries no number of the earlier sender")
    func restart() {
        let component = TextChatComponent()
        let now = ManualClock().now
        let old = ChatMessage(
            text: "x", localID: LocalID("1"), direction: .sent, state: .sending, typingN: 41)
        component.restore(messages: [old], draft: "", now: now)
        #expect(component.messages.map(\.typingN) == [nil])
    }

    @Test("the longest message that fits in a signal still fits with its number")
    func longest() async throws {
        let room = TypingRoom()
        let ada = room.join("Ada", policy: .layer, composer: Composer(maxLength: 10_000, unit: .utf16))
        await room.settle()
        // Up to number 9, so that the finish which the message causes has one digit more.
        for _ in 0..<4 {
            ada.chat.typing.send(.begin)
            ada.chat.typing.send(.finish)
        }
        ada.chat.typing.send(.begin)
        await room.settle()
        var length = 8192
        repeat {
            length -= 1
            ada.chat.setDraft(String(repeating: "x", count: length))
        } while !ada.chat.canSend
        #expect(await ada.chat.send(now: room.clock.now, localID: LocalID("0123456789abcdef")) == .sent)
        let data = try #require(messages(of: ada).first?.data)
        #expect(try number(messages(of: ada)[0]) == 10)
        #expect((8190...8192).contains(data.utf16.count))
    }

    // MARK: The connection

    @Test("TYP-9: a user who leaves is not shown any more")
    func leaving() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        ada.isOnline = false
        ada.channel.disconnect()
        await room.settle()
        #expect(bob.seen.isEmpty)
    }

    @Test("a user who clears the draft lingers; a user who sends or leaves does not")
    func linger() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob", policy: .standard))
        await room.settle()
        ada.chat.edit("h")
        await room.pass(.seconds(1))
        ada.chat.edit("")
        await room.pass(.milliseconds(1499))
        #expect(bob.seen == ["Ada"])
        await room.pass(.milliseconds(1))
        #expect(bob.chat.typing.current == .nobody)
        #expect(await room.send("hi", from: ada, as: "1") == .sent)
        #expect(bob.seen.isEmpty)
        await room.pass(.seconds(1))
        ada.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        ada.isOnline = false
        ada.channel.disconnect()
        await room.settle()
        #expect(bob.seen.isEmpty)
    }

    @Test(
        "TYP-9: while the user's socket is lost no user is shown and nothing is sent; the next key then sends begin"
    )
    func reconnecting() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        bob.chat.edit("h")
        await room.settle()
        ada.chat.handle(.reconnecting, now: room.clock.now)
        #expect(ada.seen.isEmpty)
        ada.chat.edit("he")
        await room.pass(.seconds(6))
        #expect(ada.actions == [.begin])
        ada.chat.handle(.reconnected, now: room.clock.now)
        await room.settle()
        #expect(ada.actions == [.begin], "TYP-2: nothing is made up for")
        #expect(ada.seen.isEmpty)
        ada.chat.edit("hel")
        await room.settle()
        #expect(ada.actions == [.begin, .begin])
        #expect(bob.seen == ["Ada"])
    }

    @Test(
        "TYP-3: numbers continue on another connection after a loss, and echoes of the old connection are not shown"
    )
    func newConnection() async throws {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        let post = try #require(ada.chat.typing.dequeueSignal())
        ada.chat.handle(.reconnecting, now: room.clock.now)
        let again = room.session.connect("Ada again", data: "Ada")
        ada.chat.channel = again
        ada.chat.handle(.connected(ConnectionID("Ada again")), now: room.clock.now)
        ada.chat.handle(
            .signal(Signal(type: post.request.type, data: post.request.data, from: ada.channel.connection)),
            now: room.clock.now)
        #expect(ada.seen.isEmpty)
        room.clock.advance(by: .seconds(1))
        ada.chat.edit("he")
        #expect(ada.chat.typing.dequeueSignal()?.n == 2)
        _ = bob
    }

    @Test("when the connection ends no user is shown and nothing is sent")
    func ended() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        bob.chat.edit("h")
        await room.settle()
        #expect(ada.seen == ["Bob"])
        ada.channel.disconnect()
        await room.settle()
        #expect(ada.seen.isEmpty)
        ada.chat.edit("h")
        #expect(ada.chat.typing.dequeueSignal() == nil)
        #expect(ada.chat.typing.nextDeadline == nil)
    }

    @Test("a channel that was connected before the component got it, or a clock, is noticed")
    func lateStart() async {
        let session = MemorySession()
        let chat = TextChatComponent()
        chat.channel = session.connect("me")
        let clock = ManualClock()
        chat.typing.start { clock.instant }
        chat.edit("h")
        #expect(chat.typing.dequeueSignal()?.n == 1)
        chat.typing.stop()
        chat.edit("he")
        #expect(chat.typing.dequeueSignal() == nil)
    }

    @Test("TYP-8: in a room of more than 100 members no signal is sent and no user is shown")
    func crowd() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        let others = (0..<98).map { _ in room.session.connect() }
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        let last = room.session.connect()
        await room.settle()
        #expect(bob.seen.isEmpty)
        await room.pass(.seconds(2))
        ada.chat.edit("he")
        await room.settle()
        #expect(ada.actions == [.begin])
        last.disconnect()
        await room.settle()
        ada.chat.edit("hel")
        await room.settle()
        #expect(bob.seen == ["Ada"])
        _ = others
    }

    @Test("TYP-2: a failed signal is not sent again; the next key sends a new one, within the minimum gap")
    func failures() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        ada.channel.answer(.refused(loss))
        ada.chat.edit("h")
        await room.pass(.milliseconds(1500))
        #expect((ada.sentPosts, bob.seen) == (1, []))
        ada.chat.edit("he")
        await room.settle()
        #expect((ada.sentPosts, bob.seen) == (2, ["Ada"]))
    }

    @Test("of several signals that were not dequeued only the newest remains")
    func newestOnly() async throws {
        let room = TypingRoom()
        let ada = room.join("Ada", policy: .layer)
        await room.settle()
        ada.chat.typing.send(.begin)
        ada.chat.typing.send(.pause)
        let post = try #require(ada.chat.typing.dequeueSignal())
        #expect(post.n == 2)
        #expect(ada.chat.typing.dequeueSignal() == nil)
    }

    // MARK: Settings

    @Test("an opted-out user sends nothing, and sees no others with a reciprocal policy", arguments: [false, true])
    func optingOut(_ isReciprocal: Bool) async throws {
        var settings = TypingPolicy.plain.settings
        settings.isReciprocal = isReciprocal
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada", policy: try TypingPolicy(settings)), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        await room.pass(.seconds(2))
        #expect(bob.seen == ["Ada"])
        ada.chat.typing.isOptedOut = true
        await room.settle()
        #expect(bob.seen.isEmpty)
        ada.chat.edit("he")
        bob.chat.edit("h")
        await room.settle()
        #expect(ada.actions == [.begin, .finish])
        #expect(ada.seen == (isReciprocal ? [] : ["Bob"]))
        ada.chat.typing.isOptedOut = false
        await room.pass(.seconds(2))
        ada.chat.edit("hel")
        await room.settle()
        #expect(bob.seen == ["Ada"])
    }

    @Test("blocked users are never shown, and the app names the users")
    func users() async {
        let room = TypingRoom()
        let ada = room.join("Ada", data: #"{"name":"Ada"}"#)
        let (bob, eve) = (room.join("Bob"), room.join("Eve"))
        bob.chat.typing.user = { $0.data.contains("Ada") ? "Lady Ada" : $0.data }
        bob.chat.typing.blockedUsers = ["Eve"]
        await room.settle()
        ada.chat.edit("h")
        eve.chat.edit("h")
        await room.settle()
        #expect(bob.seen == ["Lady Ada"])
        bob.chat.typing.blockedUsers = []
        await room.pass(.seconds(4))
        eve.chat.edit("he")
        await room.settle()
        #expect(bob.seen.contains("Eve"))
    }

    @Test("Easemob's signals are read, and written with its preset")
    func easemob() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada", policy: .easemob), room.join("Bob"))
        await room.settle()
        ada.chat.edit("h")
        await room.settle()
        #expect(ada.channel.sent == [SignalRequest(type: "TypingBegin", isOnlineOnly: true)])
        #expect(bob.seen == ["Ada"])
        await room.pass(.seconds(10))
        #expect(bob.seen.isEmpty)
    }

    @Test("a stream starts with the current snapshot, and buffers only the newest")
    func stream() async {
        let room = TypingRoom()
        let (ada, bob) = (room.join("Ada"), room.join("Bob"))
        await room.settle()
        var iterator = bob.chat.typing.snapshotStream().makeAsyncIterator()
        #expect(await iterator.next() == .nobody)
        ada.chat.edit("h")
        await room.settle()
        #expect(await iterator.next()?.typing.compactMap(\.name) == ["Ada"])
        await room.pass(.seconds(5))
        await room.pass(.seconds(10))
        #expect(await iterator.next() == .nobody)
    }

    // MARK: The runner

    @Test("runTyping is enough for typing in real time, with notifications")
    func runner() async throws {
        var settings = TypingPolicy.plain.settings
        settings.idleToPause = .milliseconds(20)
        settings.pauseToFinish = .milliseconds(20)
        settings.minimumGap = .milliseconds(1)
        let policy = try TypingPolicy(settings)
        let session = MemorySession()
        let (ada, bob) = (TextChatComponent(typing: policy), TextChatComponent(typing: policy))
        let (adaChannel, bobChannel) = (session.connect("Ada", data: "Ada"), session.connect("Bob", data: "Bob"))
        let center = NotificationCenter()
        nonisolated(unsafe) var heard: [String] = []  // Posted on the main actor only.
        let observer = center.addObserver(forName: TypingNotification.name, object: bob, queue: nil) { notification in
            TypingNotification(notification).map { heard.append("\($0.participant) \($0.action.word)") }
        }
        defer { center.removeObserver(observer) }
        ada.channel = adaChannel
        bob.channel = bobChannel
        ada.runTyping()
        bob.runTyping(postingTo: center)
        let hearing = Task {
            while true { for event in try await bobChannel.nextEvents() { bob.handle(event, now: .now) } }
        }
        defer { hearing.cancel() }
        ada.edit("h")
        // The first snapshot may be read only after the begin was heard: it is no end then.
        for await snapshot in bob.typing.snapshotStream()
        where !heard.isEmpty && snapshot == .nobody && bob.typing.current == .nobody { break }
        // On a busy machine the pause may be over before it is sent, and the begin may expire.
        #expect(heard == ["Ada begin", "Ada pause", "Ada finish"] || heard == ["Ada begin", "Ada finish"], "\(heard)")
        #expect(bob.typing.current == .nobody)
    }

    @Test("the runner sends one signal at a time, and reports those that failed")
    func runnerFailures() async throws {
        var settings = TypingPolicy.standard.settings
        settings.minimumGap = nil
        // On a busy machine the test may take longer than the preset's pause, which would be sent instead.
        settings.idleToPause = .seconds(3000)
        settings.beginExpiry = .seconds(3600)
        let chat = TextChatComponent(typing: try TypingPolicy(settings))
        let channel = MemorySession().connect()
        channel.answer(.refused(loss))
        channel.holdAnswers()
        chat.channel = channel
        chat.runTyping()
        chat.edit("h")
        try await channel.waitUntilSent(1)
        chat.edit("")
        chat.edit("h")
        #expect(channel.sent.count == 1)
        channel.releaseAllAnswers()
        try await channel.waitUntilSent(2)
        #expect(channel.sent.compactMap { TypingSignal(Signal(type: $0.type, data: $0.data))?.action }.last == .begin)
    }

    /// A chat that belongs to an actor of its own.
    private actor ChatActor {
        let chat = TextChatComponent()

        init(_ channel: MemoryChannel) { chat.channel = channel }

        func runTyping(postingTo center: NotificationCenter? = nil) { chat.runTyping(postingTo: center) }
        func edit(_ text: String) { chat.edit(text) }
        func send(_ localID: String) async -> SendResult {
            await chat.send(now: .now, localID: LocalID(localID))
        }
        func hear(_ events: [SignalChannelEvent]) {
            for event in events { chat.handle(event, now: .now) }
        }
        var typers: [String] { chat.typing.current.typing.compactMap(\.name) }
    }

    @Test("a component can belong to any actor: it sends, types and hears there")
    func anyActor() async throws {
        let session = MemorySession()
        let (adaChannel, bobChannel) = (session.connect("Ada", data: "Ada"), session.connect("Bob", data: "Bob"))
        let (ada, bob) = (ChatActor(adaChannel), ChatActor(bobChannel))
        await ada.runTyping()
        await bob.runTyping()
        await ada.edit("h")
        try await adaChannel.waitUntilSent(1)
        await bob.hear(bobChannel.removeEvents())
        #expect(await bob.typers == ["Ada"])
        #expect(await ada.send("1") == .sent)
        await bob.hear(bobChannel.removeEvents())
        #expect(await bob.typers == [])
        await ada.edit("again")
        #expect(await ada.send("2") == .sent)
    }

    @Test("an actor that owns a component with typing and sent messages is released")
    func actorEnds() async throws {
        weak var gone: ChatActor?
        do {
            let channel = MemorySession().connect()
            let home = ChatActor(channel)
            await home.runTyping()
            await home.edit("h")
            try await channel.waitUntilSent(1)
            #expect(await home.send("1") == .sent)
            gone = home
        }
        // A task that has just sent may still hold the actor for a moment.
        while gone != nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("Layer's shape: a notification also has one object with action and sender")
    func notificationObject() throws {
        let center = NotificationCenter()
        let notifier = TypingNotifier(room: nil, center: center)
        nonisolated(unsafe) var objects: [TypingIndicatorObject?] = []  // Posted on this thread only.
        let observer = center.addObserver(forName: TypingNotification.name, object: nil, queue: nil) {
            objects.append($0.userInfo?[TypingNotification.objectKey] as? TypingIndicatorObject)
        }
        defer { center.removeObserver(observer) }
        let typer = TypingSnapshot.Typer(name: "Ada", connectionId: ConnectionID("a"))
        notifier.post(TypingSnapshot(typing: [typer]))
        notifier.post(.nobody)
        #expect(objects.map { $0?.action } == [.begin, .finish])
        #expect(objects.map { $0?.sender } == [typer, typer])
    }

    @Test("a released component releases its runner")
    func runnerEnds() async {
        weak var gone: TextChatComponent?
        do {
            let chat = TextChatComponent()
            chat.channel = MemorySession().connect()
            chat.runTyping()
            chat.edit("h")
            gone = chat
        }
        #expect(gone == nil)
    }

    // MARK: Random scenarios

    /// Random scenarios of three users who write, send, fail, leave and come back, with every timer served.
    @Test("in random scenarios no user types forever, numbers increase, and the gap holds", arguments: 0..<8)
    func scenarios(_ block: UInt64) async {
        for seed in block * 40..<(block + 1) * 40 {
            var random = SeededGenerator(seed: seed)
            let room = TypingRoom()
            let people = ["Ada", "Bob", "Eve"].map { room.join($0) }
            await room.settle()
            var sentAt: [[Int64]] = [[], [], []]
            var lastID = 0
            for _ in 0..<60 {
                let place = Int.random(in: 0..<3, using: &random)
                let person = people[place]
                switch Int.random(in: 0..<12, using: &random) {
                case 0...4: person.chat.edit(person.chat.draft + "a")
                case 5:
                    lastID += 1
                    if Bool.random(using: &random) { person.channel.answer(.refused(loss)) }
                    // A failed message would hold it back forever.
                    person.chat.passFailed()
                    _ = await person.chat.send(now: room.clock.now, localID: LocalID(String(lastID)))
                case 6:
                    for message in person.chat.messages {
                        if case .failed = message.state, let localID = message.localID {
                            _ = await person.chat.retry(localID)
                        }
                    }
                case 7: person.chat.edit("")
                case 8:
                    person.chat.handle(.reconnecting, now: room.clock.now)
                    await room.settle()
                    #expect(person.chat.typing.current == .nobody, "seed \(seed)")
                    person.chat.handle(.reconnected, now: room.clock.now)
                case 9: person.chat.typing.send(TypingAction.allCases.randomElement(using: &random) ?? .begin)
                case 10: person.chat.typing.isOptedOut.toggle()
                default: await room.pass(.milliseconds(Int.random(in: 1...7000, using: &random)))
                }
                let before = people.map(\.signals.count)
                await room.settle()
                for place in people.indices where people[place].signals.count > before[place] {
                    sentAt[place].append(room.clock.instant.milliseconds)
                }
                for person in people {
                    #expect(!person.seen.contains(person.channel.connection.data), "seed \(seed): TYP-10")
                }
            }
            for (person, moments) in zip(people, sentAt) {
                #expect(zip(moments, moments.dropFirst()).allSatisfy { $1 - $0 >= 1000 }, "seed \(seed): TYP-8")
                let numbers = person.signals.compactMap(\.n)
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): TYP-3")
                #expect(person.channel.sent.allSatisfy { $0.isOnlineOnly == ($0.type == "typing") }, "seed \(seed)")
            }
            await room.pass(.seconds(30))
            for person in people {
                #expect(person.chat.typing.current == .nobody, "seed \(seed): TYP-7")
                #expect(person.chat.typing.nextDeadline == nil, "seed \(seed)")
            }
        }
    }
}
