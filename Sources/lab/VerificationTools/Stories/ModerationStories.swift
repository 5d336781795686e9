import SignalingClient
import SignalingProtocol
import SignalingVerification

/// Moderators and backends restrict users, who try to get around it (section 18). The judge of the wire decides what is
/// broken; a story reports only what a program can see.
struct ModerationStories: Sendable {
    enum Story: CaseIterable {
        /// Of a member's user, until it is lifted.
        case mute
        /// The same, until its own end.
        case timedMute
        /// Of a user with several tabs, until it is lifted.
        case banOfTabs
        case timedBan
        /// All connections of a member's user end, and come back.
        case banOfMember
        /// Of a guest, by its connection.
        case banOfGuest
        /// The resume window of the client is over when its user is banned, and not its recovery window.
        case lateReturn
        case freeze
    }

    /// How long a restriction of a member holds.
    private static let shortTime = Duration.milliseconds(300)
    /// How long a client may need on a busy machine, and over a restart of its server.
    private static let patience = Duration.seconds(30)

    let room: Stage.Room
    let stage: Stage
    /// Counts the stories. Every other one acts through REST.
    let number: Int

    private var isByREST: Bool { (number / Story.allCases.count).isMultiple(of: 2) }

    func run(_ story: Story) async {
        let begin = stage.elapsed
        // Whom a story bans has no other story.
        let user = UserID("s\(room.number)b\(number)")
        do {
            switch story {
            case .mute: await restrictMember { .mute(.user($0)) }
            case .timedMute: await restrictMember { .mute(.user($0), .init(seconds: 1)) }
            case .banOfMember: await restrictMember { .ban(.user($0)) }
            case .freeze: await freeze()
            case .banOfTabs: try await banTabs(of: user)
            case .timedBan: try await banForTime(user)
            case .banOfGuest: try await banGuest()
            case .lateReturn: try await banAbsent(user)
            }
        } catch {}
        stage.mark("ban", since: begin)
    }

    // MARK: - Members

    private func restrictMember(_ request: (UserID) -> ModerationRequest) async {
        let candidates = room.members.dropFirst().compactMap(\.user)
        guard !candidates.isEmpty else { return }
        let user = candidates[number % candidates.count]
        let request = request(user)
        await act(request)
        if case .mute = request, stage.terms.permitsChanges {
            let changes = ChangeStories(room: room, stage: stage)
            for client in room.members where client.user == user { await changes.editLatest(1, by: client) }
        }
        try? await Task.sleep(for: Self.shortTime)
        switch request {
        // A restriction without an end of its own ends even if nobody knows whether it ever began.
        case .mute(_, .untilLifted): await lift(.unmute(.user(user)))
        case .ban(_, .untilLifted, _): await lift(.unban(.user(user)))
        case .mute, .ban, .freeze, .unmute, .unban, .unfreeze: break
        }
    }

    private func freeze() async {
        await act(.freeze(.init(reason: "One moment, please")))
        try? await Task.sleep(for: Self.shortTime)
        await lift(.unfreeze)
    }

    // MARK: - Guests

    /// Two tabs with one token; one of them has no network when the user is banned. Then the client tries everything.
    private func banTabs(of user: UserID) async throws {
        let first = try stage.addGuest(to: room, suppressesPresence: false, user: user)
        let second = try stage.addGuest(to: room, suppressesPresence: true, user: user, token: first.token)
        guard await connect(first), await connect(second) else { return await end([first, second]) }
        await first.send(to: nil, type: "a", isOnlineOnly: false)
        second.relay.goDown()
        guard let ref = await act(.ban(.user(user), erasesMessages: number.isMultiple(of: 3))) else {
            await lift(.unban(.user(user)))
            return await end([first, second])
        }
        await expectOut(first)
        await expectRefused(first, "with the same token")
        let third = try stage.addGuest(to: room, suppressesPresence: false, user: user)
        await expectRefused(third, "with a new token")
        second.relay.goUp()
        stage.rebalance([second])
        await expectOut(second)
        await lift(number.isMultiple(of: 2) ? .unban(.ref(ref)) : .unban(.user(user)))
        if await !connect(first) { report(.missing, "\(first.name) cannot join after the end of its ban") }
        await end([first, second, third])
    }

    private func banForTime(_ user: UserID) async throws {
        let guest = try stage.addGuest(to: room, suppressesPresence: false, user: user)
        guard await connect(guest) else { return await end([guest]) }
        if await act(.ban(.user(user), .init(seconds: 2, reason: "Back soon"))) != nil { await expectOut(guest) }
        if await !connect(guest) { report(.missing, "\(guest.name) cannot join after the end of its ban") }
        await end([guest])
    }

