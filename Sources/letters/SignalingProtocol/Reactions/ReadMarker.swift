import JSONText

/// How far a user has read a session (READ-1).
public struct ReadMarker: Hashable, Sendable {
    public var user: UserID
    /// Every message up to this seq.
    public var through: Seq

    public init(_ user: UserID, through: Seq) {
        self.user = user
        self.through = through
    }
}

/// What becomes of the read markers of a session (READ-4).
public enum ReadMarkers: String, CaseIterable, Hashable, Sendable {
    /// Nobody sets one.
    case off
    /// Each user's own connections learn of its marker.
    case own
    /// All connections learn of every user's marker.
    case shared
}

/// What a client learns of the read markers when it connects (READ-3).
public struct ReadState: Hashable, Sendable {
    /// Not ``ReadMarkers/off``.
    public var markers: ReadMarkers
    /// How far the client's user has read; `nil` for a guest, and before the first mark.
    public var through: Seq?
    /// How many kept messages of others are above it, at most ``Limits/unreadCount``; `nil` for a guest.
    public var unread: Int?
    /// The markers of other users, the greatest first; `nil` if the session does not tell them.
    public var readers: [ReadMarker]?

    public init(markers: ReadMarkers, through: Seq? = nil, unread: Int? = nil, readers: [ReadMarker]? = nil) {
        self.markers = markers
        self.through = through
        self.unread = unread
        self.readers = readers
    }
}

extension ReadMarker {
    init(_ reader: MessageReader) throws(ClientMessageError) {
        self.init(UserID(try reader.requiredString("user")), through: try reader.requiredSeq("through"))
    }

    func writeEvent(to writer: inout JSONWriter) {
        writer.member("ev", "read")
        writeMembers(to: &writer)
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("user", user.rawValue)
        writer.member("through", through.rawValue)
    }
}

extension ReadState {
    /// `nil` for markers of a kind that this version does not know.
    init?(_ reader: MessageReader) throws(ClientMessageError) {
        guard let markers = ReadMarkers(rawValue: try reader.requiredString("markers")), markers != .off else {
            return nil
        }
        self.init(
            markers: markers, through: try reader.seq("through"), unread: try reader.count("unread"),
            readers: reader.isAbsent("readers")
                ? nil
                : try reader.requiredObjects("readers").map { (inner) throws(ClientMessageError) in
                    try ReadMarker(inner)
                })
    }

    func write(to writer: inout JSONWriter) {
        writer.name("read")
        writer.beginObject()
        writer.member("markers", markers.rawValue)
        if let through { writer.member("through", through.rawValue) }
        if let unread { writer.member("unread", unread) }
        if let readers {
            writer.name("readers")
            writer.beginArray()
            for each in readers {
                writer.beginObject()
                each.writeMembers(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
