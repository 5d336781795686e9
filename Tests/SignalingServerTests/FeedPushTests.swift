import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingServer

/// A push whose steps a test answers.
private struct PushBench {
    var push: FeedPush
    var now = MonotonicInstant.seconds(0)

    init(pollInterval: Duration? = nil) {
        push = FeedPush(
            bounds: .init(postTime: .seconds(10), firstPause: .seconds(1), longestPause: .seconds(60)),
            pollInterval: pollInterval, tellsGaps: true, now: .seconds(0))
    }

    /// The effects of a step, in short.
    mutating func step(_ body: (inout FeedPush, MonotonicInstant) -> Void) -> [String] {
        body(&push, now)
        return push.takeEffects().map { effect in
            switch effect {
            case .claim: "claim"
            case .read(let start, let end): read(start) + (end.map { " through \($0.parts[0])" } ?? "")
            case .post(let batch, let ticket):
                "post \(batch.events.map { String(decoding: $0, as: UTF8.self) }) #\(ticket.rawValue)"
            case .abandon(let ticket): "abandon #\(ticket.rawValue)"
            case .keepCursor(let offset): "keep \(offset.parts[0])"
            case .reportFailing: "failing"
            case .reportRecovered: "recovered"
            case .reportRefused(let count): "refused \(count)"
            case .reportGap: "gap"
            }
        }
    }

    private func read(_ start: FeedStart) -> String {
        switch start {
        case .oldest: "read oldest"
        case .newest: "read newest"
        case .after(let offset): "read after \(offset.parts[0])"
        }
    }

    mutating func advance(by time: Duration = .zero) -> [String] {
        now = now.advanced(by: time)
        return step { $0.advance(to: $1) }
    }

    mutating func claimed(_ claim: FeedClaim? = .granted(cursor: nil)) -> [String] {
        step { $0.claimed(claim, now: $1) }
    }

    mutating func read(_ events: [String], end: Int64, isUpToDate: Bool = true) -> [String] {
        let batch = FeedBatch(
            events: events.map { Array($0.utf8) }, end: FeedOffset([end]), isUpToDate: isUpToDate)
        return step { $0.read(.success(batch), now: $1) }
    }

    mutating func posted(_ ticket: Int64, _ outcome: WebhookOutcome) -> [String] {
        step { $0.posted(FeedPush.Ticket(rawValue: ticket), outcome, now: $1, jitter: 0) }
    }

    mutating func kept() -> [String] { step { $0.kept(now: $1) } }
}

@Suite("Pushing a feed")
struct FeedPushTests {
    @Test("FEED-5: a batch is posted, the cursor is kept, and only then the next batch is read")
    func oneAfterTheOther() {
        var bench = PushBench()
        #expect(bench.advance() == ["claim"])
        #expect(bench.claimed() == ["read after 0"])
        #expect(bench.read(["a", "b"], end: 2, isUpToDate: false) == [#"post ["a", "b"] #1"#])
        #expect(bench.step { $0.announced(now: $1) } == [])
        #expect(bench.posted(1, .delivered) == ["keep 2"])
        #expect(bench.kept() == ["read after 2"])
        #expect(bench.read(["c"], end: 3) == [#"post ["c"] #2"#])
        #expect(bench.posted(2, .delivered) == ["keep 3"] && bench.kept() == ["read after 3"])
        #expect(bench.read([], end: 3) == [] && bench.push.isUpToDate)
        #expect(bench.step { $0.announced(now: $1) } == ["read after 3"])
        #expect(bench.push.deliveredCount == 3)
    }

    @Test("FEED-5: a new process goes on behind the cursor")
    func cursor() {
        var bench = PushBench()
        _ = bench.advance()
        #expect(bench.claimed(.granted(cursor: FeedOffset([7]))) == ["read after 7"])
    }

