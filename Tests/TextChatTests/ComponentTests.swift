import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatTesting

@Suite("The text chat component", .timeLimit(.minutes(5)))
@MainActor
struct ComponentTests {
    // MARK: One's own messages come back

    @Test("CHAT-5: an echo before, after or without the acknowledgement leads to one row, and the same row")
    func echoes() async throws {
        for way in ["before", "after", "only the answer", "only the echo"] {
            let it = Chatting()
            it.channel.holdAnswers()
            if way == "only the echo" { it.channel.answer(.lost(loss)) }
            async let result = it.send("hi")
            try await it.channel.waitUntilSent(1)
            #expect(it.states == [.sending], "\(way)")
            let id = it.chat.rows[0].id
            if way == "before" || way == "only the echo" {
                it.hear()
                #expect(it.states == [.sent], "\(way)")
            }
            it.channel.releaseAllAnswers()
            #expect(await result == .sent, "\(way)")
            if way == "after" { it.hear() }
            #expect(it.states == [.sent], "\(way)")
            #expect(it.chat.rows.map(\.id) == [id], "\(way)")
            #expect(it.chat.messages[0].seq == Seq(3), "\(way)")
        }
    }

    @Test("CHAT-5: an echo of bare text confirms the oldest message with that text; a further one is another message")
    func bareEchoes() async throws {
        let it = Chatting(TextChatComponent(wireForm: .bareText))
        it.channel.answer(.lost(loss), .acknowledged)
        #expect(await it.send("hi") == .failed(.error(loss)))
        it.chat.passFailed()
        #expect(await it.send("hi") == .sent)
        it.hear()
        #expect(it.states == [.sent, .sent])
        try await it.channel.send(SignalRequest(type: "TextChat", data: "hi"))
        it.hear()
        #expect(it.chat.messages.map(\.direction) == [.sent, .sent, .sent])
    }

    @Test("a refused bare message expects no echo: the echo of the same text sent again confirms the second")
    func refusedHasNoEcho() async {
        let it = Chatting(TextChatComponent(wireForm: .bareText))
        it.channel.answer(.refused(refusal))
        #expect(await it.send("hi") == .failed(.error(refusal)))
        it.chat.passFailed()
        #expect(await it.send("hi") == .sent)
        it.hear()
        #expect(it.chat.messages.filter { $0.state == .sent }.compactMap(\.localID) == [LocalID("2")])
        #expect(it.chat.messages.count == 2)
    }

    @Test("an echo under one's own earlier connection confirms its message")
    func lateEcho() async {
        let it = Chatting()
        it.channel.answer(.lost(loss))
        #expect(await it.send("hi") == .failed(.error(loss)))
        let echo = it.channel.removeEvents()
        let again = it.session.connect("me again")
        it.chat.channel = again
        for event in again.removeEvents() + echo { it.chat.handle(event, now: it.clock.now) }
        #expect(it.states == [.sent])
    }

