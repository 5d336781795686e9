import SignalingProtocol
import SignalingVerification

/// The settings of a server under test. The server process and the judge of the wire get the same value.
struct ServerTerms: Sendable {
    /// Whole seconds.
    var resumeSeconds: Int
    var recoverySeconds: Int
    var logEventCount: Int
    var logByteCount: Int
    /// Whether the server has a state folder, so that it keeps its sessions even if it is killed.
    var isDurable = true

    /// Whether the server keeps the signals of ``keptTypes`` as history.
    var keepsHistory = false
    /// How many messages of a session it keeps; nil: more than a run sends.
    var historyBound: Int?
    /// Whether authors may edit and erase their messages.
    var permitsChanges = false
    static let keptTypes: Set<String> = ["a", VerifiedClient.lastSignalType]

    /// Where the servers post the feed of the project; nil: it has none.
    var feedReceiver: String?

    /// Whether several servers keep the sessions in one Redis.
    var isShared = false

    /// Short windows, so that connections expire within a run, and a log that only a lost server can empty.
    static let standard = ServerTerms(
        resumeSeconds: 6, recoverySeconds: 18, logEventCount: 65_536, logByteCount: 33_554_432)
    /// The resume window is longer than the time after which a connection counts as away (PRES-4).
    static let longWindow = ServerTerms(
        resumeSeconds: 25, recoverySeconds: 30, logEventCount: 65_536, logByteCount: 33_554_432)
    /// The log is overrun after a few signals. A client is back before its window ends, even on a slow machine.
    static let smallLog = ServerTerms(resumeSeconds: 25, recoverySeconds: 30, logEventCount: 64, logByteCount: 65_536)

    /// Everybody who has left is gone for good soon, so that a session sleeps.
    static let sleeping = ServerTerms(
        resumeSeconds: 1, recoverySeconds: 1, logEventCount: 65_536, logByteCount: 33_554_432)

    /// A history that is trimmed, of clients that resume after restarts.
    static let smallHistory = ServerTerms(
        resumeSeconds: 25, recoverySeconds: 30, logEventCount: 65_536, logByteCount: 33_554_432, keepsHistory: true,
        historyBound: ArchiveStories.bound)

    /// The seconds until the other nodes have declared a dead node lost, and until its connections have lost their sockets
    /// (LOG-32).
    private static let longestDeath = 20

    /// The options of `signalbox serve`. Clients send as fast as they can, so there is no rate limit.
    var arguments: [String] {
        [
            "--signal-rate", "0", "--resume-seconds", "\(resumeSeconds)", "--recovery-seconds", "\(recoverySeconds)",
            "--log-events", "\(logEventCount)", "--log-bytes", "\(logByteCount)",
        ]
    }

    /// The settings that `signalbox serve` reads from its environment.
    var environment: [String: String] {
        guard keepsHistory else { return [:] }
        var others = permitsChanges ? ["SIGNALBOX_CHANGES": "edit,erase"] : [:]
        if let feedReceiver {
            others.merge(
                [
                    "SIGNALBOX_FEED": "true", "SIGNALBOX_WEBHOOK_URL": feedReceiver, "SIGNALBOX_WEBHOOK_TYPES": "all",
                    "SIGNALBOX_WEBHOOK_SECRET": "the secret of the receiver",
                    "SIGNALBOX_WEBHOOK_RETRY_MILLISECONDS": "20", "SIGNALBOX_UNREAD_SECONDS": "1",
                ]
            ) { $1 }
        }
        return others.merging([
            "SIGNALBOX_HISTORY": Self.keptTypes.sorted().joined(separator: ","),
            "SIGNALBOX_HISTORY_MESSAGES": "\(historyBound ?? 1_000_000_000)", "SIGNALBOX_HISTORY_BYTES": "\(1 << 40)",
            "SIGNALBOX_HISTORY_TOTAL_BYTES": "\(1 << 50)",
        ]) { $1 }
    }

    var judged: WireJudge.Terms {
        var judged = WireJudge.Terms(
            resumeWindow: .seconds(resumeSeconds), recoveryWindow: .seconds(recoverySeconds),
            heartbeat: Limits.heartbeat, awayDelay: Limits.awayDelay, logEventCount: logEventCount,
            logByteCount: logByteCount,
            tolerance: .seconds(isShared ? 5 + Self.longestDeath : 5),
            earliness: .milliseconds(1_500))
        judged.isDurable = isDurable
        if keepsHistory {
            judged.history = WireJudge.Terms.KeptHistory(
                types: Self.keptTypes, bound: historyBound, changes: permitsChanges ? ["edit", "erase"] : nil)
        }
        return judged
    }
}
