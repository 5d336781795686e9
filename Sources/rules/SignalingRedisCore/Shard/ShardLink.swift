import SignalingCore
import SignalingProtocol

/// The link to one Redis, as the shard and its sessions see it.
struct ShardLink {
    enum Phase: Equatable {
        /// No link. Next: `connecting`, `closed`.
        case away(retryAt: MonotonicInstant)
        /// Next: `greeting`, `away`, `closed`.
        case connecting(since: MonotonicInstant)
        /// The link is ready, and the node registers itself. Next: `loading`, `restoring`, `serving`, `away`, `closed`.
        case greeting
        /// Redis loads the library of functions. Next: `greeting`, `away`, `closed`.
        case loading
        /// Redis has forgotten. The nodes put that back, and Redis names the time for it. Next: `serving`, `greeting`,
        /// `loading`, `away`, `closed`.
        case restoring(until: MonotonicInstant, period: String?)
        /// Next: `restoring`, `greeting`, `loading`, `away`, `closed`.
        case serving
        /// The last state.
        case closed
    }

    /// What a session has found out about the link. The shard acts on it after the session's step.
    enum Trouble {
        case mustGreet
        case libraryMissing
        /// Another Redis has become the primary: the address leads there, or will soon. Or the answers are nonsense.
        case useless(CommandLogFault)
    }

    let shard: Int
    /// The address, without its password.
    let redis: String
    var phase: Phase
    /// The link on which this node has loaded the library.
    var loadedOn: Int?
    /// Counts this run's links, so that Redis can refuse calls of earlier ones.
    var number = 0
    /// Whether this Redis forgets nothing when it restarts.
    var isTrusted = false
    /// Since when Redis refuses to keep commands, and why.
    var refusal: (since: MonotonicInstant, fault: CommandLogFault)?
    var trouble: Trouble?
    private var unansweredCount = 0
    /// Since when the oldest call waits for its answer.
    private(set) var waitingSince: MonotonicInstant?

    init(shard: Int, redis: String, now: MonotonicInstant) {
        self.shard = shard
        self.redis = redis
        phase = .away(retryAt: now)
    }

    var isServing: Bool { phase == .serving }

    /// Whether calls can be sent.
    var isReady: Bool {
        switch phase {
        case .greeting, .loading, .restoring, .serving: true
        case .away, .connecting, .closed: false
        }
    }

    func caller(_ desk: LogDesk) -> ShardCaller { ShardCaller(run: desk.run, link: number) }

    mutating func send(_ call: ShardCall, _ desk: inout LogDesk) {
        guard isReady else { return }
        if unansweredCount == 0 { waitingSince = desk.now }
        unansweredCount += 1
        desk.effects.append(.call(shard: shard, call))
    }

    mutating func noteAnswer(now: MonotonicInstant) {
        unansweredCount -= 1
        waitingSince = unansweredCount == 0 ? nil : now
    }

    /// No answer will come any more.
    mutating func interrupt() {
        unansweredCount = 0
        waitingSince = nil
        trouble = nil
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