    @Test("a message that another part of the program sent as the same connection is shown once, as one's own")
    func otherPart() async throws {
        let it = Chatting()
        let signal = SignalRequest(type: "text-chat", data: #"{"text":"x","localId":"9"}"#)
        try await it.channel.send(signal)
        try await it.channel.send(signal)
        it.hear()
        #expect(it.chat.messages.map(\.direction) == [.sent])
        #expect(it.chat.unreadCount == 0)
    }

    @Test("an echo of bare text that the delegate sent is not shown again")
    func delegateEcho() async {
        let component = TextChatComponent()
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        component.setSenderId("me", alias: nil)
        for localID in ["1", "2"] {
            component.edit("hi")
            #expect(await component.send(now: ManualClock().now, localID: LocalID(localID)) == .sent)
        }
        let echo = incoming(type: "TextChat", data: "hi", from: ConnectionID("me"))
        for count in [2, 2, 3] {
            component.handle(.signal(echo), now: ManualClock().now)
            #expect(component.messages.count == count)
        }
        #expect(component.messages.allSatisfy { $0.direction == .sent })
    }

    // MARK: Once, and from whom

    @Test("G3: messages replayed after a reconnect are shown once; two equal texts are two messages")
    func replay() async throws {
        let it = Chatting()
        for text in ["hi", "hi"] { try await it.other.send(SignalRequest(type: "TextChat", data: text)) }
        try await it.other.send(SignalRequest(type: "text-chat", data: #"{"text":"x","localId":"1"}"#))
        let events = it.channel.removeEvents()
        for event in events + [.reconnecting, .reconnected] + events { it.chat.handle(event, now: it.clock.now) }
        #expect(it.texts == ["hi", "hi", "x"])
    }

    @Test("CHAT-4: a sender that claims another's id or local id neither confirms nor hides a message")
    func spoofing() async throws {
        let it = Chatting()
        it.channel.answer(.refused(loss))
        #expect(await it.send("hi", as: "1") == .failed(.error(loss)))
        let mallory = it.session.connect("mallory")
        for id in ["me", "bob"] {
            let data = #"{"text":"forged","sender":{"id":"\#(id)"},"localId":"1"}"#
            try await mallory.send(SignalRequest(type: "text-chat", data: data))
        }
        try await it.other.send(SignalRequest(type: "text-chat", data: #"{"text":"honest","localId":"1"}"#))
        it.hear()
        #expect(it.texts == ["forged", "honest", "hi"])
        #expect(it.chat.messages.map(\.senderID) == ["mallory", "bob", "me"])
        #expect(it.states[2] == .failed(.error(loss)))
    }

    @Test("bad data from a peer is ignored")
    func badData() async throws {
        let it = Chatting()
        var heard: [ChatActivity] = []
        it.chat.onActivity = { heard.append($0) }
        for data in [#"{"text":"\ud800"}"#, "not json", "", "[]", #"{"text":5}"#] {
            try await it.other.send(SignalRequest(type: "text-chat", data: data))
        }
        #expect(it.hear().isEmpty)
        #expect(it.chat.rows.isEmpty)
        #expect(heard.count == 5)
    }

    @Test(
        "an added message counts as received, is dated now if it has no date, and is neither checked nor dropped")
    func adding() {
        let component = TextChatComponent()
        let now = ManualClock().now
        let text = String(repeating: "a", count: 2000)
        let message = ChatMessage(
            text: text, senderID: "me", localID: LocalID("1"), direction: .sent, state: .sending)
        #expect(component.addMessage(message, now: now))
        #expect(component.addMessage(message, now: now))
        #expect(component.messages.map(\.direction) == [.received, .received])
        #expect(component.messages.map(\.sentAt) == [now, now])
        #expect(component.messages[0].text == text)
    }

    // MARK: Sending in order

    @Test("messages go one at a time, in the order in which they were written")
    func inOrder() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        for text in ["1", "2", "3"] {
            it.chat.edit(text)
            #expect(it.chat.enqueue(now: it.clock.now, localID: LocalID(text)) == nil)
        }
        for count in 1...3 {
            try await it.channel.waitUntilSent(count)
            #expect(it.channel.sent.count == count)
            it.channel.releaseAnswer()
            #expect(await it.chat.outcome(of: LocalID(String(count))) == .sent)
        }
        it.hear()
        #expect(it.texts == ["1", "2", "3"])
        #expect(it.chat.messages.map(\.seq) == [Seq(3), Seq(4), Seq(5)])
    }

    @Test("an echo lets the next message go before the acknowledgement arrives")
    func echoFrees() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        async let first = it.send("1")
        try await it.channel.waitUntilSent(1)
        async let second = it.send("2")
        while it.chat.messages.count < 2 { await Task.yield() }
        it.hear()
        try await it.channel.waitUntilSent(2)
        it.channel.releaseAllAnswers()
        #expect(await first == .sent)
        #expect(await second == .sent)
    }

    /// One failed, and a task that waits for the outcome of the one behind it.
    private func held() async -> (Chatting, Task<SendResult, Never>) {
        let it = Chatting()
        it.channel.answer(.refused(loss))
        #expect(await it.send("1", as: "1") == .failed(.error(loss)))
        #expect(await it.send("2", as: "2") == .heldBack(by: LocalID("1")))
        let second = Task { await it.chat.outcome(of: LocalID("2")) }
        await Task.yield()
        #expect(it.channel.sent.count == 1)
        #expect(it.chat.obstacle == LocalID("1"))
        return (it, second)
    }

    @Test("a failed message holds back those behind it; a retry sends it first, in its row")
    func failureHolds() async {
        let (it, second) = await held()
        let ids = it.chat.rows.map(\.id)
        #expect(await it.chat.retry(LocalID("1")) == .sent)
        #expect(await second.value == .sent)
        it.hear()
        #expect(it.texts == ["1", "2"])
        #expect(it.chat.rows.map(\.id) == ids)
        #expect(it.chat.obstacle == nil)
        #expect(it.channel.sent.count == 3)
        #expect(it.channel.sent[1] == it.channel.sent[0])
        #expect(await it.chat.retry(LocalID("1")) == .sent)
        #expect(await it.chat.retry(LocalID("unknown")) == .discarded)
        #expect(it.channel.sent.count == 3)
    }

    @Test("CHAT-8: after a refused send the next one does not hang: it returns what holds its message back")
    func nextSendReturns() async {
        let it = Chatting()
        it.channel.answer(.refused(refusal))
        #expect(await it.send("1", as: "1") == .failed(.error(refusal)))
        #expect(await it.send("2", as: "2") == .heldBack(by: LocalID("1")))
        #expect(it.states == [.failed(.error(refusal)), .sending])
        it.chat.passFailed()
        #expect(await it.chat.outcome(of: LocalID("2")) == .sent)
    }

    @Test("CHAT-8: a send that waits when the message before it fails returns what holds its message back")
    func waitingSendReturns() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        it.channel.answer(.refused(refusal))
        let first = Task { await it.send("1", as: "1") }
        try await it.channel.waitUntilSent(1)
        let second = Task { await it.send("2", as: "2") }
        while it.chat.messages.count < 2 { await Task.yield() }
        it.channel.releaseAllAnswers()
        #expect(await first.value == .failed(.error(refusal)))
        #expect(await second.value == .heldBack(by: LocalID("1")))
    }

    // MARK: Cancelling

    @Test("CHAT-8: a queued message whose send is cancelled fails, leaves never, and holds back nothing")
    func cancelledWhileQueued() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        let first = Task { await it.send("1", as: "1") }
        try await it.channel.waitUntilSent(1)
        let second = Task { await it.send("2", as: "2") }
        while it.chat.messages.count < 2 { await Task.yield() }
        let third = Task { await it.send("3", as: "3") }
        while it.chat.messages.count < 3 { await Task.yield() }
        second.cancel()
        #expect(await second.value == .failed(.cancelled))
        it.channel.releaseAllAnswers()
        #expect(await first.value == .sent)
        #expect(await third.value == .sent)
        it.hear()
        #expect(it.channel.sent.count == 2)
        #expect(it.texts == ["1", "3", "2"])
        #expect(it.states == [.sent, .sent, .failed(.cancelled)])
        #expect(await it.chat.retry(LocalID("2")) == .sent)
        #expect(it.chat.cancel(LocalID("2")) == false)
    }

    @Test("a send that is cancelled after its message has left returns at once; the row shows the outcome later")
    func cancelledInFlight() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        let send = Task { await it.send("1", as: "1") }
        try await it.channel.waitUntilSent(1)
        send.cancel()
        #expect(await send.value == .stillSending)
        #expect(it.states == [.sending])
        #expect(it.chat.cancel(LocalID("1")) == false)
        it.channel.releaseAllAnswers()
        #expect(await it.chat.outcome(of: LocalID("1")) == .sent)
    }

