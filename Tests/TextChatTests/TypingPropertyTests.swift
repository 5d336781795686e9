import SignalingProtocol
import TestSupport
import Testing
import TextChat

/// Case 27: random scenarios of two to four users who type to each other over a network that loses, delays, reorders
/// and repeats.
@Suite("TYP: in random scenarios no user types forever")
struct TypingPropertyTests {
    /// 100,000 scenarios in all.
    @Test("random scenarios", arguments: 0..<8)
    func scenarios(_ block: UInt64) {
        for seed in block * 12_500..<(block + 1) * 12_500 {
            var scenario = TypingScenario(seed: seed)
            guard let fault = scenario.run() else { continue }
            // Once more, written down this time.
            var told = TypingScenario(seed: seed, isTold: true)
            _ = told.run()
            Issue.record("seed \(seed): \(fault)\n\(told.trace.joined(separator: "\n"))")
            return
        }
    }
}

private struct TypingScenario {
    private var random: SeededGenerator
    private let isTold: Bool
    /// Whether it is held against a roster without linger, which takes its time.
    private let isCompared: Bool
    private(set) var trace: [String] = []
    private var fault: String?

    private var people: [Person] = []
    private var deliveries: [Delivery] = []
    private var steps: Int
    private var nextStepAt: Int64 = 0

    /// Milliseconds.
    private static let (gap, refresh, beginExpiry, pauseExpiry): (Int64, Int64, Int64, Int64) = (
        1000, 4000, 10_000, 15_000
    )
    private static let ids = (0..<4).map { person in (0..<16).map { ConnectionID("\(person).\($0)") } }
    private static let users = ["Ada", "Bob", "Cy", "Dee"]

    private struct Person {
        var sender = TypingSender()
        var roster: TypingRoster
        /// The same without linger: how it stands in truth.
        var truth: TypingRoster
        /// Since when each is shown as typing, and when each has stopped.
        var typingSince: [String: Int64] = [:]
        var stoppedAt: [String: Int64] = [:]
        var generation = 0
        var text = ""
        var isConnected = true
        var isOptedOut = false
        var shown = TypingSnapshot.nobody
        var lastKeyAt: Int64?
        var lastSignalAt: Int64?
        /// The last signal's moment, if it was a begin that nothing has taken back.
        var standingBeginAt: Int64?
        var heardBeginAt = Int64.min / 2
        var heardPauseAt = Int64.min / 2
        var senderDeadline: MonotonicInstant?
        var rosterDeadline: MonotonicInstant?
    }

    private struct Delivery {
        let at: Int64
        let to: Int
        let input: TypingInput
    }

    init(seed: UInt64, isTold: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.isTold = isTold
        isCompared = seed % 10 == 0
        steps = 0
        steps = number(4...10)
        for place in 0..<number(2...4) {
            let own = Self.ids[place][0]
            people.append(
                Person(
                    roster: TypingRoster(policy: randomPolicy(), ownConnection: own),
                    truth: TypingRoster(policy: Self.policy(linger: nil, minimumShow: nil), ownConnection: own)))
        }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(random.next() % UInt64(range.count))
    }

    private mutating func randomPolicy() -> TypingPolicy {
        let linger = chance(30) ? nil : Duration.milliseconds(number(1...2000))
        return Self.policy(linger: linger, minimumShow: chance(40) ? nil : .milliseconds(number(1...10_000)))
    }

    private static func policy(linger: Duration?, minimumShow: Duration?) -> TypingPolicy {
        var settings = TypingPolicy.standard.settings
        settings.linger = linger
        settings.minimumShow = minimumShow
        do { return try TypingPolicy(settings) } catch { preconditionFailure("\(error)") }
    }

    private mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    private mutating func tell(_ at: Int64, _ what: @autoclosure () -> String) {
        if isTold { trace.append("\(at) ms: \(what())") }
    }

    private mutating func fail(_ what: String) {
        if fault == nil { fault = what }
    }

    /// Runs until no event is left. Returns the fault.
    mutating func run() -> String? {
        var turns = 0
        while fault == nil, turns < 2000 {
            turns += 1
            // The next event: a timer, a delivery, or a step; at the same moment in this order.
            var (best, what): (Int64, (kind: Int, place: Int)) = (.max, (-1, 0))
            for place in people.indices {
                if let at = people[place].senderDeadline?.milliseconds, at < best { (best, what) = (at, (0, place)) }
                if let at = people[place].rosterDeadline?.milliseconds, at < best { (best, what) = (at, (1, place)) }
            }
            for place in deliveries.indices where deliveries[place].at < best {
                (best, what) = (deliveries[place].at, (2, place))
            }
            if steps > 0, nextStepAt < best { (best, what) = (nextStepAt, (3, 0)) }
            switch what.kind {
            case 0: send(what.place, best) { $0.advance(to: $1) }
            case 1: hear(what.place, best, nil)
            case 2:
                let delivery = deliveries.remove(at: what.place)
                hear(delivery.to, best, delivery.input)
            case 3: step(best)
            default:
                for place in people.indices where people[place].shown != .nobody {
                    fail("person \(place) still sees a user at the end")
                }
                return fault
            }
        }
        return fault ?? "it never comes to rest"
    }

