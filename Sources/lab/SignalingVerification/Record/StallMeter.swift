import SignalingProtocol

/// How long the judge itself did not run, because the machine was suspended or far too busy.
///
/// Lines that wait meanwhile pass late, and the servers on the same machine may have stood still, too. Such a time says
/// nothing about the servers, so the judge has to tolerate it.
public struct StallMeter: Sendable {
    /// A shorter gap is that of a busy machine, which the tolerances include.
    private static let shortest = Duration.seconds(1)

    private var last: MonotonicInstant
    /// The length of all stalls.
    public private(set) var total = Duration.zero

    public init(at now: MonotonicInstant) { last = now }

    /// To be called several times a second while the judge runs.
    public mutating func tick(at now: MonotonicInstant) {
        let gap = now.duration(since: last)
        if gap > Self.shortest { total += gap }
        last = max(last, now)
    }
}
