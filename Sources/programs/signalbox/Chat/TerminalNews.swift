import CommandSupport
import SignalingClient
import SignalingProtocol
import TextChat

/// What an event means for a terminal's user, apart from messages.
enum TerminalNews {
    case nothing
    /// Who comes and goes.
    case presence(String)
    /// The connection is lost, and comes back or ends.
    case lost
    case back(String)
    /// The user has left.
    case left
    /// The session is over, for this reason.
    case ended(String)

    @MainActor
    init(_ event: SessionEvent, in session: Session) {
        self =
            switch event {
            case .signal, .history, .changed, .reactions, .reacted, .read, .erased, .moderated, .restricted,
                .unrestricted:
                .nothing
            case .connectionCreated, .connectionDestroyed, .connectionAway, .connectionBack, .userJoined, .userLeft:
                PresenceText.text(of: event, in: session).map { .presence($0) } ?? .nothing
            case .reconnecting: .lost
            case .reconnected(.lost, let missing?):
                .back("back; up to \(missing.last.rawValue - missing.first.rawValue + 1) events are missing")
            case .reconnected(let outcome, _): .back(outcome == .lost ? "back; something may be missing" : "back")
            case .disconnected(.clientDisconnected, _): .left
            case .disconnected(_, let ban?): .ended(RestrictionText.text(ban))
            case .disconnected(.forceDisconnected, nil): .ended("a moderator has ended the connection")
            case .disconnected(.networkDisconnected, nil): .ended("the connection is lost")
            case .overflowed: .ended("this terminal is too slow: something was missed")
            }
    }
}

extension SendRefusal {
    /// For the user; `nil` if there is nothing to say.
    var reason: String? {
        switch self {
        case .blank, .cancelled: nil
        case .notConnected: "not sent: not connected"
        case .restricted(let restriction): "not sent: \(RestrictionText.text(restriction))"
        case .tooManyWaiting: "not sent: too many messages are waiting"
        case .tooLong, .signalTooLong: "not sent: the line is too long for a signal"
        case .localIDTaken, .byDelegate: "not sent"
        }
    }
}

extension Optional<Restriction> {
    /// What has changed for the user: this restriction, or that none holds any more.
    var news: String { map { "you cannot write: \(RestrictionText.text($0))" } ?? "you can write again" }
}
