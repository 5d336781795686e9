import SignalingClient

/// Why a connection has ended: the strings of JavaScript's `event.reason`.
public enum OTDisconnectReason: String, CaseIterable, Sendable {
    /// The client disconnected.
    case clientDisconnected
    /// A moderator or the application's server ended the connection.
    case forceDisconnected
    /// The socket was lost, or the server closed it.
    case networkDisconnected

    init(_ reason: DisconnectReason) {
        switch reason {
        case .clientDisconnected: self = .clientDisconnected
        case .forceDisconnected: self = .forceDisconnected
        case .networkDisconnected: self = .networkDisconnected
        }
    }
}

/// How a session came back after its socket was lost: the strings of JavaScript's `event.outcome`.
public enum OTReconnectOutcome: String, CaseIterable, Sendable {
    /// The same connection. The missed events follow.
    case resumed
    /// A new ``OTSession/connection``. The missed broadcasts follow.
    case recovered
    /// A new ``OTSession/connection``, and events may be missing.
    case lost

    init(_ outcome: Welcome.Outcome) {
        switch outcome {
        case .resumed: self = .resumed
        case .recovered: self = .recovered
        case .lost, .new: self = .lost
        }
    }
}
