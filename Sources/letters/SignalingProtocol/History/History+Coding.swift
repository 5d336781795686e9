import JSONText

extension HistoryMessage {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let isErased = try reader.bool("erased") ?? false
        self.init(
            seq: try reader.requiredSeq("seq"),
            from: try reader.object("connection").map { (inner) throws(ClientMessageError) in
                try Connection(inner)
            },
            time: WallTime(milliseconds: try reader.requiredInteger("time")),
            content: isErased
                ? .erased
                : .signal(
                    type: try reader.string("type"), data: try reader.string("data"),
                    isJSON: try reader.bool("json") ?? false),
            edit: isErased
                ? nil
                : try reader.seq("changed").map { (seq) throws(ClientMessageError) in
                    Edit(seq: seq, time: WallTime(milliseconds: try reader.requiredInteger("edited")))
                },
            reactions: isErased
                ? nil
                : try reader.seq("reacted").map { (seq) throws(ClientMessageError) in
                    Reactions(try reader.reactionCounts(), seq: seq)
                })
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seq", seq.rawValue)
        if let from {
            writer.member("from", from.connectionId.rawValue)
            writer.name("connection")
            from.write(to: &writer)
        } else {
            writer.constantMembers(#""from":null"#)
        }
        switch content {
        case .signal(let type, let data, let isJSON):
            if let type { writer.member("type", type) }
            if let data { writer.member("data", data) }
            if isJSON { writer.member("json", true) }
            edit?.writeMembers(to: &writer)
            if let reactions {
                ReactionCount.write(reactions.counts, to: &writer)
                writer.member("reacted", reactions.seq.rawValue)
            }
        case .erased: writer.member("erased", true)
        }
        writer.member("time", time.milliseconds)
        writer.endObject()
    }
}

extension HistoryMessage.Edit {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("changed", seq.rawValue)
        writer.member("edited", time.milliseconds)
    }
}

extension HistoryPage {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        var messages: [HistoryMessage] = []
        for inner in try reader.requiredObjects("messages") { messages.append(try HistoryMessage(inner)) }
        let (first, last) = (try reader.seq("first"), try reader.seq("last"))
        var range: ClosedRange<Seq>?
        if let first, let last {
            guard first <= last else { throw reader.error("\"last\" must not be less than \"first\"") }
            range = first...last
        }
        let isAll = try reader.bool("all") ?? false
        self.init(
            range: range, more: try reader.bool("more") ?? false, messages: messages,
            changes: try reader.seq("changedThrough").map { Changes(through: $0, isAll: isAll) },
            mine: try reader.optionalObjects("mine").map { (inner) throws(ClientMessageError) in
                try OwnReactions(inner)
            })
    }

    func writeMembers(to writer: inout JSONWriter) {
        if let range {
            writer.member("first", range.lowerBound.rawValue)
            writer.member("last", range.upperBound.rawValue)
        }
        writer.member("more", more)
        if let changes {
            writer.member("changedThrough", changes.through.rawValue)
            if changes.isAll { writer.member("all", true) }
        }
        writer.name("messages")
        writer.beginArray()
        for message in messages { message.write(to: &writer) }
        writer.endArray()
        OwnReactions.write(mine, to: &writer)
    }
}

extension HistoryAnswer {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        if let error = try reader.object("error") {
            self = .unreadable(try SignalingError(error))
        } else {
            self = .page(try HistoryPage(reader))
        }
    }

    func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .page(let page): page.writeMembers(to: &writer)
        case .unreadable(let error):
            writer.name("error")
            writer.beginObject()
            error.writeMembers(to: &writer)
            writer.endObject()
        }
    }
}

extension Erasure {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        switch (try reader.namedSeq("ref"), try reader.namedSeq("through"), try reader.user()) {
        case (let ref?, nil, nil): self = .message(ref)
        case (nil, let through?, nil): self = .through(through)
        case (nil, nil, let user?): self = .user(user)
        case (nil, nil, nil): throw reader.error("name one message with \"ref\", or use \"through\" or \"user\"")
        default: throw reader.refusal("name one message with \"ref\", or use \"through\" or \"user\"")
        }
    }

    func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .message(let seq): writer.member("ref", seq.rawValue)
        case .through(let seq): writer.member("through", seq.rawValue)
        case .user(let user): writer.member("user", user.rawValue)
        }
    }
}
