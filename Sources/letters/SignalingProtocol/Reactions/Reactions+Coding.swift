import JSONText

extension ReactRequest {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let ref = try reader.namedSeq("ref") else { throw reader.error("name the message with \"ref\"") }
        guard let keys = try reader.strings("keys") else { throw reader.error("\"keys\" is missing") }
        self.init(ref, keys: keys)
    }

    func writeMembers(to writer: inout JSONWriter) { OwnReactions(ref: ref, keys: keys).writeMembers(to: &writer) }
}

extension ReactorsRequest {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let ref = try reader.namedSeq("ref") else { throw reader.error("name the message with \"ref\"") }
        self.init(ref, key: try reader.string("key"))
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("ref", ref.rawValue)
        if let key { writer.member("key", key) }
    }
}

extension ReactionCount {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(try reader.requiredString("key"), try reader.requiredCount("count"))
    }

    /// `,"reactions":[…],"reacted":…`: the end of a message in a page (CHG-13).
    ///
    /// - Parameter seq: of the event that told them.
    public static func encode(_ counts: [ReactionCount], reacted seq: Seq) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        write(counts, to: &writer)
        writer.member("reacted", seq.rawValue)
        return [UInt8(ascii: ",")] + writer.bytes.dropFirst()
    }

    static func write(_ counts: [ReactionCount], to writer: inout JSONWriter) {
        writer.name("reactions")
        writer.beginArray()
        for each in counts {
            writer.beginObject()
            writer.member("key", each.key)
            writer.member("count", each.count)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension MessageReader {
    func reactionCounts() throws(ClientMessageError) -> [ReactionCount] {
        try requiredObjects("reactions").map { (inner) throws(ClientMessageError) in try ReactionCount(inner) }
    }
}

extension ReactionsEvent {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            seq: try reader.requiredSeq("seq"), ref: try reader.requiredSeq("ref"),
            counts: try reader.reactionCounts())
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("ev", "reactions")
        writer.member("seq", seq.rawValue)
        writer.member("ref", ref.rawValue)
        ReactionCount.write(counts, to: &writer)
    }
}

extension OwnReactions {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(ref: try reader.requiredSeq("ref"), keys: try reader.strings("keys") ?? [])
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("ref", ref.rawValue)
        writer.name("keys")
        writer.beginArray()
        for key in keys { writer.value(key) }
        writer.endArray()
    }

    func writeEvent(_ seq: Seq, to writer: inout JSONWriter) {
        writer.member("ev", "reacted")
        writer.member("seq", seq.rawValue)
        writeMembers(to: &writer)
    }

    /// `,"mine":[…]`: the end of a page for a user (CHG-13). Nothing for an empty list.
    public static func encode(_ mine: [OwnReactions]) -> [UInt8] {
        if mine.isEmpty { return [] }
        var writer = JSONWriter()
        writer.beginObject()
        write(mine, to: &writer)
        return [UInt8(ascii: ",")] + writer.bytes.dropFirst()
    }

    static func write(_ mine: [OwnReactions], to writer: inout JSONWriter) {
        if mine.isEmpty { return }
        writer.name("mine")
        writer.beginArray()
        for each in mine {
            writer.beginObject()
            each.writeMembers(to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension Reactors {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            key: try reader.requiredString("key"), count: try reader.requiredCount("count"),
            users: try reader.strings("users")?.map { UserID($0) } ?? [])
    }

    static func write(
        _ reactors: [Reactors], to ref: Seq, answering id: RequestID, to writer: inout JSONWriter
    ) {
        writer.member("ev", "reactors")
        writer.member("id", id.rawValue)
        writer.member("ref", ref.rawValue)
        writer.name("reactors")
        writer.beginArray()
        for each in reactors { each.write(to: &writer) }
        writer.endArray()
    }

    private func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key", key)
        writer.member("count", count)
        writer.name("users")
        writer.beginArray()
        for user in users { writer.value(user.rawValue) }
        writer.endArray()
        writer.endObject()
    }
}
