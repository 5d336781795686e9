import Foundation
import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatFoundation

/// A case of `Tests/Vectors/timeline`: steps on a timeline, and the rows that are there afterwards.
struct TimelineScript {
    var timeline: ChatTimeline
    /// The rows of a list that gets only the changes.
    var shown: [TimelineRow] = []

    init(_ vector: VectorCase) throws {
        let zone = try vector["timeZone"]?.stringValue.map { try #require(TimeZone(identifier: $0)) }
        timeline = ChatTimeline(
            rule: vector["rule"]?.stringValue == "openTok" ? .openTok : .standard,
            calendar: zone.map { ReaderCalendar(timeZone: $0) },
            limit: vector["limit"]?.integerValue.map { Int($0) } ?? 10_000)
        timeline.isVisible = true
    }

    mutating func run(_ step: JSONValue) throws {
        let now = WallTime(milliseconds: step["at"]?.integerValue ?? 0)
        let localID = step["localId"]?.stringValue.map { LocalID($0) }
        let name = localID ?? LocalID("")
        let seq = step["seq"]?.integerValue.map { Seq($0) }
        let changes: [TimelineChange]
        switch step["do"]?.stringValue {
        case "append": changes = timeline.appendPending(message(step), now: now)
        case "insert": changes = timeline.insert(message(step), now: now)
        case "confirm": changes = timeline.confirm(name, seq: seq)
        case "fail": changes = timeline.fail(name, .error(SignalingError(.notConnected, "lost")))
        case "retry": changes = timeline.retry(name)
        case "discard": changes = timeline.discard(name)
        case "gap": changes = timeline.noteGap()
        case "era":
            timeline.startEra()
            changes = []
        case "visible":
            timeline.isVisible = step["value"]?.boolValue == true
            changes = []
        case "read":
            let text = step["upTo"]?.stringValue
            let id = text.flatMap { text in timeline.rows.last { $0.message?.message.text == text }?.id }
            #expect(text == nil || id != nil)
            changes = timeline.markRead(upTo: id)
        case "restore":
            let messages = try #require(step["messages"]?.arrayValue).map(message)
            changes = timeline.restore(messages, now: now)
        case let other:
            Issue.record("no such step: \(other ?? "none")")
            changes = []
        }
        shown.apply(changes)
    }

    func message(_ value: JSONValue) -> ChatMessage {
        let state: ChatMessage.State =
            switch value["state"]?.stringValue {
            case "sending": .sending
            case "failed": .failed(.interrupted)
            default: .sent
            }
        return ChatMessage(
            text: value["text"]?.stringValue ?? "x", senderID: value["senderId"]?.stringValue,
            senderUser: value["user"]?.stringValue.map { UserID($0) },
            sentAt: value["sentAt"]?.integerValue.map { WallTime(milliseconds: $0) },
            receivedAt: value["receivedAt"]?.integerValue.map { WallTime(milliseconds: $0) },
            localID: value["localId"]?.stringValue.map { LocalID($0) },
            seq: value["seq"]?.integerValue.map { Seq($0) },
            direction: value["kind"]?.stringValue.flatMap(ChatMessage.Direction.init) ?? .received, state: state)
    }
}

/// A row in a line, as the vectors write it.
func line(_ row: TimelineRow) -> String { line(row.content) }

func line(_ content: TimelineRow.Content) -> String {
    switch content {
    case .day(let day): return "day \(day)"
    case .unreadDivider: return "unread"
    case .gap: return "gap"
    case .beginning: return "beginning"
    case .message(let row):
        let state =
            switch row.message.state {
            case .sending: "sending"
            case .sent: row.message.direction == .sent ? "sent" : "received"
            case .failed: "failed"
            }
        return "\(row.message.text) \(state) \(row.position)"
            + (row.showsSender ? " name" : "") + (row.showsTime ? " time" : "")
    }
}