    private func banGuest() async throws {
        let guest = try stage.addGuest(to: room, suppressesPresence: false)
        guard await connect(guest), let id = guest.session.connectionId else { return await end([guest]) }
        let ref = await act(.ban(.connection(id)))
        if ref != nil {
            await expectOut(guest)
            await expectRefused(guest, "with its token")
        }
        // A guest with another token is another guest.
        let other = try stage.addGuest(to: room, suppressesPresence: false)
        if await !connect(other) { report(.missing, "\(other.name) cannot join, and only \(guest.name) is banned") }
        if let ref { await lift(.unban(.ref(ref))) }
        await end([guest, other])
    }

    private func banAbsent(_ user: UserID) async throws {
        let guest = try stage.addGuest(to: room, suppressesPresence: false, user: user)
        guard await connect(guest) else { return await end([guest]) }
        guest.relay.goDown()
        try? await Task.sleep(for: .seconds(stage.terms.resumeSeconds + 1))
        let ref = await act(.ban(.user(user)))
        guest.relay.goUp()
        stage.rebalance([guest])
        if ref != nil { await expectOut(guest) }
        await lift(.unban(.user(user)))
        await end([guest])
    }

    private func connect(_ guest: VerifiedClient) async -> Bool { await guest.connect(until: .now + Self.patience) }

    private func end(_ guests: [VerifiedClient]) async {
        for guest in guests { await guest.depart() }
    }

    // MARK: - Sessions that sleep

    /// Bans a user who has no connection.
    func banAbsentee() async -> UserID {
        let user = UserID("s\(room.number)b\(number)")
        while await act(.ban(.user(user))) == nil, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
        return user
    }

    /// The session is asleep, and the ban holds still (MOD-9).
    func expectBanned(_ user: UserID) async throws {
        let guest = try stage.addGuest(to: room, suppressesPresence: false, user: user)
        await expectRefused(guest, "while the session slept")
        await end([guest])
    }

    func pardon(_ user: UserID) async { await lift(.unban(.user(user))) }

    // MARK: - Over restarts

    func mute(_ user: UserID) async {
        while await act(.mute(.user(user))) == nil, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
    }

    func unmute(_ user: UserID) async { await lift(.unmute(.user(user))) }

    // MARK: - The end

    /// Lifts what holds still, until nothing does: an action without an answer may have been carried out late, and the
    /// last server that was killed may not be back yet.
    static func liftAll(in room: Stage.Room, on stage: Stage) async {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let lifts = await room.backend.lifts(port: stage.cluster.somePort)
            if lifts?.isEmpty == true { return }
            for action in lifts ?? [] { _ = await room.backend.moderate(action, port: stage.cluster.somePort) }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    // MARK: - What a program sees

    /// Sessions in memory forget a ban when their server is killed.
    private func isKept(since lossCount: Int) -> Bool { stage.lossCount == lossCount && !Task.isCancelled }

    private func expectOut(_ guest: VerifiedClient) async {
        let lossCount = stage.lossCount
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, !guest.hasEnded { try? await Task.sleep(for: .milliseconds(20)) }
        if !guest.hasEnded, isKept(since: lossCount) { report(.wrong, "\(guest.name) is banned, and did not end") }
    }

    private func expectRefused(_ guest: VerifiedClient, _ how: String) async {
        let lossCount = stage.lossCount
        let error = await guest.connectOnce()
        if error == nil, isKept(since: lossCount) {
            report(.wrong, "\(guest.name) is banned, and joined \(how) (MOD-3)")
        }
    }

    private func report(_ kind: Violation.Kind, _ text: String) { stage.report(.m1, kind, text) }

    // MARK: - Actions

    /// - Returns: the seq of the action; nil without an answer that says so.
    @discardableResult
    private func act(_ request: ModerationRequest) async -> Seq? {
        if isByREST { return await room.backend.moderate(request, port: stage.cluster.somePort).seq }
        return try? await room.members.first?.session.moderate(request)
    }

    /// Acts until the restriction has certainly ended.
    private func lift(_ request: ModerationRequest) async {
        while !Task.isCancelled {
            let answer = await room.backend.moderate(request, port: stage.cluster.somePort)
            // There is nothing to lift any more.
            if answer.seq != nil || answer == .refused(404) { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
