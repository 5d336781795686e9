import SignalingProtocol
import TestSupport
import Testing

@Suite("Token buckets")
struct TokenBucketTests {
    @Test("G5, SIG-11: in any period a bucket grants at most the burst plus the rate")
    func bucket() {
        for seed in 0..<50 {
            var random = SeededGenerator(seed: UInt64(seed))
            let limit = RateLimit(
                perSecond: .random(in: 1...300, using: &random), burst: .random(in: 1...50, using: &random))
            var bucket = TokenBucket()
            var now = MonotonicInstant.seconds(seed.isMultiple(of: 2) ? 0 : -1_000)
            var granted: [MonotonicInstant] = []
            for _ in 0..<600 {
                now = now.advanced(by: .microseconds(.random(in: 0...20_000, using: &random)))
                if bucket.consume(limit, now: now) { granted.append(now) }
            }
            #expect(granted.count >= min(600, limit.burst))
            for (first, start) in granted.enumerated() {
                for last in first..<granted.count {
                    let seconds = Double(granted[last].duration(since: start).wholeNanoseconds) / 1e9
                    let most = Double(limit.burst) + seconds * Double(limit.perSecond)
                    // `#expect` costs far more than the comparison, which happens very often.
                    if Double(last - first + 1) > most + 0.001 { Issue.record("seed \(seed)") }
                }
            }
        }
    }

    @Test("SIG-11: a bucket refills, up to its burst")
    func refill() {
        let limit = RateLimit(perSecond: 2, burst: 3)
        var bucket = TokenBucket()
        let granted = [0, 0, 0, 0, 0.499, 0.5, 0.5, 100, 100, 100, 100].map { bucket.consume(limit, now: .seconds($0)) }
        #expect(granted == [true, true, true, false, false, true, false, true, true, true, false])
    }

    @Test("limits out of range are clamped")
    func clamping() {
        var bucket = TokenBucket()
        let limit = RateLimit(perSecond: 0, burst: -5)
        let granted = [0, 0.5, 1].map { bucket.consume(limit, now: .seconds($0)) }
        let isGranted = bucket.consume(RateLimit(perSecond: .max, burst: .max), now: .seconds(1.5))
        #expect(granted == [true, false, true])
        #expect(isGranted)
    }

    @Test("WIRE-15: work that is done is charged even without tokens, and waits until a tenth of a second's are back")
    func overdraw() {
        let limit = RateLimit(perSecond: 100, burst: 50)
        var bucket = TokenBucket()
        var waits = [bucket.overdraw(50, limit, now: .seconds(0))]
        waits.append(bucket.overdraw(1, limit, now: .seconds(0)))
        waits.append(bucket.overdraw(100, limit, now: .seconds(5)))
        waits.append(bucket.overdraw(1, limit, now: .seconds(9)))
        #expect(waits == [.seconds(0.1), .seconds(0.11), .seconds(5.6), nil])
    }

    @Test("SIG-11: without a limit every token is granted")
    func unlimited() {
        var bucket = TokenBucket()
        let granted = (0..<10_000).map { _ in bucket.consume(nil, now: .seconds(0)) }
        #expect(!granted.contains(false))
        #expect(bucket == TokenBucket())
    }

    @Test("a saved bucket is full under a new limit no later than an empty one of that limit")
    func adaptation() {
        var bucket = TokenBucket(fullAt: .seconds(1_000))
        bucket.adapt(to: RateLimit(perSecond: 2, burst: 10), usedAt: .seconds(100))
        #expect(bucket.fullAt == .seconds(105))
        bucket.adapt(to: RateLimit(perSecond: 1, burst: 10), usedAt: .seconds(100))
        #expect(bucket.fullAt == .seconds(105), "a slower limit makes nobody wait longer")
        bucket.adapt(to: nil, usedAt: .seconds(0))
        #expect(bucket.fullAt == .seconds(105))
    }
}
