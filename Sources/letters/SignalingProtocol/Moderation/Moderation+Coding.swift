import JSONText

extension Restriction {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            try Kind(reader), until: try reader.time("until"), reason: try reader.string("reason"))
    }

    /// Reads the member `restriction`.
    init?(memberOf reader: MessageReader) throws(ClientMessageError) {
        guard let inner = try reader.object("restriction") else { return nil }
        try self.init(inner)
    }

    /// Writes the member `restriction`.
    func writeMember(to writer: inout JSONWriter) {
        writer.name("restriction")
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// Writes the kind, the end and the reason.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        if let until { writer.member("until", until.milliseconds) }
        if let reason { writer.member("reason", reason) }
    }
}

extension Restriction.Kind {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        guard let kind = Self(rawValue: try reader.requiredString("kind")) else {
            throw reader.error("\"kind\" is unknown")
        }
        self = kind
    }
}

extension RestrictionRecord {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let subject: Subject =
            if let user = try reader.user() {
                .user(user)
            } else if let guest = try reader.string("connectionId") {
                .guest(ConnectionID(guest))
            } else {
                .session
            }
        self.init(
            ref: try reader.requiredSeq("ref"), subject: subject, restriction: try Restriction(reader),
            time: WallTime(milliseconds: try reader.requiredInteger("time")), by: try reader.moderator())
    }

    /// Writes the record as an object.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("ref", ref.rawValue)
        restriction.writeMembers(to: &writer)
        switch subject {
        case .user(let user): writer.member("user", user.rawValue)
        case .guest(let connection): writer.member("connectionId", connection.rawValue)
        case .session: break
        }
        writer.member("time", time.milliseconds)
        by?.write(to: &writer)
        writer.endObject()
    }
}

extension Moderator {
    func write(to writer: inout JSONWriter) {
        writer.name("by")
        writer.beginObject()
        writer.member("connectionId", connectionId.rawValue)
        if let user { writer.member("user", user.rawValue) }
        writer.endObject()
    }
}

extension ModerationEvent {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            action: try ModerationRequest(reader), until: try reader.time("until"), by: try reader.moderator())
    }

    /// Writes the members of the action, its end and its author.
    public func writeMembers(to writer: inout JSONWriter) {
        action.writeMembers(to: &writer)
        if let until { writer.member("until", until.milliseconds) }
        by?.write(to: &writer)
    }
}

extension ModerationRequest {
    /// Reads the body of a request by REST (MOD-7).
    ///
    /// - Throws: `invalidParameter` for anything else.
    public init(body: JSONValue) throws(SignalingError) {
        guard let object = body.objectValue else {
            throw SignalingError(.invalidParameter, "the body is not a JSON object")
        }
        do { try self.init(MessageReader(object)) } catch { throw error.error }
    }

    init(_ reader: MessageReader) throws(ClientMessageError) {
        switch try reader.requiredString("action") {
        case "mute": self = .mute(try Subject(reader), try Terms(reader))
        case "unmute": self = .unmute(try Lifted(reader))
        case "ban":
            let subject = try Subject(reader)
            self = .ban(subject, try Terms(reader), erasesMessages: try reader.bool("eraseMessages") ?? false)
        case "unban": self = .unban(try Lifted(reader))
        case "freeze": self = .freeze(try Terms(reader))
        case "unfreeze": self = .unfreeze
        default:
            throw reader.refusal(
                "\"action\" is unknown: use \"mute\", \"unmute\", \"ban\", \"unban\", \"freeze\" or \"unfreeze\"")
        }
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("action", name)
        switch self {
        case .mute(let subject, let terms):
            subject.writeMember(to: &writer)
            terms.writeMembers(to: &writer)
        case .ban(let subject, let terms, let erasesMessages):
            subject.writeMember(to: &writer)
            terms.writeMembers(to: &writer)
            if erasesMessages { writer.member("eraseMessages", true) }
        case .unmute(let lifted), .unban(let lifted): lifted.writeMember(to: &writer)
        case .freeze(let terms): terms.writeMembers(to: &writer)
        case .unfreeze: break
        }
    }

    /// The value of the member `action`.
    public var name: String {
        switch self {
        case .mute: "mute"
        case .unmute: "unmute"
        case .ban: "ban"
        case .unban: "unban"
        case .freeze: "freeze"
        case .unfreeze: "unfreeze"
        }
    }
}

extension ModerationRequest.Subject {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        switch (try reader.user(), try reader.string("connectionId")) {
        case (let user?, nil): self = .user(user)
        case (nil, let connection?): self = .connection(ConnectionID(connection))
        case (nil, nil): throw reader.error("use \"user\" or \"connectionId\"")
        case (.some, .some): throw reader.refusal("use \"user\" or \"connectionId\", and not both")
        }
    }

    func writeMember(to writer: inout JSONWriter) {
        switch self {
        case .user(let user): writer.member("user", user.rawValue)
        case .connection(let connection): writer.member("connectionId", connection.rawValue)
        }
    }
}

extension ModerationRequest.Lifted {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        switch (try reader.user(), try reader.namedSeq("ref")) {
        case (let user?, nil): self = .user(user)
        case (nil, let ref?): self = .ref(ref)
        case (nil, nil): throw reader.error("use \"user\", or \"ref\" with a seq")
        case (.some, .some): throw reader.refusal("use \"user\", or \"ref\" with a seq")
        }
    }

    func writeMember(to writer: inout JSONWriter) {
        switch self {
        case .user(let user): writer.member("user", user.rawValue)
        case .ref(let seq): writer.member("ref", seq.rawValue)
        }
    }
}

extension ModerationRequest.Terms {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(
            seconds: try reader.optionalInteger("seconds").map { Int(clamping: $0) },
            reason: try reader.string("reason"))
        if let fault { throw reader.refusal(fault) }
    }

    func writeMembers(to writer: inout JSONWriter) {
        if let seconds { writer.member("seconds", seconds) }
        if let reason { writer.member("reason", reason) }
    }
}

extension MessageReader {
    /// The member `user`.
    func user() throws(ClientMessageError) -> UserID? {
        guard let text = try string("user") else { return nil }
        guard UserID.isValid(text) else { throw refusal(UserID.requirement) }
        return UserID(text)
    }

    /// The member `by`.
    fileprivate func moderator() throws(ClientMessageError) -> Moderator? {
        try object("by").map { (by) throws(ClientMessageError) in
            Moderator(connectionId: ConnectionID(try by.requiredString("connectionId")), user: try by.user())
        }
    }

    fileprivate func time(_ name: String) throws(ClientMessageError) -> WallTime? {
        isAbsent(name) ? nil : WallTime(milliseconds: try requiredInteger(name))
    }
}
