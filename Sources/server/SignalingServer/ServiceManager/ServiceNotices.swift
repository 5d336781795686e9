import SignalingProtocol

/// What a service manager learns about the life of the server, in the format of sd_notify(3).
///
/// Pure. Each method returns the next datagram, or nil when there is nothing to say in this phase: systemd would take a
/// `READY=1` after a refused early reload for the end of the start.
struct ServiceNotices: Equatable, Sendable {
    private enum Phase {
        /// The server does not accept connections yet. Next: `ready`, `stopping`.
        case starting
        /// Next: `reloading`, `stopping`.
        case ready
        /// The service manager waits for the end of the reload. Next: `ready`, `stopping`.
        case reloading
        /// The last phase.
        case stopping
    }
    private var phase = Phase.starting

    /// The server accepts connections.
    mutating func ready(_ status: String) -> String? {
        guard phase == .starting else { return nil }
        phase = .ready
        return "READY=1\n" + Self.line(status)
    }

    /// - Parameter now: the time on CLOCK_MONOTONIC, which systemd compares with the time of its own request.
    mutating func reloadBegan(now: MonotonicInstant) -> String? {
        guard phase == .ready else { return nil }
        phase = .reloading
        return "RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1_000)\n" + Self.line("reading the settings again")
    }

    /// The reload has ended, successfully or not: the server is ready in both cases.
    mutating func reloadEnded(_ status: String) -> String? {
        guard phase == .reloading else { return nil }
        phase = .ready
        return "READY=1\n" + Self.line(status)
    }

    /// The server has begun to stop.
    mutating func stopping(_ status: String) -> String? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        return "STOPPING=1\n" + Self.line(status)
    }

    /// The loop still turns. The service manager expects it in every phase.
    static let watchdog = "WATCHDOG=1\n"

    /// A text for people, which must be one line.
    private static func line(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 }) + "\n"
    }
}
