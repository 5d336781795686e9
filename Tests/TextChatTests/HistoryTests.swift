import SignalingProtocol
import TestSupport
import Testing

@testable import TextChat

@Suite("CHAT: the vectors of the history, which JavaScript reads, too", .timeLimit(.minutes(5)))
@MainActor
struct HistoryVectorTests {
    @Test("a component reads its session's history", arguments: try Vectors.folder("history"))
    func script(_ vector: VectorCase) async throws { try await HistoryScript(vector).run(vector) }
}

/// Random histories of loss, reload and paging. They run without an actor, so that each seed gives the same history.
@Suite("CHAT-10: random histories")
struct HistoryPropertyTests {
    @Test("CHAT-10: after any losses, reloads and pages each message is there once and in order")
    func onceAndInOrder() {
        for seed in 0..<10_000 as Range<UInt64> where !holds(HistoryWorld(seed: seed), seed) { return }
    }

    @Test("CHG-8, CHG-10: where messages and orders change meanwhile, each is shown in its present form")
    func inPresentForm() {
        for seed in 0..<10_000 as Range<UInt64> where !holds(HistoryWorld(seed: seed, changes: true), seed) { return }
    }

    private func holds(_ world: HistoryWorld, _ seed: UInt64) -> Bool {
        for _ in 0..<24 { world.step() }
        #expect(world.settle(), "seed \(seed)")
        #expect(world.shown == world.kept, "seed \(seed)")
        // What was lost with an order is in no history.
        #expect(world.epoch > 1 || world.chat.rows.allSatisfy { $0.content != .gap }, "seed \(seed)")
        #expect(world.chat.unreadCount == 0, "seed \(seed)")
        return world.shown == world.kept
    }
}

/// A server with one session, and a chat in it.
private final class HistoryWorld: TextChatDelegate {
    private(set) var chat = TextChatComponent()
    private let channel = PagingChannel()
    private var random: SeededGenerator
    private var lastSeq: Int64 = 0
    private var log: [HistoryMessage] = []
    private var lastConnection = 0
    private var lastText = 0
    private var own: [ConnectionID] = []
    /// Events that have not arrived yet.
    private var inbox: [SignalChannelEvent] = []
    /// What was asked for, and the page as it was then.
    private var errands: [(errand: HistoryReader.Errand, page: HistoryPage)] = []
    /// The messages that were changed, in the order of their last changes.
    private var changed: [(ref: Seq, seq: Seq)] = []
    /// Before it, more has changed than the server can tell.
    private var listedFrom = Seq(0)
    private let changes: Bool
    private(set) var epoch = 1

    /// So few that a history has many pages.
    private static let pageCount = 3
    private static let now = WallTime(milliseconds: 0)

    init(seed: UInt64, changes: Bool = false) {
        self.changes = changes
        random = SeededGenerator(seed: seed)
        channel.changes = changes ? [.edit, .erase] : nil
        channel.keepsHistory = true
        channel.order = Epoch(rawValue: "e")
        for _ in 0..<number(8) { say() }
        start()
    }

    var shown: [String] { chat.messages.map { "\($0.text) \($0.direction)" } }

    var kept: [String] {
        log.map { message in
            let isOwn = message.from.map { own.contains($0.connectionId) } ?? false
            return "\(ChatWireForm.message(from: message)?.text ?? "") \(isOwn ? "sent" : "received")"
        }
    }

    private func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    func step() {
        if changes, number(3) == 0 { change() }
        if changes, number(60) == 0 { beginOrder() }
        switch number(16) {
        case 0, 1, 2: say()
        case 3: write()
        case 4: lastSeq += 1
        case 5, 6, 7: deliver(1 + number(3))
        case 8, 9, 10: answerPage(isRefused: number(4) == 0)
        case 11: chat.loadEarlier()
        case 12: lose()
        case 13: resume(isAnother: number(2) == 0)
        case 14: comeAgain()
        default: if number(3) == 0 { start() }
        }
        askOn()
    }

    /// The network is quiet now, and the user reads up to the beginning. False: the chat does not stop reading.
    func settle() -> Bool {
        resume(isAnother: false)
        for _ in 0..<200 {
            deliver(inbox.count)
            askOn()
            if errands.isEmpty, !chat.loadEarlier() { return true }
            askOn()
            while !errands.isEmpty {
                answerPage(isRefused: false)
                askOn()
            }
        }
        return false
    }

    /// The component's part that waits for an answer.
    private func askOn() {
        guard let errand = chat.rules.nextPage(), errands.last?.errand != errand else { return }
        errands.append((errand, page(errand.request)))
    }

    /// The program starts again: it has the former connections, and nothing else.
    private func start() {
        errands = []
        chat = TextChatComponent()
        chat.delegate = self
        chat.isVisible = true
        chat.restore(messages: [], draft: "", ownConnectionIDs: own, now: Self.now)
        let connection = connect()
        chat.channel = channel
        handle(.connected(connection))
    }

    private func connect() -> ConnectionID {
        inbox = []
        lastConnection += 1
        let connection = ConnectionID("me \(lastConnection)")
        channel.id = connection
        own.append(connection)
        return connection
    }

    private func handle(_ event: SignalChannelEvent) { chat.handle(event, now: Self.now) }

