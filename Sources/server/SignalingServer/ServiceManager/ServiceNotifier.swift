import SignalingProtocol
import SignalingTransport
import Synchronization

/// Tells a service manager such as systemd that the server is ready, reloads, stops, and is alive: sd_notify(3).
///
/// Give it to the server in ``ServerConfiguration/serviceNotifier``. The server reports its start and its stop, and
/// feeds the watchdog from its loop, so that a loop that hangs is noticed.
public final class ServiceNotifier: Sendable {
    /// The variables in which a service manager describes itself. Remove them from the environment: child processes do
    /// not speak for the server.
    public static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// How long the service manager waits for a sign of life; nil if it does not watch this process.
    let watchdogTime: Duration?
    private let socket: NotifySocket
    private let notices = Mutex(ServiceNotices())

    /// - Returns: nil if no service manager wants reports.
    /// - Throws: ``ConfigurationError`` if a variable is wrong. Without reports, the service manager would end the
    ///   server after a while.
    public init?(environment: [String: String], processID: Int32) throws(ConfigurationError) {
        guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
        guard let socket = NotifySocket(name: name) else {
            throw ConfigurationError(
                "NOTIFY_SOCKET is \"\(name)\". Use the absolute path of a socket, or @ and the name of an abstract one."
            )
        }
        self.socket = socket
        watchdogTime = try Self.watchdogTime(in: environment, processID: processID)
    }

    /// - Returns: nil if there is no watchdog, or if it watches another process.
    static func watchdogTime(
        in environment: [String: String], processID: Int32
    ) throws(ConfigurationError) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"] else { return nil }
        if let watched = environment["WATCHDOG_PID"] {
            guard let watched = Int32(watched), watched > 0 else {
                throw ConfigurationError("WATCHDOG_PID is \"\(watched)\". Use the ID of the process to watch.")
            }
            guard watched == processID else { return nil }
        }
        guard let microseconds = Int64(text), microseconds > 0 else {
            throw ConfigurationError("WATCHDOG_USEC is \"\(text)\". Use a number of microseconds, at least 1.")
        }
        return .microseconds(microseconds)
    }

    func ready(_ status: String) { send { $0.ready(status) } }

    func stopping(_ status: String) { send { $0.stopping(status) } }

    /// The server reads its settings again. Call ``reloadEnded(_:)`` in any case.
    public func reloadBegan() { send { $0.reloadBegan(now: LoopThread.now) } }

    /// - Parameter status: what has come of it, for people.
    public func reloadEnded(_ status: String) { send { $0.reloadEnded(status) } }

    /// Called on the loop, so it never waits.
    func feedWatchdog() { socket.send(ServiceNotices.watchdog, waits: false) }

    /// Within the lock, so that the datagrams leave in the order of the phases.
    private func send(_ next: (inout ServiceNotices) -> String?) {
        notices.withLock { notices in
            if let text = next(&notices) { socket.send(text, waits: true) }
        }
    }
}
