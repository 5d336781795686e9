import SignalingProtocol
import SignalingTokens

/// What the projects have revoked by REST (REST-8), and what keeps it. Confined to the loop.
protocol RevocationStore: AnyObject {
    /// What holds on this server.
    var revocations: [APIKey: Revocations] { get }
    /// Called after each change of ``revocations``, also of one that another server has made.
    var onChange: (() -> Void)? { get set }

    /// Changes what holds. `answer` is called on the loop, with a success only when the change is kept; it may be called
    /// before this method returns.
    func carryOut(
        _ change: RevocationChange, of project: APIKey,
        answer: @escaping (Result<RevocationOutcome, RevocationFault>) -> Void)

    /// The server stops: no further change is carried out.
    func close()
}

/// A change of what a project has revoked.
enum RevocationChange: Sendable, Equatable {
    case add(Revocation)
    case remove(Revocation.Subject)
}

/// What became of a change.
enum RevocationOutcome: Equatable {
    /// This holds now.
    case added(Revocation)
    /// The project has too many others.
    case full
    case removed
    /// There was nothing to remove.
    case absent
}

/// Why a change has no outcome.
enum RevocationFault: Error, Equatable {
    /// Nothing has changed: it could not be kept.
    case notKept
    /// It may have been carried out, or not.
    case undecided
}

extension Revocations {
    mutating func carryOut(_ change: RevocationChange) -> RevocationOutcome {
        switch change {
        case .add(let revocation): add(revocation).map { .added($0) } ?? .full
        case .remove(let subject): remove(subject) ? .removed : .absent
        }
    }
}

extension [APIKey: Revocations] {
    /// A project without revocations is not in the dictionary.
    mutating func carryOut(_ change: RevocationChange, of project: APIKey) -> RevocationOutcome {
        let outcome = self[project, default: Revocations()].carryOut(change)
        if self[project]?.isEmpty == true { self[project] = nil }
        return outcome
    }
}

/// Keeps revocations for the life of the process.
final class MemoryRevocations: RevocationStore {
    private(set) var revocations: [APIKey: Revocations] = [:]
    var onChange: (() -> Void)?

    func carryOut(
        _ change: RevocationChange, of project: APIKey,
        answer: @escaping (Result<RevocationOutcome, RevocationFault>) -> Void
    ) {
        let outcome = revocations.carryOut(change, of: project)
        onChange?()
        answer(.success(outcome))
    }

    func close() {}
}
