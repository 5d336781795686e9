import CoreTestSupport
import SignalingProtocol
import Synchronization
import TestSupport
import Testing

@testable import SignalingCore

/// The violations that a run of `body` reports.
private func violations(_ body: () -> Void) -> [String] {
    final class Found: Sendable { let texts = Mutex<[String]>([]) }
    let found = Found()
    Invariants.$onViolation.withValue({ text in found.texts.withLock { $0.append(text) } }, operation: body)
    return found.texts.withLock { $0 }
}

@Suite("Invariants")
struct InvariantTests {
    private func session() -> SessionState {
        var session = SessionState(logEventCount: 4)
        for name in ["ada", "bob", "eve"] { session.join(name) }
        for _ in 0..<3 { session.signal(from: "ada", data: "x") }
        _ = session.handle(.detach(SocketBinding("eve")))
        return session
    }

    private static let breaks: [(rule: String, change: @Sendable (inout SessionState) -> Void)] = [
        ("G5", { $0.bounds.log.eventCount = 3 }),
        ("G7", { $0.detachments.remove(client("eve")) }),
        (
            "RES-2",
            { state in
                state.roster.update(client("eve")) { member in
                    member.attachment = .attached(socket1, node: RunID(0))
                    member.ticket.reach = nil
                }
            }
        ),
        (
            "RES-2",
            { $0.roster.update(client("eve")) { $0.attachment = .detached(at: .seconds(0), until: .seconds(1)) } }
        ),
        ("PRES-4", { $0.log.absences.insert(client("ada")) }),
        ("PRES-4", { $0.log.absences.insert(client("joe")) }),
        ("G4", { $0.roster.update(client("ada")) { $0.ticket.reach = Seq(1) } }),
        ("G1", { $0.roster.update(client("eve")) { $0.ticket.reach = Seq(7) } }),
        ("CON-5", { $0.lastCreationTime = WallTime(milliseconds: 0) }),
        ("HIS-3", { $0.isAsleep = true }),
        (
            "G7",
            { state in
                if let ticket = state.roster[client("bob")]?.ticket {
                    state.expiredTickets.append(ticket, since: .seconds(0))
                }
            }
        ),
    ]

    @Test("a broken session names the rule", arguments: breaks.indices)
    func brokenSession(index: Int) {
        var session = session()
        #expect(session.violation == nil)
        Self.breaks[index].change(&session)
        #expect(session.violation?.hasPrefix(Self.breaks[index].rule + ": ") == true, "\(session.violation ?? "none")")
    }

    @Test("a broken session of a log names the rule")
    func brokenLoggedSession() {
        let table = DetachedTally()
        let hosted = LoggedSession(id: room, node: NodeSession(), detached: table)
        #expect(hosted.violation == nil && hosted.nodeViolation == nil)
        hosted.append(.logged(.advance, hosted.nextID(of: RunID(1)), nil))
        hosted.isAdvancing = true
        #expect(hosted.violation == nil)
        hosted.append(.logged(.advance, CommandID(run: RunID(1), counter: 1), nil))
        #expect(hosted.violation == "LOG-3: the command 1 is on its way behind 1")
        let open = LoggedSession(id: room, node: NodeSession(), detached: table)
        open.isOpen = true
        #expect(open.violation == "LOG-10: the session is open without a state")
        open.isOpen = false
        open.isAdvancing = true
        #expect(open.violation == "RES-12: what is due is not on its way")
        open.append(.unlogged(.leave(client("ada"), .clientDisconnected), CommandTicket(origin: 1, request: nil)))
        #expect(open.violation?.hasPrefix("LOG-1: ") == true)
        open.node.waiting.append(
            Submission(
                command: .leave(client("ada"), .clientDisconnected), session: room,
                ticket: CommandTicket(origin: 1, request: nil), now: .seconds(0)))
        #expect(open.nodeViolation == "LOG-10: 1 commands wait for a session that is open")
    }

    @Test("an outbox behind the end of the log names the rule")
    func brokenOutbox() {
        let session = session()
        var outbox = Outbox(owner: client("ada"), suppressesPresence: false, cursor: session.log.lastSeq)
        #expect(outbox.violation(in: session.log.end, absences: 0) == nil)
        outbox.append(EncodedLine(.ack(RequestID(1), nil)), after: session.log.lastSeq.next)
        #expect(outbox.violation(in: session.log.end, absences: 0)?.hasPrefix("WIRE-8: ") == true)
        outbox = Outbox(owner: client("ada"), suppressesPresence: false, cursor: session.log.lastSeq.next)
        #expect(outbox.violation(in: session.log.end, absences: 0)?.hasPrefix("G3: ") == true)
    }

    @Test("an engine checks the sessions that have changed at the end of its turn")
    func engineChecks() {
        // The second client would have the ID of an expired connection: an ID of two connections.
        let engine = MemoryEngine(bounds: .init(resumeWindow: .seconds(1), recoveryWindow: .seconds(60))) { Epoch("e") }
        func join(at seconds: Double) {
            let request = JoinRequest(
                connectionId: client("ada"), role: .publisher, data: "", wallTime: WallTime(milliseconds: 0))
            engine.submit(
                .join(request), to: room, ticket: CommandTicket(origin: 1, request: nil), now: .seconds(seconds))
        }
        let found = violations {
            join(at: 0)
            engine.advance(to: .seconds(0))
            engine.submit(
                .detach(SocketBinding("ada")), to: room, ticket: CommandTicket(origin: 1, request: nil),
                now: .seconds(0))
            engine.advance(to: .seconds(2))
            join(at: 2)
            engine.advance(to: .seconds(2))
        }
        #expect(found == ["G7: ada has ended, and is in the session (session 1_room)"])
    }

    @Test("a large machine is checked seldom, and a small one in each turn")
    func pace() {
        var pace = InvariantPace()
        let large = (0..<10).filter { _ in pace.isDue(itemCount: 300, countPerTurn: 100) }
        #expect(large == [2, 5, 8])
        #expect((0..<3).allSatisfy { _ in pace.isDue(itemCount: 100, countPerTurn: 100) })
    }
}
