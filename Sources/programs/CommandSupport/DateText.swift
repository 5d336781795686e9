import FoundationEssentials
import SignalingProtocol

/// A date for a terminal: `2026-11-25 16:19:26`.
package enum DateText {
    /// In JavaScript's range of dates: a time of a server may be anything.
    ///
    /// - Parameter zone: `nil` for the machine's.
    package static func text(_ time: WallTime, in zone: TimeZone? = nil) -> String {
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone ?? .local(at: time))
            .year().month().day().time(includingFractionalSeconds: false)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(style)
    }
}
