import DequeModule
import Logging
import SignalingCore
import SignalingProtocol

/// What the sessions of one Redis have to tell the log.
protocol ShardOwner: AnyObject {
    var run: RunID { get }
    /// The commands of this node on this shard that were confirmed, or will never be.
    func noteSettled(byteCount: Int)
    /// Redis has confirmed the commands that this node appended to one session in one turn.
    func noteConfirmed(after latency: Duration)
    func note(logTime: MonotonicInstant)
    func logTime(at now: MonotonicInstant) -> MonotonicInstant
    func deliver(_ entries: [CommandEntry])
    func opened(_ session: KeptCommands.Session)
    func caughtUp(_ session: SessionID)
    func relayed(_ bytes: [UInt8], of session: SessionID)
    func dropped(_ session: SessionID)
    func kept(_ position: LogPosition, of session: SessionID, byteCount: Int)
    func snapshot(of session: SessionID) -> CommandSnapshot?
    func lost(_ run: RunID, at time: MonotonicInstant, orphans: [SessionID])
    /// The other nodes have declared this run lost.
    func wasDeclaredLost()
    /// A first connection succeeded or failed.
    func shardStarted(_ fault: CommandLogFault?)
}

/// One Redis of a log, and the sessions that are on it. Confined to the loop's thread.
final class RedisShard {
    enum Phase {
        /// No link. Next: `connecting`, `closed`.
        case away(retryAt: MonotonicInstant)
        /// Next: `greeting`, `away`, `closed`.
        case connecting
        /// The link is ready, and the node registers itself. Next: `restoring`, `serving`, `away`, `closed`.
        case greeting
        /// Redis has restarted. The nodes put back what it has forgotten. Next: `serving`, `greeting`, `away`, `closed`.
        case restoring(until: MonotonicInstant)
        /// Next: `restoring`, `greeting`, `away`, `closed`.
        case serving
        /// The last state.
        case closed
    }

    /// A channel, which may outlive the session that it is for, until Redis has confirmed its end.
    final class Channel {
        var subscription = ChannelSubscription()
        var session: FollowedSession?
    }

    let address: RedisAddress
    let times: LogTimes
    let loop: RedisLoop
    let logger: Logger
    private let fingerprint: String
    /// Whether other Redis give their clocks' times to this one.
    private let sharesClock: Bool
    unowned let owner: any ShardOwner

    var phase: Phase
    var link: RedisLink?
    /// Counts this run's links, so that Redis can refuse calls of earlier ones.
    private var linkNumber = 0
    private var forgetsNothing = false
    private var attempts = 0
    private(set) var hasServed = false
    private var lastFault: CommandLogFault?
    private var awaySince: MonotonicInstant
    /// Since when Redis refuses to keep commands, and why.
    var refusedSince: (at: MonotonicInstant, fault: CommandLogFault)?
    private var greetedAt: MonotonicInstant?
    private var isGreeting = false
    private var beatHeardAt: MonotonicInstant

    var registry: NodeRegistry
    var sessions: [SessionID: FollowedSession] = [:]
    var channels: [String: Channel] = [:]
    /// Sessions that a tick must look at.
    var attention: Set<SessionID> = []
    /// The rest of the sessions to take up after a reconnection.
    var toResume: Deque<SessionID> = []
    /// All sessions, in the order of their checks.
    var toCheck: Deque<SessionID> = []
    var checked: Set<SessionID> = []
    var removals: Deque<Removal> = []

    init(
        address: RedisAddress, fingerprint: String, sharesClock: Bool, loop: RedisLoop, times: LogTimes, logger: Logger,
        owner: any ShardOwner
    ) {
        self.address = address
        self.fingerprint = fingerprint
        self.sharesClock = sharesClock
        self.loop = loop
        self.times = times
        self.logger = logger
        self.owner = owner
        let now = loop.now()
        phase = .away(retryAt: now)
        awaySince = now
        beatHeardAt = now
        registry = NodeRegistry(times: times.nodes)
    }

    var database: String { String(address.database) }
    var nodesChannel: String { "sb:\(database):nodes" }
    func channelName(of session: SessionID) -> String { "sb:\(database):{\(session.rawValue)}" }

