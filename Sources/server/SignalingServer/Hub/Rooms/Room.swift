import SignalingCore
import SignalingProtocol

/// The subscriptions to one session on this node, and what the next flush sends to them. Confined to the loop.
final class Room<Socket: HubSocket> {
    let session: SessionID
    @exclusivity(unchecked) private(set) var subscriptions: [Subscription<Socket>] = []
    /// The session, so that it is not looked up for each message.
    @exclusivity(unchecked) private var hosted: HostedSession?
    /// `nil` in a small room: most rooms have a few members, and the dictionaries would cost each of them more memory
    /// than everything else here.
    private var index: Index?
    @exclusivity(unchecked) var pendingOnlineOnly = PendingOnlineOnly()
    @exclusivity(unchecked) var flushScheduler: FlushScheduler
    /// The end of the log at the last flush: the cursor of every subscription that is up to date.
    @exclusivity(unchecked) var flushedThrough: Seq
    /// The version of the absences at the last flush.
    @exclusivity(unchecked) var flushedAbsences: UInt64
    /// Whether this room is in the hub's list of rooms with something to send.
    @exclusivity(unchecked) var isDirty = false
    /// Since when; nil after a flush.
    @exclusivity(unchecked) var dirtySince: MonotonicInstant?
    /// What has been flushed since all members were told their position.
    @exclusivity(unchecked) var sincePings = LogShare()
    /// For administration.
    @exclusivity(unchecked) var traffic = RoomTraffic()

    init(session: SessionID, flushedThrough: Seq, flushedAbsences: UInt64, flushScheduler: FlushScheduler) {
        self.session = session
        self.flushedThrough = flushedThrough
        self.flushedAbsences = flushedAbsences
        self.flushScheduler = flushScheduler
    }

    /// Constant-time lookup matters when all clients of a large session resume at once, or a moderator disconnects
    /// thousands.
    private struct Index {
        var bySocket: [SocketID: Subscription<Socket>] = [:]
        /// The newest subscription of each connection.
        var byConnection: [ConnectionID: Subscription<Socket>] = [:]

        mutating func add(_ subscription: Subscription<Socket>) {
            bySocket[subscription.socket] = subscription
            if !subscription.isReplaced { byConnection[subscription.outbox.owner] = subscription }
        }

        mutating func remove(_ subscription: Subscription<Socket>) {
            bySocket[subscription.socket] = nil
            if !subscription.isReplaced { byConnection[subscription.outbox.owner] = nil }
        }
    }

    /// The session's log on this node; `nil` where the engine hosts no such session.
    func log(in engine: any SessionEngine) -> SessionLog? {
        if let log = hosted?.log { return log }
        hosted = engine.hosted(session)
        return hosted?.log
    }

    /// The session and the end of its log; `nil` where ``log(in:)`` is.
    func end(in engine: any SessionEngine) -> (hosted: HostedSession, log: SessionLog.End)? {
        if let hosted, let end = hosted.end { return (hosted, end) }
        hosted = engine.hosted(session)
        guard let hosted, let end = hosted.end else { return nil }
        return (hosted, end)
    }

    /// A room with more subscriptions than this gets an index.
    private var unindexedCount: Int { 8 }

    var isEmpty: Bool { subscriptions.isEmpty }

    /// Whether so much waits that the log may drop events before the end of the turn, although the members read: many
    /// commands are confirmed at once.
    func mustFlush(before end: Seq, in bounds: SessionLog.Bounds) -> Bool {
        LogShare(
            eventCount: Int(end.rawValue - flushedThrough.rawValue), byteCount: flushScheduler.waitingByteCount
        ).isHalf(of: bounds)
    }

    func add(_ subscription: Subscription<Socket>) {
        self.subscription(of: subscription.outbox.owner)?.isReplaced = true
        subscription.index = subscriptions.count
        subscriptions.append(subscription)
        if index != nil {
            index?.add(subscription)
        } else if subscriptions.count > unindexedCount {
            var index = Index()
            for subscription in subscriptions { index.add(subscription) }
            self.index = index
        }
    }

    func subscription(of socket: SocketID) -> Subscription<Socket>? {
        if let index { return index.bySocket[socket] }
        return subscriptions.first { $0.socket == socket }
    }

    /// The newest subscription of this connection.
    func subscription(of connection: ConnectionID) -> Subscription<Socket>? {
        if let index { return index.byConnection[connection] }
        return subscriptions.first { !$0.isReplaced && $0.outbox.owner == connection }
    }

    /// In constant time: the last subscription moves to the freed index.
    func remove(_ subscription: Subscription<Socket>) {
        let index = subscription.index
        guard index < subscriptions.count, subscriptions[index] === subscription, let last = subscriptions.popLast()
        else { return }
        self.index?.remove(subscription)
        if last !== subscription {
            subscriptions[index] = last
            last.index = index
        }
    }
}

/// One peer in one room, with its cursor in the log. Confined to the loop.
final class Subscription<Socket: HubSocket> {
    /// The room keeps the subscription, the hub keeps the peer, and both end at the same time. Unchecked, since a flush
    /// reads it for each member.
    unowned(unsafe) let peer: Peer<Socket>
    let room: Room<Socket>
    let socket: SocketID
    @exclusivity(unchecked) var outbox: Outbox
    /// The index in the room's list.
    fileprivate(set) var index = 0
    /// Whether the same connection has a newer subscription, on another socket.
    fileprivate(set) var isReplaced = false

    init(peer: Peer<Socket>, room: Room<Socket>, socket: SocketID, outbox: Outbox) {
        self.peer = peer
        self.room = room
        self.socket = socket
        self.outbox = outbox
    }
}