    @Test("FEED-5: a failed batch is read and posted again, with pauses that double, and reported once")
    func failures() {
        var bench = PushBench()
        _ = bench.advance()
        _ = bench.claimed()
        _ = bench.read(["a"], end: 1)
        #expect(bench.posted(1, .failed) == ["failing"])
        #expect(bench.advance(by: .milliseconds(900)) == [])
        // Read again: it may have been erased meanwhile.
        #expect(bench.advance(by: .milliseconds(100)) == ["read after 0 through 1"])
        #expect(bench.read(["a erased"], end: 1) == [#"post ["a erased"] #2"#])
        #expect(bench.posted(2, .failed) == [] && bench.advance(by: .milliseconds(1_900)) == [])
        #expect(bench.advance(by: .milliseconds(100)) == ["read after 0 through 1"])
        _ = bench.read(["a erased"], end: 1)
        // No answer in time.
        #expect(bench.advance(by: .seconds(10)) == ["abandon #3"])
        #expect(bench.posted(3, .delivered) == [], "the outcome of an attempt that was given up")
        // The claim is old by now.
        #expect(bench.advance(by: .seconds(4)) == ["claim"] && bench.claimed() == ["read after 0 through 1"])
        _ = bench.read(["a erased"], end: 1)
        #expect(bench.posted(4, .delivered) == ["recovered", "keep 1"] && bench.kept() == ["read after 1"])
    }

    @Test("FEED-5: what the receiver refuses for good is passed by, and counted")
    func refused() {
        var bench = PushBench()
        _ = bench.advance()
        _ = bench.claimed()
        _ = bench.read(["a", "b"], end: 2)
        #expect(bench.posted(1, .refused) == ["refused 2", "keep 2"] && bench.push.refusedCount == 2)
    }

    @Test("FEED-4: a receiver that is too far behind hears of the gap, with what is left")
    func gap() {
        var bench = PushBench()
        _ = bench.advance()
        #expect(bench.claimed(.granted(cursor: FeedOffset([7]))) == ["read after 7"])
        #expect(bench.step { $0.read(.failure(.gone), now: $1) } == ["gap", "read oldest"])
        #expect(bench.read(["a"], end: 90) == [#"post ["{\"event\":\"gap\"}", "a"] #1"#])
        // It is told again with the batch that has failed.
        #expect(bench.posted(1, .failed) == ["failing"])
        #expect(bench.advance(by: .seconds(1)) == ["read oldest through 90"])
        #expect(bench.read(["a"], end: 90) == [#"post ["{\"event\":\"gap\"}", "a"] #2"#])
        #expect(bench.posted(2, .delivered) == ["recovered", "keep 90"] && bench.push.gapCount == 1)
    }

    @Test("FEED-5: of several nodes one posts, and one that has lost its claim drops its batch")
    func claims() {
        var bench = PushBench(pollInterval: .milliseconds(100))
        _ = bench.advance()
        #expect(bench.claimed(.taken) == [] && bench.push.cursor == nil)
        #expect(bench.advance(by: .seconds(1)) == ["claim"] && bench.claimed(nil) == [])
        #expect(bench.advance(by: .seconds(1)) == ["claim"])
        #expect(bench.claimed(.granted(cursor: FeedOffset([3]))) == ["read after 3"])
        #expect(bench.read([], end: 3) == [] && bench.advance(by: .milliseconds(100)) == ["read after 3"])
        _ = bench.read(["a"], end: 4)
        _ = bench.posted(1, .failed)
        #expect(bench.advance(by: .seconds(30)) == ["claim"] && bench.claimed(.taken) == [])
        #expect(bench.advance(by: .seconds(1)) == ["claim"])
        // The other node has posted it.
        #expect(bench.claimed(.granted(cursor: FeedOffset([4]))) == ["read after 4"])
    }

    @Test("FEED-5: an archive that cannot be read is asked again, and what does not concern the receiver is passed by")
    func unreadable() {
        var bench = PushBench()
        _ = bench.advance()
        _ = bench.claimed()
        #expect(bench.step { $0.read(.failure(.unreadable), now: $1) } == [])
        #expect(bench.advance(by: .seconds(1)) == ["read after 0"])
        #expect(bench.read([], end: 5, isUpToDate: false) == ["keep 5"] && bench.kept() == ["read after 5"])
    }
}
