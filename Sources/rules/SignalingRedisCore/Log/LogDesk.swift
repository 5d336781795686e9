import SignalingCore
import SignalingProtocol

/// What all shards of a log have in common while they carry out an event: the run, the log's time, and the effects.
struct LogDesk {
    let times: LogTimes
    /// The name of this life of the process. It changes when the other nodes declare this node lost.
    var run: RunID
    /// The moment of the event.
    var now: MonotonicInstant
    var clock = LogClock()
    /// The bytes of commands without a confirmation.
    var inFlightByteCount = 0
    var random: NameGenerator
    var effects: [RedisLogEffect] = []

    // What a shard has found out, for all of them:

    /// The other nodes have declared this run lost.
    var isDeclaredLost = false
    /// Runs of other nodes that one Redis has declared lost.
    var losses: [(run: RunID, time: MonotonicInstant, orphans: [SessionID])] = []

    init(times: LogTimes, run: RunID, seed: UInt64, now: MonotonicInstant) {
        self.times = times
        self.run = run
        self.now = now
        random = NameGenerator(seed: seed)
    }

    mutating func report(_ report: SessionReport, _ session: SessionID) {
        effects.append(.report(report, session))
    }

    /// Commands of this node were confirmed, or will never be.
    mutating func noteSettled(byteCount: Int) { inFlightByteCount -= byteCount }

    mutating func note(logTime time: MonotonicInstant?) {
        if let time { clock.note(time, now: now) }
    }

    /// The present moment in the log's time.
    var logTime: MonotonicInstant { clock.time(at: now) }
}

/// An estimate of the log's time. Replies tell that time, and are somewhat old when they arrive: so the estimate is
/// behind, and never ahead of the entries.
struct LogClock {
    private var pair: (log: MonotonicInstant, local: MonotonicInstant)?

    mutating func note(_ time: MonotonicInstant, now: MonotonicInstant) {
        let estimate = self.time(at: now)
        if pair == nil || time > estimate || estimate.duration(since: time) > .milliseconds(20) { pair = (time, now) }
    }

    func time(at now: MonotonicInstant) -> MonotonicInstant {
        guard let pair else { return MonotonicInstant(nanoseconds: 0) }
        return pair.log.advanced(by: now.duration(since: pair.local))
    }
}

/// Names that no other process makes, from a random seed (SplitMix64: Steele, Lea and Flood, 2014). Not for secrets.
struct NameGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
