import SignalingProtocol
import SignalingRedisCore

/// Two connections between a node and a simulated Redis: commands, and subscriptions.
final class SimulatedLink {
    struct Event {
        enum Content {
            case ready
            case lost(String)
            case answered([RedisReply], ([RedisReply]) -> Void)
            case subscription(SessionID, isConfirmed: Bool)
            case message([UInt8], channel: String)
        }
        let link: SimulatedLink
        let content: Content
    }

    private enum Phase {
        /// Next: `open`, `ended`.
        case connecting
        /// Next: `ended`.
        case open
        /// The last state.
        case ended
    }

    /// In each direction, what is sent first arrives first.
    private enum Direction { case calls, answers, subscriptions, messages }

    private let time: any SimulatedTime
    private let redis: SimulatedRedis
    /// The links of a run in the order of their beginnings.
    let number: Int
    private let onEvent: (Event) -> Void
    var isSlow: () -> Bool = { false }
    var delaysAnswers: () -> Bool = { false }
    private var phase = Phase.connecting
    private var arrivals: [Direction: MonotonicInstant] = [:]
    private var channels: Set<String> = []

    init(_ time: any SimulatedTime, _ redis: SimulatedRedis, onEvent: @escaping (Event) -> Void) {
        self.time = time
        self.redis = redis
        number = redis.nextLinkNumber()
        self.onEvent = onEvent
    }

    private var isOpen: Bool { phase == .open }

    /// As ``travel(_:_:)``, to Redis, which may stand still then.
    private func travelToRedis(_ direction: Direction, _ arrive: @escaping () -> Void) {
        travel(direction) { [redis] in redis.whenRunning(arrive) }
    }

    /// When something that is sent now arrives.
    private func travel(_ direction: Direction, _ arrive: @escaping () -> Void) {
        var delay: Duration =
            isSlow() && time.chance(40)
            ? .milliseconds(100 + time.random(below: 1_400)) : .microseconds(100 + time.random(below: 5_000))
        if direction == .answers, delaysAnswers() { delay += .seconds(1) }
        let arrival = max(time.now.advanced(by: delay), arrivals[direction] ?? time.now)
        arrivals[direction] = arrival
        time.schedule(after: arrival.duration(since: time.now), arrive)
    }

    private func tell(_ content: Event.Content) { onEvent(Event(link: self, content: content)) }

    func connect() {
        travelToRedis(.calls) { [self] in
            guard phase == .connecting else { return }
            guard redis.isUp else { return end("nobody listens") }
            phase = .open
            channels = [SessionKeys.nodesChannel(database: 0)]
            redis.add(self)
            tell(.ready)
        }
    }

    func send(_ commands: [RedisCommand], _ answer: @escaping ([RedisReply]) -> Void) {
        guard isOpen else { return }
        // A call that has left may arrive although its link is lost meanwhile.
        let leavesInTime = time.chance(2)
        travelToRedis(.calls) { [self] in
            guard redis.isUp, isOpen || leavesInTime else { return }
            let replies = commands.map { redis.carryOut($0.arguments) }
            guard isOpen else { return }
            travel(.answers) { [self] in if isOpen { tell(.answered(replies, answer)) } }
        }
    }

    func change(_ sessions: [SessionID], isSubscribed: Bool) {
        guard isOpen else { return }
        travelToRedis(.subscriptions) { [self] in
            guard isOpen else { return }
            for session in sessions {
                let channel = SessionKeys.channel(of: session, database: 0)
                if isSubscribed { channels.insert(channel) } else { channels.remove(channel) }
                travel(.messages) { [self] in
                    if isOpen { tell(.subscription(session, isConfirmed: isSubscribed)) }
                }
            }
        }
    }

    func publish(_ message: [UInt8], on channel: String) {
        guard isOpen, channels.contains(channel) else { return }
        // Redis loses messages now and then. A repeated entry stands for one that a reply or a range brought before.
        let isRelayed = message.first == UInt8(ascii: "r")
        let copies =
            redis.disturbsMessages ? [1, 1, 1, 1, 1, 1, 1, 0, 0, isRelayed ? 1 : 2][time.random(below: 10)] : 1
        for _ in 0..<copies {
            travel(.messages) { [self] in if isOpen { tell(.message(message, channel: channel)) } }
        }
    }

    /// The link breaks. The node learns of it.
    func end(_ reason: String) {
        if phase == .ended { return }
        phase = .ended
        redis.remove(self)
        time.schedule(after: .milliseconds(1 + time.random(below: 20))) { [self] in tell(.lost(reason)) }
    }

    /// The node gives the link up.
    func abandon() {
        phase = .ended
        redis.remove(self)
    }
}

extension RedisCommand {
    /// The arguments, read from the command's bytes as Redis reads them.
    fileprivate var arguments: [[UInt8]] {
        var rest = bytes[...]
        func number() -> Int {
            let line = rest.dropFirst().prefix { $0 != 13 }
            rest = rest.dropFirst(line.count + 3)
            return Int(String(decoding: line, as: UTF8.self)) ?? 0
        }
        return (0..<number()).map { _ in
            let count = number()
            defer { rest = rest.dropFirst(count + 2) }
            return Array(rest.prefix(count))
        }
    }
}
