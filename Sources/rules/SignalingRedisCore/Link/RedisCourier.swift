import SignalingCore
import SignalingProtocol

/// The link to one Redis: when to connect and when to give up, what is not answered, whether the functions are there, and
/// what an operator knows of it. Events and the present moment go in, the next step comes out.
///
/// The log, the archive and the revocations have one for each of their links, and keep what they ask.
struct RedisCourier<Service> {
    enum Phase {
        /// No link. Next: `connecting`, `closed`.
        case away(retryAt: MonotonicInstant)
        /// Next: `ready`, `away`, `closed`.
        case connecting(since: MonotonicInstant)
        /// With what the link is used for. Next: `loading`, `away`, `closed`.
        case ready(Service)
        /// Redis loads the library of functions. Next: `ready`, `away`, `closed`.
        case loading(Service)
        /// The last state.
        case closed
    }

    /// What the owner carries out.
    enum Step {
        case connect
        /// Send the library. ``libraryLoaded()`` follows.
        case loadLibrary
        /// Give the link up, which is ``lost(now:_:_:)`` then.
        case giveUp(CommandLogFault)
    }

    /// The address, without its password.
    let redis: String
    var phase: Phase
    /// What an operator is told of a Redis that is silent.
    let silence: CommandLogFault
    /// The attempts to connect since Redis was last of use.
    private var attemptCount = 0
    /// Whether the library was loaded on this link.
    private var hasLoaded = false
    private var unansweredCount = 0
    /// Since when the oldest call waits for its answer.
    private(set) var waitingSince: MonotonicInstant?
    /// What the operator was told last; `nil` if nothing is wrong.
    private(set) var fault: CommandLogFault?

    init(
        redis: String, retryAt moment: MonotonicInstant = MonotonicInstant(nanoseconds: .min), advice: String = ""
    ) {
        self.redis = redis
        phase = .away(retryAt: moment)
        silence = CommandLogFault(.silent, "\(redis) does not answer.\(advice)")
    }

    /// What the link is used for; `nil` if it is not ready.
    var service: Service? { if case .ready(let service) = phase { service } else { nil } }

    /// Whether calls can be sent.
    var isOpen: Bool {
        switch phase {
        case .ready, .loading: true
        case .away, .connecting, .closed: false
        }
    }

    var hasLink: Bool {
        switch phase {
        case .connecting, .ready, .loading: true
        case .away, .closed: false
        }
    }

    /// Called every ``LogTimes/tick``.
    mutating func tick(now: MonotonicInstant, _ times: LogTimes) -> Step? {
        switch phase {
        case .away(let retryAt):
            guard retryAt <= now else { return nil }
            phase = .connecting(since: now)
            return .connect
        case .connecting(let since):
            return now.duration(since: since) >= times.connecting ? .giveUp(silenceAtFirst) : nil
        case .ready, .loading:
            guard let waitingSince, now.duration(since: waitingSince) >= times.silence else { return nil }
            return .giveUp(silence)
        case .closed: return nil
        }
    }

    /// - Returns: false if there was no attempt to connect.
    mutating func begin(_ service: Service) -> Bool {
        guard case .connecting = phase else { return false }
        phase = .ready(service)
        return true
    }

    /// Uses a link that is ready for something else.
    mutating func change(to service: Service) {
        if case .ready = phase { phase = .ready(service) }
    }

    /// Redis was of use: the next attempt to connect follows soon after a loss.
    mutating func noteUse() { attemptCount = 0 }

    /// The link is lost, or cannot be made. No answer will come any more.
    ///
    /// - Returns: false if the courier is closed.
    mutating func lost(now: MonotonicInstant, _ times: LogTimes, _ random: inout NameGenerator) -> Bool {
        if case .closed = phase { return false }
        phase = .away(retryAt: now.advanced(by: times.pause(afterAttempts: attemptCount, &random)))
        attemptCount += 1
        (unansweredCount, waitingSince, hasLoaded) = (0, nil, false)
        return true
    }

    /// - Returns: whether there was a link, or an attempt.
    mutating func close() -> Bool {
        defer { phase = .closed }
        return hasLink
    }

    /// What an operator is told of a Redis that has never answered on this link.
    private var silenceAtFirst: CommandLogFault {
        // A Redis without TLS waits for the end of what it takes for a command.
        redis.hasPrefix("rediss")
            ? CommandLogFault(
                .silent,
                "\(silence.message) If it has no TLS at this port, begin the address with redis:// instead of rediss://."
            )
            : silence
    }

    // MARK: - Calls

    mutating func noteCall(now: MonotonicInstant) {
        if unansweredCount == 0 { waitingSince = now }
        unansweredCount += 1
    }

    mutating func noteAnswer(now: MonotonicInstant) {
        unansweredCount -= 1
        waitingSince = unansweredCount == 0 ? nil : now
    }

    /// What follows from an answer that Redis does not give.
    func misunderstood(_ text: String = "an answer that is not understood") -> Step {
        .giveUp(.nonsense(text, from: redis))
    }

    /// A function is missing: Redis has no library, or that of an older version.
    mutating func libraryMissing(now: MonotonicInstant) -> Step? {
        guard let service else { return nil }
        // A Redis that has loaded the library, and does not know it, gets the pause before the next link.
        if hasLoaded { return .giveUp(CommandLogFault(RedisFailure.functionMissing, from: redis)) }
        hasLoaded = true
        phase = .loading(service)
        noteCall(now: now)
        return .loadLibrary
    }

    /// - Returns: false if nothing was loaded.
    mutating func libraryLoaded() -> Bool {
        guard case .loading(let service) = phase else { return false }
        phase = .ready(service)
        return true
    }

    // MARK: - What the operator knows

    /// - Returns: whether this is news.
    mutating func tell(_ new: CommandLogFault?) -> Bool {
        if new?.code == fault?.code { return false }
        fault = new
        return true
    }
}