    var isServing: Bool { if case .serving = phase { true } else { false } }
    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// The first arguments of most functions.
    var caller: [String] { [database, owner.run.hexadecimal, String(linkNumber)] }

    // MARK: - Connecting

    func connect() {
        phase = .connecting
        let link = RedisLink(address: address, firstChannel: nodesChannel, loop: loop)
        self.link = link
        link.onReady = { [weak self] facts, forgetsNothing in self?.linkReady(facts, forgetsNothing) }
        link.onLost = { [weak self] fault in self?.linkLost(fault) }
        link.onMessage = { [weak self] channel, message in self?.received(message, on: channel) }
        link.onSubscription = { [weak self] channel, isSubscribed in
            self?.subscriptionConfirmed(channel, isSubscribed)
        }
        link.connect()
    }

    private func linkReady(_ facts: ServerFacts, _ forgetsNothing: Bool) {
        self.forgetsNothing = forgetsNothing
        linkNumber += 1
        beatHeardAt = loop.now()
        phase = .greeting
        greet(isFirst: true)
    }

    private func linkLost(_ fault: CommandLogFault) {
        guard !isClosed else { return }
        let now = loop.now()
        if isServing { awaySince = now }
        link = nil
        // One line for each outage.
        if hasServed, lastFault == nil { logger.warning("\(fault)") }
        lastFault = fault
        isGreeting = false
        // Doubles up to the limit. The jitter spreads the nodes.
        let pause = min(times.reconnecting, .milliseconds(50 << min(attempts, 10)))
        attempts += 1
        phase = .away(retryAt: now.advanced(by: pause * Double.random(in: 0.5...1)))
        registry.interrupt()
        for session in sessions.values { session.interrupt() }
        channels = channels.filter { $0.value.session != nil }
        for channel in channels.values { channel.subscription = ChannelSubscription() }
        toResume = []
        attention = []
        if !hasServed { owner.shardStarted(fault) }
    }

    func close() {
        phase = .closed
        link?.close()
        link = nil
        sessions = [:]
        channels = [:]
    }

    // MARK: - Greeting

    /// Registers this run, or renews its sign of life.
    func greet(isFirst: Bool = false) {
        guard let link, !isGreeting else { return }
        isGreeting = true
        greetedAt = loop.now()
        let losses = isFirst ? registry.losses.flatMap { [$0.key.hexadecimal, $0.value.microseconds] } : []
        let floor = sharesClock ? owner.logTime(at: loop.now()).microseconds : ""
        let arguments =
            caller + [
                String(times.restoring.wholeNanoseconds / 1_000), String(times.nodes.life.wholeMilliseconds),
                fingerprint, floor,
            ]
        let run = owner.run
        link.send(RedisCommand(.hello, arguments + losses)) { [weak self] reply in
            guard let self, owner.run == run else { return }
            greeted(reply)
        }
        link.flush()
    }

    private func greeted(_ reply: RedisReply) {
        isGreeting = false
        if let error = reply.error { return greetingFailed(error) }
        guard reply[0].text == "ok", let time = reply[1].text.flatMap({ MonotonicInstant(microseconds: $0) }),
            let remaining = Duration(microseconds: reply[2].logNumber), let mine = reply[3].text
        else {
            if reply[0].text == "list" {
                link?.lose(
                    CommandLogFault(
                        .otherList,
                        "Another node uses \(address) with another list of Redis addresses. Give all nodes the same list, "
                            + "in the same order."))
            } else {
                link?.lose(CommandLogFault(.failing, "\(address) gives an answer that is not understood."))
            }
            return
        }
        let now = loop.now()
        owner.note(logTime: time)
        guard mine.hasPrefix("a") else { return owner.wasDeclaredLost() }
        let news = registry.update(NodeRegistry.Listed.list(reply[4]), now: now)
        if remaining > .zero {
            beginRestoring(until: now.advanced(by: remaining))
        } else {
            beginServing()
        }
        followUp(news)
    }

    private func greetingFailed(_ error: String) {
        guard let link else { return }
        guard error.contains("Function not found") else { return link.lose(CommandLogFault(error, from: address)) }
        load(link)
    }