    private mutating func step(_ now: Int64) {
        steps -= 1
        nextStepAt = now + Int64(chance(60) ? number(20...900) : number(1000...7000))
        let place = number(0...people.count - 1)
        switch number(0...19) {
        case 0...8:
            people[place].text += "a"
            people[place].lastKeyAt = now
            let text = people[place].text
            tell(now, "\(place) types")
            send(place, now) { $0.handle(.draftEdited(text), now: $1) }
        case 9, 10:
            people[place].text = ""
            tell(now, "\(place) clears")
            send(place, now) { $0.handle(.draftEdited(""), now: $1) }
        case 11, 12, 13:
            people[place].text = ""
            people[place].standingBeginAt = nil
            tell(now, "\(place) sends a message")
            send(place, now) { $0.handle(.messageSubmitted, now: $1) }
            if people[place].isConnected {
                let (id, n) = (Self.ids[place][people[place].generation], people[place].sender.lastN)
                for other in people.indices {
                    carry(now, other, .messageReceived(from: id, typingN: n), loss: 0)
                }
            }
        case 14:
            tell(now, "\(place) pauses")
            send(place, now) { $0.handle(.send(.pause), now: $1) }
        case 15:
            tell(now, "\(place) leaves the room")
            send(place, now) { $0.handle(.leave, now: $1) }
        case 16:
            people[place].isOptedOut.toggle()
            let value = people[place].isOptedOut
            tell(now, "\(place) opts \(value ? "out" : "in")")
            send(place, now) { $0.handle(.optedOut(value), now: $1) }
        case 17:
            let n = people[place].sender.lastN
            people[place].standingBeginAt = nil
            tell(now, "\(place) learns that \(n) was not sent")
            send(place, now) { $0.handle(.publishFailed(n: n), now: $1) }
        default: people[place].isConnected ? disconnect(place, now) : reconnect(place, now)
        }
    }

    private mutating func disconnect(_ place: Int, _ now: Int64) {
        tell(now, "\(place) loses its connection")
        people[place].isConnected = false
        people[place].standingBeginAt = nil
        send(place, now) { $0.handle(.connectionLost, now: $1) }
        let id = Self.ids[place][people[place].generation]
        // Others may never hear of it, when they are away themselves.
        for other in people.indices where other != place { carry(now, other, .connectionDestroyed(id), loss: 30) }
    }

    private mutating func reconnect(_ place: Int, _ now: Int64) {
        // As the same connection, or as another.
        if chance(50) { people[place].generation += 1 }
        let id = Self.ids[place][people[place].generation]
        tell(now, "\(place) is back as \(id)")
        people[place].isConnected = true
        send(place, now) { $0.handle(.connected(id), now: $1) }
        hear(place, now, .connected(id))
    }

    private mutating func send(
        _ place: Int, _ now: Int64, _ act: (inout TypingSender, MonotonicInstant) -> [TypingSignal]
    ) {
        let signals = act(&people[place].sender, MonotonicInstant(milliseconds: now))
        people[place].senderDeadline = people[place].sender.nextDeadline
        for signal in signals {
            tell(now, "  \(place) signals \(signal.action.word) \(signal.n ?? 0)")
            check(signal, of: place, now)
            let from = Self.ids[place][people[place].generation]
            for other in people.indices {
                carry(now, other, .signal(signal, from: from, user: Self.users[place]), loss: 15)
            }
        }
        if let at = people[place].senderDeadline?.milliseconds, at <= now { fail("\(place): a deadline in the past") }
    }

    private mutating func check(_ signal: TypingSignal, of place: Int, _ now: Int64) {
        let person = people[place]
        if !person.isConnected { fail("\(place) signals without a connection") }
        if let last = person.lastSignalAt, now - last < Self.gap { fail("\(place) signals twice within a second") }
        people[place].lastSignalAt = now
        switch signal.action {
        case .begin:
            if person.isOptedOut { fail("\(place) begins, and has opted out") }
            if person.lastKeyAt.map({ now - $0 > Self.gap }) ?? true { fail("\(place) begins without a key") }
            if let last = person.standingBeginAt, now - last < Self.refresh { fail("\(place) refreshes too early") }
            people[place].standingBeginAt = now
        case .pause, .finish: people[place].standingBeginAt = nil
        }
    }

