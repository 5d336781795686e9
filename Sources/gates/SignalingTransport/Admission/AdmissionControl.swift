import SignalingProtocol

/// Decides which connections the server accepts, and which one it closes when places run short.
///
/// A pure state machine: it names no socket and reads no clock. ``TransportServer`` reports each connection's phase and
/// executes the decisions. Its promise: a connection that waits for its client never keeps others out for long, because
/// a newcomer gets the place of the one that has waited longest.
struct AdmissionControl {
    /// What a connection does, as far as it matters here.
    enum Phase: CaseIterable {
        /// Outside of libwebsockets: the request's head, or with TLS the client's greeting, is not complete.
        case held
        /// Inside of libwebsockets, which waits for the client: for the rest of the handshake, a head or a body.
        case receiving
        /// The server works on a response, or the client reads it.
        case serving
        /// The rest of a response waits for the client to read it.
        case unread
        /// Between two requests.
        case idle
        /// A WebSocket that has joined no session.
        case unjoined
        /// A WebSocket in a session. It is never displaced.
        case joined
        /// Being closed. It counts for its address only.
        case leaving

        /// Whether libwebsockets keeps one of its header places for the connection.
        var usesPlace: Bool {
            switch self {
            case .receiving, .serving, .unread, .idle: true
            case .held, .unjoined, .joined, .leaving: false
            }
        }
    }

    struct Bounds {
        /// Connections in all phases, without the reserve.
        var connectionCount: Int
        /// Connections in phases with ``Phase/usesPlace``, without the reserve.
        var placeCount: Int
        /// Further connections that may only ask for the server's health.
        var reserveCount = 32
        /// nil: addresses have no limit.
        var perAddress: AddressLimit?
        /// Addresses without a limit: their connections are those of many clients.
        var trustedProxies = TrustedProxies()
        /// A connection that waits for its client is not displaced before this time, in which an honest client answers.
        /// An idle one may be displaced at any time.
        var grace = Duration.milliseconds(250)
    }

    enum Decision: Equatable {
        case admit(displacing: UInt64?)
        /// The server is full: answer questions for its health, and refuse everything else.
        case admitToReserve(displacing: UInt64?)
        case refuse(Refusal)
    }

    private struct Entry {
        /// nil: the address has no limit.
        var address: PeerAddress?
        var phase: Phase
        var isReserved: Bool
        /// Whether the connection counts as joined for its address.
        var hasJoined = false
        /// Since when it is in this phase.
        var since: MonotonicInstant
    }

    let bounds: Bounds
    private var entries: [UInt64: Entry] = [:]
    private var addresses = AddressTable()
    /// The connections of each phase in which a connection may be displaced; those of the reserve are in `reserve`.
    private var orders: [Phase: AgeOrder] = [
        .held: .init(), .receiving: .init(), .unread: .init(), .idle: .init(), .unjoined: .init(),
    ]
    /// The connections of the reserve that wait for their client.
    private var reserve = AgeOrder()
    private var servedReserveCount = 0
    private(set) var connectionCount = 0
    private(set) var placeCount = 0

    init(bounds: Bounds) { self.bounds = bounds }

    var reservedCount: Int { reserve.count + servedReserveCount }

    // MARK: Events

    /// A client has connected. Unless it is refused, it is `held`.
    mutating func connect(_ id: UInt64, from peer: PeerAddress, now: MonotonicInstant) -> Decision {
        let address = limited(peer)
        if let address, let limit = bounds.perAddress, let refusal = addresses.add(address, limit: limit, now: now) {
            return .refuse(refusal)
        }
        let entry = Entry(address: address, phase: .held, isReserved: false, since: now)
        if connectionCount < bounds.connectionCount {
            insert(id, entry)
            return .admit(displacing: nil)
        }
        if let victim = victim(ofAll: true, now: now) {
            retire(victim)
            insert(id, entry)
            return .admit(displacing: victim)
        }
        return insertIntoReserve(id, entry)
    }

    /// The head, or with TLS the greeting, is complete: the connection asks for a place in libwebsockets.
    ///
    /// - Parameter mayAskForHealth: false if the request is known to ask for something else.
    mutating func adopt(_ id: UInt64, mayAskForHealth: Bool, now: MonotonicInstant) -> Decision {
        guard var entry = entries[id], entry.phase == .held else { return .refuse(.serverFull) }
        if entry.isReserved {
            guard mayAskForHealth else { return .refuse(.serverFull) }
            move(id, to: .receiving, now: now)
            return .admitToReserve(displacing: nil)
        }
        if placeCount < bounds.placeCount {
            move(id, to: .receiving, now: now)
            return .admit(displacing: nil)
        }
        if let victim = victim(ofAll: false, now: now) {
            retire(victim)
            move(id, to: .receiving, now: now)
            return .admit(displacing: victim)
        }
        guard mayAskForHealth else { return .refuse(.serverFull) }
        remove(id, keepsAddress: true)
        entry.phase = .receiving
        entry.since = now
        return insertIntoReserve(id, entry)
    }

