import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

extension SessionOutcome: CustomTestStringConvertible {
    /// `joined 2 of 3`, `signalled 4`, `signalled`, `refused 404`, ….
    public var testDescription: String {
        switch self {
        case .joined(let join):
            "joined \(join.connection.connectionId) at \(join.seq)"
                + (join.outcome == .new ? "" : " \(join.outcome)")
                + (join.replayThrough.map { " through \($0)" } ?? "")
                + (join.suppressesPresence ? " without presence" : "")
                + (join.missing.map { " without \($0.first) to \($0.last)" } ?? "")
        case .wasForceDisconnected: "was force-disconnected"
        case .superseded: "superseded"
        case .done: "done"
        case .signalled(let seq): seq.map { "signalled \($0)" } ?? "signalled"
        case .forceDisconnected: "force-disconnected"
        case .changed(let seq): "changed \(seq)"
        case .reacted: "reacted"
        case .marked: "marked"
        case .reactors(let ref, let reactors): "\(reactors.count) keys of \(ref)"
        case .erased(let seq): "erased \(seq)"
        case .moderated(let action, let subject): "moderated \(action.seq) \(subject.testDescription)"
        case .announced(let seq): "announced \(seq)"
        case .restrictions(let records): "restrictions \(records.map(\.testDescription))"
        case .refreshed: "refreshed"
        case .refused(let error): "refused \(error.code.number) \(error.code.name)"
        case .unavailable(let mayBeCarriedOut): "unavailable" + (mayBeCarriedOut ? ", may be carried out" : "")
        }
    }
}

extension SessionEffect: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .onlineOnly(let signal): "online-only after \(signal.after): \(text(signal.line.bytes))"
        case .onlineOnlyDropped(let reason): "online-only dropped: \(reason)"
        case .ended(let connection, let reason, let ban):
            "ended \(connection) \(reason)" + (ban.map { " because of a \($0.kind)" } ?? "")
        case .superseded(let socket): "superseded \(socket)"
        case .presence(.sessionCreated): "sessionCreated"
        case .presence(.connectionCreated(let connection)): "connectionCreated \(connection.connectionId)"
        case .presence(.connectionDestroyed(let connection, let reason)):
            "connectionDestroyed \(connection.connectionId) \(reason)"
        case .presence(.sessionDestroyed): "sessionDestroyed"
        case .keptPresence(let event):
            "\(event.untold.commandNumber).\(event.untold.index) \(SessionEffect.presence(event.untold.event).testDescription)"
        }
    }
}

extension RestrictionRecord.Subject: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .user(let user): "user \(user)"
        case .guest(let connection): "guest \(connection)"
        case .session: "session"
        }
    }
}

extension RestrictionRecord: CustomTestStringConvertible {
    public var testDescription: String { "\(ref) \(restriction.kind) \(subject.testDescription)" }
}
