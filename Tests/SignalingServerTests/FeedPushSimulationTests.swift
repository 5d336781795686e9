import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore
@testable import SignalingServer

/// Sessions whose archive announces what happens, a push of the feed, and a receiver: in virtual time, from a seed.
///
/// The process ends now and then, with what is on its way. The archive and its feed stay, as files do.
private struct PushWorld {
    /// An event as the receiver gets it.
    struct Event: Hashable {
        var session: String
        var seq: Int
    }

    enum Manner: CaseIterable { case takes, fails, hangs, takesWithoutAnAnswer }

    private struct Session {
        let id: SessionID
        var unarchived = Unarchived()
        var last = Seq.zero
    }

    /// Something that is on its way, and comes back to the push.
    private enum Answer {
        case claimed(FeedClaim?)
        case read(Result<FeedBatch, FeedFault>)
        case posted(FeedPush.Ticket, WebhookOutcome)
        case kept
    }

    private static let project = APIKey("100")
    private static let bounds = WebhookBounds(postTime: .seconds(10), firstPause: .milliseconds(20))

    private var random: SeededGenerator
    private var now = MonotonicInstant.seconds(1)
    private let clock = Clock()
    private let archive: MemoryArchive
    private var sessions: [Session]
    private var push: FeedPush
    private var waiting: [(at: MonotonicInstant, answer: Answer)] = []
    private var manner = Manner.takes
    private var isCalm = false
    /// What the receiver has: nil for a gap. And where each batch begins.
    private(set) var received: [Event?] = []
    private(set) var batches: [[Event?]] = []
    /// Those that the archive was told of again, since its answer was lost.
    private(set) var announcedAgain: Set<Event> = []
    private(set) var said: [Event] = []
    private(set) var situations: Set<String> = []
    private var kept: FeedOffset?
    private(set) var faults: [String] = []

    private final class Clock { var date = WallTime(milliseconds: 1_000) }

    init(seed: UInt64, entryCount: Int) {
        random = SeededGenerator(seed: seed)
        manner = Manner.allCases.randomElement(using: &random) ?? .takes
        var bounds = HistoryBounds()
        bounds.feedEntryCount = entryCount
        archive = MemoryArchive(bounds: bounds, projectOf: { _ in Self.project }, date: { [clock] in clock.date })
        sessions = ["a", "b", "c"].map { Session(id: SessionID($0)) }
        push = FeedPush(bounds: Self.bounds, pollInterval: nil, tellsGaps: true, now: now)
    }

    // MARK: - Steps

    mutating func run() {
        for _ in 0..<Int.random(in: 50...600, using: &random) { step() }
        isCalm = true
        manner = .takes
        for index in sessions.indices { tellArchive(index) }
        for _ in 0..<10_000 where !isOver { pass(.seconds(1)) }
        if !isOver { faults.append("the push does not end") }
    }

