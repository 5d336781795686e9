import JSONText

extension ServerMessage {
    /// The line that says this, without a newline.
    public func encoded() -> [UInt8] { EncodedLine(self).bytes }

    /// Reads one line. `nil` for an `ev` that this version does not know (WIRE-6).
    ///
    /// - Throws: `unexpectedServerResponse` (2001) when the line is not a message of this protocol.
    public static func decode(
        line: UnsafeRawBufferPointer, parser: inout JSONParser
    ) throws(SignalingError) -> ServerMessage? {
        let value: JSONValue
        do { value = try parser.parse(line) } catch {
            throw SignalingError(.unexpectedServerResponse, "the server sent what is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw SignalingError(.unexpectedServerResponse, "the server sent what is not a JSON object")
        }
        do { return try read(MessageReader(object)) } catch {
            throw SignalingError(
                .unexpectedServerResponse, "the server sent a malformed message: \(error.error.message)")
        }
    }

    private static func read(_ reader: MessageReader) throws(ClientMessageError) -> ServerMessage? {
        switch try reader.requiredString("ev") {
        case "connected": .connected(try reader.requiredID(), try Welcome(reader))
        case "ack": .ack(try reader.requiredID(), try reader.seq("seq"))
        case "error": .error(reader.id, try SignalingError(reader))
        case "signal": .signal(try SignalEvent(reader))
        case "connectionCreated":
            .connectionCreated(
                try reader.requiredSeq("seq"), try Connection(try reader.requiredObject("connection")))
        case "connectionDestroyed":
            .connectionDestroyed(
                try reader.requiredSeq("seq"), ConnectionID(try reader.requiredString("connectionId")),
                try DisconnectReason(reader))
        case "disconnected": .disconnected(try DisconnectReason(reader), try Reconnect(reader))
        case "ping": .ping(try reader.requiredSeq("seq"))
        default: nil
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .connected(let id, let welcome):
            writer.member("ev", "connected")
            writer.member("id", id.rawValue)
            welcome.write(to: &writer)
        case .ack(let id, let seq):
            writer.member("ev", "ack")
            writer.member("id", id.rawValue)
            if let seq { writer.member("seq", seq.rawValue) }
        case .error(let id, let error):
            writer.member("ev", "error")
            if let id { writer.member("id", id.rawValue) }
            writer.member("code", error.code.number)
            writer.member("name", error.code.name)
            writer.member("message", error.message)
            writer.member("retryable", error.isRetryable)
        case .signal(let event):
            event.writeHead(to: &writer)
            if let sender = event.sender {
                writer.name("connection")
                sender.write(to: &writer)
            }
            event.writeTail(to: &writer)
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
        case .disconnected(let reason, let reconnect):
            writer.member("ev", "disconnected")
            writer.member("reason", reason.rawValue)
            writer.member("reconnect", reconnect != .never)
            if case .after(let wait) = reconnect { writer.member("reconnectAfter", wait.wholeMilliseconds) }
        case .ping(let seq):
            writer.member("ev", "ping")
            writer.member("seq", seq.rawValue)
        }
        writer.endObject()
    }
}

extension SignalEvent {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let isFromServer = reader.isNull("from")
        self.init(
            seq: try reader.seq("seq"),
            from: isFromServer ? nil : ConnectionID(try reader.requiredString("from")),
            sender: try reader.object("connection").map { (inner) throws(ClientMessageError) in
                try Connection(inner)
            },
            type: try reader.string("type"), data: try reader.string("data"),
            isJSON: try reader.bool("json") ?? false,
            to: try reader.string("to").map { ConnectionID($0) })
    }

    /// Everything up to the place where the sender's connection goes for those who want it (SIG-9).
    func writeHead(to writer: inout JSONWriter) {
        writer.member("ev", "signal")
        if let seq { writer.member("seq", seq.rawValue) }
        if let from { writer.member("from", from.rawValue) } else { writer.member("from", JSONValue.null) }
    }

    func writeTail(to writer: inout JSONWriter) {
        if let type { writer.member("type", type) }
        if let data { writer.member("data", data) }
        if isJSON { writer.member("json", true) }
        if let to { writer.member("to", to.rawValue) }
    }
}

extension Connection {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            connectionId: ConnectionID(try reader.requiredString("connectionId")),
            creationTime: WallTime(milliseconds: try reader.requiredInteger("creationTime")),
            data: try reader.string("data") ?? "")
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("connectionId", connectionId.rawValue)
        writer.member("creationTime", creationTime.milliseconds)
        writer.member("data", data)
        writer.endObject()
    }
}

extension Welcome {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let role = Role(rawValue: try reader.requiredString("role")) else {
            throw reader.error("unknown role")
        }
        guard let outcome = Outcome(rawValue: try reader.requiredString("outcome")) else {
            throw reader.error("unknown outcome")
        }
        let offer = try reader.requiredObject("resume")
        var connections: [Connection] = []
        for inner in try reader.requiredObjects("connections") { connections.append(try Connection(inner)) }
        self.init(
            connection: try Connection(try reader.requiredObject("connection")), connections: connections, role: role,
            epoch: Epoch(try reader.requiredString("epoch")), seq: try reader.requiredSeq("seq"),
            outcome: outcome, replayThrough: try reader.seq("replayThrough"),
            resume: ResumeOffer(
                secret: ResumeSecret(try offer.requiredString("secret")),
                resumeWindow: .seconds(try offer.requiredInteger("resumeSeconds")),
                recoveryWindow: .seconds(try offer.requiredInteger("recoverySeconds"))),
            heartbeat: .seconds(max(1, min(3600, try reader.requiredInteger("heartbeatSeconds")))))
    }

    func write(to writer: inout JSONWriter) {
        writer.name("connection")
        connection.write(to: &writer)
        writer.name("connections")
        writer.beginArray()
        for connection in connections { connection.write(to: &writer) }
        writer.endArray()
        writer.name("capabilities")
        role.capabilities.write(to: &writer)
        writer.member("role", role.rawValue)
        writer.member("epoch", epoch.rawValue)
        writer.member("seq", seq.rawValue)
        writer.member("outcome", outcome.rawValue)
        if let replayThrough { writer.member("replayThrough", replayThrough.rawValue) }
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

extension Reconnect {
    /// A wait of no sense is none: coming back by one's own rules is never wrong.
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
            throw reader.error("unknown reason")
        }
        self = reason
    }
}

extension SignalingError {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let code = Code(
            number: Int(clamping: try reader.requiredInteger("code")), name: try reader.requiredString("name"),
            isRetryable: try reader.bool("retryable") ?? false)
        self.init(code, try reader.string("message") ?? "")
    }
}
