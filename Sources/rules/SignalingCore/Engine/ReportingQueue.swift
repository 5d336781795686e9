import DequeModule
import SignalingProtocol

/// A command as the caller of an engine has submitted it.
struct Submission {
    let command: SessionCommand
    let session: SessionID
    let ticket: CommandTicket
    /// In the process's time.
    let now: MonotonicInstant

    var isJoin: Bool { if case .join = command { true } else { false } }
}

/// Keeps the reports of two commands from mixing.
///
/// A command that the observer submits from a callback waits until the observer has received everything about the
/// present one. A class, since the queue changes while an engine is in the midst of a report.
final class ReportingQueue {
    @exclusivity(unchecked) private var waiting: Deque<Submission> = []
    @exclusivity(unchecked) private var isReporting = false

    /// Carries out a command now, or after the present report.
    func submit(_ submission: Submission, _ carryOut: (Submission) -> Void) {
        if isReporting {
            waiting.append(submission)
        } else {
            report({ carryOut(submission) }, then: carryOut)
        }
    }

    /// Calls `body`, which reports to the observer, and then carries out the commands that were submitted meanwhile.
    func report(_ body: () -> Void, then carryOut: (Submission) -> Void) {
        isReporting = true
        body()
        while let next = waiting.popFirst() { carryOut(next) }
        isReporting = false
    }
}
