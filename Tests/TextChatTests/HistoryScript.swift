import Foundation
import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatFoundation
import TextChatTesting

/// Runs one case of the vectors in `history` or in a folder of `chat`: a component on a channel whose history the script gives.
@MainActor
final class HistoryScript {
    let chat: TextChatComponent
    let channel = PagingChannel()
    let isOfChanges: Bool
    /// The calls that have ended in this step.
    var outcomes: [String] = []
    private var shown: [TimelineRow] = []
    private var received: [String] = []
    /// What is not as the step expects.
    private var differences: [String] = []
    /// The rows that were told as updated in this step.
    private(set) var updated: [TimelineRow] = []
    /// The clock of read markers.
    var clock = ManualClock()
    private var now = WallTime(milliseconds: 0)

    init(_ vector: VectorCase, isOfChanges: Bool = false) throws {
        self.isOfChanges = isOfChanges
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
                guard case .changes(let changes) = update else { continue }
                shown.apply(changes)
                updated += changes.compactMap { if case .update(let row, _) = $0 { row } else { nil } }
            }
        }
        defer { following.cancel() }
        chat.onActivity = { [unowned self] activity in
            if case .messageReceived = activity, let last = self.lastSignal { self.received.append(last) }
        }
        if isOfChanges { chat.typing.start(now: { [unowned self] in clock.instant }) }
        for step in vector["steps"]?.arrayValue ?? [] {
            channel.asks = []
            channel.requests = []
            received = []
            outcomes = []
            updated = []
            now = Self.time(step["at"]) ?? Self.time(ofSeq: step["seq"]?.integerValue ?? 0)
            if step["do"]?.stringValue == "wait" { await wait(step) } else { try perform(step) }
            for _ in 0..<30 { await Task.yield() }
            // Streams and tasks of the component may be behind on a busy machine.
            let deadline = ContinuousClock.now.advanced(by: .seconds(10))
            repeat {
                differences = []
                compare(step)
                if differences.isEmpty { break }
                await Task.yield()
            } while ContinuousClock.now < deadline
            for difference in differences { Issue.record("\(difference): \(step)") }
        }
    }

    private func compare(_ step: JSONValue) {
        if isOfChanges {
            compareChanges(step)
            compareReactions(step)
        }
        func expect(_ name: String, _ found: JSONValue, orElse standard: JSONValue? = nil) {
            self.expect(step, name, found, orElse: standard)
        }
        expect("asks", .array(channel.asks.map { .string($0) }), orElse: .array([]))
        expect("rows", .array(chat.rows.map { .string(isOfChanges ? Self.changeLine($0) : Self.line($0)) }))
        expect("earlier", chat.hasEarlier.map { .bool($0) } ?? .null)
        expect("loading", .bool(chat.isLoadingEarlier))
        expect("unread", .integer(Int64(chat.unreadCount)))
        expect("error", chat.historyError.map { .integer(Int64($0.code.number)) } ?? .null)
        expect("received", .array(received.map { .string($0) }))
        if shown != chat.rows { differences.append("the changes do not lead to the rows") }
    }

    func expect(_ step: JSONValue, _ name: String, _ found: JSONValue, orElse standard: JSONValue? = nil) {
        guard let expected = step[name] ?? standard else { return }
        if found != expected { differences.append("\(name) \(found)") }
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
        case "refuse": try channel.answerSend(.failure(loss))
        case "acknowledge": try channel.answerSend(.success(Self.seq(step["seq"])))
        case "restore":
            let own = step["own"]?.arrayValue?.compactMap(\.stringValue).map { ConnectionID($0) } ?? []
            chat.restore(messages: [], draft: "", ownConnectionIDs: own, now: now)
        default: try performChange(step, now: now)
        }
    }

    private func enter(_ step: JSONValue) {
        if let id = step["id"]?.stringValue { channel.id = ConnectionID(id) }
        if let user = step["user"] { channel.userID = user.stringValue.map { UserID($0) } }
        if let read = step["read"] { channel.readState = Self.readState(read) }
        if let epoch = step["epoch"]?.stringValue { channel.order = Epoch(rawValue: epoch) }
        if let history = step["history"]?.boolValue { channel.keepsHistory = history }
        if let changes = step["changes"] {
            channel.changes = changes.arrayValue?.compactMap { $0.stringValue.flatMap(ChangeKind.init(rawValue:)) }
        }
    }

    static func seq(_ value: JSONValue?) -> Seq? { value?.integerValue.map { Seq($0) } }

    func handle(_ event: SignalChannelEvent) { chat.handle(event, now: now) }

    static func time(_ value: JSONValue?) -> WallTime? {
        value?.integerValue.map { WallTime(milliseconds: $0) }
    }

    /// The time of a kept message that names none.
    static func time(ofSeq seq: Int64) -> WallTime { WallTime(milliseconds: 1_700_000_000_000 + seq * 1000) }

    private static func signal(_ value: JSONValue) -> Signal {
        let type = value["type"]?.stringValue ?? "text-chat"
        return Signal(
            type: type, data: type == "TextChat" && value["data"] == nil ? value["text"]?.stringValue : data(value),
            from: value["from"]?.stringValue.map {
                connection($0, data: value["name"]?.stringValue ?? "", user: value["user"]?.stringValue)
            },
            seq: value["seq"]?.integerValue.map { Seq($0) })
    }

    /// The data of a message in JSON, unless the step has it itself.
    static func data(_ value: JSONValue) -> String {
        if let data = value["data"]?.stringValue { return data }
        var data = JSONObject()
        for name in ["text", "localId", "sentOn", "re"] { data[name] = value[name] }
        if let alias = value["alias"] { data["sender"] = ["alias": alias] }
        return JSONValue.object(data).encodedText()
    }

    private static func page(_ value: JSONValue) -> HistoryPage {
        let messages = (value["messages"]?.arrayValue ?? []).map { value -> HistoryMessage in
            let signal = signal(value)
            let seq = value["seq"]?.integerValue ?? 0
            return HistoryMessage(
                seq: Seq(seq), from: signal.from, time: time(value["time"]) ?? time(ofSeq: seq),
                content: value["erased"]?.boolValue == true
                    ? .erased : .signal(type: signal.type, data: signal.data, isJSON: false),
                edit: Self.seq(value["changed"]).map {
                    .init(seq: $0, time: time(value["edited"]) ?? time(ofSeq: $0.rawValue))
                },
                reactions: Self.seq(value["reacted"]).map { .init(Self.counts(value["reactions"]), seq: $0) })
        }
        var range: ClosedRange<Seq>?
        if let first = value["first"]?.integerValue, let last = value["last"]?.integerValue {
            range = Seq(first)...Seq(last)
        }
        return HistoryPage(
            range: range, more: value["more"]?.boolValue == true, messages: messages,
            changes: seq(value["changedThrough"]).map { .init(through: $0, isAll: value["all"]?.boolValue == true) },
            mine: (value["mine"]?.arrayValue ?? []).map(Self.own))
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
