import SignalingProtocol
import Testing
import TextChatTesting

@testable import TextChat

/// An outbox in memory that outlives the components of a test.
private final class MemoryOutbox: OutboxStorage {
    struct Full: Error {}

    var bytes: [UInt8]?
    var aside: [UInt8]?
    var isFull = false

    init(_ bytes: [UInt8]? = nil) { self.bytes = bytes }

    func read() throws -> [UInt8]? { bytes }
    func write(_ bytes: [UInt8]) throws {
        if isFull { throw Full() }
        self.bytes = bytes
    }
    func setAside() throws { (bytes, aside) = (nil, bytes) }

    /// What a new run of the program finds after a kill at this moment.
    var afterKill: MemoryOutbox { MemoryOutbox(bytes) }

    var states: [OutboxContents.State] {
        bytes.flatMap { try? OutboxContents(decoding: $0) }?.entries.map(\.state) ?? []
    }
}

/// A channel that has not connected.
private struct OfflineChannel: SignalChannel {
    var connectionId: ConnectionID? { nil }
    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? { throw loss }
}

/// One run of a program with an outbox.
@MainActor
private final class Run {
    let chat = TextChatComponent()
    let clock = ManualClock()
    let outbox: MemoryOutbox
    let opening: OutboxOpening
    private(set) var channel: MemoryChannel?

    init(_ outbox: MemoryOutbox) throws {
        self.outbox = outbox
        chat.channel = OfflineChannel()
        opening = try chat.openOutbox(outbox, room: "room", now: clock.now)
    }

    func connect(_ session: MemorySession, as name: String) {
        let channel = session.connect(name)
        self.channel = channel
        chat.channel = channel
        hear()
    }

    func hear() { for event in channel?.removeEvents() ?? [] { chat.handle(event, now: clock.now) } }

    func write(_ text: String) {
        chat.edit(text)
        #expect(chat.enqueue(now: clock.now, localID: LocalID(text)) == nil)
    }

    /// Waits until the message has its outcome, and hears what has arrived meanwhile.
    func outcome(_ localID: String) async -> SendResult {
        let result = await chat.outcome(of: LocalID(localID))
        hear()
        return result
    }

    var texts: [String] { chat.messages.map(\.text) }
}

@MainActor
@Suite("An outbox", .timeLimit(.minutes(5)))
struct OutboxTests {
    private let session = MemorySession(keepsHistory: true)

    private func texts(in session: MemorySession) async throws -> [String] {
        let reader = session.connect()
        defer { reader.disconnect() }
        return try await reader.history(HistoryRequest(.after(Seq(0)), limit: 200)).messages.compactMap {
            ChatWireForm.message(from: $0)?.text
        }
    }

    @Test("messages that were written offline survive the program, and are sent once and in order")
    func offline() async throws {
        let outbox = MemoryOutbox()
        do {
            let run = try Run(outbox)
            for text in ["one", "two", "three"] { run.write(text) }
            #expect(run.chat.canSend == false, "the draft is empty")
        }
        let run = try Run(outbox.afterKill)
        #expect(run.opening == .opened(count: 3))
        #expect(run.texts == ["one", "two", "three"])
        run.connect(session, as: "me")
        #expect(await run.outcome("three") == .sent)
        #expect(try await texts(in: session) == ["one", "two", "three"])
        #expect(run.outbox.states.isEmpty)
        let again = try Run(run.outbox.afterKill)
        #expect(again.opening == .opened(count: 0))
    }