    /// A function is missing: Redis has no library, or that of an older version.
    func loadLibrary() {
        guard !isGreeting, isServing, let link else { return }
        awaySince = loop.now()
        load(link)
    }

    private func load(_ link: RedisLink) {
        phase = .greeting
        isGreeting = true
        link.send(RedisCommand("FUNCTION", "LOAD", "REPLACE", FunctionLibrary.code)) { [weak self] reply in
            guard let self else { return }
            isGreeting = false
            if let error = reply.error { return self.link?.lose(libraryFault(error)) ?? () }
            greet(isFirst: true)
        }
        link.flush()
    }

    private func libraryFault(_ error: String) -> CommandLogFault {
        let fault = CommandLogFault(error, from: address)
        guard fault.code == .failing else { return fault }
        return CommandLogFault(
            .unsuitable, "\(address) does not accept functions: \(error). Use Redis 7.0 or later, and allow FUNCTION.")
    }

    private func beginRestoring(until end: MonotonicInstant) {
        if case .restoring = phase {
            phase = .restoring(until: end)
            return
        }
        if isServing { awaySince = loop.now() }
        phase = .restoring(until: end)
        for session in sessions.values { session.isVerified = false }
        resumeSessions()
    }

    private func beginServing() {
        guard !isServing else { return }
        phase = .serving
        attempts = 0
        lastFault = nil
        if !hasServed {
            hasServed = true
            owner.shardStarted(nil)
        }
        resumeSessions()
    }

    /// This node was declared lost, and goes on without its sessions.
    func continueAsAnotherRun(after old: RunID) {
        _ = registry.lose(old, at: owner.logTime(at: loop.now()))
        guard let link, link.isReady else { return }
        link.send(RedisCommand(.goodbye, [database, old.hexadecimal])) { _ in }
        if isServing { awaySince = loop.now() }
        phase = .greeting
        isGreeting = false
        greet(isFirst: true)
    }

    /// A reply says that Redis does not know this run, or the library.
    func greetAgain() {
        guard !isGreeting, isServing else { return }
        awaySince = loop.now()
        phase = .greeting
        greet(isFirst: true)
    }

    // MARK: - Time

    func tick(_ now: MonotonicInstant) {
        switch phase {
        case .away(let retryAt): if now >= retryAt { connect() }
        case .connecting: checkSilence(now, limit: times.connecting)
        case .greeting: checkSilence(now, limit: times.silence)
        case .restoring(let end):
            checkSilence(now, limit: times.silence)
            if now >= end || isBeatDue(now) { greet() }
            resumeMore()
            attend(now)
        case .serving:
            checkSilence(now, limit: times.silence)
            if isBeatDue(now) { greet() }
            resumeMore()
            attend(now)
            check(now)
            carryOutRemovals(now)
            declareLosses(now)
        case .closed: return
        }
        link?.flush()
    }

    private func isBeatDue(_ now: MonotonicInstant) -> Bool {
        greetedAt.map { now.duration(since: $0) >= times.nodes.beat } ?? true
    }

    private func checkSilence(_ now: MonotonicInstant, limit: Duration) {
        guard let link else { return }
        if let since = link.waitingSince, now.duration(since: since) >= limit { return link.lose(silence) }
        // Redis sends each greeting back on the other connection.
        if link.isReady, now.duration(since: beatHeardAt) >= times.nodes.beat + limit { link.lose(silence) }
    }

    private var silence: CommandLogFault {
        CommandLogFault(.silent, "\(address) does not answer. Check whether it is overloaded or stopped.")
    }

    func noteBeat() { beatHeardAt = loop.now() }

    /// Since when nothing can be kept, and why; `nil` if it can.
    func stall() -> (since: MonotonicInstant, fault: CommandLogFault)? {
        guard isServing else {
            return (
                awaySince, lastFault ?? CommandLogFault(.silent, "\(address) was restarted, and is being restored.")
            )
        }
        if let since = link?.waitingSince { return (since, silence) }
        return refusedSince.map { ($0.at, $0.fault) }
    }

    /// Whether Redis forgets nothing when it restarts.
    var isTrusted: Bool { forgetsNothing }
}
