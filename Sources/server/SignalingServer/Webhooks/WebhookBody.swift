import JSONText
import SignalingCore
import SignalingProtocol

/// The JSON body of one event, with the members of OpenTok's session monitoring.
enum WebhookBody {
    /// The owner of the session, named as in OpenTok's and Vonage's bodies.
    enum Owner: Hashable, Sendable {
        /// `projectId`.
        case project(APIKey)
        /// `applicationId`.
        case application(APIKey)
    }

    /// A batch of a feed (FEED-5).
    static func encode(_ batch: FeedBatch, ownedBy owner: Owner) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 128)
        writer.beginObject()
        write(owner, to: &writer)
        writer.endObject()
        return writer.bytes.dropLast() + Array(#","events":"#.utf8) + batch.array + [UInt8(ascii: "}")]
    }

    private static func write(_ owner: Owner, to writer: inout JSONWriter) {
        switch owner {
        case .project(let key): writer.member("projectId", key.rawValue)
        case .application(let id): writer.member("applicationId", id.rawValue)
        }
    }

    /// - Parameter happenedAt: the time by the server's clock.
    static func encode(
        _ event: PresenceEvent, of session: SessionID, ownedBy owner: Owner, happenedAt: WallTime
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.member("sessionId", session.rawValue)
        write(owner, to: &writer)
        writer.member("event", event.name)
        if let reason = event.reason { writer.member("reason", reason.rawValue) }
        writer.member("timestamp", happenedAt.milliseconds)
        if let connection = event.connection {
            writer.name("connection")
            writer.beginObject()
            writer.member("id", connection.connectionId.rawValue)
            writer.member("createdAt", connection.creationTime.milliseconds)
            writer.member("data", connection.data)
            if let user = connection.user { writer.member("user", user.rawValue) }
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension PresenceEvent {
    fileprivate var name: String {
        switch self {
        case .sessionCreated: "sessionCreated"
        case .connectionCreated: "connectionCreated"
        case .connectionDestroyed: "connectionDestroyed"
        case .sessionDestroyed: "sessionDestroyed"
        }
    }

    fileprivate var connection: Connection? {
        switch self {
        case .connectionCreated(let connection), .connectionDestroyed(let connection, _): connection
        case .sessionCreated, .sessionDestroyed: nil
        }
    }

    fileprivate var reason: DisconnectReason? {
        switch self {
        case .connectionDestroyed(_, let reason): reason
        case .sessionCreated, .connectionCreated, .sessionDestroyed: nil
        }
    }
}
