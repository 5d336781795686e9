import CoreTestSupport
import SignalingProtocol
import TestSupport

@testable import SignalingCore

/// Carries out a command of the log as an engine does. The outcome is `nil` for a command that has none.
func carryOut(
    _ command: LoggedCommand, at position: LogPosition, on state: inout SessionState, now: MonotonicInstant,
    effects: inout [SessionEffect]
) -> SessionOutcome? {
    state.beginCommand(at: position, by: .current)
    switch command {
    case .begin, .end: return nil
    case .session(let command): return state.handle(command, now: now, effects: &effects)
    case .advance: state.advance(to: now, effects: &effects)
    case .changeLimits(let bounds): state.changeLimits(to: bounds, now: now)
    case .nodeLost(let run, let moment):
        state.nodeLost(run, at: moment, now: now)
        state.advance(to: now, effects: &effects)
    case .told(let number): state.told(through: number)
    case .archived(let seq): state.archived(through: seq)
    case .marked(let markers): state.mark(markers, effects: &effects)
    }
    return nil
}

/// Makes random commands that a session can get: clients join, lose their sockets, come back with old and new secrets,
/// and repeat requests; their nodes are lost; limits change.
struct RandomHistory {
    private(set) var random: SeededGenerator
    private(set) var now = MonotonicInstant.seconds(1_000)
    private(set) var number: UInt64 = 0
    /// The node that submits the command.
    private(set) var submitter = RunID(1)
    private var nextName = 0
    /// The secrets that each client has got, the newest last.
    private var secrets: [ConnectionID: [String]] = [:]
    private var lastRequests: [ConnectionID: Int64] = [:]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }
    private mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    mutating func bounds() -> SessionState.Bounds {
        let windows = pick([(4, 12), (8, 0), (0, 10), (6, 6)]) ?? (4, 12)
        var bounds = SessionState.Bounds(
            connectionCount: Int.random(in: 4...8, using: &random),
            logEventCount: Int.random(in: 8...40, using: &random), logByteCount: chance(3) ? 1_500 : 100_000,
            resumeWindow: .seconds(windows.0), recoveryWindow: .seconds(windows.1), detachedCountPerToken: 2,
            recoverableCount: Int.random(in: 1...4, using: &random),
            signalRate: chance(2) ? RateLimit(perSecond: 1, burst: 2) : nil,
            onlineOnlyRate: chance(3) ? nil : RateLimit(perSecond: 1, burst: 2), onlineOnlyConnectionCount: 6)
        bounds.awayDelay = .milliseconds(1_500)
        bounds.listBlockByteCount = 300
        bounds.untoldEventCount = chance(3) ? 0 : 5
        if chance(2) { bounds.history = chance(2) ? .all : .only(["chat"]) }
        bounds.changes =
            pick([[], [.edit], [.edit, .erase], [.edit, .erase, .react], [.edit, .erase, .react]]) ?? []
        bounds.readMarkers = pick(ReadMarkers.allCases) ?? .off
        bounds.asOf = WallTime(milliseconds: Int64.random(in: 0..<5, using: &random))
        return bounds
    }

    mutating func session() -> SessionState { SessionState(id: room, epoch: Epoch("e"), bounds: bounds()) }

    /// The position of the last command.
    var position: LogPosition { LogPosition(number: number, id: CommandID(run: submitter, counter: number)) }

    /// The next command for this session. Its position and time are then in ``position`` and ``now``.
    mutating func next(for session: SessionState) -> LoggedCommand {
        number += 1
        submitter = RunID(UInt64.random(in: 1...3, using: &random))
        if !chance(4) { now = now.advanced(by: .milliseconds(Int.random(in: 0...700, using: &random))) }
        let attached = session.roster.members.filter { !$0.isDetached }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<16: return .session(.join(join()))
        case 16..<28:
            guard let binding = pick(attached.map(binding)) else { return .advance }
            return .session(.detach(binding))
        case 28..<31:
            guard let binding = pick(attached.map(binding)) else { return .advance }
            return .session(.leave(binding, pick(DisconnectReason.allCases) ?? .clientDisconnected))
        case 31..<50: return .session(.join(claim(on: session)))
        case 50..<56:
            guard let binding = pick(attached.map(binding)) else { return .advance }
            return .session(.heard(binding))
        case 56..<78: return .session(signal(to: session, attached))
        case 78..<83: return .session(change(session, attached))
        case 83..<84:
            guard chance(2) else { return .archived(through: seq(of: session)) }
            return .marked(["u", "v"].map { ReadMarker($0, through: seq(of: session)) })
        case 84..<86: return .session(.streams(sender(among: attached), streams()))
        case 86..<89: return .session(moderate(session, attached))
        case 89..<91:
            guard let target = pick(session.connections.map(\.connectionId)) else { return .advance }
            return .session(.forceDisconnect(sender(among: attached), target))
        case 91..<93:
            guard let member = pick(attached) else { return .advance }
            let claims = TokenClaims(
                role: chance(3) ? .moderator : member.role, data: member.connection.data,
                user: member.connection.user, expiry: .none,
                token: TokenFingerprint(UInt64.random(in: 1...5, using: &random)))
            return .session(.refreshToken(binding(of: member), claims))
        case 93..<95: return .changeLimits(bounds())
        case 95..<97:
            let run = chance(3) ? nil : RunID(UInt64.random(in: 1...3, using: &random))
            return .nodeLost(run, at: now.advanced(by: .milliseconds(-Int.random(in: 0...2_000, using: &random))))
        case 97..<99: return .told(through: number - min(number, UInt64.random(in: 1...8, using: &random)))
        default: return .advance
        }
    }

    private func binding(of member: Roster.Member) -> SocketBinding {
        guard case .attached(let socket, _) = member.attachment else { return SocketBinding("none") }
        return SocketBinding(member.connection.connectionId, socket)
    }

    /// One of the newest seqs, which mostly names a message.
    private mutating func seq(of session: SessionState) -> Seq {
        Seq(max(0, session.log.lastSeq.rawValue - Int64.random(in: 0...12, using: &random)))
    }

    private mutating func change(_ session: SessionState, _ attached: [Roster.Member]) -> SessionCommand {
        // Mostly of the author.
        let entry = pick(session.log.entries.filter { $0.kind == .signal && $0.audience == .everyone })
        let authors = attached.filter { $0.encodedConnection == entry?.line.insertion?.bytes }
        let sender = chance(8) ? CommandSender.server : sender(among: chance(4) || authors.isEmpty ? attached : authors)
        let seq = chance(4) ? seq(of: session) : entry?.seq ?? .zero
        switch Int.random(in: 0..<14, using: &random) {
        case 10..<14:
            let users = attached.filter { $0.connection.user != nil }
            return .react(
                self.sender(among: users.isEmpty ? attached : users),
                ReactRequest(seq, keys: pick([[], ["👍"], ["é", "👍"], [""]]) ?? []))
        case 0..<7:
            let data = pick([nil, "é\"\\", String(repeating: "x", count: 300)]) ?? nil
            return .change(sender, ChangeRequest(seq, .edit(data: data, isJSON: chance(5))))
        case 7..<9: return .erase(sender, .message(seq))
        default: return .erase(.server, chance(2) ? .through(seq) : .user("u"))
        }
    }

    /// Mostly valid ones, few enough IDs that connections dispute them.
    private mutating func streams() -> [AnnouncedStream] {
        (0..<Int.random(in: 0...3, using: &random)).map { number in
            AnnouncedStream(
                id: "s\(Int.random(in: 0...9, using: &random) * 4 + number)", name: chance(4) ? "é\"" : "",
                hasAudio: chance(2), hasVideo: chance(2), videoType: pick(AnnouncedStream.VideoType.allCases),
                creationTime: WallTime(milliseconds: Int64.random(in: 0..<500, using: &random)))
        }
    }

    private mutating func join() -> JoinRequest {
        nextName += 1
        let secret = "secret \(nextName)"
        var request = JoinRequest(
            connectionId: client("c\(nextName)"), role: pick(Role.allCases) ?? .publisher,
            data: pick(["", "name=é\"\n\u{2028}", String(repeating: "x", count: 90)]) ?? "",
            suppressesPresence: chance(4), wallTime: WallTime(milliseconds: Int64.random(in: 0..<500, using: &random)),
            socket: UInt64(nextName) << 40)
        request.user = pick([nil, nil, "u", "v", "ü\""]) ?? nil
        request.getsPages = chance(2)
        request.getsAbsences = chance(2)
        request.token = chance(4) ? nil : TokenFingerprint(UInt64.random(in: 1...2, using: &random))
        request.secretHash = hash(secret)
        secrets[request.connectionId] = [secret]
        return request
    }

    /// A join that claims a connection of the session, of an expired ticket, or of one that was force-disconnected.
    private mutating func claim(on session: SessionState) -> JoinRequest {
        var request = join()
        let tickets =
            session.roster.members.map(\.ticket) + session.expiredTickets.tickets.map(\.ticket)
            + session.forceDisconnectedTickets.tickets.map(\.ticket)
        guard let ticket = pick(tickets) else { return request }
        let known = secrets[ticket.connectionId] ?? []
        let last = session.log.lastSeq.rawValue
        request.resumption = Resumption(
            connectionId: ticket.connectionId, secretHash: hash(chance(8) ? "wrong" : pick(known.suffix(3)) ?? ""),
            epoch: Epoch(chance(12) ? "other" : "e"),
            after: Seq(
                chance(10) ? 1_000_000 : Int64.random(in: min(last, ticket.joined.rawValue)...last, using: &random)))
        if !chance(10) { (request.role, request.data, request.user) = (ticket.role, ticket.data, ticket.user) }
        request.isUntimely = chance(8)
        secrets[ticket.connectionId] = known + secrets[request.connectionId, default: []]
        return request
    }

    private mutating func sender(among attached: [Roster.Member]) -> CommandSender {
        guard let member = pick(attached), !chance(8) else { return .server }
        let id = member.connection.connectionId
        if chance(6) { return .connection(binding(of: member), nil) }
        let last = lastRequests[id, default: 0]
        // Some numbers are left out, so a repeated request may be one that was never made.
        let next = last + Int64.random(in: 1...2, using: &random)
        let request = last > 0 && chance(2) ? Int64.random(in: 1...last, using: &random) : next
        lastRequests[id] = max(last, request)
        return .connection(binding(of: member), RequestID(request))
    }

    private mutating func moderate(_ session: SessionState, _ attached: [Roster.Member]) -> SessionCommand {
        let terms = ModerationRequest.Terms(
            seconds: chance(4) ? nil : Int.random(in: 1...4, using: &random), reason: chance(2) ? nil : "because\n")
        let subject: ModerationRequest.Subject =
            if chance(2), let target = pick(session.connections.map(\.connectionId)) {
                .connection(target)
            } else {
                .user(pick(["u", "v", "ü\""]) ?? "u")
            }
        let refs = session.restrictions.ordered.map(\.record.ref)
        let lifted = pick(refs).map { ModerationRequest.Lifted.ref($0) } ?? .user("u")
        let request: ModerationRequest =
            switch Int.random(in: 0..<8, using: &random) {
            case 0...1: .mute(subject, terms)
            case 2...3: .ban(subject, terms, erasesMessages: chance(2))
            case 4: .freeze(terms)
            case 5: .unmute(lifted)
            case 6: .unban(lifted)
            default: .unfreeze
            }
        return .moderate(
            sender(among: attached), request,
            Acceptance(
                date: WallTime(milliseconds: Int64.random(in: 0..<500, using: &random)),
                moment: chance(4) ? nil : now.advanced(by: .milliseconds(-Int.random(in: 0...700, using: &random)))))
    }

    private mutating func signal(to session: SessionState, _ attached: [Roster.Member]) -> SessionCommand {
        let target = chance(3) ? pick(session.connections.map(\.connectionId) + [client("nobody")]) : nil
        return .signal(
            sender(among: attached),
            SignalRequest(
                type: pick(["chat", nil, "no type"]) ?? nil, data: pick(Self.texts) ?? nil, to: target,
                isOnlineOnly: chance(4), isJSON: chance(8)))
    }

    static let texts: [String?] = [
        nil, "", "hello", "\u{0}\n\u{1F600}", "e\u{301} and é", "\u{FFFD}", "\u{FEFF}\u{2028}\"\\</script>",
        String(repeating: "€", count: 200),
    ]
}
