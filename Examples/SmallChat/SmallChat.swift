// The program of the article "A small chat, step by step" (Sources/rules/TextChat/TextChat.docc/SmallChat.md).
// A test compares the article with this file.
//   small-chat                              two people in one process, over a session in memory
//   small-chat KEY SESSION TOKEN [SERVER]   says hello in a real session
import SignalingClient
import TextChat
import TextChatFoundation
import TextChatTesting

/// One session in memory, and one clock for everybody in it.
@MainActor
final class Room {
    let session = MemorySession()
    var clock = ManualClock()
}

@MainActor
final class Person {
    let chat = TextChatComponent()
    let channel: MemoryChannel
    let table = Table()
    private let room: Room
    private var messageCount = 0

    init(_ name: String, in room: Room) {
        self.room = room
        channel = room.session.connect(name.lowercased(), data: name)
        chat.channel = channel
        chat.setSenderId(nil, alias: name)
        chat.isVisible = true
        let updates = chat.updateStream()
        Task { [table] in await table.follow(updates) }
    }

    func hear() {
        for event in channel.removeEvents() { chat.handle(event, now: room.clock.now) }
    }

    func say(_ text: String) async -> SendResult {
        messageCount += 1
        chat.edit(text)
        return await chat.send(now: room.clock.now, localID: LocalID("message-\(messageCount)"))
    }

    func startTyping() {
        chat.typing.start { [room] in room.clock.instant }
    }

    func publishTyping() async {
        while let post = chat.typing.dequeueSignal() {
            do throws(SignalingError) {
                try await channel.send(post.request)
            } catch {
                chat.typing.publishFailed(n: post.n)
            }
        }
    }

    /// Waits for the table, which gets each change a moment later.
    func show(_ title: String) async {
        while table.rows != chat.rows { await Task.yield() }
        print(title)
        for row in table.rows { print("  \(line(row, chat.names))") }
    }
}

@MainActor
final class Table {
    private(set) var rows: [TimelineRow] = []

    func follow(_ updates: AsyncStream<ChatUpdate>) async {
        for await update in updates {
            switch update {
            case .rows(let whole): rows = whole
            case .changes(let changes): rows.apply(changes)
            case .unreadCount, .draft: break
            case .overflowed: print("too far behind: ask for another stream")
            }
        }
    }
}

func line(_ row: TimelineRow, _ names: NameBook) -> String {
    switch row.content {
    case .day(let day): return "-- \(day) --"
    case .unreadDivider: return "-- new --"
    case .gap: return "-- something was lost --"
    case .beginning: return "-- the beginning --"
    case .message(let row):
        let name = names.name(of: row.message).text()
        let start = row.message.direction == .sent ? "> " : row.showsSender ? "\(name): " : "  "
        switch row.message.state {
        case .sending: return "\(start)\(row.message.text) (sending)"
        case .sent: return "\(start)\(row.message.text)"
        case .failed: return "\(start)\(row.message.text) (failed)"
        }
    }
}

@main
@MainActor
struct SmallChat {
    static func main() async throws {
        let arguments = CommandLine.arguments + ["http://127.0.0.1:8080"]
        if arguments.count > 4 {
            try await sayHello(
                in: Session(apiKey: arguments[1], sessionId: arguments[2], server: arguments[4]), token: arguments[3])
        } else {
            await chatInMemory()
        }
    }

    static func chatInMemory() async {
        let room = Room()
        let ada = Person("Ada", in: room)
        let bob = Person("Bob", in: room)

        _ = await ada.say("Hello, Bob")
        ada.hear()
        bob.hear()
        await ada.show("Ada sees")
        await bob.show("Bob sees")

        bob.chat.isVisible = false
        room.clock.advance(by: .seconds(30))
        _ = await ada.say("Are you there?")
        bob.hear()
        await bob.show("Bob, who looked away, has \(bob.chat.unreadCount) unread")
        bob.chat.isVisible = true
        bob.chat.markRead()
        await bob.show("Bob has read it, \(bob.chat.unreadCount) unread")

        ada.startTyping()
        bob.startTyping()
        bob.chat.edit("I am h")
        await bob.publishTyping()
        ada.hear()
        print(TypingPhrase(of: ada.chat.typing.current).text())

        room.clock.advance(by: .milliseconds(11_500))
        ada.chat.typing.advance(to: room.clock.instant)
        print("\(ada.chat.typing.current.typingCount) type")

        bob.channel.answer(.refused(SignalingError(.permissionDenied, "not now")))
        let result = await bob.say("I am here")
        await bob.show("Bob's message has failed")

        if case .failed = result, let localID = bob.chat.obstacle {
            _ = await bob.chat.retry(localID)
        }
        await bob.show("Bob has tried again")
        ada.hear()
        await ada.show("Ada sees it once")
    }

    static func sayHello(in session: Session, token: String) async throws {
        let chat = TextChatComponent(timeline: ChatTimeline(calendar: ReaderCalendar()))
        chat.channel = session
        chat.isVisible = true
        chat.runTyping()

        let events = session.channelEvents
        let hearing = Task {
            for await event in events { chat.handle(event, now: .now) }
        }
        try await session.connect(token: token)

        chat.edit("Hello")
        let result = await chat.send()
        if case .failed = result, let localID = chat.obstacle { _ = await chat.retry(localID) }
        for row in chat.rows { print(line(row, chat.names)) }

        await session.disconnect()
        await hearing.value
    }
}
