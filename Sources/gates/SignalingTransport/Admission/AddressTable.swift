import SignalingProtocol

/// What one client address may hold. An IPv4 address counts as a whole, an IPv6 address by its /64 prefix, since one
/// user normally has a whole /64.
public struct AddressLimit: Sendable, Hashable {
    /// Open connections of any kind, at least 1.
    public var connectionCount: Int
    /// Connections that have joined no session: silent ones, HTTP, and WebSockets before their `connect`.
    public var unjoinedCount: Int
    /// New connections per second in the long run.
    public var perSecond: Int
    /// New connections at once after a pause.
    public var burst: Int
    /// Whether loopback addresses have no limit. Clients of a reverse proxy on the same machine, tests and local tools
    /// all have the same loopback address, and a program on this machine has other means to stop the server.
    public var exemptsLoopback: Bool

    /// The default number of connections of an address.
    public static let standardCount = 500

    /// Half of the connections may be unjoined, and a tenth may begin per second.
    public init(connectionCount: Int, exemptsLoopback: Bool) {
        self.connectionCount = max(1, connectionCount)
        unjoinedCount = max(1, self.connectionCount / 2)
        perSecond = max(1, self.connectionCount / 10)
        burst = self.connectionCount
        self.exemptsLoopback = exemptsLoopback
    }

    /// ``standardCount``, but at most a quarter of all connections, so that four addresses are needed to fill a server.
    public static func standard(ofTotal total: Int) -> AddressLimit {
        AddressLimit(connectionCount: min(standardCount, total / 4), exemptsLoopback: true)
    }
}

/// The connections of each address, and how fast it opens them.
struct AddressTable {
    private struct Counts {
        var open = 0
        var unjoined = 0
        var allowance = TokenBucket()
    }
    private static let smallestSweep = 1024

    private var counts: [PeerAddress: Counts] = [:]
    private var sweepAt = smallestSweep

    /// The number of addresses in memory.
    var count: Int { counts.count }

    /// Counts a new connection that has joined no session yet.
    ///
    /// - Parameter address: a ``PeerAddress/prefix``.
    /// - Returns: why it is refused; a refused connection is not counted, but it uses up the rate like others.
    mutating func add(_ address: PeerAddress, limit: AddressLimit, now: MonotonicInstant) -> Refusal? {
        sweep(now)
        var entry = counts[address] ?? Counts()
        defer { counts[address] = entry }
        let rate = RateLimit(perSecond: limit.perSecond, burst: limit.burst)
        guard entry.allowance.consume(rate, now: now) else { return .addressRate }
        guard entry.open < limit.connectionCount else { return .addressConnections }
        guard entry.unjoined < limit.unjoinedCount else { return .addressUnjoined }
        entry.open += 1
        entry.unjoined += 1
        return nil
    }

    /// A connection of this address has joined a session.
    mutating func join(_ address: PeerAddress) { counts[address]?.unjoined -= 1 }

    mutating func remove(_ address: PeerAddress, isJoined: Bool) {
        counts[address]?.open -= 1
        if !isJoined { counts[address]?.unjoined -= 1 }
    }

    /// Forgets addresses without connections whose bucket is full. The cost is constant per call in the long run.
    private mutating func sweep(_ now: MonotonicInstant) {
        guard counts.count >= sweepAt else { return }
        counts = counts.filter { $0.value.open > 0 || $0.value.allowance.fullAt > now }
        sweepAt = max(Self.smallestSweep, counts.count * 2)
    }
}
