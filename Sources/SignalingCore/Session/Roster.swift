import SignalingProtocol

/// Who is in a session: found by id, listed in the order of joining.
///
/// Joining and leaving take constant time on average. A seat that somebody left stays empty until most of them are: in an
/// ordered dictionary everybody behind it would move up, and a session of 15,000 that breaks up would hold the loop
/// for seconds.
struct Roster: Sendable {
    struct Member: Sendable {
        let connection: Connection
        let role: Role
        /// The connection in JSON, encoded once when it joins: each of its signals carries it to those who suppress
        /// connection events (SIG-9).
        let encodedConnection: [UInt8]
        var presence: Presence
        var ticket: ResumeTicket
        var answers = AnswerBook()
        var signalAllowance = TokenBucket()
        var onlineOnlyAllowance = TokenBucket()

        /// Whether the connection has a socket.
        enum Presence: Sendable {
            case attached(SocketID)
            /// Its socket was lost, and it may be continued until then (RES-2).
            case detached(at: MonotonicInstant, until: MonotonicInstant)
        }

        mutating func apply<Result>(_ change: (inout Member) -> Result) -> Result { change(&self) }

        func isAttached(to socket: SocketID) -> Bool {
            switch presence {
            case .attached(let own): own == socket
            case .detached: false
            }
        }
    }

    private var seats: [Member?] = []
    private var places: [ConnectionID: Int] = [:]
    /// Below so many seats, empty ones do not matter.
    private static let smallCount = 32

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    /// How many seats are kept, the empty ones included.
    var seatCount: Int { seats.count }
    /// In order of joining.
    var members: some Sequence<Member> { seats.lazy.compactMap(\.self) }
    /// In order of joining.
    var connections: [Connection] { seats.compactMap { $0?.connection } }

    subscript(_ id: ConnectionID) -> Member? { places[id].flatMap { seats[$0] } }
    func contains(_ id: ConnectionID) -> Bool { places[id] != nil }

    /// Looks at a member, or changes it, where it is: a copy would cost more than most of what is done with it.
    ///
    /// - Returns: what `change` says; nil when there is nobody of that id.
    @discardableResult
    mutating func update<Result>(_ id: ConnectionID, _ change: (inout Member) -> Result) -> Result? {
        guard let place = places[id] else { return nil }
        return seats[place]?.apply(change)
    }

    /// - Precondition: nobody of that id is there.
    mutating func append(_ member: Member) {
        let taken = places.updateValue(seats.count, forKey: member.connection.connectionId)
        precondition(taken == nil, "a connection joined twice")
        seats.append(member)
    }

    /// The member that was there.
    mutating func remove(_ id: ConnectionID) -> Member? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        let member = seats[place]
        seats[place] = nil
        if seats.count > Self.smallCount, places.count < seats.count / 2 { closeUp() }
        return member
    }

    private mutating func closeUp() {
        seats.removeAll { $0 == nil }
        for (place, member) in seats.enumerated() {
            if let id = member?.connection.connectionId { places[id] = place }
        }
    }
}
