import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("Groups")
struct GroupingTests {
    @Test("messages become rows", arguments: try Vectors.folder("grouping"))
    func rows(_ vector: VectorCase) throws {
        let isOpenTok = vector["rule"]?.stringValue == "openTok"
        var timeline = ChatTimeline(rule: isOpenTok ? .openTok : .standard)
        timeline.isVisible = true
        for value in try #require(vector["messages"]?.arrayValue) {
            let message = try message(value)
            let now = message.receivedAt ?? WallTime(milliseconds: 0)
            if message.state == .sent {
                _ = timeline.insert(message, now: now)
            } else {
                _ = timeline.appendPending(message, now: now)
            }
        }
        let expected = try #require(vector["rows"]?.arrayValue).compactMap(\.stringValue)
        #expect((isOpenTok ? OpenTokRow.rows(of: timeline.rows).map(kind) : timeline.rows.map(line)) == expected)
    }

    @Test("dates at the limits of time neither trap nor group wrongly", arguments: [GroupingRule.openTok, .standard])
    func extremes(_ rule: GroupingRule) {
        var timeline = ChatTimeline(rule: rule)
        for date in [Int64.min, .max, .min].map(WallTime.init(milliseconds:)) {
            _ = timeline.insert(ChatMessage(text: "hi", senderID: "a", sentAt: date, receivedAt: date), now: date)
        }
        #expect(timeline.rows.compactMap { $0.message?.position } == [.single, .first, .last])
    }

    private func message(_ value: JSONValue) throws -> ChatMessage {
        let state: ChatMessage.State =
            switch value["state"]?.stringValue {
            case "sending": .sending
            case "failed": .failed(.interrupted)
            default: .sent
            }
        return ChatMessage(
            text: try #require(value["text"]?.stringValue), senderID: value["senderId"]?.stringValue,
            senderUser: value["user"]?.stringValue.map { UserID($0) }, senderAlias: value["alias"]?.stringValue,
            sentAt: WallTime(milliseconds: try #require(value["sentAt"]?.integerValue)),
            receivedAt: value["at"]?.integerValue.map { WallTime(milliseconds: $0) },
            localID: value["localId"]?.stringValue.map { LocalID($0) },
            direction: try #require(value["kind"]?.stringValue.flatMap(ChatMessage.Direction.init(rawValue:))),
            state: state)
    }

    private func kind(_ row: OpenTokRow) -> String {
        switch row {
        case .sent: "sent"
        case .sentShort: "sentShort"
        case .received: "received"
        case .receivedShort: "receivedShort"
        case .divider: "divider"
        }
    }
}
