import SignalingCore
import SignalingProtocol

/// The log in Redis: its shards, its beginning and its end. Events and the present moment go in, effects come out.
///
/// The same events give the same effects, on any machine: the names that the log makes come from its seed.
package struct RedisLogState {
    private enum Phase {
        /// Next: `open`, `closed`.
        case starting(deadline: MonotonicInstant)
        /// Next: `closing`.
        case open
        /// Next: `closed`.
        case closing(deadline: MonotonicInstant, Farewell)
        /// The last state.
        case closed
    }

    private enum Farewell {
        /// Commands are on their way. Next: `said`.
        case waiting
        /// The number of shards that have not answered.
        case said(Int)
    }

    /// What the operator was told of the health.
    private struct Told {
        /// A Redis at the limit of its memory stalls and keeps in turns.
        static let pause = Duration.seconds(60)

        var fault: CommandLogFault?
        /// The newest stall.
        var stall: (fault: CommandLogFault, at: MonotonicInstant)?
    }

    /// An event of a link.
    package enum LinkEvent {
        case ready(forgetsNothing: Bool)
        /// Lost, or could not be made.
        case lost(CommandLogFault)
        case answered(ShardAnswer)
        case subscription(SessionID, isConfirmed: Bool)
        case received(ChannelMessage, SessionID)
        case receivedOfNodes(NodesMessage)
    }

    private(set) var shards: [ShardState]
    private var desk: LogDesk
    private var phase: Phase
    /// Why nothing is kept; `nil` if commands are kept.
    package private(set) var fault: CommandLogFault?
    /// Whether no Redis was reachable for ``LogTimes/isolation``.
    private var isIsolated = false
    private var told = Told()
    /// Runs whose loss was reported. As many as the shards know losses.
    private var reportedLosses: Set<RunID> = []

    /// - Parameters:
    ///   - run: a random name for this life of the process.
    ///   - seed: random. The names of further runs and of the orders of commands follow from it.
    package init(_ settings: [ShardSettings], run: RunID, seed: UInt64, times: LogTimes, now: MonotonicInstant) {
        precondition(!settings.isEmpty, "a Redis log needs an address")
        desk = LogDesk(times: times, run: run, seed: seed, now: now)
        shards = settings.enumerated().map { ShardState($1, shard: $0, times: times, now: now) }
        phase = .starting(deadline: now.advanced(by: times.loading))
        for index in shards.indices { shards[index].advanceLink(&desk) }
    }

    /// The effects since the last call.
    package mutating func takeEffects() -> [RedisLogEffect] {
        defer { desk.effects = [] }
        return desk.effects
    }

    // MARK: - Events

    package mutating func handle(_ event: LinkEvent, of shard: Int, now: MonotonicInstant) {
        desk.now = now
        switch event {
        case .ready(let forgetsNothing): shards[shard].linkReady(forgetsNothing: forgetsNothing, &desk)
        case .lost(let fault): shards[shard].linkLost(fault, &desk)
        case .answered(let answer):
            shards[shard].answered(answer, &desk)
            // A node that was declared lost also says goodbye for its earlier run.
            if case .saidGoodbye(desk.run) = answer { noteFarewell() }
        case .subscription(let session, let isConfirmed):
            shards[shard].subscriptionConfirmed(session, isConfirmed, &desk)
        case .received(let message, let session): shards[shard].received(message, of: session, &desk)
        case .receivedOfNodes(let message): shards[shard].received(message, &desk)
        }
        shareFindings()
    }

    /// Called every ``LogTimes/tick``.
    package mutating func tick(now: MonotonicInstant) {
        desk.now = now
        for index in shards.indices { shards[index].tick(&desk) }
        shareFindings()
        switch phase {
        case .starting(let deadline): advanceStart(deadline)
        case .open: updateHealth()
        case .closing(let deadline, let farewell):
            updateHealth()
            advance(farewell, deadline)
        case .closed: return
        }
        checkInvariants()
    }

    /// The snapshot of an effect `encode` is encoded.
    package mutating func snapshotEncoded(
        _ follow: FollowID, _ snapshot: CommandSnapshot, _ bytes: [UInt8], now: MonotonicInstant
    ) {
        let kept = KeptSnapshot(
            position: snapshot.position, bytes: bytes, replacesErased: snapshot.replacesErased)
        step(follow, now) { $0.keep(kept, &$1, &$2) }
    }

    /// The answer to an effect `askForState`; without bytes if the engine does not have the session.
    package mutating func stateAsked(
        _ follow: FollowID, _ state: (position: LogPosition, bytes: [UInt8])?, now: MonotonicInstant
    ) {
        step(follow, now) { session, link, desk in
            session.stateAsked(state.map { KeptSnapshot(position: $0.position, bytes: $0.bytes) }, &link, &desk)
        }
    }

    private mutating func step(
        _ follow: FollowID, _ now: MonotonicInstant,
        _ body: (inout FollowedSession, inout ShardLink, inout LogDesk) -> Void
    ) {
        desk.now = now
        shards[shard(of: follow.session)].step(follow, &desk, body)
        shareFindings()
    }

    // MARK: - The engine's side

    package var run: RunID { desk.run }
    package var inFlightByteCount: Int { desk.inFlightByteCount }
    package func logTime(at now: MonotonicInstant) -> MonotonicInstant { desk.clock.time(at: now) }

    package func lossTime(of run: RunID) -> MonotonicInstant? {
        if run == desk.run { return nil }
        return shards.indices.reduce(nil) { .earlier($0, shards[$1].registry.losses[run]) }
    }

    /// The nodes that may be alive, with this one. With several Redis addresses, of the one that knows the most.
    package var nodeCount: Int { shards.lazy.map(\.registry.living.count).max() ?? 0 }

    /// Whether commands of this node to a session wait for a confirmation. If not, it needs the bytes of all entries.
    package func hasOwnCommands(of session: SessionID) -> Bool {
        shards[shard(of: session)].slots[session]?.session.map { !$0.own.isEmpty } ?? false
    }

    /// - Returns: a session of which the engine is not told anything any more that it was to be told.
    @discardableResult
    package mutating func handle(_ request: LogRequest, now: MonotonicInstant) -> SessionID? {
        desk.now = now
        switch request {
        case .append(let commands): append(commands)
        case .keep(let snapshot): shards[shard(of: snapshot.session)].keep(snapshot, &desk)
        case .sleep(let snapshot, let life, let restricted):
            // A state without connections and events is small.
            let kept = KeptSnapshot(position: snapshot.position, bytes: snapshot.encode())
            shards[shard(of: snapshot.session)].sleep(
                kept, of: snapshot.session, life: life, restricted: restricted, &desk)
        case .remove(let session, let position):
            shards[shard(of: session)].remove(session, through: position, &desk)
        case .open(let session): return shards[shard(of: session)].open(session, &desk) ? session : nil
        case .close(let session):
            shards[shard(of: session)].close(session, &desk)
            return session
        case .catchUp(let session): shards[shard(of: session)].catchUp(session, &desk)
        case .relay(let bytes, let session): shards[shard(of: session)].relay(bytes, of: session, &desk)
        }
        return nil
    }

    private mutating func append(_ commands: [CommandAppend]) {
        for command in commands { desk.inFlightByteCount += command.bytes.count }
        if shards.count == 1 {
            shards[0].append(commands, &desk)
        } else {
            let parts = Dictionary(grouping: commands) { shard(of: $0.session) }
            for index in shards.indices { shards[index].append(parts[index] ?? [], &desk) }
        }
        shareFindings()
    }

    private func shard(of session: SessionID) -> Int { JumpHash.bucket(of: session, count: shards.count) }

    // MARK: - What one shard finds out for all

    private mutating func shareFindings() {
        if desk.isDeclaredLost { continueAsAnotherRun() }
        while let loss = desk.losses.first {
            desk.losses.removeFirst()
            share(loss)
        }
    }

    private mutating func share(_ loss: (run: RunID, time: MonotonicInstant, orphans: [SessionID])) {
        let isNews = reportedLosses.insert(loss.run).inserted
        if isNews {
            reportedLosses.formIntersection(shards.flatMap(\.registry.losses.keys))
            // A node that one Redis cannot reach is lost for all: its sockets have closed.
            for index in shards.indices where shards[index].registry.losses[loss.run] == nil {
                shards[index].declareLost(loss.run, isCertain: true, &desk)
            }
        }
        if isNews || !loss.orphans.isEmpty {
            desk.effects.append(.reportLost(loss.run, at: loss.time, orphans: loss.orphans))
        }
    }

    private mutating func continueAsAnotherRun() {
        desk.isDeclaredLost = false
        guard !isClosing else { return }
        let old = desk.run
        desk.run = RunID(desk.random.next())
        desk.effects.append(.note(.declaredLost))
        for index in shards.indices { shards[index].forgetAll(&desk) }
        desk.inFlightByteCount = 0
        for index in shards.indices { shards[index].continueAsAnotherRun(after: old, &desk) }
        // The engine forgets all sessions: what it was to be told of them is void.
        desk.effects.removeAll { $0.isReportOfSession }
        desk.effects.append(.reportContinues(as: desk.run))
    }

    private var isClosing: Bool {
        switch phase {
        case .closing, .closed: true
        case .starting, .open: false
        }
    }

    // MARK: - Beginning and end

    private mutating func advanceStart(_ deadline: MonotonicInstant) {
        // Redis may be starting, too.
        let faults = shards.lazy.filter { !$0.hasServed }.compactMap(\.outage?.fault)
        if let fault = faults.first(where: { $0.code != .loading }) {
            finishStart(fault)
        } else if shards.allSatisfy(\.hasServed) {
            phase = .open
            desk.effects.append(.started(nil))
        } else if desk.now >= deadline {
            let stalled = shards.lazy.compactMap { $0.stall()?.fault }.first
            finishStart(stalled ?? CommandLogFault(.silent, "Redis is silent."))
        }
    }

    private mutating func finishStart(_ fault: CommandLogFault) {
        shutDown()
        desk.effects.append(.started(fault))
    }

    /// Waits until the commands that were appended are confirmed, but not for long, and tells the other nodes that this
    /// one stops. Then `closed` follows.
    package mutating func beginClosing(now: MonotonicInstant) {
        switch phase {
        case .open: phase = .closing(deadline: now.advanced(by: desk.times.closing), .waiting)
        case .starting, .closing: return
        case .closed: desk.effects.append(.closed)
        }
    }

    private mutating func advance(_ farewell: Farewell, _ deadline: MonotonicInstant) {
        if desk.now >= deadline { return finishClosing() }
        switch farewell {
        case .said(let remaining): if remaining == 0 { finishClosing() }
        case .waiting:
            guard desk.inFlightByteCount == 0, shards.allSatisfy(\.sleepers.isEmpty) else { return }
            var remaining = 0
            for index in shards.indices {
                shards[index].carryOutRemovals(all: true, &desk)
                if shards[index].sayGoodbye(&desk) { remaining += 1 }
            }
            phase = .closing(deadline: deadline, .said(remaining))
        }
    }

    private mutating func noteFarewell() {
        if case .closing(let deadline, .said(let remaining)) = phase {
            phase = .closing(deadline: deadline, .said(remaining - 1))
        }
    }

    private mutating func finishClosing() {
        shutDown()
        desk.effects.append(.closed)
    }

    private mutating func shutDown() {
        phase = .closed
        for index in shards.indices { shards[index].close(&desk) }
    }

    private mutating func updateHealth() {
        let (now, patience) = (desk.now, desk.times.stall)
        let stall = shards.lazy.compactMap { $0.stall() }.first { now.duration(since: $0.since) >= patience }?.fault
        let hasChanged = stall != fault
        fault = stall
        tell()
        if hasChanged { desk.effects.append(.healthChanged(stall)) }
        let mayBeAlone = shards.allSatisfy { shard in
            shard.outage.map { now.duration(since: $0.since) >= desk.times.isolation } ?? false
        }
        if mayBeAlone != isIsolated {
            isIsolated = mayBeAlone
            desk.effects.append(.isolated(mayBeAlone))
        }
    }

    /// The same stall at most once a minute, and its end if it was told. A stall that lasts is told by a later tick.
    private mutating func tell() {
        if told.fault == fault { return }
        if let fault {
            if let last = told.stall, last.fault == fault, desk.now.duration(since: last.at) < Told.pause { return }
            told.stall = (fault, desk.now)
        }
        told.fault = fault
        desk.effects.append(.note(fault.map { .stalled($0) } ?? .keepsAgain))
    }
}

extension RedisLogEffect {
    package var isReportOfSession: Bool {
        if case .report = self { true } else { false }
    }

    package func isReport(of session: SessionID) -> Bool {
        if case .report(_, let other) = self { other == session } else { false }
    }
}
