import SignalingProtocol

/// The events of one epoch, as the lines of all clients show them.
struct WireOrder: Sendable {
    /// A number for a connection ID, so that an event needs few bytes.
    typealias Name = Int32

    enum Target: Hashable, Sendable {
        case all
        case connection(Name)
    }

    enum Event: Hashable, Sendable {
        /// `signal` is the number of its sending. `from` is nil for a signal through REST.
        case signal(Int32, from: Name?, to: Target)
        case created(Name)
        case destroyed(Name)

        /// Whether the event is meant for a connection (PROTOCOL.md, section 1).
        func isMeant(for connection: Name, suppressesPresence: Bool) -> Bool {
            switch self {
            case .signal(_, _, .all): true
            case .signal(_, _, .connection(let target)): target == connection
            case .created(let other), .destroyed(let other): other != connection && !suppressesPresence
            }
        }

        var isBroadcast: Bool {
            switch self {
            case .signal(_, _, .all): true
            case .signal(_, _, .connection), .created, .destroyed: false
            }
        }
    }

    /// By seq; nil where no client has seen the event yet.
    private var events: [Event?] = [nil]
    /// When the tap first saw each departure.
    private(set) var departures: [Name: MonotonicInstant] = [:]
    /// The connections whose departure has the reason `networkDisconnected`.
    private(set) var networkLosses: Set<Name> = []
    /// Bytes of all lines up to each seq, roughly what the log holds.
    private var byteCounts: [Int] = [0]

    var lastSeq: Int { events.count - 1 }

    subscript(seq: Int) -> Event? { events.indices.contains(seq) ? events[seq] : nil }

    /// The bytes of the known events after `seq`.
    func byteCount(after seq: Int) -> Int {
        guard seq >= 0, seq < byteCounts.count, let last = byteCounts.last else { return 0 }
        return last - byteCounts[seq]
    }

    mutating func noteNetworkLoss(of name: Name) { networkLosses.insert(name) }

    /// Records the event at `seq`.
    ///
    /// - Returns: the event that is already known at this seq, if it is a different one.
    mutating func note(_ event: Event, at seq: Int, byteCount: Int, seen now: MonotonicInstant) -> Event? {
        guard seq > 0 else { return nil }
        while events.count <= seq {
            events.append(nil)
            byteCounts.append((byteCounts.last ?? 0) + byteCount)
        }
        if let known = events[seq] { return known == event ? nil : known }
        events[seq] = event
        if case .destroyed(let name) = event { departures[name] = now }
        return nil
    }

    /// How many seqs have an event that no client has seen.
    var unseenCount: Int { events.dropFirst().count { $0 == nil } }

    /// Whether every event up to `seq` is known.
    func isComplete(through seq: Int) -> Bool { seq < events.count && !events[1..<(seq + 1)].contains { $0 == nil } }
}
