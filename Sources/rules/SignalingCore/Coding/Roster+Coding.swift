import SignalingProtocol

extension Roster {
    /// Writes the members in the order of joining, and where the blocks of their list begin.
    func write(to writer: inout ByteWriter) {
        writer.write(count: count)
        var blockCounts = list.blockCounts.makeIterator()
        var restOfBlock = 0
        for member in members {
            let beginsBlock = restOfBlock == 0
            if beginsBlock { restOfBlock = blockCounts.next() ?? 0 }
            restOfBlock -= 1
            member.write(to: &writer, beginsBlock: beginsBlock)
        }
    }

    init(from reader: inout ByteReader, listBlockByteCount: Int) throws(CodingFault) {
        self.init(listBlockByteCount: listBlockByteCount)
        var last: WallTime?
        for _ in 0..<(try reader.count(ofAtLeast: 17)) {
            let (member, beginsBlock) = try Member.read(from: &reader)
            let time = member.connection.creationTime
            // CON-5. The list finds a connection by its time.
            guard !contains(member.connection.connectionId), last.map({ $0 < time }) ?? true else { throw .malformed }
            last = time
            append(member, beginsBlock: beginsBlock)
        }
    }
}

extension Roster.Member {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let beginsBlock = Flags(rawValue: 1 << 0)
        static let suppressesPresence = Flags(rawValue: 1 << 1)
        static let isToldAbsences = Flags(rawValue: 1 << 2)
        static let detached = Flags(rawValue: 1 << 3)
        static let token = Flags(rawValue: 1 << 4)
        static let signalAllowance = Flags(rawValue: 1 << 5)
        static let answers = Flags(rawValue: 1 << 6)
        static let laterTokens = Flags(rawValue: 1 << 7)

        static func all(of rules: RulesVersion) -> Flags {
            Flags(rawValue: rules >= .newerTokens ? 0xFF : 0x7F)
        }
    }

    fileprivate func write(to writer: inout ByteWriter, beginsBlock: Bool) {
        var flags: Flags = []
        if beginsBlock { flags.insert(.beginsBlock) }
        if suppressesPresence { flags.insert(.suppressesPresence) }
        if isToldAbsences { flags.insert(.isToldAbsences) }
        if isDetached { flags.insert(.detached) }
        if token != nil { flags.insert(.token) }
        if signalAllowance != TokenBucket() { flags.insert(.signalAllowance) }
        if answers != AnswerBook() { flags.insert(.answers) }
        if !laterTokens.isEmpty { flags.insert(.laterTokens) }
        writer.write(byte: flags.rawValue)
        // It has the connection's ID, role, data and user, too.
        writer.write(ticket)
        writer.write(connection.creationTime)
        switch attachment {
        case .attached(let socket, let node):
            writer.write(socket)
            writer.write(node)
        case .detached(let lostAt, let until):
            writer.write(lostAt)
            writer.write(until)
        }
        if let token { writer.write(token) }
        if flags.contains(.laterTokens) { writer.write(values: laterTokens) }
        if flags.contains(.answers) { writer.write(answers) }
        if flags.contains(.signalAllowance) { writer.write(signalAllowance.fullAt) }
    }

    fileprivate static func read(
        from reader: inout ByteReader
    ) throws(CodingFault) -> (member: Roster.Member, beginsBlock: Bool) {
        let flags = try reader.flags(among: Flags.all(of: reader.rules))
        let ticket: ResumeTicket = try reader.value()
        let connection = Connection(
            connectionId: ticket.connectionId, creationTime: try reader.value(), data: ticket.data, user: ticket.user)
        let member = Roster.Member(
            connection: connection, role: ticket.role, encodedConnection: EncodedLine.encode(connection),
            suppressesPresence: flags.contains(.suppressesPresence), isToldAbsences: flags.contains(.isToldAbsences),
            attachment: flags.contains(.detached)
                ? .detached(at: try reader.value(), until: try reader.value())
                : .attached(try reader.value(), node: try reader.value()),
            token: flags.contains(.token) ? try reader.value() : nil,
            laterTokens: flags.contains(.laterTokens) ? try laterTokens(from: &reader) : [], ticket: ticket,
            answers: flags.contains(.answers) ? try reader.value() : AnswerBook(),
            signalAllowance: flags.contains(.signalAllowance) ? TokenBucket(fullAt: try reader.value()) : TokenBucket())
        return (member, flags.contains(.beginsBlock))
    }

    private static func laterTokens(from reader: inout ByteReader) throws(CodingFault) -> [TokenFingerprint] {
        let tokens: [TokenFingerprint] = try reader.values(ofAtLeast: 8)
        guard (1...laterTokenLimit).contains(tokens.count) else { throw .malformed }
        return tokens
    }
}

extension ResumeTicket: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(role)
        writer.write(text: data)
        if writer.rules >= .moderation { writer.write(user) }
        writer.write(begin)
        writer.write(joined)
        writer.write(secrets)
        if writer.rules >= .history { writer.write(reach) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            connectionId: try reader.value(), role: try reader.value(), data: try reader.text(),
            user: reader.rules >= .moderation ? try reader.optional() : nil, begin: try reader.value(),
            joined: try reader.value(), secrets: try reader.value())
        if reader.rules >= .history { reach = try reader.optional() }
    }
}

extension ValidSecrets: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(confirmed)
        writer.write(values: unconfirmed)
        if writer.rules >= .history { writer.write(values: superseded) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let confirmed: ResumeSecretHash = try reader.value()
        let unconfirmed: [ResumeSecretHash] = try reader.values(ofAtLeast: 1)
        guard unconfirmed.count <= Self.unconfirmedLimit else { throw .malformed }
        var superseded: [ResumeSecretHash] = []
        if reader.rules >= .history { superseded = try reader.values(ofAtLeast: 1) }
        guard superseded.count <= Self.supersededLimit else { throw .malformed }
        self.init(confirmed, unconfirmed: unconfirmed, superseded: superseded)
    }
}

extension RetainedTickets.Entry: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(ticket)
        writer.write(since)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(ticket: try reader.value(), since: try reader.value())
    }
}
