import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingServer

@Suite("The queue of a webhook receiver")
struct WebhookQueueTests {
    @Test("one post at a time, in the order in which the events happened")
    func order() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.add("b")
        receiver.add("c")
        #expect(receiver.seen == ["post 1 a"])
        receiver.answer(.delivered)
        receiver.answer(.delivered)
        receiver.answer(.delivered)
        #expect(receiver.seen == ["post 1 a", "post 2 b", "post 3 c"])
        #expect(receiver.queue.count == 0)
        #expect(receiver.queue.byteCount == 0)
        #expect(receiver.queue.deliveredCount == 3)
        #expect(receiver.queue.nextDeadline == nil, "an idle queue has no deadline")
    }

    @Test("LOG-11: a kept event is settled once it was delivered or refused, or when the queue drops it")
    func settled() {
        var receiver = Receiver(.init(count: 2, age: .seconds(10)))
        receiver.addKept("a", number: 1)
        receiver.addKept("b", number: 2)
        receiver.addKept("c", number: 3)
        receiver.answer(.failed)
        #expect(
            receiver.seen.filter { $0.hasPrefix("settled") } == ["settled 2 of s"], "the oldest that waits is dropped")
        receiver.seen = []
        receiver.wait(.seconds(1))
        receiver.answer(.delivered)
        receiver.answer(.refused)
        #expect(
            receiver.seen.filter { $0.hasPrefix("settled") } == ["settled 1 of s", "settled 3 of s"])
        receiver.seen = []
        receiver.addKept("d", number: 4)
        receiver.answer(.failed)
        receiver.wait(.seconds(11))
        #expect(receiver.seen.filter { $0.hasPrefix("settled") } == ["settled 4 of s"], "it is too old")
    }

    @Test("LOG-11: a kept event that waits when the server stops is not dropped: the next process posts it")
    func keptOverStop() {
        var receiver = Receiver()
        receiver.addKept("a", number: 1)
        receiver.addKept("b", number: 2)
        receiver.stop(after: .zero)
        receiver.addKept("c", number: 3)
        #expect(!receiver.seen.contains { $0.hasPrefix("settled") || $0.hasPrefix("dropped") })
        #expect(receiver.queue.drops.count == 0)
    }

    @Test("a failed event is repeated before later ones, with the same number")
    func again() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.add("b")
        receiver.answer(.failed)
        #expect(receiver.seen == ["post 1 a", "failing"])
        #expect((receiver.queue.count, receiver.queue.byteCount) == (2, 2), "the failed event is queued again")
        receiver.wait(.seconds(1))
        receiver.answer(.delivered)
        #expect(receiver.seen == ["post 1 a", "failing", "post 1 a", "recovered", "post 2 b"])
    }

    @Test("pauses double up to the longest, with jitter in their upper half, and a failure is reported once")
    func pauses() {
        var receiver = Receiver(.init(age: .seconds(100_000)))
        receiver.add("a")
        var full = Duration.seconds(1)
        for _ in 1...100 {
            receiver.answer(.failed)
            receiver.posts = 0
            let pause = receiver.pause
            #expect((full / 2...full).contains(pause), "\(pause) of \(full)")
            receiver.wait(pause - .nanoseconds(1))
            #expect(receiver.posts == 0, "not too early")
            receiver.wait(.nanoseconds(1))
            #expect(receiver.posts == 1)
            full = min(full * 2, .seconds(60))
        }
        #expect(receiver.seen.filter { $0 == "failing" }.count == 1)
        receiver.answer(.delivered)
        receiver.add("b")
        receiver.answer(.failed)
        #expect(receiver.pause <= .seconds(1), "after a success the pauses begin anew")
        #expect(receiver.seen.filter { $0 == "failing" }.count == 2)
    }

    @Test("servers that lost the same receiver retry at different moments")
    func spread() {
        let pauses = (0..<20).map { seed -> Duration in
            var receiver = Receiver(seed: UInt64(seed))
            receiver.add("a")
            receiver.answer(.failed)
            return receiver.pause
        }
        #expect(Set(pauses).count == 20)
    }

    @Test("G5: beyond the count the oldest events are dropped, except the one under way, and the numbers show the gap")
    func full() {
        var receiver = Receiver(.init(count: 3))
        for name in ["a", "b", "c", "d", "e"] { receiver.add(name) }
        #expect(receiver.queue.count == 3)
        #expect(receiver.queue.drops.full == 2)
        receiver.answer(.delivered)
        receiver.answer(.delivered)
        receiver.answer(.delivered)
        #expect(receiver.seen.filter { $0.hasPrefix("post") } == ["post 1 a", "post 4 d", "post 5 e"])
    }

    @Test("G5: the queue never exceeds its bound in bytes")
    func bytes() {
        var receiver = Receiver(.init(byteCount: 10))
        receiver.add("aaaa")
        receiver.add("bbbb")
        receiver.add("cccccc")
        #expect(receiver.queue.byteCount == 10)
        receiver.add("longer than everything")
        #expect(receiver.queue.byteCount == 4)
        #expect(receiver.queue.drops.full == 3)
    }

    @Test("sessions take turns, and the events of each arrive in their order")
    func turns() {
        var receiver = Receiver()
        for name in ["a1", "a2", "a3", "a4"] { receiver.add(name, of: "a") }
        for name in ["b1", "b2"] { receiver.add(name, of: "b") }
        receiver.add("c1", of: "c")
        receiver.answer(.delivered)
        receiver.answer(.failed)
        receiver.wait(.seconds(60))
        for _ in 0..<6 { receiver.answer(.delivered) }
        let posts = receiver.seen.compactMap { $0.hasPrefix("post") ? $0.suffix(2) : nil }
        #expect(posts == ["a1", "a2", "a2", "b1", "c1", "a3", "b2", "a4"])
    }

    @Test("G5: a session that floods the queue loses its own oldest events, and no other session loses any")
    func flood() {
        var receiver = Receiver(.init(count: 50))
        receiver.add("first", of: "mallory")
        for number in 0..<99 {
            receiver.add("\(number)", of: "s\(number % 20)")
            for _ in 0..<100 where number < 40 { receiver.add("flood", of: "mallory") }
            if number >= 40 { receiver.answer(.delivered) }
        }
        while receiver.number != nil { receiver.answer(.delivered) }
        let delivered = Set(receiver.seen.map { $0.split(separator: " ").last ?? "" })
        #expect((0..<99).allSatisfy { delivered.contains("\($0)") }, "\(delivered)")
        #expect(receiver.queue.drops.full > 3_900)
        #expect(receiver.queue.count == 0)
    }

    @Test("G5: a thousand sessions with one event each stay within the bound")
    func manySessions() {
        var receiver = Receiver(.init(count: 50))
        for number in 0..<5_000 { receiver.add("x", of: "s\(number)") }
        #expect(receiver.queue.count == 50)
        #expect(receiver.queue.drops.full == 4_950)
        for _ in 0..<50 { receiver.answer(.delivered) }
        #expect(receiver.queue.count == 0)
    }

    @Test("many drops are reported once a minute")
    func reports() {
        var receiver = Receiver(.init(count: 1, postTime: .seconds(1_000)))
        receiver.add("a")
        for _ in 0..<500 { receiver.add("b") }
        #expect(receiver.seen == ["post 1 a", "dropped full 1 expired 0 refused 0 stopped 0"])
        receiver.wait(.seconds(59))
        #expect(receiver.seen.count == 2)
        receiver.wait(.seconds(1))
        #expect(receiver.seen.last == "dropped full 499 expired 0 refused 0 stopped 0")
        receiver.wait(.seconds(500))
        #expect(receiver.seen.count == 3, "no report without new drops")
    }

    @Test("events beyond the age are dropped")
    func age() {
        var receiver = Receiver(.init(age: .seconds(100), firstPause: .seconds(60)))
        receiver.add("a")
        receiver.wait(.seconds(5))
        receiver.answer(.failed)
        receiver.wait(.seconds(60))
        receiver.answer(.failed)
        receiver.add("b")
        receiver.wait(.seconds(60))
        #expect(receiver.seen.filter { $0.hasPrefix("post") } == ["post 1 a", "post 1 a", "post 2 b"])
        #expect(receiver.queue.drops.expired == 1)
    }

    @Test("a refused event is not repeated, and the next one is posted at once")
    func refused() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.add("b")
        receiver.answer(.refused)
        #expect(receiver.seen == ["post 1 a", "post 2 b", "dropped full 0 expired 0 refused 1 stopped 0"])
    }

    @Test("a post that takes too long is abandoned, and its outcome is ignored")
    func tooLong() {
        var receiver = Receiver()
        receiver.add("a")
        let late = receiver.ticket
        receiver.wait(.seconds(9))
        #expect(receiver.seen == ["post 1 a"])
        receiver.wait(.seconds(1))
        #expect(receiver.seen == ["post 1 a", "abandon 1", "failing"])
        receiver.wait(.seconds(1))
        receiver.answer(.delivered, late)
        #expect(receiver.queue.deliveredCount == 0)
        #expect(receiver.queue.count == 1)
        receiver.answer(.delivered)
        #expect(receiver.queue.deliveredCount == 1)
    }

    @Test("a stop posts the waiting events one after another without pauses, and finishes when the queue is empty")
    func stop() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.add("b")
        receiver.answer(.failed)
        receiver.stop()
        #expect(receiver.seen.last == "post 1 a", "no pause after a stop")
        receiver.answer(.delivered)
        receiver.answer(.delivered)
        #expect(receiver.seen == ["post 1 a", "failing", "post 1 a", "recovered", "post 2 b", "finished"])
        #expect(receiver.queue.nextDeadline == nil)
    }

    @Test("after a stop the first failure ends the queue, and the dropped events are counted")
    func stopAndFail() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.add("b")
        receiver.stop()
        receiver.answer(.failed)
        #expect(
            receiver.seen == ["post 1 a", "failing", "dropped full 0 expired 0 refused 0 stopped 2", "finished"])
        receiver.add("c")
        #expect(receiver.queue.count == 0, "the queue accepts no events after it finished")
        #expect(receiver.queue.drops.stopped == 3)
    }

    @Test("a stop waits for a silent receiver until its deadline")
    func stopAndWait() {
        var receiver = Receiver()
        receiver.add("a")
        receiver.stop(after: .seconds(3))
        receiver.wait(.seconds(2))
        #expect(receiver.seen == ["post 1 a"])
        receiver.wait(.seconds(1))
        #expect(
            receiver.seen
                == ["post 1 a", "abandon 1", "failing", "dropped full 0 expired 0 refused 0 stopped 1", "finished"])
    }

    @Test("an idle queue finishes at once when it is stopped")
    func stopIdle() {
        var receiver = Receiver()
        receiver.stop()
        #expect(receiver.seen == ["finished"])
    }

    @Test(
        "the outcome of a post by its status",
        arguments: [
            (200, .delivered), (204, .delivered), (299, .delivered), (301, .failed), (302, .failed), (308, .failed),
            (400, .refused), (401, .failed), (403, .failed), (404, .failed), (408, .failed), (410, .refused),
            (413, .refused), (422, .refused), (429, .failed), (500, .failed), (503, .failed), (nil, .failed),
            (100, .failed), (0, .failed),
        ] as [(Int?, WebhookQueue.Outcome)])
    func statuses(_ status: Int?, _ outcome: WebhookQueue.Outcome) {
        #expect(WebhookQueue.Outcome(status: status) == outcome)
    }

    @Test("G5: with any receiver the bounds and the order hold, and every event is counted", arguments: 0..<20)
    func anything(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var receiver = Receiver(.init(count: 7, byteCount: 60, age: .seconds(200)), seed: seed)
        var arrived: [Int64] = []
        for step in 0..<2_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: receiver.add(String(repeating: "x", count: Int.random(in: 1..<20, using: &random)))
            case 3, 4:
                if let number = receiver.number {
                    receiver.answer(.delivered)
                    arrived.append(number)
                }
            case 5: receiver.answer(.failed)
            case 6 where step.isMultiple(of: 9): receiver.answer(.refused)
            default: receiver.wait(.seconds(Int.random(in: 0..<15, using: &random)))
            }
            #expect(receiver.queue.count <= 7)
            #expect(receiver.queue.byteCount <= 60)
            #expect(
                receiver.added == receiver.queue.deliveredCount + receiver.queue.drops.count + receiver.queue.count)
            #expect(receiver.queue.count == 0 || receiver.queue.nextDeadline != nil, "events have a deadline")
        }
        receiver.stop(after: .seconds(0))
        #expect(receiver.seen.last == "finished")
        #expect(arrived == arrived.sorted() && Set(arrived).count == arrived.count)
        #expect(receiver.added == receiver.queue.deliveredCount + receiver.queue.drops.count)
    }
}

