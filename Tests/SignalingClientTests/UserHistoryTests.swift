import Foundation
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

/// Random histories of a session whose users open and close tabs, seen by a client that loses its socket and comes back
/// with every outcome.
@Suite("USR-3: what a client reports of users, in random histories")
struct UserHistoryTests {
    /// `scripts/test-deep users` runs 100,000 histories.
    private static let historyCount =
        ProcessInfo.processInfo.environment["USER_HISTORIES"].flatMap { Int($0) } ?? 4_000

    @Test(
        "USR-3: the users are those of the connections, and no user leaves or joins who was there all the time",
        arguments: 0..<4)
    func histories(_ block: Int) {
        for seed in stride(from: block, to: Self.historyCount, by: 4) {
            var history = UserHistory(seed: UInt64(seed))
            guard let fault = history.run() else { continue }
            Issue.record("seed \(seed): \(fault)\n\(history.trace.joined(separator: "\n"))")
            return
        }
    }
}

private struct UserHistory {
    private(set) var trace: [String] = []

    private var random: SeededGenerator
    private var client = ClientState(random: { 0.5 })
    private var now = at(0)
    private var seq: Int64 = 1
    private var connectionCount = 0
    private var socketCount: Int64 = 0
    /// What the server has, by creation.
    private var connections: [Connection] = []
    private var own: Connection?
    /// The events that the client has not been sent.
    private var missed: [ServerMessage] = []
    private var hasSocket = false
    /// The client gets the list of connections.
    private var isEntering = false

    /// The users that the program knows.
    private var told: Set<UserID> = []
    /// The users who have been without a connection since the program knew all.
    private var interrupted: Set<UserID> = []
    private var fault: String?

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private var present: Set<UserID> { Set(connections.compactMap(\.user)) }

    mutating func run() -> String? {
        for _ in 0..<Int.random(in: 0...3, using: &random) { connections.append(connection(user: someone())) }
        _ = client.handle(.connect(.test), now: now)
        connect(.new, as: connection(user: someone()))
        told = present
        for _ in 0..<Int.random(in: 5...30, using: &random) where fault == nil {
            now = now.advanced(by: .milliseconds(100))
            step()
            guard hasSocket, fault == nil else { continue }
            if told != present { fault = "told \(told), present \(present)" }
            interrupted = []
        }
        return fault
    }

    private mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: join()
        case 4..<7: leave()
        case 7 where hasSocket: lose()
        case 8, 9: if !hasSocket { comeBack() }
        default: break
        }
    }

    private mutating func someone() -> UserID? {
        [nil, UserID("a"), UserID("b"), UserID("c")].randomElement(using: &random)!
    }

    private mutating func connection(user: UserID?) -> Connection {
        connectionCount += 1
        return Connection(
            connectionId: ConnectionID("c\(connectionCount)"),
            creationTime: WallTime(milliseconds: Int64(connectionCount)), data: "", user: user)
    }

    private mutating func join() {
        let new = connection(user: someone())
        connections.append(new)
        seq += 1
        tell(.connectionCreated(Seq(seq), new))
    }

    private mutating func leave() {
        let others = connections.filter { $0.connectionId != own?.connectionId }
        guard let one = others.randomElement(using: &random) else { return }
        remove(one)
        seq += 1
        tell(.connectionDestroyed(Seq(seq), one.connectionId, .clientDisconnected))
    }

    private mutating func remove(_ connection: Connection) {
        connections.removeAll { $0.connectionId == connection.connectionId }
        if let user = connection.user, !present.contains(user) { interrupted.insert(user) }
    }

    private mutating func tell(_ message: ServerMessage) {
        guard hasSocket else { return missed.append(message) }
        receive(message)
    }

    private mutating func lose() {
        trace.append("lost")
        hasSocket = false
        hear(client.handle(.socketClosed(code: nil), now: now))
    }

    private mutating func comeBack() {
        hear(client.handle(.networkBack, now: now))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            connect(.resumed, as: own!)
            let replay = missed
            missed = []
            for message in replay { receive(message) }
        case 1: replace(.recovered)
        default: replace(.lost)
        }
    }

    /// The client gets another connection. The old one is gone, or stays for a while.
    private mutating func replace(_ outcome: Welcome.Outcome) {
        missed = []
        let before = own!
        if Bool.random(using: &random) { remove(before) }
        seq += 2
        connect(outcome, as: connection(user: before.user))
    }

    private mutating func connect(_ outcome: Welcome.Outcome, as connection: Connection) {
        hear(client.handle(.socketOpened, now: now))
        socketCount += 1
        own = connection
        if outcome != .resumed { connections.append(connection) }
        hasSocket = true
        let welcome = Welcome(
            connection: connection, connections: outcome == .resumed ? [connection] : connections, role: .publisher,
            epoch: Epoch("e"), seq: outcome == .resumed ? (client.view?.seq ?? .zero) : Seq(seq), outcome: outcome,
            resume: ResumeOffer(
                secret: ResumeSecret("s"), resumeWindow: .seconds(60), recoveryWindow: .seconds(300)))
        isEntering = true
        receive(.connected(client.lastRequest, welcome))
        isEntering = false
        if outcome != .new, outcome != .resumed, told != present { fault = "after \(outcome): \(told), not \(present)" }
    }

    private mutating func receive(_ message: ServerMessage) {
        trace.append("← " + String(decoding: message.encoded(), as: UTF8.self))
        hear(client.handle(.received(message), now: now))
    }

    /// A user joins and leaves directly after the event of a connection.
    private mutating func follows(_ last: SessionEvent?, _ user: UserID) {
        switch last {
        case .connectionCreated(let peer)? where peer.user == user: break
        case .connectionDestroyed(let peer, _)? where peer.user == user: break
        default: fault = "the connection of \(user) does not come first"
        }
    }

    private mutating func hear(_ effects: [ClientState.Effect]) {
        var last: SessionEvent?
        for case .emit(let event) in effects {
            trace.append("  \(describe(.emit(event)))")
            switch event {
            case .userJoined(let user):
                if !told.insert(user.id).inserted { fault = "\(user.id) has joined twice" }
                if !isEntering { follows(last, user.id) }
                if user.connections.isEmpty { fault = "\(user.id) has no connection" }
            case .userLeft(let user):
                if !isEntering { follows(last, user.id) }
                if told.remove(user.id) == nil { fault = "\(user.id) was not there" }
                if !interrupted.contains(user.id) { fault = "\(user.id) has left, and was never without a connection" }
            default: break
            }
            last = event
        }
    }
}
