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
        writer.constantMembers(#""ev":"signal""#)
        if let seq {
            writer.constantName(#""seq":"#)
            writer.value(seq.rawValue)
        }
        if let from {
            writer.constantName(#""from":"#)
            writer.value(from.rawValue)
        } else {
            writer.constantMembers(#""from":null"#)
        }
    }

    /// Writes the members after the sender's connection.
    func writeTail(to writer: inout JSONWriter) {
        if let type {
            writer.constantName(#""type":"#)
            writer.value(type)
        }
        if let data {
            writer.constantName(#""data":"#)
            writer.value(data)
        }
        if isJSON { writer.constantMembers(#""json":true"#) }
        if let to { writer.member("to", to.rawValue) }
    }
}
