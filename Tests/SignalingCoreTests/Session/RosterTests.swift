import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The roster of a session")
struct RosterTests {
    @Test(
        "members are found by ID and listed in the order of joining, however many have left", arguments: [71, 72, 73])
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var roster = Roster()
        var expected: [Connection] = []
        for step in 0..<3_000 {
            // Grows at first, then shrinks to nothing and grows again, so that empty seats are removed at every size.
            let mayGrow = step % 1_000 < 400
            if Int.random(in: 0..<10, using: &random) < (mayGrow ? 8 : 3) {
                let connection = Connection(
                    connectionId: client("\(step)"), creationTime: WallTime(milliseconds: Int64(step)), data: "")
                roster.append(.test(connection))
                expected.append(connection)
            } else if let index = expected.indices.randomElement(using: &random) {
                let id = expected.remove(at: index).connectionId
                let (first, second) = (roster.remove(id), roster.remove(id))
                #expect(first?.connection.connectionId == id && second == nil)
                #expect(roster[id] == nil)
            }
            #expect(roster.count == expected.count)
            #expect(roster.isEmpty == expected.isEmpty)
            if step.isMultiple(of: 37) || expected.count < 3 {
                #expect(roster.connections == expected, "seed \(seed), step \(step)")
                #expect(expected.allSatisfy { roster[$0.connectionId]?.connection == $0 }, "seed \(seed), step \(step)")
                #expect(expected.allSatisfy { roster.contains($0.connectionId) })
            }
        }
    }

    @Test("G5: connections that join and leave do not accumulate seats")
    func bounded() {
        var roster = Roster()
        for number in 0..<10_000 {
            let connection = Connection(
                connectionId: client("\(number)"), creationTime: WallTime(milliseconds: 0), data: "")
            roster.append(.test(connection))
            let removed = roster.remove(client("\(number - 1)"))
            #expect((removed != nil) == (number > 0))
            #expect(roster.seatCount <= 33)
        }
        #expect(roster.count == 1)
    }
}

extension Roster.Member {
    fileprivate static func test(_ connection: Connection) -> Roster.Member {
        Roster.Member(
            connection: connection, role: .publisher, encodedConnection: [], suppressesPresence: false,
            isToldAbsences: false, attachment: .attached(socket1, node: RunID(0)),
            ticket: ResumeTicket(
                connectionId: connection.connectionId, role: .publisher, data: "", user: nil, begin: .zero,
                joined: .zero,
                secrets: ValidSecrets(hash("secret"))))
    }
}