/// A queue with its clock, and the effects it had.
private struct Receiver {
    private(set) var queue: WebhookQueue
    var seen: [String] = []
    private(set) var added = 0
    /// The post under way.
    private(set) var ticket: WebhookQueue.Ticket?
    private(set) var number: Int64?
    var posts = 0
    private var now = MonotonicInstant(nanoseconds: 1_000)
    private var random: SeededGenerator

    init(_ bounds: WebhookQueue.Bounds = .init(), seed: UInt64 = 7) {
        queue = WebhookQueue(bounds: bounds)
        random = SeededGenerator(seed: seed)
    }

    /// Until the next deadline.
    var pause: Duration { queue.nextDeadline?.duration(since: now) ?? .zero }

    mutating func add(_ body: String, of session: String = "s") {
        added += 1
        queue.add(Array(body.utf8), of: SessionID(session), now: now)
        advance()
    }

    mutating func addKept(_ body: String, number: UInt64, of session: String = "s") {
        let untold = UntoldPresenceEvent(
            commandNumber: number, index: 0, time: .seconds(0), event: .sessionDestroyed)
        let kept = KeptPresenceEvent(epoch: Epoch("e"), untold: untold, completesCommand: true)
        queue.add(Array(body.utf8), of: SessionID(session), kept: kept, now: now)
        advance()
    }

