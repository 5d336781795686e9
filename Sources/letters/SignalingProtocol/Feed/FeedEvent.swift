import JSONText

/// What a feed tells of a session beside its messages (FEED-2).
public enum FeedEvent: Hashable, Sendable {
    case connectionCreated(Seq, Connection)
    case connectionDestroyed(Seq, Connection, DisconnectReason)
    case moderated(Seq, ModerationEvent)
    case erased(Seq, Erasure)
    /// A user who is not connected has so many unread messages, up to the newest one (FEED-6). The first seq is the place of
    /// the event itself.
    case unread(Seq, UserID, count: Int, newest: Seq)
    /// Something was to be told of these seqs, and is no longer there (FEED-4).
    case gap(from: Seq, through: Seq)

    /// The members of its JSON object, without `sessionId`, `time` and the braces.
    public var members: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        switch self {
        case .connectionCreated(let seq, let connection):
            write("connectionCreated", seq, to: &writer)
            writer.name("connection")
            connection.write(to: &writer)
        case .connectionDestroyed(let seq, let connection, let reason):
            write("connectionDestroyed", seq, to: &writer)
            writer.name("connection")
            connection.write(to: &writer)
            writer.member("reason", reason.rawValue)
        case .moderated(let seq, let event):
            write("moderated", seq, to: &writer)
            event.writeMembers(to: &writer)
        case .erased(let seq, let erasure):
            write("erased", seq, to: &writer)
            erasure.writeMembers(to: &writer)
        case .unread(_, let user, let count, let newest):
            write("user.unread", newest, to: &writer)
            writer.member("user", user.rawValue)
            writer.member("count", count)
        case .gap(let first, let last):
            writer.member("event", "gap")
            writer.member("from", first.rawValue)
            writer.member("through", last.rawValue)
        }
        writer.endObject()
        return Array(writer.bytes.dropFirst().dropLast())
    }

    private func write(_ name: String, _ seq: Seq, to writer: inout JSONWriter) {
        writer.member("event", name)
        writer.member("seq", seq.rawValue)
    }
}
