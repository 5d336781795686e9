import SignalingProtocol
import TestSupport
import Testing
import TextChatTesting

@testable import TextChat

/// The vectors of `chat/readers` have the rules; these are the calls of the Swift component.
@Suite("CHAT-16: a component and read markers", .timeLimit(.minutes(5)))
@MainActor
struct ReadingTests {
    @Test("what the user reads on one device is read on the other within 2 s")
    func twoDevices() async throws {
        let room = try await ReadingRoom()
        for number in 1...3 { try await room.say("\(number)") }
        #expect(room.devices.map(\.chat.unreadCount) == [3, 3])
        room.devices[0].chat.markRead()
        await room.settle()
        #expect(room.devices.map(\.chat.unreadCount) == [0, 0])
        #expect(room.devices.allSatisfy { $0.chat.rows.allSatisfy { $0.content != .unreadDivider } })
    }

    @Test("READ-1: a marker is sent at most once a second, the newest only, and none for the user's own messages")
    func rate() async throws {
        let room = try await ReadingRoom()
        let device = room.devices[0]
        let before = device.channel.markersSent.count
        for number in 1...4 {
            try await room.say("\(number)")
            device.chat.markRead()
            await room.pass(.milliseconds(450))
        }
        #expect(device.channel.markersSent.count == before + 2)
        await room.settle()
        #expect(device.channel.markersSent.count == before + 3)
        try await device.channel.send(SignalRequest(type: "text-chat", data: #"{"text":"mine"}"#))
        await room.settle()
        device.chat.markRead()
        await room.settle()
        #expect(device.channel.markersSent.count == before + 3)
    }

    @Test("READ-1: after a connect that has missed a marker it is sent again")
    func again() async throws {
        let room = try await ReadingRoom()
        try await room.say("1")
        let device = room.devices[0]
        device.channel.answer(.refused(SignalingError(.notConnected, "lost")))
        device.chat.markRead()
        await room.settle()
        #expect(room.devices.map(\.chat.unreadCount) == [0, 1])
        await room.settle()
        device.chat.handle(.reconnecting, now: room.clock.now)
        device.chat.handle(.reconnected, now: room.clock.now)
        await room.settle()
        #expect(room.devices.map(\.chat.unreadCount) == [0, 0])
    }

    @Test("a message that the user sees as it comes is read, and an erased one counts no more")
    func seen() async throws {
        let room = try await ReadingRoom()
        room.devices[0].chat.isVisible = true
        let seq = try await room.say("1")
        #expect(room.devices.map(\.chat.unreadCount) == [0, 1])
        await room.settle()
        #expect(room.devices.map(\.chat.unreadCount) == [0, 0])
        room.devices[0].chat.isVisible = false
        let next = try await room.say("2")
        room.session.erase(.message(next))
        await room.settle()
        #expect(room.devices.map(\.chat.unreadCount) == [0, 0])
        #expect(seq < next)
    }

    @Test(
        "the count of the connect holds for messages that are not loaded, and the divider stands at the first loaded one"
    )
    func late() async throws {
        let room = try await ReadingRoom()
        for number in 1...70 { try await room.say("\(number)") }
        try await room.reload(1)
        let chat = room.devices[1].chat
        #expect(chat.messages.count == 50)
        #expect(chat.unreadCount == 70)
        #expect(chat.rows.first?.content == .unreadDivider)
        await room.loadAll(1)
        #expect(chat.unreadCount == 70)
        #expect(chat.messages.count { $0.text == "ready" } == 1)
    }

    @Test(
        "the receipt stands at the user's last message that somebody has read, and names the readers by how far they are"
    )
    func receipts() async throws {
        let room = try await ReadingRoom()
        let chat = room.devices[0].chat
        let (cyd, amy) = (
            room.session.connect("cyd", user: UserID("cyd")), room.session.connect("amy", user: UserID("amy"))
        )
        var seqs: [Seq] = []
        for number in 1...3 {
            let seq = try await room.devices[0].channel.send(
                SignalRequest(type: "text-chat", data: #"{"text":"\#(number)"}"#))
            seqs.append(try #require(seq))
        }
        await room.settle()
        #expect(chat.receipt == nil)
        func rows(after mark: () async throws -> Void) async throws -> [String] {
            try await mark()
            let changes = room.hear(0)
            return changes.compactMap { if case .update(let row, _) = $0 { row.message?.message.text } else { nil } }
        }
        #expect(try await rows { try await cyd.markRead(through: seqs[0]) } == ["1"])
        #expect(chat.receipt?.users.map(\.user) == [UserID("cyd")])
        #expect(try await rows { try await room.bob.markRead(through: seqs[1]) } == ["1", "2"])
        #expect(chat.timeline.message(of: chat.receipt?.id)?.text == "2")
        #expect(chat.receipt?.users.map(\.user) == [UserID("bob")])
        #expect(chat.receipt?.users.first?.name == "Bob")
        try await amy.markRead(through: seqs[2])
        try await cyd.markRead(through: seqs[1])
        room.hear(0)
        #expect(chat.receipt?.users.map(\.user) == [UserID("amy")])
        room.session.erase(.message(seqs[2]))
        #expect(room.hear(0).isEmpty == false)
        #expect(chat.receipt?.users.map(\.user) == [UserID("amy"), UserID("bob"), UserID("cyd")])
    }
}

extension TimelinePropertyTests {
    @Test(
        "the unread messages of two devices are those of an independent model, after random reading, edits, deletes, reloads",
        .timeLimit(.minutes(5)), arguments: 0..<1_000 as Range<UInt64>)
    @MainActor
    func unread(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let room = try await ReadingRoom()
        var model = UnreadModel(marker: room.first)
        for _ in 0..<Int.random(in: 5...30, using: &random) {
            let number = Int.random(in: 0...1, using: &random)
            let device = room.devices[number]
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                for _ in 0..<[1, 1, 2, 40].randomElement(using: &random)! { model.say(try await room.say("x")) }
            case 4:
                let request = SignalRequest(type: "text-chat", data: #"{"text":"own"}"#)
                _ = try await device.channel.send(request)
            case 5: if let seq = model.unread.randomElement(using: &random) { try await room.edit(seq) }
            case 6, 7:
                guard let seq = model.others.randomElement(using: &random) else { break }
                room.session.erase(.message(seq))
                model.others.remove(seq)
            case 8: if let seq = model.others.randomElement(using: &random) { try await room.react(seq) }
            case 9:
                device.chat.markRead()
                model.read(device.chat.messages.compactMap(\.seq).max())
            case 10:
                guard let row = device.chat.rows.randomElement(using: &random), row.message != nil else { break }
                device.chat.markRead(upTo: row.id)
                model.read(row.message?.message.seq)
            default:
                await room.settle()
                try await room.reload(number)
                #expect(min(room.devices[number].chat.unreadCount, 99) == min(model.unread.count, 99), "seed \(seed)")
                await room.loadAll(number)
            }
            room.hear()
            if Bool.random(using: &random) { await room.settle() }
        }
        await room.settle()
        for device in room.devices {
            #expect(min(device.chat.unreadCount, 99) == min(model.unread.count, 99), "seed \(seed)")
            #expect(device.chat.rows.contains { $0.content == .unreadDivider } == !model.unread.isEmpty, "seed \(seed)")
        }
    }
}

/// Which messages are unread, by the words of READ-4.
private struct UnreadModel {
    /// The messages of others that are not erased.
    var others: [Seq] = []
    var marker: Seq

    init(marker: Seq) { self.marker = marker }

    var unread: [Seq] { others.filter { $0 > marker } }

    mutating func say(_ seq: Seq) { others.append(seq) }

    mutating func read(_ seq: Seq?) { if let seq { marker = max(marker, seq) } }
}

extension [Seq] {
    fileprivate mutating func remove(_ seq: Seq) { removeAll { $0 == seq } }
}

/// A user with two devices, and Bob, in a session with read markers. The user has read Bob's first message.
@MainActor
private final class ReadingRoom {
    final class Device {
        let chat = TextChatComponent()
        let channel: MemoryChannel

        init(_ channel: MemoryChannel) { self.channel = channel }
    }

    let session = MemorySession(changes: [.edit, .erase, .react], readMarkers: .shared)
    let bob: MemoryChannel
    var devices: [Device] = []
    var clock = ManualClock()
    let first: Seq

    init() async throws {
        bob = session.connect("bob", data: "name=Bob", user: UserID("bob"))
        first = try #require(try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"ready"}"#)))
        for number in 0...1 { devices.append(try await connect(number)) }
        devices[0].chat.markRead()
        await settle()
    }

    private func connect(_ number: Int) async throws -> Device {
        let device = Device(session.connect(user: UserID("me")))
        device.chat.channel = device.channel
        device.chat.typing.start(now: { [unowned self] in clock.instant })
        for event in device.channel.removeEvents() { device.chat.handle(event, now: clock.now) }
        while device.chat.hasEarlier == nil { await Task.yield() }
        return device
    }

    /// Another run of the program.
    func reload(_ number: Int) async throws {
        devices[number].channel.disconnect()
        devices[number] = try await connect(number)
    }

    func loadAll(_ number: Int) async {
        let chat = devices[number].chat
        while chat.loadEarlier() { while chat.isLoadingEarlier { await Task.yield() } }
    }

    @discardableResult
    func say(_ text: String) async throws -> Seq {
        let seq = try await bob.send(SignalRequest(type: "text-chat", data: #"{"text":"\#(text)"}"#))
        hear()
        return try #require(seq)
    }

    func edit(_ seq: Seq) async throws {
        try await bob.change(ChangeRequest(seq, .edit(data: #"{"text":"edited"}"#, isJSON: false)))
    }

    func react(_ seq: Seq) async throws { try await bob.react(ReactRequest(seq, keys: ["👍"])) }

    func hear() { for number in devices.indices { hear(number) } }

    @discardableResult
    func hear(_ number: Int) -> [TimelineChange] {
        let device = devices[number]
        return device.channel.removeEvents().flatMap { device.chat.handle($0, now: clock.now) }
    }

    /// Time passes, and what is due is sent and heard.
    func pass(_ time: Duration) async {
        clock.advance(by: time)
        for device in devices { device.chat.typing.advance(to: clock.instant) }
        // Until what was sent is answered, which a busy machine may take its time for.
        while devices.contains(where: { $0.chat.rules.markers.sending != nil }), !Task.isCancelled {
            await Task.yield()
        }
        hear()
    }

    /// Long enough for a marker that waits.
    func settle() async { await pass(.seconds(2)) }
}
