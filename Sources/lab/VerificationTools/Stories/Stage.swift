import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// A server, or several nodes, with its sessions and clients, the tap on all of their sockets, and the events of the timeline.
final class Stage: Sendable {
    /// One session: the clients that stay, those that come for a moment, and a backend.
    final class Room: Sendable {
        let id: SessionID
        let number: Int
        let backend: RESTSender
        private let clients = Mutex<(members: [VerifiedClient], guests: [VerifiedClient])>(([], []))
        private let guestCount = Mutex(0)

        init(_ number: Int, id: SessionID, backend: RESTSender) {
            self.number = number
            self.id = id
            self.backend = backend
        }

        var members: [VerifiedClient] { clients.withLock(\.members) }
        var all: [VerifiedClient] { clients.withLock { $0.members + $0.guests } }

        /// Whether each member sees the members and nobody else. Their number does not show it: a guest that has crashed
        /// and is still in the list may stand for a member that has just come back, and is not in the list yet.
        fileprivate var seesOnlyItsMembers: Bool {
            let present = Set(members.map(\.session.connectionId))
            return members.allSatisfy { member in
                member.suppressesPresence || Set(member.session.connections.map(\.connectionId)) == present
            }
        }

        fileprivate func add(_ client: VerifiedClient, isGuest: Bool) {
            clients.withLock { clients in
                if isGuest { clients.guests.append(client) } else { clients.members.append(client) }
            }
        }

