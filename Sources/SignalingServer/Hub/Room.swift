import SignalingCore
import SignalingProtocol

/// The members of one session on this node, and what waits to be flushed to them. Confined to the loop.
final class Room {
    let session: SessionID
    private(set) var members: [Member] = []
    /// The same by their sockets' names: all of a large session may come back before the server has missed them.
    private var bySocket: [SocketID: Member] = [:]
    var pendingOnlineOnly = PendingOnlineOnly()
    var flushScheduler = FlushScheduler()
    /// Members that were up to date were last served up to here.
    var flushedThrough: Seq
    /// Whether the room stands in the hub's list of rooms with something to send.
    var isDirty = false

    init(session: SessionID, flushedThrough: Seq) {
        self.session = session
        self.flushedThrough = flushedThrough
    }

    func add(_ member: Member) {
        member.place = members.count
        members.append(member)
        bySocket[member.socket] = member
    }

    func member(on socket: SocketID) -> Member? { bySocket[socket] }

    /// In constant time: the last member takes the place.
    func remove(_ member: Member) {
        guard member.place < members.count, members[member.place] === member, let last = members.popLast() else {
            return
        }
        bySocket[member.socket] = nil
        if last !== member {
            members[member.place] = last
            last.place = member.place
        }
    }
}

/// A socket that is in a session: its cursor, and its place in the room. Confined to the loop.
final class Member {
    /// The room's list keeps the member, the hub's table keeps the peer, and both are left at the same time.
    unowned let peer: Peer
    let room: Room
    let socket: SocketID
    var outbox: Outbox
    var place = 0

    init(peer: Peer, room: Room, socket: SocketID, outbox: Outbox) {
        self.peer = peer
        self.room = room
        self.socket = socket
        self.outbox = outbox
    }
}
