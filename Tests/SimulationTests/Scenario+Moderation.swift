import SignalingProtocol
import SignalingVerification

@testable import SignalingCore
@testable import SignalingServer

/// Moderators and backends restrict users while everything else happens (section 18).
extension Scenario {
    /// One action, by the moderator among the clients or through REST.
    func moderate() {
        guard let request = randomAction() else { return }
        switch request {
        case .ban(.user(let user), _, _): world.bannedUsers.insert(user)
        case .ban(.connection(let id), _, _):
            // The user of that connection, or its token.
            if let user = clients.lazy.compactMap({ $0.users[id] }).first {
                world.bannedUsers.insert(user)
            } else {
                world.bansGuests = true
            }
        case .mute, .unmute, .unban, .freeze, .unfreeze: break
        }
        world.note("asks to \(request)")
        if world.chance(2) {
            moderateByREST(request)
        } else {
            clients.randomElement(using: &world.random)?.moderate(request)
        }
    }

    private func randomAction() -> ModerationRequest? {
        let user = UserID(world.chance(4) ? "ada" : "bob")
        let terms = ModerationRequest.Terms(
            seconds: world.chance(2) ? Int.random(in: 1...20, using: &world.random) : nil,
            reason: world.chance(3) ? "because" : nil)
        let subject: ModerationRequest.Subject
        if world.chance(3), let id = clients.compactMap(\.connection).randomElement(using: &world.random) {
            subject = .connection(id)
        } else {
            subject = .user(user)
        }
        return switch Int.random(in: 0..<12, using: &world.random) {
        case 0..<3: .mute(subject, terms)
        case 3..<6: .ban(subject, terms, erasesMessages: world.chance(3))
        case 6: .freeze(terms)
        case 7: .unfreeze
        case 8..<10: .unmute(.user(user))
        default: .unban(.user(user))
        }
    }

    func moderateByREST(_ request: ModerationRequest, whenDone: @escaping (SessionOutcome) -> Void = { _ in }) {
        guard let server = chosen,
            let asked = world.judge.asksByREST(Self.body(of: request), in: Tokens.session.rawValue, at: world.now)
        else { return }
        server.turn { hub in
            hub.moderate(request, in: Tokens.session) { [unowned self] outcome in
                switch outcome {
                case .moderated(let action, _):
                    world.count("moderated by REST")
                    world.judge.moderatedByREST(asked, seq: Int(action.seq.rawValue), at: world.now)
                case .refused: world.judge.moderatedByREST(asked, seq: nil, at: world.now)
                case .unavailable, .signalled, .joined, .wasForceDisconnected, .superseded, .done, .forceDisconnected,
                    .changed, .reacted, .marked, .reactors, .erased, .announced, .restrictions, .refreshed:
                    break
                }
                whenDone(outcome)
            }
        }
    }

    private static func body(of request: ModerationRequest) -> String {
        // The members of the request stand in its line, too; the judge reads only those that it knows.
        String(decoding: ClientMessage.moderate(RequestID(1), request).encoded(), as: UTF8.self)
    }

    /// Nobody is restricted any more, so that the end of a run is the same for all.
    func liftAll() {
        for time in stride(from: 0, through: 36, by: 4) {
            world.schedule(after: .seconds(time)) { [self] in
                chosen?.turn { hub in
                    hub.readModeration(of: Tokens.session) { [unowned self] reading in
                        guard case .report(let report) = reading else { return }
                        for record in report.restrictions { moderateByREST(Self.lift(of: record)) }
                    }
                }
            }
        }
    }

    private static func lift(of record: RestrictionRecord) -> ModerationRequest {
        switch record.restriction.kind {
        case .mute: .unmute(.ref(record.ref))
        case .ban: .unban(.ref(record.ref))
        case .freeze: .unfreeze
        }
    }

    /// All nodes that have the session have the same restrictions at the same place of its order.
    func checkRestrictions() {
        var known: [Seq: (restrictions: [RestrictionRecord], actions: Int)] = [:]
        for state in running.compactMap(\.engine.state) {
            let found = (state.restrictions.ordered.map(\.record), state.restrictions.actions.count)
            guard let other = known[state.log.lastSeq] else {
                known[state.log.lastSeq] = found
                continue
            }
            if other.restrictions != found.0 || other.actions != found.1 {
                world.fail("M1: two nodes have different restrictions at \(state.log.lastSeq)")
            }
        }
    }
}
