import SignalingProtocol

/// The client's view of its session: its own connection, its peers, and the last event that it has seen (G1, G3).
struct SessionView {
    let connection: Connection
    /// The order of events in which `seq` counts.
    let epoch: Epoch
    /// The seq of the last event seen.
    private(set) var seq: Seq
    /// All connections in the session, the client's own included.
    private(set) var peers: [ConnectionID: Connection]
    private var users: UserRoster

    init(_ welcome: Welcome) {
        connection = welcome.connection
        epoch = welcome.epoch
        seq = welcome.seq
        peers = Dictionary(welcome.connections.map { ($0.connectionId, $0) }, uniquingKeysWith: { _, last in last })
        peers[welcome.connection.connectionId] = welcome.connection
        users = UserRoster(welcome.connections + [welcome.connection])
    }

    /// A view for another connection. Within the same order, events that were seen stay seen.
    init(_ welcome: Welcome, after before: SessionView) {
        self.init(welcome)
        if epoch == before.epoch { advance(to: before.seq) }
    }

    /// Notes that everything up to `seq` has been seen or was not meant for this client.
    mutating func advance(to seq: Seq) { self.seq = max(self.seq, seq) }

    /// Whether an event is new; it counts as seen from now on (G3). Online-only signals have no seq and are always new.
    mutating func accept(_ seq: Seq?) -> Bool {
        guard let seq else { return true }
        guard seq > self.seq else { return false }
        self.seq = seq
        return true
    }

    /// - Returns: the events for the program (USR-3).
    mutating func add(_ peer: Connection) -> [SessionEvent] {
        peers[peer.connectionId] = peer
        return [.connectionCreated(peer)] + [users.add(peer)].compactMap { $0.map { .userJoined($0) } }
    }

    /// - Returns: the events for the program; none for a connection that is not known.
    mutating func remove(_ id: ConnectionID, _ reason: DisconnectReason) -> [SessionEvent] {
        guard let peer = peers.removeValue(forKey: id) else { return [] }
        return [.connectionDestroyed(peer, reason)] + [users.remove(peer)].compactMap { $0.map { .userLeft($0) } }
    }

    func signal(_ event: SignalEvent) -> Signal {
        let from = event.from.map { sender($0, event.sender) }
        return Signal(type: event.type, data: event.data, from: from, seq: event.seq, isDirected: event.to != nil)
    }

    /// The event with its sender's connection.
    func change(_ event: ChangeEvent) -> ChangeEvent {
        var event = event
        event.sender = event.from.map { sender($0, event.sender) }
        return event
    }

    private func sender(_ id: ConnectionID, _ told: Connection?) -> Connection {
        peers[id] ?? told
            // Its sender has left, or connection events are suppressed and the server is an older one.
            ?? Connection(connectionId: id, creationTime: WallTime(milliseconds: 0), data: "")
    }

    /// The other clients that have left and joined since, oldest first, and then the users. Excludes the client's own
    /// connections, but not its user.
    func changes(since before: SessionView) -> [SessionEvent] {
        let gone = before.peers.values.filter {
            $0.connectionId != before.connection.connectionId && peers[$0.connectionId] == nil
        }
        let came = peers.values.filter {
            $0.connectionId != connection.connectionId && before.peers[$0.connectionId] == nil
        }
        let (left, joined) = users.changes(since: before.users)
        return gone.sorted { $0.creationTime < $1.creationTime }
            .map { .connectionDestroyed($0, .networkDisconnected) }
            + came.sorted { $0.creationTime < $1.creationTime }.map { .connectionCreated($0) }
            + left.map { .userLeft($0) } + joined.map { .userJoined($0) }
    }
}
