/// Why a connection left its session: OpenTok's three reasons ("SessionDisconnectEvent").
public enum DisconnectReason: String, CaseIterable, Sendable {
    /// It left by itself, or its page was closed.
    case clientDisconnected
    /// A moderator or the REST interface ended it.
    case forceDisconnected
    /// Its socket was lost.
    case networkDisconnected
}

/// Why the server closes a WebSocket: the close code, its text, and whether coming back makes sense.
///
/// Codes below 4500 say "reconnect", codes from 4500 on "do not": a client needs no list to do the right thing.
public enum CloseReason: UInt16, CaseIterable, Sendable, Error {
    /// 1000: answer to `disconnect`.
    case normal = 1000
    /// 1001: the server is stopping; come back.
    case goingAway = 1001
    /// 1003: a binary message; this protocol is text.
    case unsupportedData = 1003
    /// 1007: text that is not UTF-8.
    case invalidPayload = 1007
    /// 1009: a message over its limit in bytes or fragments.
    case messageTooBig = 1009
    /// 4001: nothing was heard from the client for two heartbeats.
    case heartbeatMissed = 4001
    /// 4002: the client reads too slowly, and the log went past it.
    case slowConsumer = 4002
    /// 4500: no connect arrived in time.
    case connectTimeout = 4500
    /// 4501: connect was refused; the error message before says why.
    case connectRefused = 4501
    /// 4502: a moderator or the REST interface ended the connection.
    case forceDisconnected = 4502
    /// 4503: too many malformed messages.
    case tooManyErrors = 4503
    /// 4504: the same connection came back on a newer socket.
    case superseded = 4504

    /// Whether the same client may sensibly connect again by itself.
    public var shouldReconnect: Bool {
        switch self {
        case .goingAway, .heartbeatMissed, .slowConsumer: true
        case .normal, .unsupportedData, .invalidPayload, .messageTooBig, .superseded, .connectTimeout,
            .connectRefused, .forceDisconnected, .tooManyErrors:
            false
        }
    }

    /// The same in the words of the last message before the close (LEAVE-4).
    public var reconnect: Reconnect { shouldReconnect ? .yes : .never }

    /// The text in the close frame, at most 123 bytes (RFC 6455 section 5.5).
    public var text: String {
        switch self {
        case .normal: "goodbye"
        case .goingAway: "server is stopping"
        case .unsupportedData: "text messages only"
        case .invalidPayload: "text is not UTF-8"
        case .messageTooBig: "message too big"
        case .heartbeatMissed: "heartbeat missed"
        case .slowConsumer: "slow consumer"
        case .superseded: "connection continues on another socket"
        case .connectTimeout: "no connect in time"
        case .connectRefused: "connect refused"
        case .forceDisconnected: "forced to disconnect"
        case .tooManyErrors: "too many malformed messages"
        }
    }
}
