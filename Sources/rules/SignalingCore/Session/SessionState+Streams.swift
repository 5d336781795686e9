import SignalingProtocol

/// The streams that the connections of a session announce (STR-1), in the order in which they began to.
struct SessionStreams: Hashable, Sendable {
    private(set) var announcements: [StreamAnnouncement] = []
    /// The bytes of all of them in `connected`.
    private(set) var byteCount = 0

    var count: Int { announcements.reduce(0) { $0 + $1.streams.count } }

    /// Replaces the streams of a connection.
    ///
    /// - Throws: `streamLimitExceeded` if the session has too many, `invalidParameter` if another connection has one of
    ///   the IDs.
    mutating func set(_ new: StreamAnnouncement) throws(SignalingError) {
        let index = index(of: new.connection.connectionId)
        let others = announcements.indices.filter { $0 != index }.flatMap { announcements[$0].streams }
        if others.count + new.streams.count > Limits.streamCountPerSession {
            throw SignalingError(.streamLimitExceeded, "the session has \(others.count) streams of other connections")
        }
        let added = (new.streams.isEmpty ? 0 : new.byteCount) - (index.map { announcements[$0].byteCount } ?? 0)
        if added > 0, byteCount + added > Limits.streamByteCountPerSession {
            throw SignalingError(.streamLimitExceeded, "the streams of the session are too long together")
        }
        let ids = Set(others.map(\.id))
        if new.streams.contains(where: { ids.contains($0.id) }) {
            throw SignalingError(.invalidParameter, "another connection has a stream with this \"streamId\"")
        }
        byteCount += added
        if let index {
            if new.streams.isEmpty { announcements.remove(at: index) } else { announcements[index] = new }
        } else if !new.streams.isEmpty {
            announcements.append(new)
        }
    }

    /// Ends the streams of a connection; returns whether it had any.
    mutating func remove(_ connection: ConnectionID) -> Bool {
        guard let index = index(of: connection) else { return false }
        byteCount -= announcements.remove(at: index).byteCount
        return true
    }

    func has(_ connection: ConnectionID) -> Bool { index(of: connection) != nil }

    private func index(of connection: ConnectionID) -> Int? {
        announcements.firstIndex { $0.connection.connectionId == connection }
    }
}

extension SessionState {
    /// The streams of all connections (STR-2).
    public var streamAnnouncements: [StreamAnnouncement] { streams.announcements }

    /// Sets the streams of a connection (STR-1): the rate, the role and the restrictions are those of a signal.
    mutating func announce(
        _ announced: [AnnouncedStream], from sender: CommandSender, _ now: MonotonicInstant
    ) -> SessionOutcome {
        guard case .connection(let binding, _) = sender else { return .refused(.notInSession) }
        if case .refused(let error) = standing(of: binding, for: .streams, now) { return .refused(error) }
        guard let member = roster[binding.connectionId] else { return .refused(.notInSession) }
        // Whoever may not write must not do so in names. To end streams is always permitted.
        if !restrictions.isEmpty, !announced.isEmpty, let entry = silencing(binding.connectionId, now) {
            return .refused(SignalingError(.permissionDenied, because: entry, now))
        }
        let announcement = StreamAnnouncement(connection: member.connection, streams: announced)
        do {
            try AnnouncedStream.validate(announced)
            try streams.set(announcement)
        } catch { return .refused(error) }
        return .announced(tell(announcement, nil, now))
    }

    /// A connection that leaves takes its streams with it (STR-3).
    mutating func endStreams(of connection: Connection, _ reason: DisconnectReason, _ now: MonotonicInstant) {
        guard streams.remove(connection.connectionId) else { return }
        _ = tell(StreamAnnouncement(connection: connection, streams: []), reason, now)
    }

    private mutating func tell(
        _ announcement: StreamAnnouncement, _ reason: DisconnectReason?, _ now: MonotonicInstant
    ) -> Seq {
        log.append(audience: .everyone, kind: .moderation(for: .streamReceivers), now: now) { seq in
            announcement.line(seq, reason: reason)
        }.seq
    }

    var streamViolation: String? {
        if streams.count > Limits.streamCountPerSession { return "STR-1: the session has \(streams.count) streams" }
        if streams.byteCount != streams.announcements.reduce(0, { $0 + $1.byteCount }) { return "STR-1: a wrong size" }
        for each in streams.announcements {
            let id = each.connection.connectionId
            if roster[id]?.connection != each.connection { return "STR-3: \(id) has left, and has streams" }
            if each.streams.isEmpty || each.streams.count > Limits.streamCountPerConnection {
                return "STR-1: \(id) has \(each.streams.count) streams"
            }
        }
        return nil
    }
}

extension SessionStreams: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(values: announcements) }

    init(from reader: inout ByteReader) throws(CodingFault) {
        announcements = try reader.values(ofAtLeast: 4)
        byteCount = announcements.reduce(0) { $0 + $1.byteCount }
    }
}

extension StreamAnnouncement: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connection)
        writer.write(values: streams)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(connection: try reader.value(), streams: try reader.values(ofAtLeast: 4))
    }
}

extension AnnouncedStream: ByteCodable {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let hasAudio = Flags(rawValue: 1 << 0)
        static let hasVideo = Flags(rawValue: 1 << 1)
        static let videoType = Flags(rawValue: 1 << 2)
        static let all: Flags = [.hasAudio, .hasVideo, .videoType]
    }

    func write(to writer: inout ByteWriter) {
        var flags: Flags = []
        if hasAudio { flags.insert(.hasAudio) }
        if hasVideo { flags.insert(.hasVideo) }
        if videoType != nil { flags.insert(.videoType) }
        writer.write(byte: flags.rawValue)
        writer.write(text: id)
        writer.write(text: name)
        if let videoType { writer.write(videoType) }
        writer.write(creationTime)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let flags = try reader.flags(among: Flags.all)
        self.init(
            id: try reader.text(), name: try reader.text(), hasAudio: flags.contains(.hasAudio),
            hasVideo: flags.contains(.hasVideo),
            videoType: flags.contains(.videoType) ? try reader.value() : nil, creationTime: try reader.value())
    }
}

extension AnnouncedStream.VideoType: NumberedCase {
    var number: UInt8 {
        switch self {
        case .camera: 0
        case .screen: 1
        case .custom: 2
        }
    }
}
