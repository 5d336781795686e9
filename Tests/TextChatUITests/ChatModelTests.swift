import Foundation
import JSONText
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
        #expect((model.draft, model.notice, model.canSend) == ("four", .tooLarge, false))
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
        #expect(model.status.word == .reconnecting)
        channel.put(.reconnected)
        hear(model, channel)
        #expect(model.statusSentence == nil)
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
        #expect(model.restriction == "You cannot write: a moderator has muted you. Reason: Please stay on topic")
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
        #expect(plan.status.word == .banned)
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
        while model.unreadCount > 0, !Task.isCancelled { await Task.yield() }
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

    @Test("a day is named anew when it ends, also when the computer has slept meanwhile")
    func midnight() throws {
        let model = ChatModel(words: ChatWords(locale: Locale(identifier: "en"), timeZone: .gmt))
        let noon = WallTime(milliseconds: 1_700_049_600_000)
        let channel = connected(model)
        model.chat.handle(
            .signal(Signal(type: "text-chat", data: #"{"text":"hi"}"#, from: channel.connection, seq: Seq(1))),
            now: noon)
        let separator = try #require(model.chat.rows.first { if case .day = $0.content { true } else { false } })
        model.noteDay(noon)
        #expect(model.text(of: separator) == "Today")
        model.noteDay(WallTime(milliseconds: noon.milliseconds + 12 * 3_600_000))
        #expect(model.text(of: separator) == "Yesterday")
        model.noteDay(WallTime(milliseconds: noon.milliseconds + 72 * 3_600_000))
        #expect(model.text(of: separator) == "Wednesday, November 15, 2023")
    }

    @Test("a chat without a connection sends through its delegate, and says nothing of a connection")
    func delegate() {
        final class Program: TextChatDelegate {
            var sent: [String] = []
            func onMessageReadyToSend(_ message: ChatMessage) -> Bool {
                sent.append(message.text)
                return true
            }
        }
        let (component, program) = (TextChatComponent(), Program())
        component.delegate = program
        let model = ChatModel(ofDelegate: component)
        #expect((model.statusSentence, model.status.offersRetry, model.emptyNote) == (nil, false, nil))
        model.draft = "Hello"
        #expect(model.canSend)
        model.send()
        #expect((program.sent, texts(model), model.draft) == (["Hello"], ["Hello"], ""))
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
    private static let languages = ["ar", "de", "en", "es", "fr", "ja", "pt", "zh-Hans", "zh-Hant"]

    private func words(_ language: String, _ zone: String = "UTC", _ calendar: Calendar.Identifier? = nil) throws
        -> ChatWords
    {
        ChatWords(
            locale: Locale(identifier: language), calendar: calendar.map { Calendar(identifier: $0) },
            timeZone: try #require(TimeZone(identifier: zone)))
    }

    @Test("each language has each text of its own", arguments: languages)
    func complete(language: String) throws {
        let (words, english) = (try words(language), try words("en"))
        for word in ChatWord.allCases {
            let isOwn = words(word) != word.rawValue || (language == "en" && word == .edited)
            #expect(isOwn && !words(word).isEmpty, "\(word)")
        }
        #expect(language == "en" || words(.erased) != english(.erased))
        #expect(language == "en" || words(.today) != english(.today))
    }

    @Test(
        "the texts with plurals, numbers and names are those of the element",
        arguments: try Vectors.cases("view/words.json"))
    func vectors(_ vector: VectorCase) throws {
        let words = try words(try #require(vector["language"]?.stringValue))
        for (count, text) in try #require(vector["newMessages"]?.objectValue) {
            #expect(words(.newMessages, count: Int(count)) == text.stringValue)
        }
        for typing in try #require(vector["typing"]?.arrayValue) {
            let names = try #require(typing["names"]?.arrayValue).compactMap(\.stringValue)
            let phrase = TypingPhrase(names: names, count: typing["count"]?.integerValue.map(Int.init))
            #expect(words.sentence(of: phrase) == typing["text"]?.stringValue)
        }
    }

    @Test(
        "the language is that of the reader, with the script of the region, and English for any other",
        arguments: [
            ("de_AT", "Heute"), ("pt-BR", "Hoje"), ("zh_TW", "今天"), ("zh_HK", "今天"), ("nl_NL", "Today"), ("", "Today"),
        ])
    func language(_ locale: String, _ today: String) throws {
        #expect(try words(locale)(.today) == today)
        let isTraditional = locale == "zh_TW" || locale == "zh_HK"
        #expect(try !isTraditional || words(locale)(.send) == words("zh-Hant")(.send))
    }

    @Test("an app replaces texts, and a name in braces is no value")
    func own() {
        let words = ChatWords(
            locale: Locale(identifier: "nl"), own: [.send: "Stuur", .withReason: "{sentence} ({reason})"])
        #expect(words(.send) == "Stuur")
        #expect(words(.withReason, ["sentence": .text("S"), "reason": .name("{sentence}")]) == "S ({sentence})")
    }

    @Test(
        "a date has the names and the numbers of one calendar",
        arguments: [
            ("en_US", Calendar.Identifier?.none, "Sunday, March 29, 2026"), ("de_DE", nil, "Sonntag, 29. März 2026"),
            ("th_TH", .buddhist, "Sunday, March 29, 2569 BE"), ("en_US", .buddhist, "Sunday, March 29, 2569 BE"),
            ("en_US", .islamicUmmAlQura, "Sunday, Shawwal 10, 1447 AH"),
        ])
    func calendars(_ locale: String, _ calendar: Calendar.Identifier?, _ text: String) throws {
        let words = try words(locale, "Europe/Berlin", calendar)
        let (day, later) = (LocalDay(year: 2026, month: 3, day: 29), LocalDay(year: 2026, month: 4, day: 2))

        #expect(words.text(of: day, today: later) == text)
        #expect(words.text(of: day, today: day) == words(.today))
        #expect(words.text(of: day, today: LocalDay(year: 2026, month: 3, day: 30)) == words(.yesterday))
    }

    @Test("a day ends at the reader's midnight, on days of 23 and 25 hours, too; a long wait is cut")
    func days() throws {
        let clock = DayClock(timeZone: try #require(TimeZone(identifier: "Europe/Berlin")))
        // 29 March 2026, 23:50 in Berlin; the day had 23 hours.
        let late = WallTime(milliseconds: 1_774_821_000_000)
        #expect(clock.day(at: late) == LocalDay(year: 2026, month: 3, day: 29))
        #expect(clock.wait(at: late) == .milliseconds(600_001))
        #expect(clock.day(at: WallTime(milliseconds: late.milliseconds + 600_001)).day == 30)
        #expect(clock.wait(at: WallTime(milliseconds: late.milliseconds - 3_600_000)) == .seconds(900))
        for extreme in [Int64.min, .max] { #expect(clock.wait(at: WallTime(milliseconds: extreme)) <= .seconds(900)) }
    }

    @Test("MOD-2: an end of the same day is a time, and another one has its date")
    func restrictions() throws {
        let words = try words("en_GB")
        let now = WallTime(milliseconds: 1_700_000_000_000)
        func text(_ kind: Restriction.Kind, after milliseconds: Int64) -> String {
            let until = WallTime(milliseconds: now.milliseconds + milliseconds)
            return words.sentence(of: Restriction(kind, until: until), now: now)
        }
        #expect(text(.mute, after: 600_000) == "You cannot write until 22:23: a moderator has muted you.")
        #expect(text(.freeze, after: 600_000) == "Only moderators can write until 22:23.")
        #expect(text(.ban, after: 86_400_000).hasPrefix("You are banned from this chat until 15 Nov 2023"))
        #expect(!words.sentence(of: Restriction(.mute, until: WallTime(milliseconds: .max)), now: now).isEmpty)
    }

    @Test("a sentence about the connection names the server, and says that the chat tries again")
    func connection() throws {
        let words = try words("en")
        #expect(
            words.sentence(of: .unreachable, server: "chat.example.com")
                == "Cannot reach chat.example.com. Check your internet connection, and try again later. "
                + "The chat tries again by itself.")
        #expect(words.sentence(of: .expired, server: "") == "Your link has expired. Ask for a new one.")
        #expect(words.sentence(of: .connected, server: "") == nil)
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
        let shown = model.rows.compactMap { $0.message.map { model.sender(of: $0.message) } }
        #expect(shown == SenderVectors.shown(vector))
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
        let words = ChatWords(locale: Locale(identifier: "de_DE"), timeZone: .gmt)
        var message = ChatMessage(
            text: "Hi", senderID: "b", senderAlias: "Bob", receivedAt: WallTime(milliseconds: 1_700_000_000_000))
        let names = NameBook()
        #expect(words.spoken(message, in: names) == "Bob, Hi, 22:13")
        message.direction = .sent
        message.state = .failed(.error(SignalingError(.permissionDenied, "")))
        #expect(words.spoken(message, in: names).hasPrefix("Sie, Hi, 22:13, Nicht gesendet"))
        let states: [(ChatMessage.State, ChatWord?)] = [
            (.sent, nil), (.sending, .stateSending), (.failed(.interrupted), .failedLost),
            (.failed(.notSaved), .notSaved),
            (.failed(.cancelled), .stateFailed), (.failed(.error(SignalingError(.notConnected, ""))), .failedLost),
            (.failed(.error(SignalingError(.rateLimited, ""))), .failedTooFast),
            (.failed(.error(SignalingError(.notFound, ""))), .failedOther),
        ]
        for (state, word) in states {
            message.state = state
            #expect(ChatWords.state(of: message) == word)
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

    @MainActor
    @Test(
        "it waits for the user where only the user can change something, and tries again at once",
        .timeLimit(.minutes(1)))
    func triesAgain() async {
        let model = ChatModel()
        var steps = [(ChatStatus.refused, ConnectPlan.Step.stop), (.banned, .stop), (.removed, .stop)]
        let running = Task {
            await model.keepConnected(returns: AsyncStream { $0.finish() }) {
                let (status, step) = steps.removeFirst()
                model.show(status)
                model.plan.status = status
                return step
            }
        }
        for status in [ChatStatus.refused, .banned] {
            while !(model.pause.isWaiting && model.status == status), !Task.isCancelled { await Task.yield() }
            #expect(model.status.offersRetry)
            model.tryAgain()
        }
        await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
        #expect(steps.isEmpty && !model.status.offersRetry, "a user who was removed stays away")
    }

    @MainActor
    @Test(
        "a network that is back ends the wait, which else adds up to more than three minutes", .timeLimit(.minutes(1)))
    func networkIsBack() async {
        let model = ChatModel()
        let (returns, network) = AsyncStream.makeStream(of: Void.self)
        var count = 0
        let running = Task {
            await model.keepConnected(returns: returns) {
                count += 1
                return model.plan.failed(SignalingError(.connectFailed, ""))
            }
        }
        while count < 12, !Task.isCancelled {
            if model.pause.isWaiting { network.yield() }
            await Task.yield()
        }
        running.cancel()
        await running.value
        #expect(model.status == .unreachable)
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
        #expect(plan.status.word == .removed)
        plan = ConnectPlan()
        #expect(plan.ended(.clientDisconnected) == .stop)
        #expect(plan.failed(nil) == .tryAgain(after: .seconds(1)), "the program could not get a token")
        plan = ConnectPlan()
        #expect(plan.failed(SignalingError(.connectionLimitExceeded, "")) == .tryAgain(after: .seconds(1)))
        #expect(plan.status == .full)
    }
}
