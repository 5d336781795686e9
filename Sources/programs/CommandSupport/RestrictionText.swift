import FoundationEssentials
import SignalingProtocol

/// What a restriction means, for the user concerned (MOD-2).
package enum RestrictionText {
    /// `a moderator has muted you until 2026-11-25 16:19:26: Please stay on topic`.
    package static func text(_ restriction: Restriction, in zone: TimeZone? = nil) -> String {
        let deed =
            switch restriction.kind {
            case .mute: "a moderator has muted you"
            case .ban: "a moderator has banned you from this session"
            case .freeze: "a moderator has frozen this session"
            }
        let end = restriction.until.map { " until \(DateText.text($0, in: zone))" } ?? ""
        let reason = restriction.reason.map { ": \(Printable.text($0))" } ?? ""
        return deed + end + reason
    }
}
