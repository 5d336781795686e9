import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("The text chat component")
@MainActor
struct ComponentTests {
    nonisolated static let now = WallTime(milliseconds: 1_700_000_000_000)
    let component = TextChatComponent()

    func echo(_ signal: SignalRequest, from: String = "me") -> Signal {
        incoming(type: signal.type, data: signal.data, from: ConnectionID(from), senderData: "data", seq: Seq(1))
    }

    func write(_ text: String) { #expect(component.edit(text)) }

    func send(_ localID: String = "1") async -> SendResult {
        await component.send(now: Self.now, localID: LocalID(localID))
    }

    // MARK: The draft

    @Test("the longest text is 1000 UTF-16 units unless it is told otherwise; an edit over it is refused whole")
    func longest() {
        #expect(component.maxLength == 1000)
        #expect(component.remaining == 1000)
        let longest = String(repeating: "😀", count: 500)
        #expect(component.edit(longest))
        #expect(component.remaining == 0)
        #expect(!component.edit(longest + "a"))
        #expect(component.draft.text == longest)
    }

    @Test(
        "length is counted in the unit that was asked for",
        arguments: zip(LengthUnit.allCases, [11, 1, 25]))
    func units(_ unit: LengthUnit, _ length: Int) {
        let family = "👨\u{200D}👩\u{200D}👧\u{200D}👦"
        let fits = TextChatComponent(maxLength: length, unit: unit)
        #expect(fits.edit(family))
        #expect(fits.remaining == 0)
        let tooShort = TextChatComponent(maxLength: length - 1, unit: unit)
        #expect(!tooShort.edit(family))
        #expect(tooShort.remaining == length - 1)
    }

    @Test("a lowered limit trims nothing: the count goes below zero, and only edits within the limit are taken")
    func lowering() {
        write("hello")
        component.maxLength = 3
        #expect(component.draft.text == "hello")
        #expect(component.remaining == -2)
        #expect(!component.edit("hell"))
        #expect(component.edit("hel"))
        component.maxLength = -5
        #expect(component.maxLength == 0)
        #expect(component.edit(""))
    }

    // MARK: Sending through a delegate

    @Test("an empty draft is not sent, and the delegate is not asked")
    func empty() async {
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        #expect(await send() == .nothingToSend)
        #expect(delegate.asked.isEmpty)
        #expect(component.rows.isEmpty)
    }

    @Test("white space alone is sent, as it stands")
    func whiteSpace() async {
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        write(" \n ")
        #expect(await send() == .sent)
        #expect(component.messages.map(\.text) == [" \n "])
    }

    @Test("the delegate gets the message as it will be shown; after its yes the draft is empty")
    func delegateAgrees() async {
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        component.setSenderId("me", alias: "Ada")
        write("hi")
        #expect(await send() == .sent)
        let message = ChatMessage(
            text: "hi", senderID: "me", senderAlias: "Ada", sentAt: Self.now, localID: LocalID("1"), direction: .sent)
        #expect(delegate.asked == [message])
        #expect(component.rows == [.sent(message), .divider])
        #expect(component.draft.text.isEmpty)
        #expect(component.remaining == 1000)
    }

    @Test("without setSenderId a message has no sender")
    func noSender() async {
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        write("hi")
        _ = await send()
        #expect(delegate.asked.first?.senderID == nil)
        #expect(delegate.asked.first?.senderAlias == nil)
    }

    @Test("after the delegate's no nothing is shown, and the draft stays")
    func delegateRefuses() async {
        let delegate = RecordingDelegate(answer: false)
        component.delegate = delegate
        write("hi")
        #expect(await send() == .refused(.byDelegate))
        #expect(delegate.asked.count == 1)
        #expect(component.messages.isEmpty)
        #expect(component.draft.text == "hi")
    }

    @Test("with neither delegate nor channel nothing is shown, and the draft stays")
    func nobody() async {
        write("hi")
        #expect(await send() == .refused(.nobodyToSend))
        #expect(component.messages.isEmpty)
        #expect(component.draft.text == "hi")
    }

    @Test("the delegate is held weakly")
    func weakness() {
        func attach() {
            let delegate = RecordingDelegate(answer: true)
            component.delegate = delegate
            #expect(component.delegate === delegate)
        }
        attach()
        #expect(component.delegate == nil)
    }

    @Test("an echo of bare text that the delegate sent is not shown again")
    func delegateEcho() async {
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        component.setSenderId("me", alias: nil)
        for localID in ["1", "2"] {
            write("hi")
            _ = await send(localID)
        }
        let signal = SignalRequest(type: "TextChat", data: "hi")
        #expect(!component.receive(echo(signal), now: Self.now))
        #expect(!component.receive(echo(signal), now: Self.now))
        #expect(component.messages.count == 2)
        #expect(component.receive(echo(signal), now: Self.now))
        #expect(component.messages.last?.direction == .sent)
    }

    // MARK: Receiving

    @Test("an added message is received whatever it says, dated now if it has no date, and never checked")
    func adding() {
        let text = String(repeating: "a", count: 2000)
        let message = ChatMessage(text: text, senderID: "me", direction: .sent, state: .sending)
        #expect(component.addMessage(message, now: Self.now))
        #expect(component.messages == [ChatMessage(text: text, senderID: "me", sentAt: Self.now)])
        #expect(component.addMessage(ChatMessage(text: "b", sentAt: WallTime(milliseconds: 5)), now: Self.now))
        #expect(component.messages.last?.sentAt == WallTime(milliseconds: 5))
        #expect(component.addMessage(ChatMessage(text: "b", sentAt: WallTime(milliseconds: 5)), now: Self.now))
        #expect(component.messages.count == 3)
    }

    @Test("messages stand in the order in which they came, whatever their dates")
    func order() {
        for (text, date) in [("a", 300 as Int64), ("b", 100), ("c", 200)] {
            component.addMessage(ChatMessage(text: text, sentAt: WallTime(milliseconds: date)), now: Self.now)
        }
        #expect(component.messages.map(\.text) == ["a", "b", "c"])
    }

    @Test("a signal of another type changes nothing")
    func otherType() {
        #expect(!component.receive(incoming(type: "typing", data: "{}", from: ConnectionID("b")), now: Self.now))
        #expect(component.messages.isEmpty)
    }

    @Test("two equal texts are both shown; one message delivered twice is shown once")
    func duplicates() {
        let bare = incoming(type: "TextChat", data: "hi", from: ConnectionID("b"))
        #expect(component.receive(bare, now: Self.now))
        #expect(component.receive(bare, now: Self.now))
        let named = incoming(type: "text-chat", data: #"{"text":"hi","localId":"7"}"#, from: ConnectionID("b"))
        #expect(component.receive(named, now: Self.now))
        #expect(!component.receive(named, now: Self.now))
        var other = named
        other.from = connection("c")
        #expect(component.receive(other, now: Self.now))
        #expect(component.messages.count == 4)
    }

    @Test("only the latest messages are kept, and a dropped one is not remembered", arguments: [1, 2, 3, 10])
    func bound(_ limit: Int) {
        let component = TextChatComponent(messageLimit: limit)
        func receive(_ number: Int) -> Bool {
            let data = #"{"text":"\#(number)","localId":"\#(number)"}"#
            return component.receive(
                incoming(type: "text-chat", data: data, from: ConnectionID("b")), now: Self.now)
        }
        for number in 0..<35 { #expect(receive(number)) }
        #expect(component.messages.map(\.text) == (35 - limit..<35).map(String.init))
        #expect(!receive(34))
        #expect(receive(34 - limit))
    }

    @Test("10,000 messages are kept unless it is told otherwise")
    func standardBound() {
        for _ in 0..<10_001 { component.addMessage(ChatMessage(text: "a"), now: Self.now) }
        #expect(component.messages.count == 10_000)
    }

    // MARK: Sending through a channel

    @Test("through a channel a message is shown as sending, with the draft empty, until it is acknowledged")
    func acknowledged() async throws {
        let component = TextChatComponent()
        let channel = MemoryChannel {
            #expect(component.messages.map(\.state) == [.sending])
            #expect(component.draft.text.isEmpty)
        }
        component.channel = channel
        component.setSenderId("me", alias: "Ada")
        component.edit("hi")
        #expect(await component.send(now: Self.now, localID: LocalID("1")) == .sent)
        #expect(component.messages.map(\.state) == [.sent])
        let message = try #require(component.messages.last)
        #expect(channel.sent == [ChatWireForm.json.signal(for: message)])
    }

    @Test("submitting asks the delegate alone and waits for nothing")
    func submitting() {
        let channel = MemoryChannel()
        component.channel = channel
        write("hi")
        #expect(component.submit(now: Self.now, localID: LocalID("1")) == .refused(.nobodyToSend))
        let delegate = RecordingDelegate(answer: true)
        component.delegate = delegate
        #expect(component.submit(now: Self.now, localID: LocalID("1")) == .sent)
        #expect(delegate.asked.count == 1)
        #expect(component.messages.map(\.state) == [.sent])
        #expect(channel.sent.isEmpty)
    }

    @Test("with a channel and no setSenderId the sender is the connection")
    func connectionAsSender() async {
        component.channel = MemoryChannel("conn-1")
        write("hi")
        _ = await send()
        #expect(component.messages.first?.senderID == "conn-1")
    }

    @Test("with a channel the delegate may refuse, and need not be there")
    func delegateWithChannel() async {
        let channel = MemoryChannel()
        component.channel = channel
        let delegate = RecordingDelegate(answer: false)
        component.delegate = delegate
        write("hi")
        #expect(await send() == .refused(.byDelegate))
        #expect(channel.sent.isEmpty)
        component.delegate = nil
        #expect(await send() == .sent)
    }

    @Test("a message that no signal can hold is refused before it is shown", arguments: [false, true])
    func tooLong(_ isOver: Bool) async {
        let component = TextChatComponent(maxLength: 10_000)
        let channel = MemoryChannel()
        component.channel = channel
        component.setSenderId("me", alias: nil)
        let frame = #"{"text":"","sender":{"id":"me"},"sentOn":1700000000000,"localId":"1"}"#.utf16.count
        component.edit(String(repeating: "a", count: Limits.dataLength - frame + (isOver ? 1 : 0)))
        let result = await component.send(now: Self.now, localID: LocalID("1"))
        #expect(result == (isOver ? .refused(.tooLong) : .sent))
        #expect(component.messages.count == (isOver ? 0 : 1))
        #expect(component.draft.text.isEmpty == !isOver)
        #expect(channel.sent.first?.data?.utf16.count == (isOver ? nil : 8192))
    }

    @Test(
        "the own echo is not shown again, whether it comes before or after the acknowledgement",
        arguments: [true, false])
    func ownEcho(_ isBefore: Bool) async throws {
        let component = TextChatComponent()
        let message = ChatMessage(text: "hi", senderID: "me", sentAt: Self.now, localID: LocalID("1"), direction: .sent)
        let echo = echo(ChatWireForm.json.signal(for: message))
        let channel = MemoryChannel {
            if isBefore { #expect(component.receive(echo, now: Self.now)) }
        }
        component.channel = channel
        component.edit("hi")
        #expect(await component.send(now: Self.now, localID: LocalID("1")) == .sent)
        #expect(!component.receive(echo, now: Self.now))
        #expect(component.messages == [message])
    }

    @Test("a refused message is shown as failed; a retry sends the same again, in its place")
    func retry() async throws {
        let channel = MemoryChannel()
        component.channel = channel
        channel.answer(SignalingError(.permissionDenied, "no"))
        write("one")
        #expect(await send("1") == .failed(SignalingError(.permissionDenied, "")))
        write("two")
        #expect(await send("2") == .sent)
        #expect(component.messages.map(\.state) == [.failed(SignalingError(.permissionDenied, "")), .sent])
        #expect(await component.retry(LocalID("1")) == .sent)
        #expect(component.messages.map(\.text) == ["one", "two"])
        #expect(component.messages.map(\.state) == [.sent, .sent])
        #expect(channel.sent.count == 3)
        #expect(channel.sent[2] == channel.sent[0])
        #expect(await component.retry(LocalID("1")) == .nothingToSend)
        #expect(await component.retry(LocalID("unknown")) == .nothingToSend)
    }

    @Test("an echo that comes after the connection was lost turns failed into sent")
    func lateEcho() async throws {
        let channel = MemoryChannel("first")
        component.channel = channel
        channel.answer(SignalingError(.notConnected, "lost"))
        write("hi")
        #expect(await send() == .failed(SignalingError(.notConnected, "")))
        channel.connectionID = ConnectionID("second")
        #expect(component.receive(echo(channel.sent[0], from: "first"), now: Self.now))
        #expect(component.messages.map(\.state) == [.sent])
    }

    @Test("a message whose echo has come was sent, even if its answer was lost")
    func echoWithoutAnswer() async {
        let component = TextChatComponent()
        let echo = incoming(type: "text-chat", data: #"{"text":"hi","localId":"1"}"#, from: ConnectionID("me"))
        let channel = MemoryChannel { component.receive(echo, now: Self.now) }
        component.channel = channel
        component.setSenderId("me", alias: nil)
        channel.answer(SignalingError(.notConnected, "lost"))
        component.edit("hi")
        #expect(await component.send(now: Self.now, localID: LocalID("1")) == .sent)
        #expect(component.messages.map(\.state) == [.sent])
    }

    @Test("a refused message waits for no echo: that of the same text sent again completes the second")
    func refusedHasNoEcho() async {
        let channel = MemoryChannel()
        component.channel = channel
        component.wireForm = .bareText
        let refusal = SignalingError(.permissionDenied, "no")
        channel.answer(refusal)
        for localID in ["1", "2"] {
            write("hi")
            _ = await send(localID)
        }
        #expect(!component.receive(echo(channel.sent[1]), now: Self.now))
        #expect(component.messages.map(\.state) == [.failed(refusal), .sent])
    }

    @Test("an own bare echo completes the message of that text; a stranger's does not")
    func bareEcho() async throws {
        let channel = MemoryChannel()
        component.channel = channel
        component.wireForm = .bareText
        channel.answer(SignalingError(.notConnected, "lost"))
        write("hi")
        _ = await send()
        #expect(component.receive(echo(channel.sent[0], from: "other"), now: Self.now))
        #expect(component.messages.map(\.direction) == [.sent, .received])
        #expect(component.receive(echo(channel.sent[0]), now: Self.now))
        #expect(component.messages.map(\.state) == [.sent, .sent])
        #expect(component.messages.count == 2)
    }

    @Test("a stranger who names another's id and local id neither completes nor hides a message")
    func spoofing() async throws {
        let channel = MemoryChannel()
        component.channel = channel
        channel.answer(SignalingError(.notConnected, "lost"))
        write("hi")
        _ = await send("1")
        #expect(component.receive(echo(channel.sent[0], from: "mallory"), now: Self.now))
        #expect(component.messages.map(\.state) == [.failed(SignalingError(.notConnected, "")), .sent])
        #expect(component.messages.map(\.senderID) == ["me", "mallory"])
        let forged = incoming(
            type: "text-chat", data: #"{"text":"x","sender":{"id":"bob"},"localId":"9"}"#, from: ConnectionID("mallory")
        )
        #expect(component.receive(forged, now: Self.now))
        var honest = forged
        honest.from = connection("bob")
        #expect(component.receive(honest, now: Self.now))
    }

    @Test("what another part of this program sent as the same connection is shown as one's own")
    func otherPart() async throws {
        component.channel = MemoryChannel()
        let signal = incoming(type: "text-chat", data: #"{"text":"x","localId":"9"}"#, from: ConnectionID("me"))
        #expect(component.receive(signal, now: Self.now))
        #expect(component.messages.map(\.direction) == [.sent])
        #expect(!component.receive(signal, now: Self.now))
    }

    @Test("local ids are 64 random bits in hex")
    func localIDs() {
        var random = SeededGenerator(seed: 1)
        let first = LocalID(using: &random)
        #expect(first.rawValue.utf8.count == 16)
        #expect(first != LocalID(using: &random))
    }
}
