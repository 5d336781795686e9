import Foundation
import Observation
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatTesting

@testable import TextChatUI

@MainActor
@Suite("A chat for a view", .timeLimit(.minutes(5)))
struct ChatModelTests {
    private let session = MemorySession(keepsHistory: true)

    private func connected(_ model: ChatModel) -> MemoryChannel {
        let channel = session.connect("me", data: "Me")
        model.chat.channel = channel
        hear(model, channel)
        return channel
    }

    private func hear(_ model: ChatModel, _ channel: MemoryChannel) {
        for event in channel.removeEvents() { model.handle(event) }
    }

    private func texts(_ model: ChatModel) -> [String] { model.rows.compactMap { $0.message?.message.text } }

    @Test("the draft is sent, shown as sending and then as sent; an observer is told of each change")
    func sends() async throws {
        let model = ChatModel()
        let channel = connected(model)
        #expect(!model.canSend)
        model.draft = "Hello"
        #expect(model.canSend)
        let told = await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = model.rows
            } onChange: {
                continuation.resume(returning: true)
            }
            model.send()
        }
        #expect(told)
        #expect(model.draft.isEmpty)
        #expect(texts(model) == ["Hello"])
        try await channel.waitUntilSent(1)
        let localID = try #require(model.chat.messages.first?.localID)
        #expect(await model.chat.outcome(of: localID) == .sent)
    }

    @Test("a text that is too long stays in the field, and the user reads why")
    func tooLong() {
        let model = ChatModel(TextChatComponent(composer: Composer(maxLength: 3)))
        _ = connected(model)
        model.draft = "four"
        #expect((model.draft, model.notice, model.canSend) == ("four", .tooLong, false))
        model.send()
        #expect(model.draft == "four")
        model.draft = "fou"
        #expect((model.notice, model.canSend) == (nil, true))
    }

    @Test("the state of the connection follows the session's events")
    func status() {
        let model = ChatModel()
        #expect(model.status == .connecting)
        let channel = connected(model)
        #expect(model.status == .connected)
        channel.put(.reconnecting)
        hear(model, channel)
        #expect(model.status.sentence == .reconnecting)
        channel.put(.reconnected)
        hear(model, channel)
        #expect(model.status.sentence == nil)
    }

    @Test("HIS-8: an empty list says whether nobody has written, or the room forgets what was written")
    func empty() async throws {
        let forgetful = MemorySession()
        let model = ChatModel()
        #expect(model.emptyNote == nil)
        let channel = forgetful.connect("me")
        model.chat.channel = channel
        hear(model, channel)
        #expect(model.emptyNote == .fromNowOn)
        try await forgetful.connect("bob").send(SignalRequest(type: "TextChat", data: "Hi"))
        hear(model, channel)
        #expect(model.emptyNote == nil)

        let keeping = ChatModel()
        _ = connected(keeping)
        while keeping.chat.hasEarlier == nil { await Task.yield() }
        #expect(keeping.emptyNote == .noMessages)
    }

    @Test("MOD-5: a muted user reads why and until when, the field keeps its text, and it can be sent afterwards")
    func muted() {
        let model = ChatModel()
        let channel = connected(model)
        model.draft = "Hello"
        channel.restrict(Restriction(.mute, reason: "Please stay on topic"))
        hear(model, channel)
        #expect(model.restriction == "You cannot write in this chat at the moment. Reason: Please stay on topic")
        #expect(!model.canSend)
        model.send()
        #expect(model.draft == "Hello")
        channel.lift(.mute)
        hear(model, channel)
        #expect((model.restriction, model.canSend, model.draft) == ("", true, "Hello"))
    }

    @Test("MOD-3: a banned user's chat stops; any other error of a connect keeps its meaning")
    func banned() {
        var plan = ConnectPlan()
        #expect(plan.failed(SignalingError(.userBanned, "", restriction: Restriction(.ban))) == .stop)
        #expect(plan.status == .banned)
        plan = ConnectPlan()
        #expect(plan.ended(.networkDisconnected, isBanned: true) == .stop)
        #expect(plan.status.sentence == .banned)
        plan = ConnectPlan()
        #expect(plan.ended(.networkDisconnected, isBanned: false) == .tryAgain(after: .seconds(1)))
    }

    @Test("messages that arrive while the user does not look are unread until the chat is visible")
    func unread() async throws {
        let model = ChatModel()
        let channel = connected(model)
        try await session.connect("bob").send(SignalRequest(type: "TextChat", data: "Hi"))
        hear(model, channel)
        #expect(model.unreadCount == 1)
        model.isVisible = true
        #expect(model.unreadCount == 0)
    }

    @Test("a message that was written without a connection is there after a restart")
    func outbox() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("chat-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let model = ChatModel(outbox: file, room: "room")
            let channel = connected(model)
            channel.disconnect()
            hear(model, channel)
            model.draft = "later"
            model.send()
            #expect(texts(model) == ["later"])
        }
        let model = ChatModel(outbox: file, room: "room")
        #expect(texts(model) == ["later"])
        _ = connected(model)
        let localID = try #require(model.chat.messages.first?.localID)
        #expect(await model.chat.outcome(of: localID) == .sent)
        try Data("damaged".utf8).write(to: file)
        #expect(ChatModel(outbox: file, room: "room").notice == .damaged)
    }

    @Test("a model that nobody uses is released")
    func released() {
        weak var model: ChatModel?
        do {
            let used = ChatModel()
            _ = connected(used)
            model = used
        }
        #expect(model == nil)
    }
}

