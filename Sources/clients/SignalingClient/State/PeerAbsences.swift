import SignalingProtocol

/// The peers that are away, as the server says and as the program knows (PRES-4).
///
/// The two differ in two cases: the program does not know a peer yet, because its `connectionCreated` is in the replay
/// that follows; and a peer that the server no longer names may have left in that replay.
struct PeerAbsences {
    private var away: Set<ConnectionID> = []
    private var told: Set<ConnectionID> = []
    /// Until the client has this seq, a peer that the server no longer names may have left.
    private var replayThrough = Seq.zero

    /// The client is in the session again, or for the first time.
    ///
    /// - Parameter replayThrough: the end of a replay that has presence events; zero without one.
    mutating func enter(_ away: [ConnectionID], replayThrough: Seq) {
        self.away = Set(away)
        self.replayThrough = replayThrough
    }

    mutating func add(_ connection: ConnectionID) { away.insert(connection) }

    mutating func remove(_ connection: ConnectionID) { away.remove(connection) }

    /// A peer has left the session: its departure ends its absence.
    mutating func forget(_ connection: ConnectionID) {
        away.remove(connection)
        told.remove(connection)
    }

    /// The events that the program must get now, by creation time.
    mutating func changes(at seq: Seq, among peers: [ConnectionID: Connection]) -> [SessionEvent] {
        if away == told { return [] }
        var back: Set<ConnectionID> = []
        if seq >= replayThrough {
            back = told.subtracting(away)
            told.subtract(back)
        }
        let gone = away.filter { !told.contains($0) && peers[$0] != nil }
        told.formUnion(gone)
        func sorted(_ ids: Set<ConnectionID>) -> [Connection] {
            ids.compactMap { peers[$0] }.sorted { $0.creationTime < $1.creationTime }
        }
        return sorted(back).map { .connectionBack($0) } + sorted(gone).map { .connectionAway($0) }
    }
}
