import SignalingCore
import SignalingProtocol

/// The link to one Redis, as the shard and its sessions see it.
struct ShardLink {
    /// What a link that is ready is used for.
    enum Service {
        /// The node registers itself. Also after the library was loaded. Next: `restoring`, `serving`.
        case greeting
        /// Redis has forgotten. The nodes put that back, and Redis names the time for it. Next: `serving`, `greeting`.
        case restoring(until: MonotonicInstant, period: String?)
        /// Next: `restoring`, `greeting`.
        case serving
    }

    /// What a session has found out about the link. The shard acts on it after the session's step.
    enum Trouble {
        case mustGreet
        case libraryMissing
        /// Another Redis has become the primary: the address leads there, or will soon. Or the answers are nonsense.
        case useless(CommandLogFault)
    }

    let shard: Int
    var courier: RedisCourier<Service>
    /// Counts this run's links, so that Redis can refuse calls of earlier ones.
    var number = 0
    /// Whether this Redis forgets nothing when it restarts.
    var isTrusted = false
    /// Since when Redis refuses to keep commands, and why.
    var refusal: (since: MonotonicInstant, fault: CommandLogFault)?
    var trouble: Trouble?

    init(shard: Int, redis: String, now: MonotonicInstant) {
        self.shard = shard
        courier = RedisCourier(
            redis: redis, retryAt: now, advice: " Check whether it is overloaded or stopped.")
    }

    /// The address, without its password.
    var redis: String { courier.redis }
    var isServing: Bool { if case .ready(.serving) = courier.phase { true } else { false } }
    /// Whether calls can be sent.
    var isReady: Bool { courier.isOpen }
    /// Since when the oldest call waits for its answer.
    var waitingSince: MonotonicInstant? { courier.waitingSince }

    func caller(_ desk: LogDesk) -> ShardCaller { ShardCaller(run: desk.run, link: number) }

    mutating func send(_ call: ShardCall, _ desk: inout LogDesk) {
        guard isReady else { return }
        courier.noteCall(now: desk.now)
        desk.effects.append(.call(shard: shard, call))
    }

    /// A call of a session was not carried out. The session repeats it in a later tick.
    mutating func note(_ refusal: ShardRefusal, now: MonotonicInstant) {
        switch refusal {
        case .greetAgain: trouble = .mustGreet
        case .failed(.functionMissing): trouble = .libraryMissing
        case .failed(let failure):
            let fault = CommandLogFault(failure, from: redis)
            switch failure {
            case .readOnly, .refused: trouble = .useless(fault)
            case .full, .loading, .notWritten, .functionMissing, .damaged, .other: break
            }
            if self.refusal == nil { self.refusal = (now, fault) }
        case .notUnderstood: trouble = .useless(.nonsense("an answer that is not understood", from: redis))
        }
    }
}
