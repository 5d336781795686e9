import FoundationEssentials
import SignalingProtocol
import SignalingTokens

/// Finds a clock that cannot be right, such as that of a machine without a battery before it has asked a time server.
///
/// Tokens and credentials are valid for a time, so a server with such a clock would refuse every client, and the state
/// folder would note wrong times.
enum ClockCheck {
    /// 2026-01-01T00:00:00Z, before the first version of this program.
    private static let earliest = WallTime(milliseconds: 1_767_225_600_000)

    /// The clock's fault, with its time and what to do; nil if the time is possible.
    static func problem(now: WallTime = .current) -> String? {
        guard now < earliest else { return nil }
        let time = Date(timeIntervalSince1970: Double(now.milliseconds) / 1_000).formatted(.iso8601)
        return "the clock of this machine says \(time), which is before this program was written. Every token would be "
            + "refused. Set the clock (timedatectl set-ntp true), and start the server again."
    }
}
