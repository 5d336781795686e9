import SignalingProtocol
import TextChat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The reader's days in a time zone, by the Gregorian calendar: every calendar has the same days, and a view names them in
/// the reader's.
public struct ReaderCalendar: ChatCalendar {
    private let calendar: Calendar

    public init(timeZone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    public func day(of time: WallTime) -> LocalDay {
        // Dates come from other clocks. A value outside of JavaScript's range of dates counts as the nearest date.
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        return LocalDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
    }
}
