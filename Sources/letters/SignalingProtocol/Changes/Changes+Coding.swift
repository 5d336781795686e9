import JSONText

extension MessageChange {
    /// `nil` for a change that this version does not know.
    fileprivate init?(_ reader: MessageReader) throws(ClientMessageError) {
        switch ChangeKind(rawValue: try reader.requiredString("rel")) {
        case .edit: self = .edit(data: try reader.string("data"), isJSON: try reader.bool("json") ?? false)
        case .erase, .react, nil: return nil
        }
    }

    fileprivate func writeContent(to writer: inout JSONWriter) {
        switch self {
        case .edit(let data, let isJSON):
            if let data { writer.member("data", data) }
            if isJSON { writer.constantMembers(#""json":true"#) }
        }
    }
}

extension ChangeRequest {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let ref = try reader.namedSeq("ref") else { throw reader.error("name the message with \"ref\"") }
        guard let change = try MessageChange(reader) else { throw reader.refusal("\"rel\" is unknown: use \"edit\"") }
        self.init(ref, change)
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("ref", ref.rawValue)
        writer.member("rel", change.kind.rawValue)
        change.writeContent(to: &writer)
    }
}

extension ChangeEvent {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            seq: try reader.requiredSeq("seq"), ref: try reader.requiredSeq("ref"),
            from: reader.isNull("from") ? nil : ConnectionID(try reader.requiredString("from")),
            sender: try reader.object("connection").map { (inner) throws(ClientMessageError) in
                try Connection(inner)
            },
            change: try MessageChange(reader))
    }

    func writeMembers(to writer: inout JSONWriter) {
        writeHead(to: &writer)
        if let sender {
            writer.name("connection")
            sender.write(to: &writer)
        }
        writeTail(to: &writer)
    }

    /// Writes the members before the sender's connection, which only some receivers get (SIG-9).
    func writeHead(to writer: inout JSONWriter) {
        writer.constantMembers(#""ev":"change""#)
        writer.member("seq", seq.rawValue)
        writer.member("ref", ref.rawValue)
        writer.member("rel", change?.kind.rawValue ?? "unknown")
        if let from { writer.member("from", from.rawValue) } else { writer.constantMembers(#""from":null"#) }
    }

    /// Writes the members after the sender's connection.
    func writeTail(to writer: inout JSONWriter) { change?.writeContent(to: &writer) }
}