@Suite("The words of a chat")
struct ChatWordTests {
    @Test("each language has each text", arguments: ["en", "de"])
    func complete(language: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(
                "Sources/clients/TextChatUI/Resources/\(language).lproj")
        let lines = try String(contentsOf: folder.appendingPathComponent("Localizable.strings"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
        #expect(lines.count == ChatWord.allCases.count)
        for word in ChatWord.allCases {
            let line = lines.first { $0.hasPrefix("\"\(word.rawValue)\" = \"") }
            #expect(line?.hasSuffix("\";") == true, "\(word)")
        }
    }

    @Test("MOD-2: an end of the same day is a time, and another one has its date")
    func restrictions() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        calendar.locale = Locale(identifier: "en_GB")
        let now = WallTime(milliseconds: 1_700_000_000_000)
        func text(_ kind: Restriction.Kind, after milliseconds: Int64) -> String {
            let until = WallTime(milliseconds: now.milliseconds + milliseconds)
            return RestrictionWords.text(of: Restriction(kind, until: until), now: now, calendar: calendar)
        }
        #expect(text(.mute, after: 600_000) == "You cannot write in this chat until 22:23.")
        #expect(text(.freeze, after: 600_000) == "Nobody can write in this chat until 22:23.")
        #expect(text(.ban, after: 86_400_000).hasPrefix("You were banned from this chat until 15 Nov 2023"))
        #expect(!RestrictionWords.text(of: Restriction(.mute, until: WallTime(milliseconds: .max)), now: now).isEmpty)
    }

    @Test("no text tells a user of codes, tokens or milliseconds")
    func plain() {
        for word in ChatWord.allCases {
            #expect(!word.text.isEmpty)
            for term in ["token", "seq", "session", "error", "code", "server"] {
                #expect(!word.text.lowercased().contains(term), "\(word)")
            }
        }
    }

    @Test(
        "CHAT-4: the name over a message is the same as in every chat",
        arguments: try Vectors.cases("senders/names.json"))
    @MainActor
    func names(_ vector: VectorCase) {
        let model = ChatModel()
        for peer in SenderVectors.here(vector) { model.handle(.connectionCreated(peer)) }
        for peer in SenderVectors.crowd(vector) {
            model.handle(.connectionCreated(peer))
            model.handle(.connectionDestroyed(peer))
        }
        for peer in SenderVectors.left(vector) { model.handle(.connectionDestroyed(peer)) }
        for signal in SenderVectors.signals(vector) { model.handle(.signal(signal)) }
        let shown = SenderVectors.shown(vector).map { $0 == "Server" ? "System" : $0 }
        #expect(model.rows.compactMap { $0.message.map { model.sender(of: $0.message) } } == shown)
    }

    @Test("CHAT-4: a view is told when a name that it shows turns out to be another's")
    @MainActor
    func nameOfAnother() async {
        let (model, start) = (ChatModel(), WallTime(milliseconds: 0))
        let eve = Connection(connectionId: ConnectionID("eve"), creationTime: start, data: "")
        model.handle(
            .signal(Signal(type: "text-chat", data: #"{"text":"hi","sender":{"alias":"Ada"}}"#, from: eve, seq: Seq(1)))
        )
        var shown: [String] { model.rows.compactMap { $0.message.map { model.sender(of: $0.message) } } }
        #expect(shown == ["Ada"])
        await withCheckedContinuation { told in
            withObservationTracking {
                _ = shown
            } onChange: {
                told.resume()
            }
            model.handle(
                .connectionCreated(Connection(connectionId: ConnectionID("ada"), creationTime: start, data: "Ada")))
        }
        #expect(shown.count == 1 && shown[0].hasPrefix("Guest "))
    }

    @Test("a reader sees, and hears, who wrote a message and what became of it")
    func messages() {
        var message = ChatMessage(text: "Hi", senderID: "b", senderAlias: "Bob")
        let names = NameBook()
        #expect(MessageWords.spoken(message, in: names, time: "10:03") == "Bob, Hi, 10:03")
        message.direction = .sent
        message.state = .failed(.error(SignalingError(.permissionDenied, "")))
        #expect(
            MessageWords.spoken(message, in: names, time: nil) == "You, Hi, Not sent: you cannot write in this chat.")
        let states: [(ChatMessage.State, ChatWord?)] = [
            (.sent, nil), (.sending, .sending), (.failed(.interrupted), .perhapsSent), (.failed(.notSaved), .notSaved),
            (.failed(.cancelled), .failed), (.failed(.error(SignalingError(.notConnected, ""))), .perhapsSent),
            (.failed(.error(SignalingError(.rateLimited, ""))), .failed),
        ]
        for (state, word) in states {
            message.state = state
            #expect(MessageWords.state(of: message) == word)
        }
    }
}

@Suite("How a chat keeps its connection")
struct ConnectPlanTests {
    @Test("it tries again after waits that double up to 30 s, and begins anew after a success")
    func backsOff() {
        var plan = ConnectPlan()
        let error = SignalingError(.connectFailed, "")
        let waits = (0..<7).map { _ in plan.failed(error) }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30].map { .tryAgain(after: .seconds($0)) })
        #expect(plan.status == .unreachable)
        plan.begin()
        #expect(plan.status == .unreachable, "the sentence stays while it tries")
        plan.connected()
        #expect(plan.ended(.networkDisconnected) == .tryAgain(after: .seconds(1)))
    }

    @Test("it stops where only the user can change something")
    func stops() {
        for (code, status) in [
            (SignalingError.Code.authenticationError, ChatStatus.refused), (.invalidSession, .wrongChat),
            (.invalidParameter, .refused),
        ] {
            var plan = ConnectPlan()
            #expect(plan.failed(SignalingError(code, "")) == .stop)
            #expect(plan.status == status)
        }
        var plan = ConnectPlan()
        #expect(plan.ended(.forceDisconnected) == .stop)
        #expect(plan.status.sentence == .removed)
        plan = ConnectPlan()
        #expect(plan.ended(.clientDisconnected) == .stop)
        #expect(plan.failed(nil) == .tryAgain(after: .seconds(1)), "the program could not get a token")
        plan = ConnectPlan()
        #expect(plan.failed(SignalingError(.connectionLimitExceeded, "")) == .tryAgain(after: .seconds(1)))
        #expect(plan.status == .full)
    }
}
