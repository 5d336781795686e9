import JSONText

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

    /// Writes the members before the sender's connection, which only some receivers get (SIG-9).
    func writeHead(to writer: inout JSONWriter) {
        writer.member("ev", "signal")
        if let seq { writer.member("seq", seq.rawValue) }
        if let from { writer.member("from", from.rawValue) } else { writer.member("from", JSONValue.null) }
    }

    /// Writes the members after the sender's connection.
    func writeTail(to writer: inout JSONWriter) {
        if let type { writer.member("type", type) }
        if let data { writer.member("data", data) }
        if isJSON { writer.member("json", true) }
        if let to { writer.member("to", to.rawValue) }
    }
}
