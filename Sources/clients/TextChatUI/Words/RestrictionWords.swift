import Foundation
import SignalingProtocol

/// Why the user cannot write, or cannot be in the chat, and until when (MOD-2).
public enum RestrictionWords {
    /// The sentence, and the moderator's reason if there is one.
    ///
    /// - Parameter now: an end of the same day is shown without its date.
    public static func text(of restriction: Restriction, now: WallTime, calendar: Calendar = .current) -> String {
        let sentence = restriction.until.map { until in
            word(for: restriction.kind, hasEnd: true).text(moment(until, now: now, calendar))
        }
        let parts = [
            sentence ?? word(for: restriction.kind, hasEnd: false).text,
            restriction.reason.map { ChatWord.reason.text($0) },
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }

    private static func word(for kind: Restriction.Kind, hasEnd: Bool) -> ChatWord {
        switch kind {
        case .mute: hasEnd ? .mutedUntil : .muted
        case .ban: hasEnd ? .bannedUntil : .banned
        case .freeze: hasEnd ? .frozenUntil : .frozen
        }
    }

    private static func moment(_ time: WallTime, now: WallTime, _ calendar: Calendar) -> String {
        let (date, today) = (Self.date(time), Self.date(now))
        let isToday = calendar.isDate(date, inSameDayAs: today)
        var style = Date.FormatStyle(
            date: isToday ? .omitted : .abbreviated, time: .shortened, calendar: calendar,
            timeZone: calendar.timeZone)
        if let locale = calendar.locale { style.locale = locale }
        return date.formatted(style)
    }

    /// In JavaScript's range of dates: a time of a server may be anything.
    private static func date(_ time: WallTime) -> Date {
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