    private var isOver: Bool { push.isUpToDate && waiting.isEmpty }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: say(Int.random(in: 0..<3, using: &random))
        case 40..<60: tellArchive(Int.random(in: 0..<3, using: &random))
        case 60..<63: restart()
        case 63..<70: manner = Manner.allCases.randomElement(using: &random) ?? .takes
        default: pass(.milliseconds(Int.random(in: 0...400, using: &random)))
        }
    }

    private mutating func say(_ index: Int) {
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let seq = sessions[index].last.next
            sessions[index].last = seq
            said.append(Event(session: sessions[index].id.rawValue, seq: Int(seq.rawValue)))
            sessions[index].unarchived.announce(
                .unread(seq, UserID("u"), count: 1, newest: seq), at: seq, now)
        }
    }

    /// The archive is told of what waits, and may not be able to answer.
    private mutating func tellArchive(_ index: Int) {
        let date = clock.date
        guard let batch = sessions[index].unarchived.nextBatch(atMost: 64, announces: true, { _ in date }) else {
            return
        }
        archive.carryOut(batch.steps, of: sessions[index].id) { _ in }
        if !isCalm, Int.random(in: 0..<8, using: &random) == 0 {
            situations.insert("announced again")
            for event in said where event.session == sessions[index].id.rawValue && event.seq <= batch.last.rawValue {
                announcedAgain.insert(event)
            }
        } else {
            sessions[index].unarchived.archived(through: batch.last)
        }
        step { $0.announced(now: $1) }
    }

    /// A post that is on its way reaches the receiver or not.
    private mutating func restart() {
        situations.insert("restart while \(waiting.isEmpty ? "nothing" : "something") is on its way")
        waiting = []
        push = FeedPush(bounds: Self.bounds, pollInterval: nil, tellsGaps: true, now: now)
        step { $0.advance(to: $1) }
    }

    private mutating func pass(_ time: Duration) {
        let end = now.advanced(by: time)
        while true {
            let due = waiting.indices.min { waiting[$0].at < waiting[$1].at }
            let next = [due.map { waiting[$0].at }, push.nextDeadline].compactMap(\.self).min()
            guard let next, next <= end else { break }
            set(max(now, next))
            if let due, waiting[due].at <= now {
                let answer = waiting.remove(at: due).answer
                step { push, now in
                    switch answer {
                    case .claimed(let claim): push.claimed(claim, now: now)
                    case .read(let result): push.read(result, now: now)
                    case .posted(let ticket, let outcome): push.posted(ticket, outcome, now: now, jitter: 0.25)
                    case .kept: push.kept(now: now)
                    }
                }
            } else {
                step { $0.advance(to: $1) }
            }
        }
        set(end)
    }

    private mutating func set(_ moment: MonotonicInstant) {
        now = moment
        clock.date = WallTime(milliseconds: moment.nanoseconds / 1_000_000)
    }

    // MARK: - Effects

    private mutating func step(_ body: (inout FeedPush, MonotonicInstant) -> Void) {
        body(&push, now)
        for effect in push.takeEffects() { perform(effect) }
    }

    private mutating func answer(_ answer: Answer, upTo time: Int = 50) {
        waiting.append((now.advanced(by: .milliseconds(Int.random(in: 0...time, using: &random))), answer))
    }

    private mutating func perform(_ effect: FeedPush.Effect) {
        switch effect {
        case .claim:
            if !isCalm, Int.random(in: 0..<20, using: &random) == 0 { return answer(.claimed(nil)) }
            var claim: FeedClaim?
            archive.claim(Self.project, for: FeedPush.lease) { claim = try? $0.get() }
            answer(.claimed(claim))
        case .read(let start, let end): answer(.read(read(start, end)))
        case .post(let batch, let ticket): post(batch, ticket)
        case .abandon: situations.insert("abandoned")
        case .keepCursor(let offset):
            if let kept, offset.text < kept.text { faults.append("the cursor goes back") }
            kept = offset
            // A process that ends before the archive answers may have kept it or not.
            archive.keepCursor(offset, of: Self.project) { _ in }
            answer(.kept)
        case .reportGap: situations.insert("gap")
        case .reportFailing, .reportRecovered, .reportRefused: break
        }
    }

    private mutating func read(_ start: FeedStart, _ end: FeedOffset?) -> Result<FeedBatch, FeedFault> {
        if !isCalm, Int.random(in: 0..<20, using: &random) == 0 { return .failure(.unreadable) }
        var reading: FeedReading?
        archive.read(Self.project, from: start, limit: FeedEntry.largestCount) { reading = try? $0.get() }
        guard case .page(let page)? = reading else { return .failure(.gone) }
        let rows = page.rows(limit: FeedEntry.largestCount, through: end)
        var batch = FeedBatch(
            end: rows.last?.end ?? page.end, isUpToDate: rows.count == page.rows.count && !page.more,
            since: rows.first?.time)
        for row in rows {
            for case .event(let members) in row.entry.announcements {
                let session = Array(#""sessionId":"\#(row.session.rawValue)","#.utf8)
                batch.events.append([UInt8(ascii: "{")] + session + members + [UInt8(ascii: "}")])
            }
        }
        return .success(batch)
    }

    private mutating func post(_ batch: FeedBatch, _ ticket: FeedPush.Ticket) {
        if waiting.contains(where: { if case .posted = $0.answer { true } else { false } }), manner != .hangs {
            faults.append("two posts are under way")
        }
        let events = batch.events.map { bytes -> Event? in
            let object = (try? JSONValue(parsing: bytes))?.objectValue
            guard let session = object?["sessionId"]?.stringValue, let seq = object?["seq"]?.integerValue else {
                return nil
            }
            return Event(session: session, seq: Int(seq))
        }
        if events.count > FeedEntry.largestCount + 1 { faults.append("a batch has \(events.count) events") }
        switch manner {
        case .takes, .takesWithoutAnAnswer:
            received += events
            batches.append(events)
            if manner == .takes { answer(.posted(ticket, .delivered)) } else { answer(.posted(ticket, .failed)) }
        case .fails: answer(.posted(ticket, .failed))
        case .hangs: break
        }
    }
}

extension PushWorld {
    /// What is broken of: nothing missing without a gap, the order exact, doubles of the last batch only.
    func violations() -> [String] {
        var found = faults
        var (seen, last): ([Event: Int], [String: Int]) = ([:], [:])
        /// Before the first gap, and behind the last one, each session is complete.
        let gaps = received.indices.filter { received[$0] == nil }
        for (index, event) in received.enumerated() {
            guard let event else {
                last = [:]
                continue
            }
            if let before = seen[event] {
                // The events of the batch before, or of this one, if the receiver has taken it before.
                let isNear = index - before <= FeedEntry.largestCount + 1
                let isExplained = announcedAgain.contains(event) || gaps.contains { $0 > before && $0 < index }
                if !isNear, !isExplained { found.append("\(event) again after \(index - before) events") }
            } else if let before = last[event.session], event.seq <= before, !announcedAgain.contains(event) {
                found.append("\(event) behind \(before)")
            }
            if seen[event] == nil { last[event.session] = event.seq }
            seen[event] = index
        }
        if gaps.isEmpty {
            for event in said where seen[event] == nil { found.append("\(event) is missing") }
        } else if let lastGap = gaps.last {
            // Behind the gap comes everything that was left.
            for session in ["a", "b", "c"] {
                let rest = received[lastGap...].compactMap { $0?.session == session ? $0?.seq : nil }
                guard let first = rest.min() else { continue }
                for event in said where event.session == session && event.seq > first && seen[event] == nil {
                    found.append("\(event) is missing behind a gap")
                }
            }
        }
        return found
    }
}

@Suite("The push of a feed, in virtual time")
struct FeedPushSimulationTests {
    @Test("FEED-1, FEED-4, FEED-5: nothing is missing without a gap, in order, and only the last batch comes again")
    func seeds() {
        var situations: Set<String> = []
        var (doubles, count) = (0, 0)
        for seed in 1...UInt64(120) {
            var world = PushWorld(seed: seed, entryCount: seed.isMultiple(of: 4) ? 20 : 500_000)
            world.run()
            let found = world.violations()
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(3))")
            situations.formUnion(world.situations)
            doubles += world.received.count - Set(world.received).count
            count += world.received.count
            if !found.isEmpty { break }
        }
        #expect(situations.count == 5, "\(situations)")
        #expect(doubles > 0 && count > 5_000)
    }
}
