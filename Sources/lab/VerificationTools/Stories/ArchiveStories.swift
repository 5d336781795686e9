import SignalingClient
import SignalingProtocol
import SignalingVerification
import Synchronization

/// A room whose history is small, and a user who is erased beside others with like ids. The judge of the wire decides what
/// is broken.
struct ArchiveStories: Sendable {
    /// The messages that the servers keep of a session (HIS-2).
    static let bound = 300
    /// How long a client may need on a busy machine, and over a restart of its server.
    private static let patience = Duration.seconds(60)
    /// Beside the number, so that no text is the beginning of another one in a file.
    private static let padding = 24
    /// More than the archive waits for, so that it gets what was sent before.
    static let batch = 70
    /// How many clients join at the same time, and how often each.
    private static let (laneCount, joinCount) = (4, 8)
    /// The most messages that are sent meanwhile.
    private static let largestBurst = 5_000

    let room: Stage.Room
    let stage: Stage
    /// Counts the stories: each has users of its own.
    let number: Int

    private var moderator: VerifiedClient { room.members[0] }
    private var member: VerifiedClient { room.members[1] }

    /// Those whose ids are like `erased`: longer, shorter, in other letters, and in other bytes that look the same.
    private var users: (erased: [UserID], alike: [UserID]) {
        let id = "u\(number)ann"
        return (
            [UserID(id), UserID(id + "\u{E9}")],
            [
                UserID(id + "a"), UserID(String(id.dropLast())), UserID(id.uppercased()), UserID(id + " "),
                UserID("x" + id), UserID(id + "e\u{301}"),
            ]
        )
    }

    // MARK: - Erasing

    /// Somebody speaks in another session. The commands of this client come before those of the story: the server drops
    /// no later ones while they are needed, and has to overwrite what is erased.
    func beginLog() async throws -> Stage.Room {
        let other = try stage.addRoom(members: 0)
        let guest = try stage.addGuest(to: other, suppressesPresence: true)
        _ = await guest.connect(until: .now + Self.patience)
        for _ in 0..<20 { await guest.send(to: nil, type: "b", isOnlineOnly: false) }
        return other
    }

    func end(_ other: Stage.Room) async {
        for client in other.all { await client.depart() }
        stage.removeRoom(other)
    }

    /// Fills the history up to its bound, and erases in it while clients read.
    ///
    /// - Returns: two of the users whose ids are like that of the erased one.
    func fillAndErase() async throws -> (VerifiedClient, VerifiedClient) {
        let erased = try await connect(users.erased)
        let alike = try await connect(users.alike)
        for client in erased + alike {
            await say(10, by: client)
            await edit(2, by: client)
        }
        await say(Self.batch, by: member)
        await eraseBehindAnAbsence(by: alike[0])
        await eraseWhileReading(alike[1])
        await readAll()
        for client in erased + alike.dropFirst(2) { await client.depart() }
        return (alike[0], alike[1])
    }

    /// The member has no network while messages are sent and erased: its replay has nothing of them (HIS-9).
    private func eraseBehindAnAbsence(by sender: VerifiedClient) async {
        member.willBeCut(by: .absence)
        member.relay.goDown()
        await say(5, by: sender)
        if let seq = sender.lastAcknowledgedSeq { try? await moderator.session.erase(.message(seq)) }
        let users = users.erased
        try? await moderator.session.erase(.user(users[0]))
        await room.backend.erase(.user(users[1]), port: stage.cluster.somePort)
        member.networkIsBack()
        member.relay.goUp()
        _ = await member.connect(until: .now + Self.patience)
        stage.mark("erasure")
    }

    /// Erases messages that the archive has while others read them, by a moderator and through REST in turn.
    private func eraseWhileReading(_ reader: VerifiedClient) async {
        let oldest = HistoryRequest(.after(.zero), limit: Limits.historyPageCount)
        guard let page = try? await moderator.session.history(oldest) else { return }
        let erased = Set(users.erased)
        let seqs = page.messages.filter { $0.from?.user.map { !erased.contains($0) } ?? true }.map(\.seq)
        for (number, seq) in seqs.prefix(60).enumerated() where number % 5 == 0 {
            let around = HistoryRequest(.after(seq.previous), limit: 10)
            await withTaskGroup(of: Void.self) { group in
                for client in [moderator, reader, moderator, reader] {
                    group.addTask { [stage] in
                        if (try? await client.session.history(around)) != nil { stage.pagesRead.add(1) }
                    }
                }
                group.addTask {
                    if number % 10 == 0 {
                        try? await moderator.session.erase(.message(seq))
                    } else {
                        await room.backend.erase(.message(seq), port: stage.cluster.somePort)
                    }
                }
                for _ in 0..<4 {
                    group.addTask { [stage] in
                        if (try? await moderator.session.history(around)) != nil { stage.pagesRead.add(1) }
                    }
                }
            }
            stage.mark("erasure")
        }
    }

