import SignalingProtocol
import TextChat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The time of a row, as OpenTok's text chat shows it.
public enum ChatTimeText {
    /// `hh:mma` with two digits, twelve hours, in English: `03:07PM`, `12:00AM` at midnight.
    public static func text(_ time: WallTime, in timeZone: TimeZone) -> String {
        // Dates come from other clocks. A value outside of JavaScript's range of dates is shown as the nearest date.
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        let offset = timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
        let minuteOfEpoch = (milliseconds + Int64(offset) * 1000).flooredQuotient(60_000)
        let minuteOfDay = Int(minuteOfEpoch - minuteOfEpoch.flooredQuotient(1440) * 1440)
        let (hour, minute) = minuteOfDay.quotientAndRemainder(dividingBy: 60)
        return "\(twoDigits((hour + 11) % 12 + 1)):\(twoDigits(minute))\(hour < 12 ? "AM" : "PM")"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    /// Rounded down, so that times before 1970 fall into the right minute. The divisor is above 0.
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
