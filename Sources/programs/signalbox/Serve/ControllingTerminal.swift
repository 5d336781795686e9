import Glibc

/// The terminal from which a command was started.
///
/// SIGHUP has two meanings: an operator asks a server to reload, or the terminal was closed. A server that ran in a
/// terminal must not outlive it unseen, unless it was started with `nohup`.
struct ControllingTerminal {
    /// Whether the process had a terminal at the start and must end with it.
    private let mustEndWithIt: Bool

    /// Call it before SIGHUP is trapped, since `nohup` ignores that signal for the program it starts.
    init() {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
        mustEndWithIt = !isIgnored && Self.isOpen
    }

    /// Whether the terminal was closed, so that the command must end.
    var hasHungUp: Bool { mustEndWithIt && !Self.isOpen }

    private static var isOpen: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