    mutating func answer(_ outcome: WebhookQueue.Outcome, _ other: WebhookQueue.Ticket? = nil) {
        guard let ticket = other ?? ticket else { return }
        if other == nil { (self.ticket, number) = (nil, nil) }
        queue.posted(ticket, outcome, now: now, using: &random)
        advance()
    }

    mutating func wait(_ duration: Duration) {
        now = now.advanced(by: duration)
        advance()
    }

    mutating func stop(after duration: Duration = .seconds(3)) {
        queue.stop(by: now.advanced(by: duration))
        advance()
    }

    private mutating func advance() {
        for effect in queue.advance(to: now, using: &random) {
            switch effect {
            case .send(let post, let ticket):
                #expect(self.ticket == nil, "one at a time")
                (self.ticket, number) = (ticket, post.number)
                posts += 1
                seen.append("post \(post.number) \(text(post.body))")
            case .abandon(let ticket):
                #expect(ticket == self.ticket)
                seen.append("abandon \(number ?? 0)")
                (self.ticket, number) = (nil, nil)
            case .settled(let event, let session):
                seen.append("settled \(event.untold.commandNumber) of \(session)")
            case .reportFailing: seen.append("failing")
            case .reportRecovered: seen.append("recovered")
            case .reportDropped(let drops):
                seen.append(
                    "dropped full \(drops.full) expired \(drops.expired) refused \(drops.refused) stopped \(drops.stopped)"
                )
            case .finished: seen.append("finished")
            }
        }
    }
}