    /// The connection is in another phase now.
    mutating func move(_ id: UInt64, to phase: Phase, now: MonotonicInstant) {
        guard var entry = entries[id], entry.phase != phase, entry.phase != .leaving else { return }
        uncount(id, entry)
        if phase == .joined {
            entry.hasJoined = true
            if let address = entry.address { addresses.join(address) }
        }
        entry.phase = phase
        entry.since = now
        entries[id] = entry
        count(id, entry)
    }

    /// A trusted proxy has named the client behind the connection, which counts for that client from now on.
    ///
    /// - Returns: why the client is refused; the connection then counts for no address.
    mutating func identify(_ id: UInt64, as client: PeerAddress, now: MonotonicInstant) -> Refusal? {
        guard var entry = entries[id], entry.phase != .joined, entry.phase != .leaving else { return nil }
        let address = limited(client)
        guard address != entry.address else { return nil }
        if let old = entry.address { addresses.remove(old, isJoined: false) }
        entry.address = nil
        defer { entries[id] = entry }
        if let address, let limit = bounds.perAddress {
            if let refusal = addresses.add(address, limit: limit, now: now) { return refusal }
            entry.address = address
        }
        return nil
    }

    /// No file descriptor is left, although there are fewer connections than permitted.
    ///
    /// - Returns: the connection to close.
    mutating func makeRoom(now: MonotonicInstant) -> UInt64? {
        guard let victim = victim(ofAll: true, now: now) else { return nil }
        retire(victim)
        return victim
    }

    /// The connection is closed.
    mutating func disconnect(_ id: UInt64) { remove(id, keepsAddress: false) }

    // MARK: Questions

    func isReserved(_ id: UInt64) -> Bool { entries[id]?.isReserved ?? false }

    private func limited(_ address: PeerAddress) -> PeerAddress? {
        guard let limit = bounds.perAddress, !bounds.trustedProxies.contains(address),
            !(limit.exemptsLoopback && address.isLoopback)
        else { return nil }
        return address.prefix
    }

    /// The connection whose place a newcomer gets: the oldest idle one, or else the one that has waited longest.
    private func victim(ofAll: Bool, now: MonotonicInstant) -> UInt64? {
        if let idle = orders[.idle]?.oldest { return idle }
        var candidates = [orders[.receiving]?.oldest, orders[.unread]?.oldest]
        if ofAll { candidates += [orders[.held]?.oldest, orders[.unjoined]?.oldest] }
        let longest = candidates.compactMap { id -> (id: UInt64, since: MonotonicInstant)? in
            guard let id, let entry = entries[id] else { return nil }
            return (id, entry.since)
        }.min { $0.since < $1.since }
        guard let longest, longest.since.advanced(by: bounds.grace) <= now else { return nil }
        return longest.id
    }

    // MARK: Bookkeeping

    private mutating func insert(_ id: UInt64, _ entry: Entry) {
        entries[id] = entry
        count(id, entry)
    }

    private mutating func insertIntoReserve(_ id: UInt64, _ entry: Entry) -> Decision {
        var victim: UInt64?
        if reservedCount >= bounds.reserveCount {
            // The oldest that waits for its client gives way. A question for the health is answered within milliseconds.
            guard let oldest = reserve.oldest else {
                if let address = entry.address { addresses.remove(address, isJoined: false) }
                return .refuse(.serverFull)
            }
            retire(oldest)
            victim = oldest
        }
        var entry = entry
        entry.isReserved = true
        insert(id, entry)
        return .admitToReserve(displacing: victim)
    }

    private mutating func retire(_ id: UInt64) {
        guard var entry = entries[id] else { return }
        uncount(id, entry)
        entry.phase = .leaving
        entries[id] = entry
    }

    private mutating func remove(_ id: UInt64, keepsAddress: Bool) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if entry.phase != .leaving { uncount(id, entry) }
        if !keepsAddress, let address = entry.address {
            addresses.remove(address, isJoined: entry.hasJoined)
        }
    }

    private mutating func count(_ id: UInt64, _ entry: Entry) {
        if entry.phase == .leaving { return }
        guard !entry.isReserved else {
            if entry.phase == .serving { servedReserveCount += 1 } else { reserve.append(id) }
            return
        }
        connectionCount += 1
        if entry.phase.usesPlace { placeCount += 1 }
        orders[entry.phase]?.append(id)
    }

    private mutating func uncount(_ id: UInt64, _ entry: Entry) {
        guard !entry.isReserved else {
            if entry.phase == .serving { servedReserveCount -= 1 } else { reserve.remove(id) }
            return
        }
        connectionCount -= 1
        if entry.phase.usesPlace { placeCount -= 1 }
        orders[entry.phase]?.remove(id)
    }
}
