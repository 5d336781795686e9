import DequeModule
import SignalingProtocol

/// The whole state of a session as bytes: everything that can reach a later outcome or effect.
///
/// A state that was decoded goes on as the encoded one: the same commands at the same times give the same outcomes,
/// effects and bytes (LOG-5). So moments are those of the log, attached connections stay attached, and no order of a
/// dictionary or set is in the bytes. Values that follow from others are not in the bytes either, and those of one node
/// alone: the allowances of online-only signals, and the read markers that wait for the log.
extension SessionState {
    /// The bytes of the state. The same state has the same bytes in every process. The first byte is the version of the
    /// session's rules, so that a program with older rules cannot read it. A change of the format needs a new version.
    ///
    /// May be called on a copy in any thread. Takes time in proportion to the state.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 1024 + log.byteCount + 256 * roster.count)
        writer.rules = rules
        writer.write(byte: rules.rawValue)
        writer.write(id)
        writer.write(epoch)
        writer.write(bounds)
        writer.write(lastCreationTime)
        writer.write(keeper)
        writer.write(submitter)
        log.write(to: &writer)
        roster.write(to: &writer)
        write(detachments, to: &writer)
        writer.write(values: awayDeadlines)
        writer.write(values: expiredTickets.tickets)
        writer.write(values: forceDisconnectedTickets.tickets)
        writer.write(unsigned: untoldPresence.commandNumber)
        writer.write(unsigned: untoldPresence.nextIndex)
        writer.write(values: untoldPresence.events)
        if rules >= .tokenAllowances { writer.write(signalAllowances) }
        if rules >= .history { writer.write(unarchived) }
        if rules >= .moderation { writer.write(restrictions) }
        if rules >= .newerTokens { writer.write(departures) }
        if rules >= .streams { writer.write(streams) }
        if rules >= .changes {
            writer.write(changeables)
            writer.write(reactions)
            writer.write(markers)
            writer.write(absentees)
        }
        return writer.bytes
    }

    /// Reads the bytes of ``encoded()``.
    ///
    /// - Throws: ``CodingFault`` for any other bytes.
    public init(decoding bytes: [UInt8]) throws(CodingFault) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard let rules = RulesVersion(rawValue: version) else { throw .version(version) }
        reader.rules = rules
        self.init(id: try reader.value(), epoch: try reader.value(), bounds: try reader.value(), rules: rules)
        lastCreationTime = try reader.value()
        keeper = try reader.optional()
        submitter = try reader.value()
        log = try SessionLog(from: &reader, bounds: bounds.log)
        roster = try Roster(from: &reader, listBlockByteCount: bounds.listBlockByteCount)
        detachments = try detachments(from: &reader)
        awayDeadlines = Deque(try reader.values(ofAtLeast: 17))
        expiredTickets.restore(Deque(try reader.values(ofAtLeast: 15)))
        forceDisconnectedTickets.restore(Deque(try reader.values(ofAtLeast: 15)))
        let (commandNumber, nextIndex) = (try reader.unsigned(), try reader.unsigned())
        untoldPresence = UntoldPresence(
            limit: bounds.untoldEventCount, events: Deque(try reader.values(ofAtLeast: 11)),
            commandNumber: commandNumber, nextIndex: nextIndex)
        if rules >= .tokenAllowances { signalAllowances = try reader.value() }
        if rules >= .history { unarchived = try reader.value() }
        if rules >= .moderation { restrictions = try reader.value() }
        if rules >= .newerTokens { departures = try reader.value() }
        if rules >= .streams { streams = try reader.value() }
        if rules >= .changes {
            changeables = try reader.value()
            reactions = try reader.value()
            markers = try reader.value()
            absentees = try reader.value()
        }
        guard streamViolation == nil else { throw .malformed }
        try reader.end()
        // The submitter of any command but the `end` is the keeper.
        isAsleep = keeper == nil && (hasHistory || !restrictions.isEmpty) && log.entries.isEmpty && !isNeeded
    }

    /// Writes the order of the losses: of each the member by its place in the roster, and whether the loss counts for
    /// the member's token.
    private func write(_ detachments: Detachments, to writer: inout ByteWriter) {
        let losses = detachments.losses
        writer.write(count: losses.count)
        if losses.isEmpty { return }
        var places: [ConnectionID: Int] = [:]
        for (place, member) in roster.members.enumerated() { places[member.connection.connectionId] = place }
        for loss in losses {
            guard let place = places[loss.connectionId] else { continue }
            writer.write(unsigned: UInt64(place) << 1 | (loss.token == nil ? 0 : 1))
        }
    }

    private func detachments(from reader: inout ByteReader) throws(CodingFault) -> Detachments {
        let members = Array(roster.members)
        var losses: [Detachments.Loss] = []
        var places: Set<UInt64> = []
        for _ in 0..<(try reader.count(ofAtLeast: 1)) {
            let number = try reader.unsigned()
            let place = number >> 1
            guard place < members.count, places.insert(place).inserted else { throw .malformed }
            let member = members[Int(place)]
            guard case .detached(_, let until) = member.attachment else { throw .malformed }
            let token = number & 1 == 0 ? nil : member.token
            if number & 1 == 1, token == nil { throw .malformed }
            losses.append(Detachments.Loss(connectionId: member.connection.connectionId, until: until, token: token))
        }
        // Without its loss a connection would never expire.
        guard losses.count == members.count(where: \.isDetached) else { throw .malformed }
        return Detachments(losses)
    }
}

extension SessionState.AwayDeadline: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(lostAt)
        writer.write(moment)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(connectionId: try reader.value(), lostAt: try reader.value(), moment: try reader.value())
    }
}

extension UntoldPresenceEvent: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(unsigned: commandNumber)
        writer.write(unsigned: index)
        writer.write(time)
        writer.write(event)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            commandNumber: try reader.unsigned(), index: try reader.unsigned(), time: try reader.value(),
            event: try reader.value())
    }
}

extension PresenceEvent: ByteCodable {
    private enum Kind: UInt8 {
        case sessionCreated = 1
        case connectionCreated = 2
        case connectionDestroyed = 3
        case sessionDestroyed = 4
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .sessionCreated: writer.write(byte: Kind.sessionCreated.rawValue)
        case .connectionCreated(let connection):
            writer.write(byte: Kind.connectionCreated.rawValue)
            writer.write(connection)
        case .connectionDestroyed(let connection, let reason):
            writer.write(byte: Kind.connectionDestroyed.rawValue)
            writer.write(connection)
            writer.write(reason)
        case .sessionDestroyed: writer.write(byte: Kind.sessionDestroyed.rawValue)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .sessionCreated: self = .sessionCreated
        case .connectionCreated: self = .connectionCreated(try reader.value())
        case .connectionDestroyed: self = .connectionDestroyed(try reader.value(), try reader.value())
        case .sessionDestroyed: self = .sessionDestroyed
        }
    }
}
