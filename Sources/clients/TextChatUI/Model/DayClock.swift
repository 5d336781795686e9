import Foundation
import SignalingProtocol
import TextChat
import TextChatFoundation

/// Which day it is for the reader, and when to look again.
struct DayClock: Sendable {
    /// The clock of a device may be set, and a timer may not count the time in which the device slept.
    private static let longest = Duration.seconds(900)

    private let days: ReaderCalendar
    private let calendar: Calendar

    init(timeZone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
        days = ReaderCalendar(timeZone: timeZone)
    }

    func day(at now: WallTime) -> LocalDay { days.day(of: now) }

    /// Until the next day begins, or for a quarter of an hour. A day may be shorter or longer than 24 hours.
    func wait(at now: WallTime) -> Duration {
        let date = ChatWords.date(now)
        guard let tomorrow = calendar.date(byAdding: .day, value: 1, to: date) else { return Self.longest }
        let rest = calendar.startOfDay(for: tomorrow).timeIntervalSince(date)
        // Not before the day has begun.
        return min(Self.longest, .milliseconds(Int64(max(rest, 0) * 1000) + 1))
    }
}
