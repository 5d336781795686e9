import SignalingProtocol
import TestSupport
import Testing
import TextChat

/// Random scenarios of two to four users who type to each other over a network that loses, delays, reorders and repeats
/// signals.
@Suite("TYP: in random scenarios every typing user stops being shown")
struct TypingPropertyTests {
    /// 12,000 scenarios in all.
    @Test("random scenarios", arguments: 0..<8)
    func scenarios(_ block: UInt64) {
        for seed in block * 1_500..<(block + 1) * 1_500 {
            var scenario = TypingScenario(seed: seed)
            guard let fault = scenario.run() else { continue }
            // Run the scenario again, with a trace.
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
    /// Whether the roster is compared with one without linger, which is slow.
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
        /// The same roster without linger: the true state.
        var truth: TypingRoster
        /// When each person was first shown as typing, and when each has stopped.
        var typingSince: [String: Int64] = [:]
        var stoppedAt: [String: Int64] = [:]
        var generation = 0
        var text = ""
        var isConnected = true
        var isOptedOut = false
        var shown = TypingSnapshot.nobody
        var lastKeyAt: Int64?
        var lastSignalAt: Int64?
        /// When the last signal was sent, if it was a begin that no later input has ended.
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
        for index in 0..<number(2...4) {
            let own = Self.ids[index][0]
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
            // The next event: a timer, a delivery, or a step. Events of the same moment happen in this order.
            var (best, what): (Int64, (kind: Int, index: Int)) = (.max, (-1, 0))
            for index in people.indices {
                if let at = people[index].senderDeadline?.milliseconds, at < best { (best, what) = (at, (0, index)) }
                if let at = people[index].rosterDeadline?.milliseconds, at < best { (best, what) = (at, (1, index)) }
            }
            for index in deliveries.indices where deliveries[index].at < best {
                (best, what) = (deliveries[index].at, (2, index))
            }
            if steps > 0, nextStepAt < best { (best, what) = (nextStepAt, (3, 0)) }
            switch what.kind {
            case 0: send(what.index, best) { $0.advance(to: $1) }
            case 1: hear(what.index, best, nil)
            case 2:
                let delivery = deliveries.remove(at: what.index)
                hear(delivery.to, best, delivery.input)
            case 3: step(best)
            default:
                for index in people.indices where people[index].shown != .nobody {
                    fail("person \(index) still sees a person at the end")
                }
                return fault
            }
        }
        return fault ?? "the scenario does not end"
    }

    private mutating func step(_ now: Int64) {
        steps -= 1
        nextStepAt = now + Int64(chance(60) ? number(20...900) : number(1000...7000))
        let index = number(0...people.count - 1)
        switch number(0...19) {
        case 0...8:
            people[index].text += "a"
            people[index].lastKeyAt = now
            let text = people[index].text
            tell(now, "\(index) types")
            send(index, now) { $0.handle(.draftEdited(text), now: $1) }
        case 9, 10:
            people[index].text = ""
            tell(now, "\(index) clears")
            send(index, now) { $0.handle(.draftEdited(""), now: $1) }
        case 11, 12, 13:
            people[index].text = ""
            people[index].standingBeginAt = nil
            tell(now, "\(index) sends a message")
            send(index, now) { $0.handle(.messageSubmitted, now: $1) }
            if people[index].isConnected {
                let (id, n) = (Self.ids[index][people[index].generation], people[index].sender.lastN)
                for other in people.indices {
                    carry(now, other, .messageReceived(from: id, typingN: n), loss: 0)
                }
            }
        case 14:
            tell(now, "\(index) pauses")
            send(index, now) { $0.handle(.send(.pause), now: $1) }
        case 15:
            tell(now, "\(index) leaves the room")
            send(index, now) { $0.handle(.leave, now: $1) }
        case 16:
            people[index].isOptedOut.toggle()
            let value = people[index].isOptedOut
            tell(now, "\(index) opts \(value ? "out" : "in")")
            send(index, now) { $0.handle(.optedOut(value), now: $1) }
        case 17:
            let n = people[index].sender.lastN
            people[index].standingBeginAt = nil
            tell(now, "\(index) learns that \(n) did not leave")
            send(index, now) { $0.handle(.publishFailed(n: n), now: $1) }
        default: people[index].isConnected ? disconnect(index, now) : reconnect(index, now)
        }
    }

    private mutating func disconnect(_ index: Int, _ now: Int64) {
        tell(now, "\(index) loses its connection")
        people[index].isConnected = false
        people[index].standingBeginAt = nil
        send(index, now) { $0.handle(.connectionLost, now: $1) }
        let id = Self.ids[index][people[index].generation]
        // The others may miss the event while they are away.
        for other in people.indices where other != index { carry(now, other, .connectionDestroyed(id), loss: 30) }
    }

    private mutating func reconnect(_ index: Int, _ now: Int64) {
        // As the same connection, or as a new one.
        if chance(50) { people[index].generation += 1 }
        let id = Self.ids[index][people[index].generation]
        tell(now, "\(index) is back as \(id)")
        people[index].isConnected = true
        send(index, now) { $0.handle(.connected(id), now: $1) }
        hear(index, now, .connected(id))
    }

    private mutating func send(
        _ index: Int, _ now: Int64, _ act: (inout TypingSender, MonotonicInstant) -> [TypingSignal]
    ) {
        let signals = act(&people[index].sender, MonotonicInstant(milliseconds: now))
        people[index].senderDeadline = people[index].sender.nextDeadline
        for signal in signals {
            tell(now, "  \(index) signals \(signal.action.word) \(signal.n ?? 0)")
            check(signal, of: index, now)
            let from = Self.ids[index][people[index].generation]
            for other in people.indices {
                carry(now, other, .signal(signal, from: from, user: Self.users[index]), loss: 15)
            }
        }
        if let at = people[index].senderDeadline?.milliseconds, at <= now { fail("\(index): a deadline in the past") }
    }

    private mutating func check(_ signal: TypingSignal, of index: Int, _ now: Int64) {
        let person = people[index]
        if !person.isConnected { fail("\(index) signals without a connection") }
        if let last = person.lastSignalAt, now - last < Self.gap { fail("\(index) signals twice within a second") }
        people[index].lastSignalAt = now
        switch signal.action {
        case .begin:
            if person.isOptedOut { fail("\(index) begins, and has opted out") }
            if person.lastKeyAt.map({ now - $0 > Self.gap }) ?? true { fail("\(index) begins without a key") }
            if let last = person.standingBeginAt, now - last < Self.refresh { fail("\(index) refreshes too early") }
            people[index].standingBeginAt = now
        case .pause, .finish: people[index].standingBeginAt = nil
        }
    }

    /// The network: it loses, delays, and repeats inputs, so that they overtake each other.
    private mutating func carry(_ now: Int64, _ to: Int, _ input: TypingInput, loss: Int) {
        if chance(loss) { return }
        for _ in 0..<(chance(10) ? 2 : 1) {
            deliveries.append(Delivery(at: now + Int64(number(5...900)), to: to, input: input))
        }
    }

    private mutating func hear(_ index: Int, _ now: Int64, _ input: TypingInput?) {
        let moment = MonotonicInstant(milliseconds: now)
        let change: TypingSnapshot?
        if let input {
            tell(now, "  \(index) receives \(input)")
            if case .signal(let signal, _, _, _) = input {
                switch signal.action {
                case .begin: people[index].heardBeginAt = now
                case .pause: people[index].heardPauseAt = now
                case .finish: break
                }
            }
            change = people[index].roster.handle(input, now: moment)
        } else {
            change = people[index].roster.advance(to: moment)
        }
        if isCompared { checkLinger(index, now, input) }
        people[index].rosterDeadline = people[index].roster.nextDeadline
        if let at = people[index].rosterDeadline, at <= moment { fail("\(index): a deadline in the past") }
        if let change { shows(index, change, now) }
        let person = people[index]
        let linger = person.roster.policy.linger.map { $0 / .milliseconds(1) } ?? 0
        if !person.shown.typing.isEmpty, now >= person.heardBeginAt + Self.beginExpiry + Int64(linger) {
            fail("\(index) sees a person type after expiry and linger have passed")
        }
        if !person.shown.paused.isEmpty, now >= person.heardPauseAt + Self.pauseExpiry {
            fail("\(index) sees a person pause after the expiry has passed")
        }
    }

    /// A person shown as typing is typing, or stopped within the linger without sending a message or leaving.
    private mutating func checkLinger(_ index: Int, _ now: Int64, _ input: TypingInput?) {
        let moment = MonotonicInstant(milliseconds: now)
        // Advance to each deadline: a person may stop between two inputs.
        while let due = people[index].truth.nextDeadline, due <= moment {
            _ = people[index].truth.advance(to: due)
            noteTruth(index, due.milliseconds)
        }
        if let input {
            _ = people[index].truth.handle(input, now: moment)
            if case .connected = input { people[index].stoppedAt = [:] }
        }
        noteTruth(index, now)
        let person = people[index]
        let (truly, shown) = (Set(person.truth.current.typing.map(\.name)), person.roster.current.typing.map(\.name))
        if !truly.isSubset(of: shown) { fail("\(index) does not see a person type") }
        for case let name? in shown where !truly.contains(name) {
            guard let stopped = person.stoppedAt[name], let since = person.typingSince[name] else {
                fail("\(index) sees \(name) type, who never typed")
                continue
            }
            let linger = Int64((person.roster.policy.linger ?? .zero) / .milliseconds(1))
            let minimum = Int64((person.roster.policy.minimumShow ?? .zero) / .milliseconds(1))
            if now >= max(stopped + linger, since + minimum) { fail("\(index) sees \(name) for too long") }
        }
        for name in person.typingSince.keys where !shown.contains(name) { people[index].typingSince[name] = nil }
        let from: ConnectionID
        switch input {
        case .messageReceived(let id, _): from = id
        case .connectionDestroyed(let id): from = id
        default: return
        }
        guard let author = Self.ids.firstIndex(where: { $0.contains(from) }) else { return }
        // A new connection counts as another author: no receiver can match the two.
        if people[author].generation > 0 { return }
        if shown.contains(Self.users[author]), !truly.contains(Self.users[author]) {
            fail("\(index) sees \(Self.users[author]) type beside the message, or after the end")
        }
    }

    private mutating func noteTruth(_ index: Int, _ now: Int64) {
        let truly = Set(people[index].truth.current.typing.compactMap(\.name))
        for name in Self.users {
            if truly.contains(name) {
                people[index].stoppedAt[name] = nil
                if people[index].typingSince[name] == nil { people[index].typingSince[name] = now }
            } else if people[index].stoppedAt[name] == nil, people[index].typingSince[name] != nil {
                people[index].stoppedAt[name] = now
            }
        }
    }

    private mutating func shows(_ index: Int, _ snapshot: TypingSnapshot, _ now: Int64) {
        tell(now, "  \(index) sees \((snapshot.typing + snapshot.paused).compactMap(\.name))")
        if snapshot == people[index].shown { fail("\(index) gets a snapshot without a change") }
        let names = (snapshot.typing + snapshot.paused).compactMap(\.name)
        if Set(names).count != names.count { fail("\(index) sees a person twice") }
        if names.contains(Self.users[index]), people[index].generation == 0 { fail("\(index) sees itself") }
        if snapshot.typingCount != snapshot.typing.count || snapshot.pausedCount != snapshot.paused.count {
            fail("\(index) counts wrongly")
        }
        people[index].shown = snapshot
    }
}
