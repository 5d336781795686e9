import JSONText

extension ServerMessage {
    /// The message as one line of JSON, without a newline.
    public func encoded() -> [UInt8] { EncodedLine(self).bytes }

    /// Reads one line. Returns `nil` for an `ev` that this version does not know (WIRE-6).
    ///
    /// - Throws: `unexpectedServerResponse` when the line is not a message of this protocol.
    public static func decode(
        line: UnsafeRawBufferPointer, parser: inout JSONParser
    ) throws(SignalingError) -> ServerMessage? {
        let value: JSONValue
        do { value = try parser.parse(line) } catch {
            throw SignalingError(.unexpectedServerResponse, "the server sent a line that is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw SignalingError(.unexpectedServerResponse, "the server sent a line that is not a JSON object")
        }
        do { return try read(MessageReader(object)) } catch {
            throw SignalingError(
                .unexpectedServerResponse, "the server sent a malformed message: \(error.error.message)")
        }
    }

    private static func read(_ reader: MessageReader) throws(ClientMessageError) -> ServerMessage? {
        switch try reader.requiredString("ev") {
        case "connected": .connected(try reader.requiredID(), try Welcome(reader))
        case "connections":
            .connections(try reader.connections("connections"), rest: try reader.requiredCount("rest"))
        case "ack": .ack(try reader.requiredID(), try reader.seq("seq"))
        case "error": .error(reader.id, try SignalingError(reader))
        case "signal": .signal(try SignalEvent(reader))
        case "history": .history(try reader.requiredID(), try HistoryAnswer(reader))
        case "change": .change(try ChangeEvent(reader))
        case "reactions": .reactions(try ReactionsEvent(reader))
        case "reacted": .reacted(try reader.requiredSeq("seq"), try OwnReactions(reader))
        case "reactors":
            .reactors(
                try reader.requiredID(), try reader.requiredSeq("ref"),
                try reader.requiredObjects("reactors").map { (inner) throws(ClientMessageError) in
                    try Reactors(inner)
                })
        case "read": .read(try ReadMarker(reader))
        case "erased": .erased(try reader.requiredSeq("seq"), try Erasure(reader))
        case "connectionCreated":
            .connectionCreated(
                try reader.requiredSeq("seq"), try Connection(try reader.requiredObject("connection")))
        case "connectionDestroyed":
            .connectionDestroyed(
                try reader.requiredSeq("seq"), ConnectionID(try reader.requiredString("connectionId")),
                try DisconnectReason(reader))
        case "connectionAway": .connectionAway(ConnectionID(try reader.requiredString("connectionId")))
        case "connectionBack": .connectionBack(ConnectionID(try reader.requiredString("connectionId")))
        case "moderated": .moderated(try reader.requiredSeq("seq"), try ModerationEvent(reader))
        case "restricted": .restricted(try reader.requiredSeq("seq"), try Restriction(reader))
        case "unrestricted": .unrestricted(try reader.requiredSeq("seq"), try Restriction.Kind(reader))
        case "restrictions":
            .restrictions(
                try reader.requiredID(),
                try reader.requiredObjects("restrictions").map { (inner) throws(ClientMessageError) in
                    try RestrictionRecord(inner)
                })
        case "disconnected":
            .disconnected(
                try DisconnectReason(reader), try Reconnect(reader), ban: try Restriction(memberOf: reader))
        case "ping": .ping(try reader.requiredSeq("seq"))
        default: nil
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .connected(let id, let welcome):
            welcome.write(answering: id, to: &writer)
        case .connections(let connections, let rest):
            writer.member("ev", "connections")
            writer.member("connections", connections)
            writer.member("rest", rest)
        case .ack(let id, let seq):
            writer.constantMembers(#""ev":"ack""#)
            writer.constantName(#""id":"#)
            writer.value(id.rawValue)
            if let seq {
                writer.constantName(#""seq":"#)
                writer.value(seq.rawValue)
            }
        case .error(let id, let error):
            writer.member("ev", "error")
            if let id { writer.member("id", id.rawValue) }
            error.writeMembers(to: &writer)
        case .history(let id, let answer):
            writer.member("ev", "history")
            writer.member("id", id.rawValue)
            answer.writeMembers(to: &writer)
        case .change(let event): event.writeMembers(to: &writer)
        case .reactions(let event): event.writeMembers(to: &writer)
        case .reacted(let seq, let own): own.writeEvent(seq, to: &writer)
        case .reactors(let id, let ref, let reactors): Reactors.write(reactors, to: ref, answering: id, to: &writer)
        case .read(let marker): marker.writeEvent(to: &writer)
        case .erased(let seq, let erasure):
            writer.member("ev", "erased")
            writer.member("seq", seq.rawValue)
            erasure.writeMembers(to: &writer)
        case .signal(let event): event.writeMembers(to: &writer)
        case .connectionCreated(let seq, let connection):
            writer.member("ev", "connectionCreated")
            writer.member("seq", seq.rawValue)
            writer.name("connection")
            connection.write(to: &writer)
        case .connectionDestroyed(let seq, let connection, let reason):
            writer.member("ev", "connectionDestroyed")
            writer.member("seq", seq.rawValue)
            writer.member("connectionId", connection.rawValue)
            writer.member("reason", reason.rawValue)
        case .connectionAway(let connection):
            writer.member("ev", "connectionAway")
            writer.member("connectionId", connection.rawValue)
        case .connectionBack(let connection):
            writer.member("ev", "connectionBack")
            writer.member("connectionId", connection.rawValue)
        case .moderated(let seq, let event):
            writer.member("ev", "moderated")
            writer.member("seq", seq.rawValue)
            event.writeMembers(to: &writer)
        case .restricted(let seq, let restriction):
            writer.member("ev", "restricted")
            writer.member("seq", seq.rawValue)
            restriction.writeMembers(to: &writer)
        case .unrestricted(let seq, let kind):
            writer.member("ev", "unrestricted")
            writer.member("seq", seq.rawValue)
            writer.member("kind", kind.rawValue)
        case .restrictions(let id, let records):
            writer.member("ev", "restrictions")
            writer.member("id", id.rawValue)
            writer.name("restrictions")
            writer.beginArray()
            for record in records { record.write(to: &writer) }
            writer.endArray()
        case .disconnected(let reason, let reconnect, let ban):
            writer.member("ev", "disconnected")
            writer.member("reason", reason.rawValue)
            writer.member("reconnect", reconnect != .never)
            if case .after(let wait) = reconnect { writer.member("reconnectAfter", wait.wholeMilliseconds) }
            ban?.writeMember(to: &writer)
        case .ping(let seq):
            writer.member("ev", "ping")
            writer.member("seq", seq.rawValue)
        }
        writer.endObject()
    }
}

extension Reconnect {
    /// Ignores an invalid `reconnectAfter`: the client then follows its own back-off (RES-13).
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard try reader.bool("reconnect") ?? false else {
            self = .never
            return
        }
        guard let milliseconds = reader.integer("reconnectAfter"), milliseconds >= 0 else {
            self = .yes
            return
        }
        self = .after(min(.milliseconds(milliseconds), Limits.longestReconnectWait))
    }
}

extension DisconnectReason {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let reason = DisconnectReason(rawValue: try reader.requiredString("reason")) else {
            throw reader.error("\"reason\" is unknown")
        }
        self = reason
    }
}

extension SignalingError {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let code = Code(
            number: Int(clamping: try reader.requiredInteger("code")), name: try reader.requiredString("name"),
            isRetryable: try reader.bool("retryable") ?? false)
        self.init(
            code, try reader.string("message") ?? "", restriction: try Restriction(memberOf: reader),
            retryAfter: reader.integer("retryAfter").flatMap { $0 >= 0 ? .milliseconds($0) : nil })
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("code", code.number)
        writer.member("name", code.name)
        writer.member("message", message)
        writer.member("retryable", isRetryable)
        restriction?.writeMember(to: &writer)
        if let retryAfter { writer.member("retryAfter", retryAfter.wholeMilliseconds) }
    }
}
