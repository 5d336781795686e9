import JSONText
import SignalingProtocol

/// What the cases of `senders/names.json` describe.
public enum SenderVectors {
    /// Those who are here before the others, and those of them who leave.
    public static func here(_ vector: VectorCase) -> [Connection] {
        (vector["here"]?.arrayValue ?? []).compactMap { connection($0, "id") }
    }

    public static func left(_ vector: VectorCase) -> [Connection] {
        let ids = (vector["left"]?.arrayValue ?? []).compactMap(\.stringValue)
        return here(vector).filter { ids.contains($0.connectionId.rawValue) }
    }

    private static func connection(_ value: JSONValue, _ id: String) -> Connection? {
        value[id]?.stringValue.map {
            Connection(
                connectionId: ConnectionID($0), creationTime: WallTime(milliseconds: 0),
                data: value["data"]?.stringValue ?? "", user: value["user"]?.stringValue.map { UserID($0) })
        }
    }

    /// Those who join and leave after the others.
    public static func crowd(_ vector: VectorCase) -> [Connection] {
        (0..<(vector["crowd"]?.integerValue ?? 0)).map {
            Connection(connectionId: ConnectionID("c\($0)"), creationTime: WallTime(milliseconds: 0), data: "n\($0)")
        }
    }

    /// The messages as they arrive.
    public static func signals(_ vector: VectorCase) -> [Signal] {
        (vector["messages"]?.arrayValue ?? []).map { value in
            var sender = JSONObject()
            sender["id"] = (value["senderId"] ?? value["from"])?.stringValue.map { .string($0) }
            sender["alias"] = value["alias"]?.stringValue.map { .string($0) }
            var members = JSONObject()
            members.append("text", .string("hi"))
            members.append("sender", .object(sender))
            return Signal(
                type: "text-chat", data: JSONValue.object(members).encodedText(), from: connection(value, "from"),
                seq: value["seq"]?.integerValue.map { Seq($0) })
        }
    }

    /// The numbers beside the names.
    public static func numbers(_ vector: VectorCase) -> [Int?] {
        (vector["numbers"]?.arrayValue).map { $0.map { $0.integerValue.map(Int.init) } }
            ?? shown(vector).map { _ in nil }
    }

    public static func shown(_ vector: VectorCase) -> [String] {
        (vector["shown"]?.arrayValue ?? []).compactMap(\.stringValue)
    }
}
