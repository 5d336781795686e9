/// Which events get a log line, if clients can cause many: the first of each kind, and then one of each kind in ten
/// seconds, with the number of those in between.
///
/// Keeps one moment for each kind, so the kinds must be those of the program.
package struct LogLineLimit<Kind: Hashable & Sendable>: Sendable {
    /// The time between two lines about the same kind.
    package static var interval: Duration { .seconds(10) }

    private struct Line {
        let at: MonotonicInstant
        var suppressedCount = 0
    }

    private var lines: [Kind: Line] = [:]

    package init() {}

    /// - Returns: how many events of this kind had no line since the last one; `nil` if this one gets none either.
    package mutating func note(_ kind: Kind, now: MonotonicInstant) -> Int? {
        if let line = lines[kind], now < line.at.advanced(by: Self.interval) {
            lines[kind]?.suppressedCount += 1
            return nil
        }
        return lines.updateValue(Line(at: now), forKey: kind)?.suppressedCount ?? 0
    }
}
