import JSONText
import SignalingProtocol

/// The stored form: a line with the version and a checksum, and a JSON object.
extension OutboxContents {
    /// Why stored bytes cannot be used.
    struct Damage: Error, Equatable { let reason: String }

    /// More than 100 of the longest messages need.
    static let byteLimit = 8 * 1_048_576
    private static let title = "signalbox-outbox"
    private static let version = 1

    func encoded() -> [UInt8] {
        var members = JSONObject()
        members.append("room", .string(room))
        members["former"] = former.map { .object(Self.object($0)) }
        members.append("messages", .array(entries.map { .object(Self.object($0)) }))
        let body = JSONValue.object(members).encodedText()
        return Array("\(Self.title) \(Self.version) \(Self.checksum(Array(body.utf8)))\n\(body)".utf8)
    }

    init(decoding bytes: [UInt8]) throws(Damage) {
        guard bytes.count <= Self.byteLimit else { throw Damage(reason: "it is longer than an outbox can be") }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw Damage(reason: "it does not begin as an outbox does")
        }
        let head = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ").map(String.init)
        guard head.count == 3, head[0] == Self.title else {
            throw Damage(reason: "it does not begin as an outbox does")
        }
        guard head[1] == String(Self.version) else {
            throw Damage(reason: "it has version \(head[1]), and this program reads version \(Self.version)")
        }
        let body = Array(bytes[(end + 1)...])
        guard head[2] == Self.checksum(body) else { throw Damage(reason: "its checksum is wrong") }
        guard let value = try? JSONValue(parsing: String(decoding: body, as: UTF8.self)),
            let room = value["room"]?.stringValue, let messages = value["messages"]?.arrayValue
        else { throw Damage(reason: "its members are not those of an outbox") }
        var entries: [Entry] = []
        for message in messages {
            guard let entry = Self.entry(message) else { throw Damage(reason: "a message is incomplete") }
            entries.append(entry)
        }
        self.init(room: room, former: value["former"].flatMap(Self.claim), entries: entries)
    }

    // MARK: Members

    private static func object(_ claim: ConnectionClaim) -> JSONObject {
        var members = JSONObject()
        members.append("connectionId", .string(claim.connectionId.rawValue))
        members.append("secret", .string(claim.secret.rawValue))
        members.append("epoch", .string(claim.epoch.rawValue))
        members.append("seq", .integer(claim.seq.rawValue))
        return members
    }

    private static func claim(_ value: JSONValue) -> ConnectionClaim? {
        guard let connection = value["connectionId"]?.stringValue, let secret = value["secret"]?.stringValue,
            let epoch = value["epoch"]?.stringValue, let seq = value["seq"]?.integerValue
        else { return nil }
        return ConnectionClaim(
            connectionId: ConnectionID(connection), secret: ResumeSecret(rawValue: secret),
            epoch: Epoch(rawValue: epoch), seq: Seq(seq))
    }

    private static func object(_ entry: Entry) -> JSONObject {
        var members = JSONObject()
        members.append("localId", .string(entry.localID.rawValue))
        members.append("text", .string(entry.text))
        members["senderId"] = entry.senderID.map { .string($0) }
        members["alias"] = entry.senderAlias.map { .string($0) }
        members["sentOn"] = entry.sentAt.map { .integer($0.milliseconds) }
        members["re"] = entry.replyTo.map { .integer($0.rawValue) }
        switch entry.state {
        case .waiting: members.append("state", .string("waiting"))
        case .stopped: members.append("state", .string("stopped"))
        case .handedOver(let attempt):
            members.append("state", .string("handedOver"))
            members.append("connection", .string(attempt.connection.rawValue))
            members["epoch"] = attempt.epoch.map { .string($0.rawValue) }
            members.append("after", .integer(attempt.after.rawValue))
            members["oldest"] = attempt.oldest.map { .integer($0.rawValue) }
        }
        return members
    }

    private static func entry(_ value: JSONValue) -> Entry? {
        guard let localID = value["localId"]?.stringValue, let text = value["text"]?.stringValue,
            let state = value["state"]?.stringValue.flatMap({ self.state($0, value) })
        else { return nil }
        return Entry(
            localID: LocalID(rawValue: localID), text: text, senderID: value["senderId"]?.stringValue,
            senderAlias: value["alias"]?.stringValue,
            sentAt: value["sentOn"]?.integerValue.map { WallTime(milliseconds: $0) },
            replyTo: value["re"]?.integerValue.map { Seq($0) }, state: state)
    }

    private static func state(_ name: String, _ value: JSONValue) -> State? {
        switch name {
        case "waiting": return .waiting
        case "stopped": return .stopped
        case "handedOver":
            guard let connection = value["connection"]?.stringValue, let after = value["after"]?.integerValue else {
                return nil
            }
            return .handedOver(
                Attempt(
                    connection: ConnectionID(connection),
                    epoch: value["epoch"]?.stringValue.map { Epoch(rawValue: $0) },
                    after: Seq(after), oldest: value["oldest"]?.integerValue.map { Seq($0) }))
        default: return nil
        }
    }

    /// FNV-1a: it finds torn and mixed writes. Nobody is kept from forging it.
    private static func checksum(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Hexadecimal.text(hash)
    }
}
