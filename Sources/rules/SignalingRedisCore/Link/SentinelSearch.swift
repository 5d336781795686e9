import SignalingCore
import SignalingProtocol

/// Finding the primary of a Redis by its Sentinels, and noticing that another Redis takes over. Events and the present
/// moment go in, steps come out.
///
/// All Sentinels are asked at once, and the address that most of them name counts: a single one that was cut off together
/// with an old primary does not mislead. An announcement (`+switch-master`) is newer than all answers. Whether the address
/// is a primary, the Redis there says itself (``ServerFacts``).
package struct SentinelSearch {
    package enum Answer: Equatable {
        case primary(RedisEndpoint)
        /// This Sentinel watches no Redis of that name.
        case unknownName
        /// This Sentinel cannot be asked.
        case failed(CommandLogFault)

        /// - Parameters:
        ///   - reply: to `SENTINEL get-master-addr-by-name`.
        ///   - sentinel: its address.
        package init(_ reply: RedisReply, of sentinel: String) {
            switch reply {
            case .array(let array):
                guard array.count == 2, let host = array[0].text, !host.isEmpty, let port = array[1].number,
                    (1...65_535).contains(port)
                else {
                    self = .failed(.nonsense("no address of a primary", from: sentinel))
                    return
                }
                self = .primary(RedisEndpoint(host: ForeignText.line(host), port: Int(port)))
            case .null: self = .unknownName
            case .failure(.refused(let text)): self = .refused(by: sentinel, text)
            // A Sentinel without a password says so with a common error.
            case .failure(.other(let text)) where text.hasPrefix("ERR AUTH"): self = .refused(by: sentinel, text)
            case .failure(.other(let text)):
                self = .failed(
                    CommandLogFault(
                        .unsuitable,
                        "\(sentinel) does not answer as a Sentinel does: \(text). Give the addresses of the Sentinels, whose "
                            + "port is 26379 by default."))
            case .failure(let failure): self = .failed(CommandLogFault(failure, from: sentinel))
            case .integer, .bytes: self = .failed(.nonsense("no address of a primary", from: sentinel))
            }
        }

        private static func refused(by sentinel: String, _ text: String) -> Answer {
            .failed(
                CommandLogFault(
                    .refused,
                    "\(sentinel) refuses the user or the password of Sentinel: \(text). Check --redis-sentinel-user and "
                        + "--redis-sentinel-password."))
        }
    }

    package enum Step: Equatable {
        /// Connect to a Sentinel, ask it for the primary, and subscribe to its announcements.
        case ask(sentinel: Int)
        /// Connect to this Redis.
        case connect(RedisEndpoint)
        /// Give up the attempt to connect, or the link.
        case giveUp(CommandLogFault)
    }

    private enum Phase {
        /// No link is wanted. Next: `searching`, `using`.
        case idle
        /// Next: `using`, `idle`.
        case searching(since: MonotonicInstant)
        /// A link to this Redis is made, or in use. Next: `idle`.
        case using(RedisEndpoint)
    }

    private enum Sentinel {
        /// Next: `answered`, `failed`.
        case asked
        /// What it said last, in an answer or an announcement. Next: `asked`, `failed`.
        case answered(Answer)
        /// It could not be asked. Next: `asked`.
        case failed(CommandLogFault, retryAt: MonotonicInstant)
    }

    /// How long the search waits for most of the Sentinels, once one of them has named a primary.
    private static let patience = Duration.milliseconds(500)
    /// The pause before a Sentinel is asked again whose connection was lost while the link is in use.
    private static let retry = Duration.seconds(5)

    /// The name under which the Sentinels know the Redis.
    private let name: String
    /// The address that the operator gave, for messages.
    private let redis: String
    private var phase = Phase.idle
    private var sentinels: [Sentinel]
    /// Why the last link was left, until a link to it was tried.
    private var announced: RedisEndpoint?

    package init(name: String, sentinelCount: Int, redis: String) {
        self.name = name
        self.redis = redis
        sentinels = Array(repeating: .asked, count: sentinelCount)
    }

    // MARK: - Events

    /// A link is wanted. The Sentinels are asked anew.
    package mutating func begin(now: MonotonicInstant) -> [Step] {
        phase = .searching(since: now)
        var steps = sentinels.indices.map { Step.ask(sentinel: $0) }
        for index in sentinels.indices { sentinels[index] = .asked }
        if let announced {
            self.announced = nil
            steps.append(use(announced))
        }
        return steps
    }

    /// The link was lost or given up. The connections to the Sentinels are closed.
    package mutating func end() { phase = .idle }

    package mutating func answered(_ sentinel: Int, _ answer: Answer, now: MonotonicInstant) -> Step? {
        if case .failed(let fault) = answer {
            sentinels[sentinel] = .failed(fault, retryAt: now.advanced(by: Self.retry))
        } else {
            sentinels[sentinel] = .answered(answer)
        }
        return decide(now: now)
    }

    /// A Sentinel's connection is lost, or cannot be made.
    package mutating func lost(_ sentinel: Int, _ fault: CommandLogFault, now: MonotonicInstant) -> Step? {
        answered(sentinel, .failed(fault), now: now)
    }

    /// A Sentinel has published `+switch-master`: the name, the old address and the new one, each as host and port.
    package mutating func announced(by sentinel: Int, _ text: String) -> Step? {
        let words = text.split(separator: " ")
        guard words.count == 5, words[0] == name, let port = Int(words[4]), (1...65_535).contains(port) else {
            return nil
        }
        let new = RedisEndpoint(host: ForeignText.line(String(words[3])), port: port)
        sentinels[sentinel] = .answered(.primary(new))
        switch phase {
        case .searching: return use(new)
        case .using(let old): return old == new ? nil : leave(for: new)
        case .idle: return nil
        }
    }

    package mutating func tick(now: MonotonicInstant) -> [Step] {
        if case .idle = phase { return [] }
        var steps: [Step] = []
        for index in sentinels.indices {
            guard case .failed(_, let retryAt) = sentinels[index], retryAt <= now else { continue }
            sentinels[index] = .asked
            steps.append(.ask(sentinel: index))
        }
        return steps + (decide(now: now).map { [$0] } ?? [])
    }

    // MARK: - Deciding

    private mutating func decide(now: MonotonicInstant) -> Step? {
        switch phase {
        case .idle: return nil
        case .searching(let since):
            guard let (best, count) = mostNamed else {
                return isAnyAwaited ? nil : .giveUp(fault)
            }
            let isPatient = isAnyAwaited && now.duration(since: since) < Self.patience
            return isPatient && !isMajority(count) ? nil : use(best)
        case .using(let present):
            // A Sentinel that was away for a while may have announced a switch meanwhile, which nothing has heard.
            guard let (best, count) = mostNamed, best != present, isMajority(count) else { return nil }
            return leave(for: best)
        }
    }

    private mutating func use(_ endpoint: RedisEndpoint) -> Step {
        phase = .using(endpoint)
        return .connect(endpoint)
    }

    private mutating func leave(for new: RedisEndpoint) -> Step {
        phase = .idle
        announced = new
        return .giveUp(CommandLogFault(.readOnly, "The Sentinels of \(redis) have made \(new) the primary."))
    }

    private func isMajority(_ count: Int) -> Bool { count > sentinels.count / 2 }

    private var isAnyAwaited: Bool { sentinels.contains { if case .asked = $0 { true } else { false } } }

    /// The address that most Sentinels name; the first one's, if several are named as often.
    private var mostNamed: (RedisEndpoint, count: Int)? {
        let named = sentinels.compactMap { sentinel -> RedisEndpoint? in
            if case .answered(.primary(let endpoint)) = sentinel { endpoint } else { nil }
        }
        var best: (RedisEndpoint, count: Int)?
        for endpoint in named {
            let count = named.count { $0 == endpoint }
            if count > best?.count ?? 0 { best = (endpoint, count) }
        }
        return best
    }

    /// Why no Sentinel has named a primary.
    private var fault: CommandLogFault {
        for case .answered(.unknownName) in sentinels {
            return CommandLogFault(
                .unsuitable,
                "The Sentinels of \(redis) know no Redis with the name \(name). Give the name of sentinel monitor in their "
                    + "configuration.")
        }
        for case .failed(let fault, _) in sentinels { return fault }
        return CommandLogFault(.unreachable, "No Sentinel of \(redis) answers.")
    }
}
