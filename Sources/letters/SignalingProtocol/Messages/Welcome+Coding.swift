import JSONText

extension Welcome {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let role = Role(rawValue: try reader.requiredString("role")) else {
            throw reader.error("\"role\" is unknown")
        }
        guard let outcome = Outcome(rawValue: try reader.requiredString("outcome")) else {
            throw reader.error("\"outcome\" is unknown")
        }
        let offer = try reader.requiredObject("resume")
        self.init(
            connection: try Connection(try reader.requiredObject("connection")),
            connections: try reader.connections("connections"), connectionCount: try reader.count("connectionCount"),
            role: role, epoch: Epoch(try reader.requiredString("epoch")), seq: try reader.requiredSeq("seq"),
            outcome: outcome, replayThrough: try reader.seq("replayThrough"),
            missing: try reader.object("missing").map { (missing) throws(ClientMessageError) in
                try MissingEvents(missing)
            },
            away: try reader.strings("away")?.map { ConnectionID($0) },
            hasHistory: try reader.bool("history") ?? false,
            // Kinds that this version does not know are nothing that it can do.
            changes: try reader.strings("changes")?.compactMap { ChangeKind(rawValue: $0) },
            read: try reader.object("read").flatMap { (read) throws(ClientMessageError) in try ReadState(read) },
            restrictions: try reader.optionalObjects("restrictions").map { (inner) throws(ClientMessageError) in
                try Restriction(inner)
            },
            resume: ResumeOffer(
                secret: ResumeSecret(try offer.requiredString("secret")),
                resumeWindow: .seconds(try offer.requiredInteger("resumeSeconds")),
                recoveryWindow: .seconds(try offer.requiredInteger("recoverySeconds"))),
            heartbeat: .seconds(max(1, min(3600, try reader.requiredInteger("heartbeatSeconds")))))
    }

    /// Writes the members of `connected`.
    ///
    /// - Returns: the offset in the writer's bytes at which the list of connections begins.
    @discardableResult
    func write(answering id: RequestID, to writer: inout JSONWriter) -> Int {
        writer.member("ev", "connected")
        writer.member("id", id.rawValue)
        writer.name("connection")
        connection.write(to: &writer)
        writer.name("connections")
        writer.beginArray()
        let listOffset = writer.byteCount
        for connection in connections { connection.write(to: &writer) }
        writer.endArray()
        if let connectionCount { writer.member("connectionCount", connectionCount) }
        writer.name("capabilities")
        role.capabilities.write(to: &writer)
        writer.member("role", role.rawValue)
        writer.member("epoch", epoch.rawValue)
        writer.member("seq", seq.rawValue)
        writer.member("outcome", outcome.rawValue)
        if let replayThrough { writer.member("replayThrough", replayThrough.rawValue) }
        if let missing {
            writer.name("missing")
            writer.beginObject()
            writer.member("first", missing.first.rawValue)
            writer.member("last", missing.last.rawValue)
            writer.endObject()
        }
        if let away {
            writer.name("away")
            writer.beginArray()
            for connection in away { writer.value(connection.rawValue) }
            writer.endArray()
        }
        if hasHistory { writer.member("history", true) }
        if let changes {
            writer.name("changes")
            writer.beginArray()
            for kind in changes { writer.value(kind.rawValue) }
            writer.endArray()
        }
        read?.write(to: &writer)
        if let streams {
            writer.name("streams")
            writer.beginArray()
            for announcement in streams { announcement.write(to: &writer) }
            writer.endArray()
        }
        if !restrictions.isEmpty {
            writer.name("restrictions")
            writer.beginArray()
            for restriction in restrictions {
                writer.beginObject()
                restriction.writeMembers(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.name("resume")
        writer.beginObject()
        writer.member("secret", resume.secret.rawValue)
        writer.member("resumeSeconds", resume.resumeWindow.components.seconds)
        writer.member("recoverySeconds", resume.recoveryWindow.components.seconds)
        writer.endObject()
        writer.member("heartbeatSeconds", heartbeat.components.seconds)
        writer.name("limits")
        writer.beginObject()
        writer.member("typeLength", Limits.typeLength)
        writer.member("dataLength", Limits.dataLength)
        writer.endObject()
        return listOffset
    }
}

extension MissingEvents {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(first: try reader.requiredSeq("first"), last: try reader.requiredSeq("last"))
        guard first <= last else { throw reader.error("\"missing.last\" must not be less than \"missing.first\"") }
    }
}

extension Connection {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            connectionId: ConnectionID(try reader.requiredString("connectionId")),
            creationTime: WallTime(milliseconds: try reader.requiredInteger("creationTime")),
            data: try reader.string("data") ?? "", user: try reader.user())
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("connectionId", connectionId.rawValue)
        writer.member("creationTime", creationTime.milliseconds)
        writer.member("data", data)
        // The last member: the history finds a user's messages by it (HIS-9).
        if let user { writer.member("user", user.rawValue) }
        writer.endObject()
    }
}

extension UserID {
    /// How the encoded connections of this user end, and no others: `,"user":"…"}`. The member is the last one, and JSON
    /// escapes the quotation marks within the other texts.
    public var endOfConnection: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("user", rawValue)
        writer.endObject()
        return [UInt8(ascii: ",")] + writer.bytes.dropFirst()
    }
}

extension MessageReader {
    func connections(_ name: String) throws(ClientMessageError) -> [Connection] {
        var connections: [Connection] = []
        for inner in try requiredObjects(name) { connections.append(try Connection(inner)) }
        return connections
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ connections: [Connection]) {
        self.name(name)
        beginArray()
        for connection in connections { connection.write(to: &self) }
        endArray()
    }
}

extension Capabilities {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("publish", publish ? 1 : 0)
        writer.member("subscribe", subscribe ? 1 : 0)
        writer.member("forceDisconnect", forceDisconnect ? 1 : 0)
        writer.member("forceUnpublish", forceUnpublish ? 1 : 0)
        writer.member("forceMute", forceMute ? 1 : 0)
        writer.endObject()
    }
}