    @Test("a message that had arrived when the program was killed is not sent again", arguments: [true, false])
    func killed(hadArrived: Bool) async throws {
        let outbox = MemoryOutbox()
        let first = try Run(outbox)
        first.connect(session, as: "first")
        let channel = try #require(first.channel)
        channel.holdAnswers()
        if !hadArrived { channel.answer(.refused(SignalingError(.notConnected, "lost"))) }
        for text in ["one", "two"] { first.write(text) }
        try await channel.waitUntilSent(1)
        let found = outbox.afterKill
        guard case .handedOver = found.states.first else { return #expect(Bool(false), "no mark before the send") }
        #expect(found.states.last == .waiting)

        let run = try Run(found)
        run.connect(session, as: "second")
        #expect(run.channel?.sent.isEmpty == true, "the first connection may still deliver it")
        channel.disconnect()
        run.hear()
        #expect(await run.outcome("two") == .sent)
        #expect(try await texts(in: session) == ["one", "two"])
        #expect(run.texts == ["one", "two"])
        #expect(run.outbox.states.isEmpty)
        channel.releaseAllAnswers()
    }

    @Test("without a history the user decides, and later messages are sent")
    func withoutHistory() async throws {
        let session = MemorySession()
        let outbox = MemoryOutbox()
        let first = try Run(outbox)
        first.connect(session, as: "first")
        let channel = try #require(first.channel)
        channel.holdAnswers()
        for text in ["one", "two"] { first.write(text) }
        try await channel.waitUntilSent(1)
        let run = try Run(outbox.afterKill)
        channel.disconnect()
        run.connect(session, as: "second")
        #expect(await run.outcome("one") == .failed(.interrupted))
        #expect(await run.outcome("two") == .sent)
        #expect(run.channel?.sent.count == 1)
        #expect(run.outbox.states == [.stopped])
        run.chat.discard(LocalID("one"))
        #expect(run.outbox.states.isEmpty)
        channel.releaseAllAnswers()
    }

    @Test("a connection that is lost within a run leads to the same question")
    func lostWithinARun() async throws {
        let run = try Run(MemoryOutbox())
        run.connect(session, as: "first")
        let channel = try #require(run.channel)
        channel.answer(.lost(SignalingError(.notConnected, "lost")), .refused(SignalingError(.notConnected, "lost")))
        channel.holdAnswers()
        run.write("one")
        try await channel.waitUntilSent(1)
        channel.disconnect()
        channel.releaseAllAnswers()
        run.hear()
        run.write("two")
        run.connect(session, as: "second")
        #expect(await run.outcome("two") == .sent)
        #expect(try await texts(in: session) == ["one", "two"])
    }

    @Test("a message that was refused waits for the user, also after a restart; it holds back nothing then")
    func refused() async throws {
        let run = try Run(MemoryOutbox())
        run.connect(session, as: "first")
        run.channel?.answer(.refused(SignalingError(.permissionDenied, "no")))
        run.write("one")
        #expect(await run.outcome("one") == .failed(.error(SignalingError(.permissionDenied, ""))))
        let next = try Run(run.outbox.afterKill)
        next.connect(session, as: "second")
        next.write("two")
        #expect(await next.outcome("two") == .sent)
        #expect(await next.chat.retry(LocalID("one")) == .sent)
        #expect(next.outbox.states.isEmpty)
    }

    @Test("no message leaves without its mark in the outbox")
    func full() async throws {
        let run = try Run(MemoryOutbox())
        run.connect(session, as: "me")
        run.outbox.isFull = true
        run.write("one")
        #expect(await run.outcome("one") == .failed(.notSaved))
        #expect(run.channel?.sent.isEmpty == true)
        #expect(run.chat.outboxError != nil)
        run.outbox.isFull = false
        #expect(await run.chat.retry(LocalID("one")) == .sent)
        #expect(run.chat.outboxError == nil)
    }

    @Test("damage is told and set aside: a bit, an end that is missing, another version, another room")
    func damage() throws {
        let outbox = MemoryOutbox()
        try Run(outbox).write("one")
        let whole = try #require(outbox.bytes)
        for length in 0..<whole.count { #expect(Self.isSetAside(Array(whole[..<length])), "\(length) bytes") }
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1
            #expect(Self.isSetAside(bytes), "byte \(index)")
        }
        #expect(!Self.isSetAside(whole))
        #expect(Self.isSetAside(Array(String(decoding: whole, as: UTF8.self).replacing("outbox 1", "outbox 2").utf8)))
        #expect(Self.isSetAside(OutboxContents(room: "another").encoded()))
    }

    private static func isSetAside(_ bytes: [UInt8]) -> Bool {
        guard let run = try? Run(MemoryOutbox(bytes)), case .setAside = run.opening else { return false }
        return run.outbox.aside == bytes && run.chat.messages.isEmpty
    }
}

extension String {
    fileprivate func replacing(_ part: String, _ other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }
}

@Suite("The search for messages that may have arrived")
struct OutboxInquiryTests {
    private static let epoch = Epoch(rawValue: "e")

