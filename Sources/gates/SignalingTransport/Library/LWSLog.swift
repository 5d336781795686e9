import CLibwebsockets
import Logging
import SignalingProtocol
import Synchronization

/// Passes libwebsockets' log lines on to swift-log.
///
/// The library has one log function per process. Remote peers can provoke lines ("Ran out of header data space") that
/// contain bytes of theirs, so lines are rate-limited, truncated and made printable.
enum LWSLog {
    private struct State {
        var logger: Logger?
        var allowance = TokenBucket()
        var suppressedCount = 0
    }
    private static let limit = RateLimit(perSecond: 1, burst: 20)
    private static let lineByteCount = 300
    private static let state = Mutex(State())

    static func install(_ logger: Logger) {
        state.withLock { $0.logger = logger }
        // The library logs a notice for each refused upgrade, and lower levels cost time on each read.
        lws_set_log_level(LLL_ERR | LLL_WARN) { level, line in
            guard let line else { return }
            LWSLog.emit(isError: level & LLL_ERR != 0, line)
        }
    }

    private static func emit(isError: Bool, _ line: UnsafePointer<CChar>) {
        let now = LoopThread.now
        let (logger, suppressed) = state.withLock { state -> (Logger?, Int) in
            guard state.allowance.consume(limit, now: now) else {
                state.suppressedCount += 1
                return (nil, 0)
            }
            let suppressed = state.suppressedCount
            state.suppressedCount = 0
            return (state.logger, suppressed)
        }
        guard let logger else { return }
        var text = ""
        var pointer = line
        while pointer.pointee != 0, text.utf8.count < lineByteCount {
            let byte = UInt8(bitPattern: pointer.pointee)
            text.unicodeScalars.append(byte >= 0x20 && byte < 0x7F ? Unicode.Scalar(byte) : " ")
            pointer += 1
        }
        // The library reports a peer's malformed request as an "error", too, so its errors are warnings here.
        let level: Logger.Level = isError ? .warning : .info
        logger.log(
            level: level, "libwebsockets", metadata: ["line": "\(text)", "suppressed": .stringConvertible(suppressed)])
    }
}