    @Test("a task that is cancelled before it sends or retries changes nothing")
    func cancelledBefore() async {
        let it = Chatting()
        it.channel.answer(.refused(refusal))
        #expect(await it.send("1", as: "1") == .failed(.error(refusal)))
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return (await it.send("2", as: "2"), await it.chat.retry(LocalID("1")))
        }
        late.cancel()
        #expect(await late.value == (.refused(.cancelled), .refused(.cancelled)))
        #expect(it.chat.draft == "2")
        #expect(it.states == [.failed(.error(refusal))])
    }

    @Test("cancelling a wait for an outcome leaves the message in the queue")
    func cancelledOutcome() async {
        let (it, second) = await held()
        second.cancel()
        #expect(await second.value == .stillSending)
        it.chat.passFailed()
        #expect(await it.chat.outcome(of: LocalID("2")) == .sent)
    }

    @Test("a cancelled retry fails again and holds back nothing")
    func cancelledRetry() async {
        let (it, second) = await held()
        it.chat.handle(.reconnecting, now: it.clock.now)
        let retry = Task { await it.chat.retry(LocalID("1")) }
        while it.states[0] != .sending { await Task.yield() }
        retry.cancel()
        #expect(await retry.value == .failed(.cancelled))
        it.chat.handle(.reconnected, now: it.clock.now)
        #expect(await second.value == .sent)
        #expect(it.states == [.sent, .failed(.cancelled)])
    }

    @Test("discarding the failed message lets the others go")
    func discarding() async {
        let (it, second) = await held()
        it.chat.discard(LocalID("2"))
        #expect(it.chat.messages.count == 2)
        it.chat.discard(LocalID("1"))
        #expect(await second.value == .sent)
        #expect(it.texts == ["2"])
    }

    @Test("the others can pass a failed message, which stays and can be retried")
    func passing() async {
        let (it, second) = await held()
        it.chat.passFailed()
        #expect(await second.value == .sent)
        #expect(it.texts == ["2", "1"])
        #expect(await it.chat.retry(LocalID("1")) == .sent)
        #expect(it.texts == ["2", "1"])
    }

    @Test("a retried message waits for the one that has passed it")
    func retryWaits() async throws {
        let (it, second) = await held()
        it.channel.holdAnswers()
        it.chat.passFailed()
        try await it.channel.waitUntilSent(2)
        let first = Task { await it.chat.retry(LocalID("1")) }
        while it.chat.messages[0].state != .sending { await Task.yield() }
        #expect(it.channel.sent.count == 2)
        it.channel.releaseAnswer()
        #expect(await second.value == .sent)
        try await it.channel.waitUntilSent(3)
        it.channel.releaseAllAnswers()
        #expect(await first.value == .sent)
    }

    @Test("a failed message whose echo arrives holds back nothing any more")
    func lateEchoFrees() async {
        let it = Chatting()
        it.channel.answer(.lost(loss))
        #expect(await it.send("1") == .failed(.error(loss)))
        #expect(await it.send("2", as: "2") == .heldBack(by: LocalID("1")))
        it.hear()
        #expect(await it.chat.outcome(of: LocalID("2")) == .sent)
        #expect(it.states == [.sent, .sent])
    }

    @Test("while the channel reconnects nothing is sent; afterwards the queue continues")
    func reconnecting() async {
        let it = Chatting()
        it.chat.handle(.reconnecting, now: it.clock.now)
        let result = Task { await it.send("1") }
        while it.chat.messages.isEmpty { await Task.yield() }
        #expect(it.channel.sent.isEmpty)
        it.chat.handle(.reconnected, now: it.clock.now)
        #expect(await result.value == .sent)
    }

    @Test("a new channel does not inherit that the former one was reconnecting")
    func newChannelWhileReconnecting() async {
        let it = Chatting()
        it.chat.handle(.reconnecting, now: it.clock.now)
        it.chat.channel = it.session.connect("me2", data: "Me")
        #expect(await it.send("1") == .sent)
    }

    @Test("when the connection ends the waiting messages have failed: none is pending forever")
    func disconnecting() async throws {
        let it = Chatting()
        it.channel.holdAnswers()
        it.channel.answer(.refused(loss))
        async let first = it.send("1")
        try await it.channel.waitUntilSent(1)
        let second = Task { await it.send("2") }
        while it.chat.messages.count < 2 { await Task.yield() }
        it.channel.disconnect()
        it.hear()
        #expect(await second.value == .failed(.error(loss)))
        it.channel.releaseAllAnswers()
        #expect(await first == .failed(.error(loss)))
        #expect(it.states == [.failed(.error(loss)), .failed(.error(loss))])
        #expect(await it.chat.retry(LocalID("1")) == .refused(.notConnected))
        #expect(await it.send("3") == .refused(.notConnected))
        #expect(it.chat.draft == "3")
    }

    @Test("G5: at most 100 messages wait; beyond that the draft stays")
    func waitingLimit() async {
        let it = Chatting()
        it.chat.handle(.reconnecting, now: it.clock.now)
        let sends = (0..<100).map { _ in Task { await it.send("x") } }
        while it.chat.messages.count < 100 { await Task.yield() }
        #expect(await it.send("one more") == .refused(.tooManyWaiting))
        #expect(it.chat.draft == "one more")
        it.chat.handle(.reconnected, now: it.clock.now)
        for send in sends { #expect(await send.value == .sent) }
    }

    // MARK: The delegate

    @Test("the delegate gets the message as it will be shown; after it accepts, the draft is empty")
    func delegateAgrees() async {
        let component = TextChatComponent()
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        component.setSenderId("me", alias: "Ada")
        component.edit("hi")
        let now = ManualClock().now
        #expect(await component.send(now: now, localID: LocalID("1")) == .sent)
        let message = ChatMessage(
            text: "hi", senderID: "me", senderAlias: "Ada", sentAt: now, receivedAt: now, localID: LocalID("1"),
            direction: .sent)
        #expect(delegate.asked == [message])
        #expect(component.messages == [message])
        #expect(component.draft.isEmpty)
        #expect(component.remaining == 1000)
        component.edit("again")
        #expect(await component.send(now: now, localID: LocalID("1")) == .refused(.localIDTaken))
    }

    @Test(
        "a message that the delegate refuses stays in the draft and is not shown, with or without a channel",
        arguments: [false, true])
    func delegateRefuses(_ hasChannel: Bool) async {
        let it = Chatting()
        if !hasChannel { it.chat.channel = nil }
        let delegate = RecordingDelegate(answer: false)
        it.chat.delegate = delegate
        #expect(await it.send("hi") == .refused(.byDelegate))
        #expect(delegate.asked.count == 1)
        #expect(it.chat.rows.isEmpty)
        #expect(it.chat.draft == "hi")
        #expect(it.channel.sent.isEmpty)
    }

    @Test("without channel and delegate nothing is sent; the delegate is held weakly")
    func nobody() async {
        let component = TextChatComponent()
        func attach() {
            let delegate = RecordingDelegate(answer: true)
            component.delegate = delegate
        }
        attach()
        component.edit("hi")
        #expect(component.refusal() == .notConnected)
        #expect(await component.send(now: ManualClock().now, localID: LocalID("1")) == .refused(.notConnected))
        #expect(component.draft == "hi")
    }

    @Test("submit asks only the delegate, and waits for nothing")
    func submitting() async {
        let it = Chatting()
        it.chat.edit("hi")
        #expect(it.chat.submit(now: it.clock.now, localID: LocalID("1")) == .refused(.notConnected))
        let delegate = RecordingDelegate(answer: true)
        it.chat.delegate = delegate
        #expect(it.chat.submit(now: it.clock.now, localID: LocalID("1")) == .sent)
        #expect(it.states == [.sent])
        #expect(it.channel.sent.isEmpty)
    }

    // MARK: Updates

    @Test("a gap is shown where something was lost, and a new connection's seq continues behind it")
    func gap() async throws {
        let it = Chatting()
        try await it.say("a")
        it.chat.handle(.lost, now: it.clock.now)
        it.chat.handle(.connected(ConnectionID("me again")), now: it.clock.now)
        it.chat.handle(
            .signal(incoming(type: "TextChat", data: "b", from: ConnectionID("bob"), seq: Seq(1))), now: it.clock.now)
        #expect(
            it.chat.rows.map(line) == ["a received single name time", "gap", "b received single name time"])
    }

    @Test("the seq of a new connection need not continue: its messages stand behind the earlier ones")
    func newConnection() async throws {
        let it = Chatting()
        for text in ["a", "b"] { try await it.say(text) }
        it.chat.channel = it.session.connect("me again")
        it.chat.handle(.connected(ConnectionID("me again")), now: it.clock.now)
        it.chat.handle(
            .signal(incoming(type: "TextChat", data: "c", from: ConnectionID("bob"), seq: Seq(1))), now: it.clock.now)
        #expect(it.texts == ["a", "b", "c"])
    }

    @Test("others' messages are unread if they arrive while the user does not read along")
    func unread() async throws {
        let it = Chatting()
        try await it.say("a")
        it.chat.isVisible = false
        try await it.say("b")
        _ = await it.send("mine")
        it.hear()
        #expect(it.chat.unreadCount == 1)
        it.chat.markRead()
        #expect(it.chat.unreadCount == 0)
    }

    @Test("a stream starts with the current rows, and its changes lead to the later ones")
    func stream() async throws {
        let it = Chatting()
        try await it.say("a")
        let stream = it.chat.updateStream()
        it.chat.isVisible = false
        try await it.say("b")
        _ = await it.send("mine")
        it.hear()
        it.chat.markRead()
        var rows: [TimelineRow] = []
        var unread: [Int] = []
        var drafts: [String] = []
        var iterator = stream.makeAsyncIterator()
        while rows != it.chat.rows || unread.last != 0 || unread.count < 3 {
            switch await iterator.next() {
            case .rows(let all): rows = all
            case .changes(let changes): rows.apply(changes)
            case .unreadCount(let count): unread.append(count)
            case .draft(let text, _): drafts.append(text)
            case .overflowed, nil:
                Issue.record("the stream has ended")
                return
            }
        }
        #expect(unread == [0, 1, 0])
        #expect(drafts == ["", "mine", ""])
    }

    @Test("G5: a stream without a reader ends with `overflowed`, and the component continues")
    func overflow() async {
        let component = TextChatComponent()
        let stream = component.updateStream()
        for number in 0..<2000 { component.edit(String(number)) }
        var last: ChatUpdate?
        var count = 0
        for await update in stream {
            last = update
            count += 1
        }
        #expect(last == .overflowed)
        #expect(count == 1000)
    }

    @Test("onActivity reports edits, sent and received messages, other signals, and the state of connections")
    func activity() async throws {
        let it = Chatting()
        var heard: [ChatActivity] = []
        it.chat.onActivity = { heard.append($0) }
        _ = await it.send("hi", as: "1")
        it.hear()
        try await it.say("yo")
        try await it.other.send(SignalRequest(type: "typing", data: "{}", isOnlineOnly: true))
        it.other.disconnect()
        it.hear()
        it.chat.edit("")
        it.chat.restore(messages: [], draft: "old", now: it.clock.now)
        it.chat.handle(.reconnecting, now: it.clock.now)
        it.chat.handle(.reconnected, now: it.clock.now)
        it.chat.handle(.disconnected, now: it.clock.now)
        let typing = incoming(type: "typing", data: "{}", from: ConnectionID("bob"), senderData: "Bob")
        #expect(
            heard.map(summary) == [
                "edited hi", "submitted 1", "received bob", "other \(typing.type ?? "")", "left bob", "reconnecting",
                "reconnected", "disconnected",
            ])
    }

    private func summary(_ activity: ChatActivity) -> String {
        switch activity {
        case .draftEdited(let text): "edited \(text)"
        case .messageSubmitted(let localID): "submitted \(localID)"
        case .messageReceived(let from): "received \(from?.rawValue ?? "nobody")"
        case .otherSignal(let signal): "other \(signal.type ?? "")"
        case .connectionCreated(let connection): "joined \(connection.connectionId)"
        case .connectionDestroyed(let connection): "left \(connection.connectionId)"
        case .connected(let id): "connected \(id)"
        case .reconnecting: "reconnecting"
        case .reconnected: "reconnected"
        case .disconnected: "disconnected"
        case .outboxChanged: "outbox changed"
        case .historyChanged: "history"
        case .historyRead(let changes): "read \(changes.count)"
        case .changed(let event): "changed \(event.ref)"
        case .erased(let erasure): "erased \(erasure)"
        case .restrictionChanged: "restriction changed"
        }
    }

    // MARK: The history

    @Test("CHAT-9: a user who joins late sees the newest page, loads what was before, and sees what is erased go")
    func lateJoin() async throws {
        let session = MemorySession(keepsHistory: true)
        let bob = session.connect("bob")
        for number in 1...60 { try await bob.send(SignalRequest(type: "TextChat", data: "\(number)")) }
        let (chat, channel) = (TextChatComponent(), session.connect("me"))
        let (readings, reading) = AsyncStream.makeStream(of: Void.self)
        var pages = readings.makeAsyncIterator()
        chat.onActivity = { if case .historyRead = $0 { reading.yield() } }
        chat.channel = channel
        chat.readHistory()
        await pages.next()
        #expect(chat.messages.map(\.text) == (11...60).map(String.init))
        #expect(chat.hasEarlier == true)
        #expect(chat.unreadCount == 0)
        #expect(chat.loadEarlier())
        #expect(chat.loadEarlier())
        await pages.next()
        #expect(chat.messages.map(\.text) == (1...60).map(String.init))
        #expect(chat.rows.first?.content == .beginning)
        #expect(chat.hasEarlier == false)
        #expect(!chat.loadEarlier())
        session.erase(.through(chat.messages[57].seq ?? Seq(0)))
        session.erase(.message(chat.messages[58].seq ?? Seq(0)))
        for event in channel.removeEvents() { chat.handle(event, now: ManualClock().now) }
        #expect(chat.messages.map(\.text) == [ChatMessage.erasedText, "60"])
    }

    // MARK: After a restart

    @Test(
        "after a restart the draft is back; a message that was being sent has failed and can be retried"
    )
    func restart() async throws {
        let before = Chatting()
        before.channel.holdAnswers()
        async let result = before.send("lost", as: "a")
        try await before.channel.waitUntilSent(1)
        before.chat.edit("unfinished")
        let (messages, draft) = (before.chat.messages, before.chat.draft)
        let it = Chatting()
        it.chat.restore(messages: messages, draft: draft, now: it.clock.now)
        #expect(it.chat.draft == "unfinished")
        #expect(it.states == [.failed(.interrupted)])
        #expect(await it.send("new", as: "b") == .sent)
        #expect(await it.chat.retry(LocalID("a")) == .sent)
        #expect(it.texts == ["new", "lost"])
        before.channel.releaseAllAnswers()
        _ = await result
    }

    @Test("local ids are 64 random bits in hex")
    func localIDs() {
        var random = SeededGenerator(seed: 1)
        let first = LocalID(using: &random)
        #expect(first.rawValue.utf8.count == 16)
        #expect(first != LocalID(using: &random))
    }
}