    private static func attempt(after: Int64 = 10, oldest: Int64? = 5, epoch: Epoch? = epoch) -> OutboxContents.Attempt
    {
        .init(connection: ConnectionID("me"), epoch: epoch, after: Seq(after), oldest: oldest.map { Seq($0) })
    }

    private static func kept(_ seq: Int64, _ localID: String, from: String = "me") -> HistoryMessage {
        HistoryMessage(
            seq: Seq(seq),
            from: Connection(connectionId: ConnectionID(from), creationTime: WallTime(milliseconds: 0), data: ""),
            time: WallTime(milliseconds: 0),
            content: .signal(type: "text-chat", data: #"{"text":"t","localId":"\#(localID)"}"#, isJSON: false))
    }

    private static func verdict(
        _ range: ClosedRange<Int64>?, _ messages: HistoryMessage..., of attempt: OutboxContents.Attempt = attempt()
    ) -> OutboxInquiry.Step? {
        var inquiry = OutboxInquiry(
            [.init(localID: LocalID("a"), text: "t", attempt: attempt)], epoch: epoch, number: 1)
        return inquiry?.answer(
            HistoryPage(
                range: range.map { Seq($0.lowerBound)...Seq($0.upperBound) }, more: false, messages: messages))
    }

    private static let absent = OutboxInquiry.Step.done([.absent(LocalID("a"))])
    private static let unknown = OutboxInquiry.Step.done([.unknown(LocalID("a"))])

    @Test("it has arrived if its connection sent its local ID after the position; CHAT-4: another's does not count")
    func arrived() {
        #expect(Self.verdict(5...20, Self.kept(11, "a")) == .done([.arrived(LocalID("a"), Seq(11))]))
        #expect(Self.verdict(5...20, Self.kept(11, "b")) == Self.absent)
        #expect(Self.verdict(5...20, Self.kept(11, "a", from: "mallory")) == Self.absent)
    }

    @Test("an erased message of its connection was it")
    func erased() {
        var message = Self.kept(11, "a")
        message.content = .erased
        #expect(Self.verdict(5...20, message) == .done([.arrived(LocalID("a"), Seq(11))]))
    }

    @Test("it is absent only if the history reaches back to its position")
    func reach() {
        #expect(Self.verdict(5...20) == Self.absent)
        #expect(Self.verdict(10...20) == Self.absent)
        #expect(Self.verdict(11...20) == Self.unknown)
        #expect(Self.verdict(nil) == Self.unknown)
        #expect(Self.verdict(nil, of: Self.attempt(oldest: nil)) == Self.absent, "the history was empty before, too")
        #expect(Self.verdict(12...20, of: Self.attempt(oldest: nil)) == Self.absent)
    }

    @Test("HIS-3: in another order only a history from before it decides")
    func anotherOrder() {
        let other = Self.attempt(oldest: nil, epoch: Epoch(rawValue: "f"))
        #expect(Self.verdict(5...20, of: other) == Self.absent)
        #expect(Self.verdict(nil, of: other) == Self.unknown)
        #expect(Self.verdict(12...20, of: other) == Self.unknown)
        #expect(Self.verdict(nil, of: Self.attempt(oldest: nil, epoch: nil)) == Self.unknown)
    }

    @Test("it reads page after page, and ends when a page brings nothing new")
    func pages() throws {
        var inquiry = try #require(
            OutboxInquiry(
                [.init(localID: LocalID("a"), text: "t", attempt: Self.attempt())], epoch: Self.epoch, number: 1))
        #expect(inquiry.request.position == .after(Seq(10)))
        let range = Seq(5)...Seq(400)
        #expect(
            inquiry.answer(HistoryPage(range: range, more: true, messages: [Self.kept(210, "b")]))
                == .read(HistoryRequest(.after(Seq(210)), limit: 200)))
        #expect(inquiry.answer(HistoryPage(range: range, more: true, messages: [])) == Self.absent)
    }
}
