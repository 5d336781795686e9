import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session with a moderator, users and guests, whose commands happen in the time of their log.
struct ModeratedRoom {
    var session: SessionState
    private(set) var effects: [SessionEffect] = []
    /// In seconds.
    var now = 1_000.0
    private var tokens: [String: TokenFingerprint] = [:]
    private var sockets: [String: UInt64] = [:]
    private var lastSocket: UInt64 = 0

    /// The clock of the server is ahead of the log's.
    static let clockLead: Int64 = 1_700_000_000_000

    init(history: KeptTypes? = nil, resume: Double = 60, recovery: Double = 300, logEventCount: Int = 2048) {
        var bounds = SessionState.Bounds(
            logEventCount: logEventCount, resumeWindow: .seconds(resume), recoveryWindow: .seconds(recovery),
            onlineOnlyRate: nil)
        bounds.history = history
        session = SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
    }

    /// `mod`, who is the user `m`; `bob` and `bea`, who are the user `u`; `eve`, a guest.
    static func usual(history: KeptTypes? = nil) -> ModeratedRoom {
        var room = ModeratedRoom(history: history)
        room.join("mod", .moderator, user: "m")
        room.join("bob", user: "u")
        room.join("bea", user: "u")
        room.join("eve")
        return room
    }

    var instant: MonotonicInstant { .seconds(now) }
    var wallTime: WallTime { WallTime(milliseconds: Self.clockLead + Int64(now * 1_000)) }

    @discardableResult
    mutating func submit(_ command: SessionCommand) -> SessionOutcome {
        session.handle(command, now: instant, effects: &effects)
    }

    /// Each client has a token of its own unless another one is named.
    @discardableResult
    mutating func join(
        _ name: String, _ role: Role = .publisher, user: UserID? = nil, token: String? = nil,
        resuming old: String? = nil, after: Int64? = nil, isUntimely: Bool = false, suppressesPresence: Bool = false
    ) -> SessionOutcome {
        lastSocket += 1
        var request = JoinRequest(
            connectionId: client(name), role: role, data: "", user: user, suppressesPresence: suppressesPresence,
            wallTime: wallTime, socket: lastSocket, isUntimely: isUntimely)
        request.secretHash = hash("\(old ?? name)")
        request.token = Self.fingerprint(token ?? old ?? name)
        if let old {
            request.resumption = Resumption(
                connectionId: client(old), secretHash: hash(old), epoch: Epoch("e"),
                after: Seq(after ?? session.log.lastSeq.rawValue))
        }
        let outcome = submit(.join(request))
        if case .joined(let result) = outcome { sockets[result.connection.connectionId.rawValue] = lastSocket }
        return outcome
    }

    private static func fingerprint(_ token: String) -> TokenFingerprint {
        TokenFingerprint(token.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
    }

    func sender(_ name: String?, _ request: Int64? = nil) -> CommandSender {
        guard let name else { return .server }
        return .connection(binding(name), request.map { RequestID($0) })
    }

    func binding(_ name: String) -> SocketBinding { SocketBinding(name, sockets[name] ?? 0) }

    @discardableResult
    mutating func moderate(
        _ request: ModerationRequest, by name: String? = "mod", request id: Int64? = nil,
        acceptedBefore wait: Double = 0
    ) -> SessionOutcome {
        submit(
            .moderate(
                sender(name, id), request,
                Acceptance(
                    date: WallTime(milliseconds: wallTime.milliseconds - Int64(wait * 1_000)),
                    moment: .seconds(now - wait))))
    }

    @discardableResult
    mutating func refresh(_ name: String, token: String, user: UserID? = nil) -> SessionOutcome {
        submit(
            .refreshToken(
                binding(name),
                TokenClaims(role: .publisher, data: "", user: user, expiry: .none, token: Self.fingerprint(token))))
    }

    @discardableResult
    mutating func signal(
        _ name: String?, _ data: String = "x", to target: String? = nil, isOnlineOnly: Bool = false
    ) -> SessionOutcome {
        submit(
            .signal(
                sender(name),
                SignalRequest(type: "chat", data: data, to: target.map { client($0) }, isOnlineOnly: isOnlineOnly)))
    }

    mutating func advance() { session.advance(to: instant, effects: &effects) }

    mutating func detach(_ name: String) { submit(.detach(binding(name))) }

    mutating func leave(_ name: String) { submit(.leave(binding(name), .clientDisconnected)) }

    /// The effects since the last call, without presence.
    mutating func takeEffects() -> [String] {
        defer { effects = [] }
        return effects.compactMap { if case .presence = $0 { nil } else { $0.testDescription } }
    }

    /// The lines after a seq that a connection gets.
    func lines(
        of name: String, user: UserID? = nil, role: Role = .publisher, after seq: Int64,
        suppressesPresence: Bool = false, recoversThrough: Int64 = 0
    ) -> [String] {
        var outbox = Outbox(
            owner: client(name), user: user, role: role, suppressesPresence: suppressesPresence, cursor: Seq(seq),
            recoversThrough: Seq(recoversThrough))
        return dequeueAll(&outbox, session.log)
    }

    /// The same session after its state was kept and read again.
    mutating func reload() throws {
        let bytes = session.encoded()
        session = try SessionState(decoding: bytes)
        #expect(session.encoded() == bytes)
    }
}

extension SessionOutcome {
    var error: SignalingError? { if case .refused(let error) = self { error } else { nil } }

    /// Of an action.
    var seq: Seq? { if case .moderated(let record, _) = self { record.seq } else { nil } }

    var joined: JoinResult? { if case .joined(let result) = self { result } else { nil } }
}
