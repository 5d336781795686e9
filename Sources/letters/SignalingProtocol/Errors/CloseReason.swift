/// Why the server closes a WebSocket: the close code, its text, and whether the client should reconnect (CLOSE-1).
///
/// Of the codes from 3000 on, those below 4500 mean "reconnect" and the others "do not reconnect". A client that does
/// not know a code can still act on it.
public enum CloseReason: UInt16, CaseIterable, Sendable, Error {
    /// 1000: the answer to `disconnect` (LEAVE-1).
    case normal = 1000
    /// 1001: the server is stopping (LEAVE-5), or its session engine did not answer a connect in time (CON-2).
    case goingAway = 1001
    /// 1003: the client sent a binary message (WIRE-2).
    case unsupportedData = 1003
    /// 1007: the client sent text that is not UTF-8 (WIRE-10).
    case invalidPayload = 1007
    /// 1009: the client sent a message with too many bytes or fragments (WIRE-10).
    case messageTooBig = 1009
    /// 4001: the server received nothing from the client for two heartbeats (HB-3).
    case heartbeatMissed = 4001
    /// 4002: the client reads too slowly: it overran the session's log, or makes no progress (WIRE-14).
    case slowConsumer = 4002
    /// 4003: no accepted connect arrived in time (CON-2).
    case connectTimeout = 4003
    /// 4004: the connection was resumed on a newer socket (RES-8).
    case superseded = 4004
    /// 4005: the session has no room for another connection (CON-3).
    case sessionFull = 4005
    /// 4501: the server refused the connect. The error message before it says why (CON-3).
    case connectRefused = 4501
    /// 4502: a moderator or a REST request ended the connection (LEAVE-3).
    case forceDisconnected = 4502
    /// 4503: the client sent too many malformed lines (WIRE-9).
    case tooManyErrors = 4503
    /// 4505: the token has expired, and the server ends connections then (TOK-9).
    case tokenExpired = 4505

    /// The first code that means "do not reconnect". Codes from 3000 up to it mean "reconnect" (CLOSE-1).
    public static let firstFinalCode: UInt16 = 4500

    /// Whether the client should reconnect by itself.
    public var shouldReconnect: Bool {
        switch self {
        case .goingAway, .heartbeatMissed, .slowConsumer, .connectTimeout, .superseded, .sessionFull: true
        case .normal, .unsupportedData, .invalidPayload, .messageTooBig, .connectRefused, .forceDisconnected,
            .tooManyErrors, .tokenExpired:
            false
        }
    }

    /// The value of ``shouldReconnect`` for the `disconnected` message before the close (LEAVE-4).
    public var reconnect: Reconnect { shouldReconnect ? .yes : .never }

    /// The text in the close frame, at most 123 bytes (RFC 6455 section 5.5).
    public var text: String {
        switch self {
        case .normal: "goodbye"
        case .goingAway: "server is stopping or busy"
        case .unsupportedData: "text messages only"
        case .invalidPayload: "text is not UTF-8"
        case .messageTooBig: "message too big"
        case .heartbeatMissed: "heartbeat missed"
        case .slowConsumer: "slow consumer"
        case .connectTimeout: "no connect in time"
        case .superseded: "connection continues on another socket"
        case .sessionFull: "session is full"
        case .connectRefused: "connect refused"
        case .forceDisconnected: "forced to disconnect"
        case .tooManyErrors: "too many malformed messages"
        case .tokenExpired: "token expired"
        }
    }
}
