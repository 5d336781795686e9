import SignalingProtocol

/// After which closes a client reconnects, and how long it waits first (CLOSE-1, RES-13).
enum ReconnectPolicy {
    /// The longest wait before the first attempt; it doubles with each.
    static let base = Duration.milliseconds(250)
    static let longest = Duration.seconds(5)

    /// Full jitter, so that clients that lost their sockets together do not reconnect together.
    ///
    /// - Parameters:
    ///   - attempt: 0 for the first.
    ///   - random: from 0 up to 1.
    static func wait(attempt: Int, random: Double) -> Duration {
        // Above this attempt the doubled base exceeds the longest wait.
        let doubled = base * (1 << min(attempt, 10))
        return min(longest, doubled) * random
    }

    /// Codes for applications, up to the first that means "do not reconnect".
    private static let applicationCodes: Range<UInt16> = 3000..<CloseReason.firstFinalCode

    /// CLOSE-1. `nil`: the socket was lost without a close code.
    static func mayReconnect(after code: UInt16?) -> Bool {
        switch code {
        case nil, CloseReason.goingAway.rawValue, StandardCloseCode.noStatus, StandardCloseCode.abnormal,
            StandardCloseCode.serviceRestart, StandardCloseCode.tryAgainLater, StandardCloseCode.badGateway:
            true
        case .some(let code): applicationCodes.contains(code)
        }
    }

    /// The reason for a close without a `disconnected` message before it (LEAVE-4).
    static func reason(for code: UInt16?) -> DisconnectReason {
        code == CloseReason.forceDisconnected.rawValue ? .forceDisconnected : .networkDisconnected
    }
}
