import SignalingProtocol

/// The members of a session: found by ID, listed in the order of joining.
///
/// Joining and leaving take constant time on average. A member that leaves leaves an empty seat; empty seats are
/// removed when they are more than half of all. An ordered dictionary would move every member behind the one that
/// leaves, and when all 15,000 members of a session leave at once, that would block the loop for seconds.
struct Roster: Sendable {
    struct Member: Sendable {
        let connection: Connection
        let role: Role
        /// The connection in JSON, encoded once when it joins. Clients that suppress connection events get it with each
        /// of the member's signals (SIG-9).
        let encodedConnection: [UInt8]
        /// Whether the client suppresses connection events (CON-4). It stays over all sockets of the connection.
        let suppressesPresence: Bool
        /// Whether the client is told which connections are away (PRES-4). It stays, too.
        let isToldAbsences: Bool
        var attachment: Attachment
        /// The token that the connection began with. Limits count by it.
        var token: TokenFingerprint?
        /// Other tokens that its client has shown, the newest last. At most ``laterTokenLimit``: the oldest go first.
        var laterTokens: [TokenFingerprint] = []
        var ticket: ResumeTicket
        var answers = AnswerBook()
        var signalAllowance = TokenBucket()
        /// Of this node alone, and not kept: online-only signals are in no log.
        var onlineOnlyAllowance = TokenBucket()

        static let laterTokenLimit = 32

        /// Every token by which the server recognizes the client.
        var tokens: [TokenFingerprint] { (token.map { [$0] } ?? []) + laterTokens }

        /// Whether the connection has a socket.
        enum Attachment: Sendable {
            /// On a socket of this node.
            case attached(SocketID, node: RunID)
            /// The socket was lost at `at`. The connection can be resumed before `until` (RES-2).
            case detached(at: MonotonicInstant, until: MonotonicInstant)
        }

        var isDetached: Bool {
            switch attachment {
            case .attached: false
            case .detached: true
            }
        }

        func isAttached(toNode run: RunID) -> Bool {
            switch attachment {
            case .attached(_, let node): node == run
            case .detached: false
            }
        }

        mutating func apply<Result>(_ change: (inout Member) -> Result) -> Result { change(&self) }

        func isAttached(to socket: SocketID) -> Bool {
            switch attachment {
            case .attached(let own, _): own == socket
            case .detached: false
            }
        }
    }

    private(set) var seats: [Member?] = []
    private(set) var seatIndices: [ConnectionID: Int] = [:]
    /// The same members in JSON.
    private(set) var list: ConnectionList

    init(listBlockByteCount: Int = ConnectionList.blockByteCount) {
        list = ConnectionList(blockByteCount: listBlockByteCount)
    }

    /// With fewer seats than this, empty ones are not removed.
    static let smallCount = 32

    var count: Int { seatIndices.count }
    var isEmpty: Bool { seatIndices.isEmpty }
    /// The number of seats, empty ones included.
    var seatCount: Int { seats.count }
    /// In the order of joining.
    var members: some Sequence<Member> { seats.lazy.compactMap(\.self) }
    /// In the order of joining.
    var connections: [Connection] { seats.compactMap { $0?.connection } }

    subscript(_ id: ConnectionID) -> Member? { seatIndices[id].flatMap { seats[$0] } }
    func contains(_ id: ConnectionID) -> Bool { seatIndices[id] != nil }

    /// Reads or changes a member in place: a copy would cost more than most changes.
    ///
    /// - Returns: the result of `change`; `nil` without a member of that ID.
    @discardableResult
    mutating func update<Result>(_ id: ConnectionID, _ change: (inout Member) -> Result) -> Result? {
        guard let index = seatIndices[id] else { return nil }
        return seats[index]?.apply(change)
    }

    /// A member's client has shown this token.
    mutating func note(_ token: TokenFingerprint?, of id: ConnectionID) {
        guard let token else { return }
        update(id) { member in
            if member.tokens.contains(token) { return }
            member.laterTokens.append(token)
            if member.laterTokens.count > Member.laterTokenLimit { member.laterTokens.removeFirst() }
        }
    }

    /// Adds a member at the end.
    ///
    /// - Parameter beginsBlock: whether the member begins a block of the list; `nil` decides by the block's size.
    /// - Precondition: there is no member of that ID.
    mutating func append(_ member: Member, beginsBlock: Bool? = nil) {
        let existing = seatIndices.updateValue(seats.count, forKey: member.connection.connectionId)
        precondition(existing == nil, "a connection joined twice")
        seats.append(member)
        list.append(
            EncodedLine.connection(in: member.encodedConnection), createdAt: member.connection.creationTime,
            beginsBlock: beginsBlock)
    }

    /// Removes a member and returns it; `nil` without a member of that ID.
    mutating func remove(_ id: ConnectionID) -> Member? {
        guard let index = seatIndices.removeValue(forKey: id) else { return nil }
        let member = seats[index]
        seats[index] = nil
        if let time = member?.connection.creationTime { list.remove(createdAt: time) }
        if seats.count > Self.smallCount, seatIndices.count < seats.count / 2 { removeEmptySeats() }
        return member
    }

    private mutating func removeEmptySeats() {
        seats.removeAll { $0 == nil }
        for (index, member) in seats.enumerated() {
            if let id = member?.connection.connectionId { seatIndices[id] = index }
        }
    }
}
