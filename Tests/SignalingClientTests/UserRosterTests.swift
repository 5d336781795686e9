import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

@Suite("USR-3: the users of a session, from its connections")
struct UserRosterTests {
    @Test("each step of the shared vectors", arguments: try Vectors.folder("users"))
    func vector(_ vector: VectorCase) throws {
        var roster = UserRoster()
        var known: [String: Connection] = [:]
        for step in vector["steps"]?.arrayValue ?? [] {
            var (left, joined): ([SessionUser], [SessionUser]) = ([], [])
            switch step["do"]?.stringValue {
            case "entered":
                let connections = (step["connections"]?.arrayValue ?? []).map(Self.connection)
                for connection in connections { known[connection.connectionId.rawValue] = connection }
                let next = UserRoster(connections)
                (left, joined) = next.changes(since: roster)
                roster = next
            case "created":
                let connection = Self.connection(step)
                known[connection.connectionId.rawValue] = connection
                joined = [roster.add(connection)].compactMap { $0 }
            case "destroyed":
                let connection = known[Self.id(step)] ?? Self.connection(step)
                left = [roster.remove(connection)].compactMap { $0 }
            case "ended": roster = UserRoster()
            default: Issue.record("no such step: \(step)")
            }
            func expect(_ name: String, _ users: [SessionUser]) {
                guard let expected = step[name]?.arrayValue else { return }
                #expect(users.map(\.id.rawValue) == expected.compactMap(\.stringValue), "\(name): \(step)")
            }
            expect("left", left)
            expect("joined", joined)
            guard let expected = step["users"]?.arrayValue else { continue }
            let users = roster.users.map { user -> JSONValue in
                [
                    "user": .string(user.id.rawValue),
                    "connections": .array(user.connections.map { .string($0.connectionId.rawValue) }),
                ]
            }
            #expect(users == expected, "\(step)")
        }
    }

    private static func id(_ value: JSONValue) -> String { value["id"]?.stringValue ?? "" }

    private static func connection(_ value: JSONValue) -> Connection {
        Connection(
            connectionId: ConnectionID(id(value)), creationTime: WallTime(milliseconds: 0), data: "",
            user: value["user"]?.stringValue.map { UserID($0) })
    }
}
