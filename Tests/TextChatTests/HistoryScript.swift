import Foundation
import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatFoundation

/// Runs one case of the vectors in `history`: a component on a channel whose history the script gives.
@MainActor
final class HistoryScript {
    private let chat: TextChatComponent
    private let channel = PagingChannel()
    private var shown: [TimelineRow] = []
    private var received: [String] = []
    private var now = WallTime(milliseconds: 0)

    init(_ vector: VectorCase) throws {
        let zone = try vector["timeZone"]?.stringValue.map { try #require(TimeZone(identifier: $0)) }
        chat = TextChatComponent(
            timeline: ChatTimeline(
                calendar: zone.map { ReaderCalendar(timeZone: $0) },
                limit: vector["limit"]?.integerValue.map { Int($0) } ?? 10_000),
            wireForm: vector["wireForm"]?.stringValue.flatMap(ChatWireForm.init(rawValue:)) ?? .json)
        chat.isVisible = true
        chat.channel = channel
    }

    /// Runs the steps and compares what each step names.
    func run(_ vector: VectorCase) async throws {
        let following = Task { [updates = chat.updateStream()] in
            for await update in updates {
                if case .rows(let rows) = update { shown = rows }
                if case .changes(let changes) = update { shown.apply(changes) }
            }
        }
        defer { following.cancel() }
        chat.onActivity = { [unowned self] activity in
            if case .messageReceived = activity, let last = self.lastSignal { self.received.append(last) }
        }
        for step in vector["steps"]?.arrayValue ?? [] {
            channel.asks = []
            received = []
            now = Self.time(step["at"]) ?? Self.time(ofSeq: step["seq"]?.integerValue ?? 0)
            try perform(step)
            for _ in 0..<30 { await Task.yield() }
            try compare(step)
        }
    }

    private func compare(_ step: JSONValue) throws {
        func expect(_ name: String, _ found: JSONValue, orElse standard: JSONValue? = nil) {
            guard let expected = step[name] ?? standard else { return }
            #expect(found == expected, "\(name): \(step)")
        }
        expect("asks", .array(channel.asks.map { .string($0) }), orElse: .array([]))
        expect("rows", .array(chat.rows.map { .string(Self.line($0)) }))
        expect("earlier", chat.hasEarlier.map { .bool($0) } ?? .null)
        expect("loading", .bool(chat.isLoadingEarlier))
        expect("unread", .integer(Int64(chat.unreadCount)))
        expect("error", chat.historyError.map { .integer(Int64($0.code.number)) } ?? .null)
        expect("received", .array(received.map { .string($0) }))
        #expect(shown == chat.rows, "the changes lead to the rows: \(step)")
    }

    private var lastSignal: String?

    private func perform(_ step: JSONValue) throws {
        switch step["do"]?.stringValue {
        case "connected":
            enter(step)
            handle(.connected(ConnectionID(step["id"]?.stringValue ?? "")))
        case "reconnecting": handle(.reconnecting)
        case "lost": handle(.lost)
        case "reconnected":
            enter(step)
            handle(.reconnected)
        case "disconnected":
            handle(.disconnected)
            channel.id = nil
        case "signal":
            lastSignal = step["text"]?.stringValue
            handle(.signal(Self.signal(step)))
        case "page": try channel.answer(.success(Self.page(step["page"] ?? .null)))
        case "fail":
            let code = SignalingError.Code(number: Int(step["code"]?.integerValue ?? 500), name: "busy")
            try channel.answer(.failure(SignalingError(code, "no")))
        case "history": handle(.history(Self.page(step["page"] ?? .null)))
        case "erased":
            let erasure =
                step["through"]?.integerValue.map { Erasure.through(Seq($0)) }
                ?? step["user"]?.stringValue.map { .user(UserID($0)) }
            handle(
                .erased(
                    erasure ?? .message(Seq(step["ref"]?.integerValue ?? 0)),
                    seq: step["before"]?.integerValue.map { Seq($0) }))
        case "loadEarlier": chat.loadEarlier()
        case "visible": chat.isVisible = step["value"]?.boolValue == true
        case "senderId": chat.setSenderId(step["id"]?.stringValue, alias: nil)
        case "send":
            chat.edit(step["text"]?.stringValue ?? "")
            #expect(chat.enqueue(now: now, localID: LocalID(step["localId"]?.stringValue ?? "")) == nil)
        case "refuse": try channel.refuseSend()
        case "restore":
            let own = step["own"]?.arrayValue?.compactMap(\.stringValue).map { ConnectionID($0) } ?? []
            chat.restore(messages: [], draft: "", ownConnectionIDs: own, now: now)
        default: throw BadVector(what: "\(step)")
        }
    }

    private func enter(_ step: JSONValue) {
        if let id = step["id"]?.stringValue { channel.id = ConnectionID(id) }
        if let user = step["user"]?.stringValue { channel.userID = UserID(user) }
        if let epoch = step["epoch"]?.stringValue { channel.order = Epoch(rawValue: epoch) }
        if let history = step["history"]?.boolValue { channel.keepsHistory = history }
    }

    private func handle(_ event: SignalChannelEvent) { chat.handle(event, now: now) }

    private static func time(_ value: JSONValue?) -> WallTime? {
        value?.integerValue.map { WallTime(milliseconds: $0) }
    }

    /// The time of a kept message that names none.
    private static func time(ofSeq seq: Int64) -> WallTime { WallTime(milliseconds: 1_700_000_000_000 + seq * 1000) }

    private static func signal(_ value: JSONValue) -> Signal {
        let type = value["type"]?.stringValue ?? "text-chat"
        var data = JSONObject()
        for name in ["text", "localId", "sentOn"] { data[name] = value[name] }
        return Signal(
            type: type, data: type == "TextChat" ? value["text"]?.stringValue : JSONValue.object(data).encodedText(),
            from: value["from"]?.stringValue.map { connection($0, user: value["user"]?.stringValue) },
            seq: value["seq"]?.integerValue.map { Seq($0) })
    }

    private static func page(_ value: JSONValue) -> HistoryPage {
        let messages = (value["messages"]?.arrayValue ?? []).map { value -> HistoryMessage in
            let signal = signal(value)
            let seq = value["seq"]?.integerValue ?? 0
            return HistoryMessage(
                seq: Seq(seq), from: signal.from, time: time(value["time"]) ?? time(ofSeq: seq),
                content: value["erased"]?.boolValue == true
                    ? .erased : .signal(type: signal.type, data: signal.data, isJSON: false))
        }
        var range: ClosedRange<Seq>?
        if let first = value["first"]?.integerValue, let last = value["last"]?.integerValue {
            range = Seq(first)...Seq(last)
        }
        return HistoryPage(range: range, more: value["more"]?.boolValue == true, messages: messages)
    }

    /// A row as these vectors write it: without groups.
    static func line(_ row: TimelineRow) -> String {
        switch row.content {
        case .message(let row):
            let state =
                switch row.message.state {
                case .sending: "sending"
                case .sent: row.message.direction.rawValue
                case .failed: "failed"
                }
            return "\(row.message.text) \(state)"
        case .day, .gap, .unreadDivider, .beginning: return TextChatTests.line(row)
        }
    }
}

/// A channel that holds each request until the script answers it. Used on the main actor only.
final class PagingChannel: SignalChannel {
    nonisolated(unsafe) var id: ConnectionID?
    nonisolated(unsafe) var userID: UserID?
    nonisolated(unsafe) var order: Epoch?
    nonisolated(unsafe) var keepsHistory = false
    nonisolated(unsafe) var asks: [String] = []
    nonisolated(unsafe) private var pages: [CheckedContinuation<Result<HistoryPage, SignalingError>, Never>] = []
    nonisolated(unsafe) private var sends: [CheckedContinuation<Result<Seq?, SignalingError>, Never>] = []

    var connectionId: ConnectionID? { id }
    var user: UserID? { userID }
    var epoch: Epoch? { order }
    var hasHistory: Bool { keepsHistory }

    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        try await withCheckedContinuation { sends.append($0) }.get()
    }

    func history(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage {
        let position =
            switch request.position {
            case .newest: "newest"
            case .before(let seq): "before \(seq.rawValue)"
            case .after(let seq): "after \(seq.rawValue)"
            case .changedAfter(let seq): "changed after \(seq.rawValue)"
            }
        asks.append("\(position), \(request.limit)")
        return try await withCheckedContinuation { pages.append($0) }.get()
    }

    /// Answers the request that has waited longest.
    func answer(_ answer: Result<HistoryPage, SignalingError>) throws {
        guard !pages.isEmpty else { throw BadVector(what: "an answer without a request") }
        pages.removeFirst().resume(returning: answer)
    }

    func refuseSend() throws {
        guard !sends.isEmpty else { throw BadVector(what: "an answer without a send") }
        sends.removeFirst().resume(returning: .failure(loss))
    }
}