        /// A number that no other guest of the room has. Stories make their guests at the same time, and the name of a
        /// guest identifies its signals.
        fileprivate func takeGuestNumber() -> Int {
            guestCount.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    /// A fault in the timeline of the report.
    struct Mark: Sendable {
        var kind: String
        var at: Duration
        var length: Duration
    }

    static let apiKey = "100"

    let cluster: Cluster
    let tap: WireTap
    let start: ContinuousClock.Instant
    let terms: ServerTerms
    var rooms: [Room] { roomList.withLock(\.self) }
    private let roomList = Mutex<[Room]>([])
    private let project: Project
    private let folder: URL
    /// The backends that consume the feed; nil if the project has none.
    let feed: FeedConsumers?
    /// Of a server without Redis.
    var stateFolder: StateFolder { StateFolder(url: ServerProcess.stateFolder(in: folder)) }
    private let marks = Mutex<[Mark]>([])
    private let found = Mutex<[Violation]>([])
    private let losses = Counter()
    let pagesRead = Counter()
    let messagesRead = Counter()
    private let otherCounts = Mutex<[String: Int]>([:])
    /// A small buffer makes a stalled client block the server soon.
    private let receiveBufferByteCount: Int?

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - hasFeed: whether backends consume the feed of the project.
    ///   - isOver: whether the run is over, so that no server starts any more.
    /// - Throws: ``VerificationError`` when one does not start; `CancellationError` when the run is over.
    init(
        programs: Verification.Programs, port: Int, cluster plan: Cluster.Plan, terms: ServerTerms,
        start: ContinuousClock.Instant,
        receiveBufferByteCount: Int? = nil, hasFeed: Bool = false, isOver: @escaping @Sendable () -> Bool
    ) throws {
        let secret = "\(UInt64.random(in: .min ... .max))"
        guard let project = Project(apiKey: APIKey(Self.apiKey), secret: secret) else {
            preconditionFailure("the key and the secret of the verification are valid")
        }
        self.project = project
        self.start = start
        self.receiveBufferByteCount = receiveBufferByteCount
        folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-verify-\(UUID().uuidString)")
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw VerificationError(
                .serverNotStarted,
                "The folder \(folder.path) for the server's state cannot be created. Set TMPDIR to a folder with space "
                    + "that you may write to.")
        }
        tap = WireTap(terms: terms.judged, start: start)
        feed = hasFeed ? try FeedConsumers(project, tap: tap, start: start) : nil
        var terms = terms
        terms.feedReceiver = feed?.receiverURL
        self.terms = terms
        do {
            cluster = try Cluster(
                plan,
                launch: ServerProcess.Launch(
                    program: programs.first, upgrade: programs.upgrade, port: port, apiKey: Self.apiKey,
                    apiSecret: secret, terms: terms, folder: folder, isOver: isOver))
        } catch {
            feed?.stop()
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// Kills the server, ends the relays, and removes the server's state. May be called from any thread, and again.
    func tearDown() {
        feed?.stop()
        cluster.stopForGood()
        for client in rooms.flatMap(\.all) { client.relay.stop() }
        try? FileManager.default.removeItem(at: folder)
    }

    var elapsed: Duration { start.duration(to: .now) }
    var members: [VerifiedClient] { rooms.flatMap(\.members) }
    var timeline: [Mark] { marks.withLock(\.self) }
    var violations: [Violation] { found.withLock(\.self) }

    /// What stories have counted for the report.
    var counts: [String: Int] { otherCounts.withLock(\.self) }
    func count(_ name: String) { otherCounts.withLock { $0[name, default: 0] += 1 } }

    func report(_ promise: Violation.Promise, _ kind: Violation.Kind, _ text: String) {
        found.withLock { $0.append(Violation(promise, kind, text)) }
    }

    /// How often the server was killed.
    var lossCount: Int { losses.value }
    func serverWillBeKilled() { losses.add(1) }

    /// Notes a fault that began at `begin` and ends now.
    ///
    /// - Parameter repeatsFeed: whether the feed may announce again what it announced shortly before.
    func mark(_ kind: String, since begin: Duration? = nil, repeatsFeed: Bool = false) {
        let now = elapsed
        marks.withLock { $0.append(Mark(kind: kind, at: begin ?? now, length: now - (begin ?? now))) }
        if repeatsFeed, feed != nil {
            let start = MonotonicInstant(nanoseconds: (begin ?? now).wholeNanoseconds)
            tap.judging { judge, now in judge.feedMayRepeat(since: start, at: now) }
        }
    }

    // MARK: - Sessions and clients

    func addRoom(members: Int) throws -> Room {
        var randomness = SystemRandomNumberGenerator()
        let number = rooms.count
        let id = SessionIDCodec.make(for: project, now: .current, using: &randomness)
        let room = Room(
            number, id: id,
            backend: RESTSender(name: "s\(number)r", project: project, sessionId: id, tap: tap, start: start))
        for member in 0..<members {
            room.add(
                try makeClient(
                    "s\(number)c\(member)", in: id, role: member == 0 ? .moderator : .publisher,
                    user: Self.user(ofMember: member, in: number), suppressesPresence: member == 2),
                isGuest: false)
        }
        roomList.withLock { $0.append(room) }
        return room
    }

    /// The moderator has a user alone, the next two members have one together, and so on; every fourth is a guest.
    private static func user(ofMember member: Int, in room: Int) -> UserID? {
        member % 4 == 3 ? nil : UserID("s\(room)u\((member + 1) / 2)")
    }

    /// - Parameters:
    ///   - user: of the client's token; nil for a guest as the protocol defines it.
    ///   - token: of another client with the same user; nil: the client gets a token of its own.
    ///   - tokenTime: how long the server accepts the token; nil: for hours.
    ///   - history: the page that the guest asks for when it connects.
    func addGuest(
        to room: Room, suppressesPresence: Bool, user: UserID? = nil, token: String? = nil,
        tokenTime: Duration? = nil, history: HistoryRequest? = nil
    ) throws -> VerifiedClient {
        let guest = try makeClient(
            "s\(room.number)g\(room.takeGuestNumber())", in: room.id, user: user,
            suppressesPresence: suppressesPresence, token: token, tokenTime: tokenTime, history: history)
        room.add(guest, isGuest: true)
        // A server may have been replaced after the relay got its port and before the room had the guest.
        while !cluster.hasPort(guest.relay.targetPort) { rebalance([guest]) }
        return guest
    }

    private func makeClient(
        _ name: String, in session: SessionID, role: Role = .publisher, user: UserID?, suppressesPresence: Bool,
        token: String? = nil, tokenTime: Duration? = nil, history: HistoryRequest? = nil
    ) throws -> VerifiedClient {
        let token = try token ?? makeToken(name, in: session, role: role, user: user, tokenTime: tokenTime)
        let relay = try NetworkRelay(to: cluster.somePort, tap: tap, receiveBufferByteCount: receiveBufferByteCount)
        return VerifiedClient(
            name: name, apiKey: Self.apiKey, sessionId: session, token: token, user: user,
            suppressesPresence: suppressesPresence, history: history, relay: relay, start: start)
    }

    /// A client without the library, which the tap does not see.
    func makeImpostor(in room: Room) throws -> Impostor {
        Impostor(
            port: cluster.somePort, apiKey: Self.apiKey, sessionId: room.id.rawValue,
            token: try makeToken("s\(room.number)i", in: room.id, role: .publisher, user: nil))
    }

    private func makeToken(
        _ name: String, in session: SessionID, role: Role, user: UserID?, tokenTime: Duration? = nil
    ) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        var now = WallTime.current
        var access = AccessRequest(sessionId: session, role: role, connectionData: name)
        access.user = user
        if let tokenTime {
            // The server accepts a token for 30 s after its expiry (TOK-4), so this one has expired already.
            access.lifetime = .seconds(1)
            now = WallTime(milliseconds: now.milliseconds + tokenTime.wholeMilliseconds - 31_000)
        }
        let token = try T1Token.make(access, project: project, now: now, using: &randomness)
        tap.judging { judge, _ in judge.issued(token, role: role.rawValue, data: name, user: user?.rawValue) }
        return token
    }

    /// The clients whose next connection goes to the node. Those of the present ones that were not cut are there, too.
    func clients(of node: RestartableServer) -> [VerifiedClient] {
        rooms.flatMap(\.all).filter { $0.relay.targetPort == node.port }
    }

    /// Sends the next connections of these clients to nodes that serve, as a load balancer does.
    func rebalance(_ clients: [VerifiedClient]) {
        for client in clients { client.relay.retarget(to: cluster.somePort) }
    }

    func removeRoom(_ room: Room) { roomList.withLock { rooms in rooms.removeAll { $0 === room } } }

    // MARK: - The end

    /// Waits until every member is connected, has received a last signal from each member of its session, and knows
    /// that the others are gone.
    ///
    /// When the tap has seen a broken promise, the rest of the verdict is not worth a long wait.
    ///
    /// - Returns: what has not happened in time, as the end of a sentence; nil if everything has.
    func settle(within time: Duration) async -> String? {
        let deadline = ContinuousClock.now + (tap.judging { judge, _ in judge.hasViolations } ? .seconds(30) : time)
        for client in members where await !client.connect(until: deadline) {
            return "\(client.name) did not connect again"
        }
        if terms.keepsHistory {
            for room in rooms { await HistoryStories.readAll(of: room, on: self) }
        }
        await waitForDepartures()
        // To read a long history takes minutes.
        let lastDeadline = max(deadline, ContinuousClock.now + .seconds(60))
        for room in rooms {
            for client in room.members {
                guard let last = await sendLast(by: client, to: room.members, until: lastDeadline) else { continue }
                let without = room.members.filter { !$0.hasReceived(last.data) }.map(\.name).joined(separator: ", ")
                return "the last signal of \(client.name) did not reach \(without)"
                    + (last.error.map { "; the server answered \($0)" } ?? "")
            }
        }
        await feed?.catchUp(within: .seconds(60))
        return cluster.hasFailed ? "the server ended by itself" : nil
    }

    /// Waits until the members see only each other, or until the judge no longer waits either.
    private func waitForDepartures() async {
        let deadline =
            ContinuousClock.now + .seconds(terms.resumeSeconds) + terms.judged.heartbeat * 2 + terms.judged.tolerance
            + .seconds(1)
        while ContinuousClock.now < deadline, !Task.isCancelled, !rooms.allSatisfy(\.seesOnlyItsMembers) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// - Returns: the data and the error of the last attempt, if it did not reach all members; otherwise nil.
    private func sendLast(
        by client: VerifiedClient, to members: [VerifiedClient], until deadline: ContinuousClock.Instant
    ) async -> (data: String, error: SignalingError?)? {
        var last: (data: String, error: SignalingError?) = ("", nil)
        // A client that is cut off meanwhile and returns with another connection may never receive this signal: send
        // another one.
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let sent = await client.send(to: nil, type: VerifiedClient.lastSignalType, isOnlineOnly: false)
            last = sent
            let attemptEnd = min(deadline, ContinuousClock.now + .seconds(25))
            while ContinuousClock.now < attemptEnd, !Task.isCancelled {
                if members.allSatisfy({ $0.hasReceived(sent.data) }) { return nil }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        return last
    }
}
