import SignalingCore
import SignalingProtocol

/// What an engine asks a log in Redis.
package enum LogRequest {
    case append([CommandAppend])
    case keep(CommandSnapshot)
    /// For how long the log keeps the sleeper, and for how long if the history becomes empty before.
    case sleep(CommandSnapshot, life: Duration, restricted: Duration)
    case remove(SessionID, through: LogPosition)
    case open(SessionID)
    case close(SessionID)
    case catchUp(SessionID)
    case relay([UInt8], of: SessionID)
}
