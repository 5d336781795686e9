import SignalingProtocol

/// The absences that one client knows of, and the lines for what has changed since (PRES-4).
struct ToldAbsences: Sendable {
    private var told: Absences
    /// The version of the session's absences of which `told` is a copy.
    private(set) var version: UInt64
    /// The client knows the absences as they were after the event with this seq.
    private var through: Seq

    init(_ absences: Absences, through: Seq) {
        told = absences
        version = absences.version
        self.through = through
    }

    /// The client gets a presence event of this connection. If the client knows the connection as away, the event is its
    /// end, and no `connectionBack` follows.
    mutating func note(presenceOf connection: ConnectionID, at seq: Seq) {
        // An earlier event is in a replay. It may be the beginning of a connection that went away later.
        if seq > through { told.remove(connection) }
    }

    /// Appends the lines for the changes. Call it when the client has been sent the whole log.
    ///
    /// - Parameter owner: the client's own connection, of which it is told nothing. It may be away before its socket is
    ///   closed, on a node that was declared lost.
    mutating func update(
        from log: borrowing SessionLog, for owner: ConnectionID, into bytes: inout [UInt8], separatedFrom start: Int
    ) {
        let absences = log.absences
        guard version != absences.version else { return }
        for id in told.ids where id != owner && !absences.contains(id) {
            EncodedLine.append(EncodedLine(.connectionBack(id)).bytes, to: &bytes, separatedFrom: start)
        }
        for id in absences.ids where id != owner && !told.contains(id) {
            EncodedLine.append(EncodedLine(.connectionAway(id)).bytes, to: &bytes, separatedFrom: start)
        }
        self = ToldAbsences(absences, through: log.lastSeq)
    }
}