    /// The network: it loses, delays, and repeats; so things overtake each other.
    private mutating func carry(_ now: Int64, _ to: Int, _ input: TypingInput, loss: Int) {
        if chance(loss) { return }
        for _ in 0..<(chance(10) ? 2 : 1) {
            deliveries.append(Delivery(at: now + Int64(number(5...900)), to: to, input: input))
        }
    }

    private mutating func hear(_ place: Int, _ now: Int64, _ input: TypingInput?) {
        let moment = MonotonicInstant(milliseconds: now)
        let change: TypingSnapshot?
        if let input {
            tell(now, "  \(place) receives \(input)")
            if case .signal(let signal, _, _) = input {
                switch signal.action {
                case .begin: people[place].heardBeginAt = now
                case .pause: people[place].heardPauseAt = now
                case .finish: break
                }
            }
            change = people[place].roster.handle(input, now: moment)
        } else {
            change = people[place].roster.advance(to: moment)
        }
        if isCompared { checkLinger(place, now, input) }
        people[place].rosterDeadline = people[place].roster.nextDeadline
        if let at = people[place].rosterDeadline, at <= moment { fail("\(place): a deadline in the past") }
        if let change { shows(place, change, now) }
        let person = people[place]
        let linger = person.roster.policy.linger.map { $0 / .milliseconds(1) } ?? 0
        if !person.shown.typing.isEmpty, now >= person.heardBeginAt + Self.beginExpiry + Int64(linger) {
            fail("\(place) sees a user type after a silence longer than expiry and linger")
        }
        if !person.shown.paused.isEmpty, now >= person.heardPauseAt + Self.pauseExpiry {
            fail("\(place) sees a user pause after a silence longer than the expiry")
        }
    }

    /// A person shown as typing types or has stopped within the linger, and has not just sent a message or left.
    private mutating func checkLinger(_ place: Int, _ now: Int64, _ input: TypingInput?) {
        let moment = MonotonicInstant(milliseconds: now)
        // To the instant: a person may stop between two inputs.
        while let due = people[place].truth.nextDeadline, due <= moment {
            _ = people[place].truth.advance(to: due)
            noteTruth(place, due.milliseconds)
        }
        if let input {
            _ = people[place].truth.handle(input, now: moment)
            if case .connected = input { people[place].stoppedAt = [:] }
        }
        noteTruth(place, now)
        let person = people[place]
        let (truly, shown) = (Set(person.truth.current.typing.map(\.name)), person.roster.current.typing.map(\.name))
        if !truly.isSubset(of: shown) { fail("\(place) does not see a user who types") }
        for case let name? in shown where !truly.contains(name) {
            guard let stopped = person.stoppedAt[name], let since = person.typingSince[name] else {
                fail("\(place) sees \(name) type, who has never typed")
                continue
            }
            let linger = Int64((person.roster.policy.linger ?? .zero) / .milliseconds(1))
            let minimum = Int64((person.roster.policy.minimumShow ?? .zero) / .milliseconds(1))
            if now >= max(stopped + linger, since + minimum) { fail("\(place) sees \(name) for too long") }
        }
        for name in person.typingSince.keys where !shown.contains(name) { people[place].typingSince[name] = nil }
        let from: ConnectionID
        switch input {
        case .messageReceived(let id, _): from = id
        case .connectionDestroyed(let id): from = id
        default: return
        }
        guard let author = Self.ids.firstIndex(where: { $0.contains(from) }) else { return }
        // On another connection it is another author, as far as anybody can tell.
        if people[author].generation > 0 { return }
        if shown.contains(Self.users[author]), !truly.contains(Self.users[author]) {
            fail("\(place) sees \(Self.users[author]) type beside the message, or after the end")
        }
    }

    private mutating func noteTruth(_ place: Int, _ now: Int64) {
        let truly = Set(people[place].truth.current.typing.compactMap(\.name))
        for name in Self.users {
            if truly.contains(name) {
                people[place].stoppedAt[name] = nil
                if people[place].typingSince[name] == nil { people[place].typingSince[name] = now }
            } else if people[place].stoppedAt[name] == nil, people[place].typingSince[name] != nil {
                people[place].stoppedAt[name] = now
            }
        }
    }

    private mutating func shows(_ place: Int, _ snapshot: TypingSnapshot, _ now: Int64) {
        tell(now, "  \(place) sees \((snapshot.typing + snapshot.paused).compactMap(\.name))")
        if snapshot == people[place].shown { fail("\(place) receives the same snapshot again") }
        let names = (snapshot.typing + snapshot.paused).compactMap(\.name)
        if Set(names).count != names.count { fail("\(place) sees a user twice") }
        if names.contains(Self.users[place]), people[place].generation == 0 { fail("\(place) sees itself") }
        if snapshot.typingCount != snapshot.typing.count || snapshot.pausedCount != snapshot.paused.count {
            fail("\(place) counts wrongly")
        }
        people[place].shown = snapshot
    }
}
