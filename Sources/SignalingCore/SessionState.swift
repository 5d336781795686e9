import SignalingProtocol

/// One session: who is connected, the log, and the rules of who may do what.
///
/// The same commands in the same order give the same effects, on any machine, at any speed. Commands go in, one outcome
/// for who asked comes back, and what everybody has to know is appended to the log or reported as an effect.
public struct SessionState: Sendable {
    /// What a session permits.
    public struct Bounds: Sendable {
        /// Most connections at a time. OpenTok's present documentation says 15,000.
        public var connectionCount: Int
        public var log: SessionLog.Bounds

        public init(connectionCount: Int = 15_000, log: SessionLog.Bounds = .init()) {
            self.connectionCount = connectionCount
            self.log = log
        }
    }

    public let id: SessionID
    public let epoch: Epoch
    public let bounds: Bounds
    public private(set) var log: SessionLog
    private var members = Roster()
    private var lastCreationTime: WallTime

    public init(id: SessionID, epoch: Epoch, bounds: Bounds = .init()) {
        self.id = id
        self.epoch = epoch
        self.bounds = bounds
        log = SessionLog(bounds: bounds.log)
        lastCreationTime = WallTime(milliseconds: .min)
    }

    /// All that are connected, in order of their creation time.
    public var connections: [Connection] { members.connections }
    public var connectionCount: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }
    public func contains(_ connection: ConnectionID) -> Bool { members.contains(connection) }

    public mutating func handle(_ command: SessionCommand, effects: inout [SessionEffect]) -> SessionOutcome {
        switch command {
        case .join(let request): join(request)
        case .leave(let connection, let reason): leave(connection, reason)
        case .signal(let sender, let request): signal(request, from: sender, effects: &effects)
        case .forceDisconnect(let sender, let target): forceDisconnect(target, by: sender, effects: &effects)
        }
    }

    private mutating func join(_ request: JoinRequest) -> SessionOutcome {
        guard members.count < bounds.connectionCount else {
            return .refused(SignalingError(.connectionLimitExceeded, "the session is full"))
        }
        guard !members.contains(request.connectionId) else {
            // The caller's randomness gave an id twice; refusing is better than two clients with one name.
            return .refused(SignalingError(.connectFailed, "the connection id is taken"))
        }
        // Strictly increasing, so that applications can put peers in order even when two join within a millisecond,
        // or the server's clock steps back.
        lastCreationTime = max(request.wallTime, WallTime(milliseconds: lastCreationTime.milliseconds &+ 1))
        let connection = Connection(
            connectionId: request.connectionId, creationTime: lastCreationTime, data: request.data)
        members.append(
            Roster.Member(
                connection: connection, role: request.role, encodedConnection: EncodedLine.encode(connection)))
        let entry = log.append(audience: .everyone, kind: .presence(of: connection.connectionId)) { seq in
            EncodedLine(.connectionCreated(seq, connection))
        }
        return .joined(
            Membership(
                connection: connection, role: request.role,
                connections: request.suppressesPresence ? [connection] : connections, epoch: epoch, seq: entry.seq))
    }

    private mutating func leave(_ connection: ConnectionID, _ reason: DisconnectReason) -> SessionOutcome {
        remove(connection, reason)
        return .left
    }

    /// Whether it was there. Who is not there any more is not told of a second time (G7).
    @discardableResult
    private mutating func remove(_ connection: ConnectionID, _ reason: DisconnectReason) -> Bool {
        guard members.remove(connection) else { return false }
        log.append(audience: .everyone, kind: .presence(of: connection)) { seq in
            EncodedLine(.connectionDestroyed(seq, connection, reason))
        }
        return true
    }

    /// Checks in the order of SIG-5: role, data, to, type, presence of the target.
    private mutating func signal(
        _ request: SignalRequest, from sender: CommandSender, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        let from: Roster.Member?
        switch sender {
        case .server: from = nil
        case .connection(let id):
            guard let member = members[id] else { return .refused(.notInSession) }
            guard member.role.maySignal else {
                return .refused(
                    SignalingError(.permissionDenied, "the role \(member.role.rawValue) may not signal"))
            }
            from = member
        }
        do { try request.validate() } catch { return .refused(error) }
        if let to = request.to {
            guard members.contains(to) else {
                return .refused(SignalingError(.notFound, "the target connection is not in the session"))
            }
        } else if members.isEmpty {
            return .refused(SignalingError(.notFound, "nobody is connected to the session"))
        }

        let audience = request.to.map(Audience.only) ?? .everyone
        func line(_ seq: Seq?) -> EncodedLine {
            EncodedLine(
                SignalEvent(
                    seq: seq, from: from?.connection.connectionId, type: request.type, data: request.data,
                    to: request.to),
                encodedSender: from?.encodedConnection)
        }
        if request.isOnlineOnly {
            effects.append(
                .onlineOnly(
                    OnlineOnlySignal(
                        after: log.lastSeq, from: from?.connection.connectionId, type: request.type,
                        audience: audience, line: line(nil))))
            return .signalled(nil)
        }
        return .signalled(log.append(audience: audience, kind: .signal, line: line).seq)
    }

    private mutating func forceDisconnect(
        _ target: ConnectionID, by sender: CommandSender, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        switch sender {
        case .server: break
        case .connection(let id):
            guard let member = members[id] else {
                return .refused(SignalingError(.notConnectedToModerate, "not connected to the session"))
            }
            guard member.role.mayForceDisconnect else {
                return .refused(
                    SignalingError(.unableToForceDisconnect, "only a moderator may force others to disconnect"))
            }
        }
        guard remove(target, .forceDisconnected) else {
            return .refused(SignalingError(.badTarget, "the connection is not in the session"))
        }
        effects.append(.ended(target, .forceDisconnected))
        return .forcedOut
    }
}

extension SignalingError {
    /// A command of a connection that the session does not have (any more).
    static var notInSession: SignalingError { SignalingError(.notConnected, "not connected to the session") }
}
