import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("Rows and dividers")
struct GroupingTests {
    @Test("messages become rows", arguments: try Vectors.cases("grouping/opentok.json"))
    func rows(_ vector: VectorCase) throws {
        let messages = try #require(vector["messages"]?.arrayValue).map(message)
        let expected = try #require(vector["rows"]?.arrayValue).compactMap(\.stringValue)
        let rows = MessageGrouping.rows(of: messages)
        #expect(rows.map(kind) == expected)
        #expect(rows.compactMap(\.message) == messages)
    }

    @Test("dates at the ends of time neither trap nor group wrongly")
    func extremes() {
        let dates: [Int64] = [.min, .max, .min]
        let messages = dates.map {
            ChatMessage(text: "hi", senderID: "a", sentAt: WallTime(milliseconds: $0), direction: .received)
        }
        #expect(
            MessageGrouping.rows(of: messages).map(kind)
                == ["received", "divider", "received", "receivedShort", "divider"])
    }

    private func message(_ value: JSONValue) throws -> ChatMessage {
        ChatMessage(
            text: try #require(value["text"]?.stringValue), senderID: value["senderId"]?.stringValue,
            senderAlias: value["alias"]?.stringValue,
            sentAt: WallTime(milliseconds: try #require(value["sentAt"]?.integerValue)),
            direction: try #require(value["kind"]?.stringValue.flatMap(ChatMessage.Direction.init(rawValue:))))
    }

    private func kind(_ row: ChatRow) -> String {
        switch row {
        case .sent: "sent"
        case .sentShort: "sentShort"
        case .received: "received"
        case .receivedShort: "receivedShort"
        case .divider: "divider"
        }
    }
}
