/// The version of the rules by which a session carries out its commands (LOG-7).
///
/// All nodes must carry out a command by the same rules, or their copies of the session differ. So each entry of the log
/// has the version that its submitter knows, and the state has the greatest one so far: from that entry on, every node
/// uses the newer rules. A node that does not know them cannot read the entry, and stops serving the session. The
/// version before stays in the code, for the entries before that one.
///
/// A change of what any command does to a state needs a new version.
public enum RulesVersion: UInt8, Comparable, Sendable, CaseIterable {
    case first = 1
    /// The connections with one access token share an allowance of signals (SIG-11).
    case tokenAllowances = 2

    /// Sessions keep a history (HIS-1), and tickets the newest event that their clients can have (RES-1).
    case history = 3

    /// Connections have users (USR-1), and sessions restrictions (MOD-2).
    case moderation = 4

    /// Sessions know the newer tokens of their connections (MOD-3), date actions by the log (MOD-2), and let many
    /// connections go in parts (LEAVE-6).
    case newerTokens = 5

    /// Connections announce streams (STR-1).
    case streams = 6

    /// Authors change their messages (CHG-1), users react to them (CHG-11) and mark what they have read (READ-1), and
    /// limits say since when they hold (LOG-6).
    case changes = 7

    /// The newest one, which this program gives to its commands.
    public static let current = changes

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
