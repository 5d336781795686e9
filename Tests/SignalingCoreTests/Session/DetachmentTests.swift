import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Connections without a socket")
struct DetachmentTests {
    @Test("the oldest loss of all and of each token is found, however many came back", arguments: [5, 6, 7])
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var detachments = Detachments()
        var expected: [(name: String, token: UInt64)] = []
        for step in 0..<3_000 {
            if Int.random(in: 0..<10, using: &random) < (step % 1_000 < 500 ? 7 : 3) {
                let token = UInt64.random(in: 0..<5, using: &random)
                // A connection that came back may be lost again.
                let name = "c\(Int.random(in: 0..<400, using: &random))"
                if expected.contains(where: { $0.name == name }) { continue }
                detachments.add(name, token, at: step)
                expected.append((name, token))
            } else if let index = expected.indices.randomElement(using: &random) {
                let name = expected.remove(at: index).name
                detachments.remove(client(name))
                detachments.remove(client(name))
            }
            #expect(detachments.count == expected.count)
            if step.isMultiple(of: 17) {
                #expect(detachments.losses.map(\.connectionId) == expected.map { client($0.name) })
            }
            let oldest = detachments.oldest?.connectionId
            #expect(oldest == expected.first.map { client($0.name) }, "seed \(seed), step \(step)")
            for token in 0..<5 as Range<UInt64> {
                let ofToken = expected.filter { $0.token == token }
                #expect(detachments.count(of: TokenFingerprint(token)) == ofToken.count)
                let oldest = detachments.oldest(of: TokenFingerprint(token))?.connectionId
                #expect(oldest == ofToken.first.map { client($0.name) }, "seed \(seed), step \(step)")
            }
        }
    }

    @Test("G5: a connection that is lost and comes back a thousand times leaves few entries")
    func bounded() {
        var detachments = Detachments()
        for step in 0..<1_000 {
            detachments.add("ada", 1, at: step)
            detachments.remove(client("ada"))
            #expect(detachments.entryCount <= 33)
        }
    }
}

extension Detachments {
    fileprivate mutating func add(_ name: String, _ token: UInt64, at step: Int) {
        add(Loss(connectionId: client(name), until: .seconds(Double(step)), token: TokenFingerprint(token)))
    }
}

/// A full session: `count` connections of the tokens, on sockets of their own.
private struct Full {
    var session: SessionState
    private(set) var presence: [String] = []

    init(connectionCount: Int = 4, detachedCountPerToken: Int = 1000) {
        session = SessionState(
            id: room, epoch: Epoch("e"),
            bounds: .init(connectionCount: connectionCount, detachedCountPerToken: detachedCountPerToken))
    }

    mutating func handle(_ command: SessionCommand, at seconds: Double) -> String {
        var effects: [SessionEffect] = []
        defer { presence += effects.map(\.testDescription) }
        return session.handle(command, now: .seconds(seconds), effects: &effects).testDescription
    }

    @discardableResult
    mutating func join(_ name: String, token: UInt64, at seconds: Double = 0, resuming: Int64? = nil) -> String {
        var request = JoinRequest(
            connectionId: client(resuming == nil ? name : name + "2"), role: .publisher, data: "",
            wallTime: .init(milliseconds: 0), socket: resuming == nil ? 1 : 2)
        request.token = TokenFingerprint(token)
        request.resumption = resuming.map {
            Resumption(
                connectionId: client(name), secretHash: hash("\(name)-1"), epoch: Epoch("e"), after: Seq($0))
        }
        return handle(.join(request), at: seconds)
    }

    mutating func detach(_ name: String, at seconds: Double) { _ = handle(.detach(SocketBinding(name)), at: seconds) }
}

@Suite("A full session")
struct FullSessionTests {
    @Test("RES-12, CON-3: connections without a socket give way, those of the same token first, the oldest loss first")
    func givesWay() {
        var full = Full()
        full.join("ada", token: 1)
        full.join("bob", token: 2)
        full.join("eve", token: 2)
        full.join("mallory", token: 3)
        #expect(full.join("late", token: 3) == "refused 1027 OT_CONNECTION_LIMIT_EXCEEDED", "all have sockets")
        for (second, name) in ["ada", "bob", "eve"].enumerated() { full.detach(name, at: Double(second)) }
        #expect(full.join("bob's", token: 2, at: 5).hasPrefix("joined"))
        #expect(full.presence.suffix(2).first == "connectionDestroyed bob networkDisconnected", "the same token first")
        #expect(full.join("other", token: 9, at: 5).hasPrefix("joined"))
        #expect(full.presence.suffix(2).first == "connectionDestroyed ada networkDisconnected", "then the oldest")
        #expect(full.join("more", token: 9, at: 5).hasPrefix("joined"))
        #expect(full.join("most", token: 9, at: 5) == "refused 1027 OT_CONNECTION_LIMIT_EXCEEDED")
        #expect(full.session.connectionCount == 4)
        #expect(full.session.nextDeadline != nil)
    }

    @Test("RES-12, RES-2: a client whose connection gave way gets `recovered`, and its ticket expires in its order")
    func recovers() {
        var full = Full(connectionCount: 2)
        full.join("ada", token: 1)
        full.join("bob", token: 2)
        full.detach("ada", at: 10)
        full.detach("bob", at: 20)
        full.join("bob's", token: 2, at: 30)
        full.join("ada's", token: 1, at: 31)
        _ = full.handle(.leave(client("bob's"), .clientDisconnected), at: 32)
        #expect(full.join("bob", token: 2, at: 33, resuming: 2) == "joined bob2 at 2 recovered through 7")
        full.session.advance(to: .seconds(309.9))
        #expect(full.session.expiredTickets.tickets.count == 1)
        full.session.advance(to: .seconds(310))
        #expect(full.session.expiredTickets.tickets.isEmpty)
        #expect(full.session.nextDeadline == nil)
    }

    @Test("RES-12, G5: one token has a bounded number of connections without a socket")
    func boundedPerToken() {
        var full = Full(connectionCount: 100, detachedCountPerToken: 3)
        for number in 0..<10 { full.join("a\(number)", token: 1) }
        for number in 0..<10 { full.join("b\(number)", token: UInt64(10 + number)) }
        for number in 0..<10 {
            full.detach("a\(number)", at: Double(number))
            full.detach("b\(number)", at: Double(number))
        }
        #expect(full.session.connectionCount == 13)
        for number in 0..<7 { #expect(!full.session.contains(client("a\(number)"))) }
        #expect(full.presence.filter { $0.hasPrefix("connectionDestroyed") }.count == 7)
        #expect(full.join("a9", token: 1, at: 10, resuming: 20) == "joined a9 at 20 resumed through 27")
        full.session.advance(to: .seconds(100))
        #expect(full.session.connections.map(\.connectionId) == [client("a9")])
    }
}