    /// Clients join, and one reads, while others send as fast as they can, and more than the bound lets stay. With several
    /// nodes they are on different ones.
    func joinWhileSending(_ reader: VerifiedClient) async {
        let nodes = stage.cluster.servingNodes
        guard !nodes.isEmpty else { return }
        for (index, client) in [member, reader].enumerated() where nodes.count > 1 {
            client.willBeCut(by: .cut)
            client.relay.retarget(to: nodes[index % nodes.count].port)
            client.relay.cut(.abrupt)
            _ = await client.connect(until: .now + Self.patience)
        }
        let isOver = Atomic(false)
        async let sending: Void = {
            var count = 0
            while count < Self.bound + 50 || !isOver.load(ordering: .relaxed), count < Self.largestBurst {
                await say(Self.batch, by: member)
                count += Self.batch
            }
        }()
        async let reading: Void = {
            for _ in 0..<40 {
                await say(1, by: moderator)
                if (try? await reader.session.history(HistoryRequest())) != nil { stage.pagesRead.add(1) }
            }
        }()
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.laneCount {
                group.addTask {
                    for _ in 0..<Self.joinCount { await join(nodes[(lane + 1) % nodes.count]) }
                }
            }
        }
        isOver.store(true, ordering: .relaxed)
        _ = await (sending, reading)
    }

    /// A guest joins a node, with the newest messages (HIS-5), and leaves.
    private func join(_ node: RestartableServer) async {
        let newest = HistoryRequest(.newest, limit: 30)
        guard let guest = try? stage.addGuest(to: room, suppressesPresence: true, history: newest) else { return }
        guest.relay.retarget(to: node.port)
        let deadline = ContinuousClock.now + Self.patience
        _ = await guest.connect(until: deadline)
        while guest.pageCount == 0, guest.session.isConnected, ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(5))
        }
        stage.pagesRead.add(guest.pageCount)
        await guest.depart()
    }

    /// The whole history, by a client in both directions, and through REST.
    func readAll() async {
        await HistoryStories.readAll(of: room, on: stage)
        if await !room.backend.readHistory(of: stage.cluster) {
            stage.report(.h3, .missing, "a backend cannot read the history of session \(room.number) (HIS-10)")
        }
    }

    // MARK: - Over restarts

    private var moderation: ModerationStories { ModerationStories(room: room, stage: stage, number: number) }

    /// Mutes the user of a client, until ``unmute(_:)``. The mute holds over restarts (MOD-9).
    func mute(_ client: VerifiedClient) async {
        if let user = client.user { await moderation.mute(user) }
    }

    func unmute(_ client: VerifiedClient) async {
        if let user = client.user { await moderation.unmute(user) }
        await say(1, by: client)
    }

    /// After a restart: the server refuses the signals of the user if it is muted.
    func signalAndRead(by client: VerifiedClient) async {
        _ = await client.connect(until: .now + Self.patience)
        await say(1, by: client)
        await readAll()
    }

    /// The server keeps a snapshot of the session soon.
    func eraseNewest() async { await HistoryStories.erase(.oneByModerator, in: room, on: stage) }

    // MARK: - Sending

    func say(_ count: Int, by client: VerifiedClient) async { await client.sendBurst(count, padding: Self.padding) }

    /// The client edits its newest messages, and everybody reads what has changed.
    private func edit(_ count: Int, by client: VerifiedClient) async {
        guard stage.terms.permitsChanges, let first = client.ownMessages.suffix(count).first else { return }
        let changes = ChangeStories(room: room, stage: stage)
        await changes.editLatest(count, by: client)
        await changes.readChanges(since: first)
    }

    func editByMember(_ count: Int) async { await edit(count, by: member) }

    func sayByMember(_ count: Int = 1) async { await say(count, by: member) }

    private func connect(_ users: [UserID]) async throws -> [VerifiedClient] {
        var clients: [VerifiedClient] = []
        for user in users {
            let client = try stage.addGuest(to: room, suppressesPresence: true, user: user)
            guard await client.connect(until: .now + Self.patience) else {
                throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
            }
            clients.append(client)
        }
        return clients
    }

    /// All members are connected, and have everything that was sent.
    func meet() async throws {
        for client in room.members where await !client.connect(until: .now + Self.patience) {
            throw VerificationError(.clientNotConnected, "Client \(client.name) cannot connect to the server.")
        }
        // A client that comes back with another connection never gets what was sent before.
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let last = await moderator.send(to: nil, type: VerifiedClient.lastSignalType, isOnlineOnly: false).data
            let attemptEnd = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < attemptEnd, !Task.isCancelled {
                if room.members.allSatisfy({ $0.hasReceived(last) }) { return }
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
