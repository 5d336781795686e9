import Foundation
import SignalingProtocol
import TextChat

/// The days of a reader, by one of Foundation's calendars and a time zone.
public struct ReaderCalendar: ChatCalendar {
    private let calendar: Calendar

    /// The time zone is `timeZone`, whatever the calendar's own is.
    public init(_ calendar: Calendar = Calendar(identifier: .gregorian), timeZone: TimeZone = .current) {
        var calendar = calendar
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    public func day(of time: WallTime) -> LocalDay {
        // Dates come from others' clocks: what is no date (JavaScript's bounds) falls on the last day that is one.
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        return LocalDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
    }
}