    private func say() {
        lastText += 1
        accept(ChatMessage(text: String(lastText)), from: ConnectionID("bob"))
    }

    private func accept(_ message: ChatMessage, from sender: ConnectionID) {
        lastSeq += 1
        let request = ChatWireForm.json.signal(for: message)
        let from = connection(sender.rawValue, user: sender == ConnectionID("bob") ? "bob" : nil)
        inbox.append(.signal(Signal(type: request.type, data: request.data, from: from, seq: Seq(lastSeq))))
        log.append(
            HistoryMessage(
                seq: Seq(lastSeq), from: from, time: WallTime(milliseconds: lastSeq),
                content: .signal(type: request.type, data: request.data, isJSON: false)))
    }

    /// The user sends a message, which the session gets at once.
    private func write() {
        lastText += 1
        chat.edit("own \(lastText)")
        _ = chat.submit(now: Self.now, localID: LocalID(String(lastText)))
        // Nothing else tells that the session has a message that is erased later: it has no local ID any more.
        if changes { deliver(inbox.count) }
    }

    func onMessageReadyToSend(_ message: ChatMessage) -> Bool {
        if let connection = channel.id { accept(message, from: connection) }
        return true
    }

    private func deliver(_ count: Int) {
        let arrived = inbox.prefix(count)
        inbox.removeFirst(arrived.count)
        for event in arrived { handle(event) }
    }

    private func answerPage(isRefused: Bool) {
        guard !errands.isEmpty else { return }
        let (errand, page) = errands.remove(at: number(errands.count))
        // A page is true as of a moment between the request and the answer.
        let answer = number(2) == 0 ? page : self.page(errand.request)
        chat.answered(errand, isRefused ? .failure(refusal) : .success(answer))
    }

    /// A message is edited or erased, or all of Bob's are erased.
    private func change() {
        guard !log.isEmpty else { return }
        let index = number(log.count)
        guard case .signal(let type, _, _) = log[index].content else { return }
        lastSeq += 1
        let (ref, seq) = (log[index].seq, Seq(lastSeq))
        switch number(6) {
        case 0:
            erase(.user(UserID("bob")))
            listedFrom = seq
            return
        case 1, 2: erase(.message(ref))
        default:
            let data = ChatWireForm.json.signal(for: ChatMessage(text: "edited \(seq)")).data
            log[index].content = .signal(type: type, data: data, isJSON: false)
            log[index].edit = .init(seq: seq, time: WallTime(milliseconds: lastSeq))
            inbox.append(
                .changed(ChangeEvent(seq: seq, ref: ref, from: nil, change: .edit(data: data, isJSON: false))))
        }
        changed.removeAll { $0.ref == ref }
        changed.append((ref, seq))
    }

    private func erase(_ erasure: Erasure) {
        for index in log.indices where erasure.covers(log[index].seq, of: log[index].from?.user) {
            log[index].content = .erased
            log[index].edit = nil
        }
        inbox.append(.erased(erasure, seq: Seq(lastSeq)))
    }

    private func page(_ request: HistoryRequest) -> HistoryPage {
        var range: ClosedRange<Seq>?
        if let first = log.first, let last = log.last { range = first.seq...last.seq }
        switch request.position {
        case .newest: return HistoryPage(log.suffix(Self.pageCount), of: log, range)
        case .before(let seq):
            let found = log.filter { $0.seq < seq }
            return HistoryPage(found.suffix(Self.pageCount), of: found, range)
        case .after(let seq):
            let found = log.filter { $0.seq > seq }
            return HistoryPage(found.prefix(Self.pageCount), of: found, range)
        case .changedAfter(let seq):
            let isAll = seq < listedFrom
            let told = isAll ? [] : changed.filter { $0.seq > seq }
            let found = told.compactMap { change in log.first { $0.seq == change.ref } }
            var page = HistoryPage(found.prefix(Self.pageCount), of: found, range)
            page.changes = .init(
                through: page.more ? told[Self.pageCount - 1].seq : Seq(lastSeq), isAll: isAll)
            return page
        }
    }

    /// Another connection takes the place of this one, and the events up to it are lost.
    private func lose() {
        handle(.reconnecting)
        let connection = connect()
        handle(.lost)
        handle(number(2) == 0 ? .connected(connection) : .reconnected)
    }

    /// The server has lost its order, and perhaps the latest messages of others.
    private func beginOrder() {
        while number(3) == 0, log.last?.from?.user == UserID("bob") { log.removeLast() }
        epoch += 1
        channel.order = Epoch(rawValue: String(epoch))
        lastSeq += 1000
        // Nobody knows which erasures were lost.
        listedFrom = Seq(lastSeq)
        lose()
    }

    /// The events that were missed follow, to the same connection or to another.
    private func resume(isAnother: Bool) {
        handle(.reconnecting)
        guard isAnother else { return handle(.reconnected) }
        let missed = inbox
        let connection = connect()
        inbox = missed
        handle(.connected(connection))
    }

    /// The program connects again, and nobody says that events are missing.
    private func comeAgain() {
        handle(.disconnected)
        handle(.connected(connect()))
    }
}

extension HistoryPage {
    fileprivate init(_ messages: ArraySlice<HistoryMessage>, of found: [HistoryMessage], _ range: ClosedRange<Seq>?) {
        self.init(range: range, more: messages.count < found.count, messages: Array(messages))
    }
}
