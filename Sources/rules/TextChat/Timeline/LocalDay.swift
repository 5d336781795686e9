import SignalingProtocol

/// A day of the reader, by the calendar of a ``ChatCalendar``. Later days are greater.
public struct LocalDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let year: Int
    /// 1 to 12, or 13 in some calendars.
    public let month: Int
    /// From 1.
    public let day: Int

    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// `2026-03-29`.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    public static func < (left: LocalDay, right: LocalDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

/// Maps a moment to a day of the reader. It contains the time zone with its daylight-saving time.
///
/// The same moment must always map to the same day. `TextChatFoundation` has an implementation with Foundation's
/// `Calendar`.
public protocol ChatCalendar: Sendable {
    func day(of time: WallTime) -> LocalDay
}
