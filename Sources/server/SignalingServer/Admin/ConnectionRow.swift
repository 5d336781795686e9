import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTransport

/// What a list of connections says about one. The data of a connection comes from the token.
struct ConnectionRow: Sendable {
    /// The connection's socket on this node.
    struct Socket: Sendable {
        let address: String
        let isBacklogged: Bool
        let isPaused: Bool
        let waitingByteCount: Int
    }

    let member: SessionState.MemberOverview
    let session: SessionID
    /// `nil` without a socket, and with one on another node.
    let socket: Socket?

    func json(now: WallTime) -> JSONValue {
        let created = member.connection.creationTime.milliseconds
        var object: JSONObject = [
            "connectionId": .string(member.connection.connectionId.rawValue), "sessionId": .string(session.rawValue),
            "data": .string(member.connection.data), "role": .string(member.role.rawValue),
            "createdAt": .integer(created), "ageSeconds": .integer(max(0, now.milliseconds - created) / 1000),
            "state": .string(member.detachedAt == nil ? "connected" : "detached"),
        ]
        if let user = member.connection.user { object["user"] = .string(user.rawValue) }
        if let socket {
            object["address"] = .string(socket.address)
            object["isBacklogged"] = .bool(socket.isBacklogged)
            object["isPaused"] = .bool(socket.isPaused)
            object["waitingBytes"] = .integer(Int64(socket.waitingByteCount))
        }
        return .object(object)
    }
}

extension ConnectionRow {
    /// Reads a member of a session on the loop.
    init(_ member: SessionState.MemberOverview, of session: SessionID, on hub: ServerHub) {
        self.member = member
        self.session = session
        let peer =
            member.detachedAt == nil
            ? hub.rooms[session]?.subscription(of: member.connection.connectionId)?.peer : nil
        socket = peer.map { peer in
            Socket(
                address: peer.socket.remoteAddress, isBacklogged: peer.isBacklogged,
                isPaused: peer.state.isReadingPaused, waitingByteCount: peer.waitingByteCount)
        }
    }
}
