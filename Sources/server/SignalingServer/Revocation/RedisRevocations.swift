import SignalingProtocol
import SignalingRedis
import SignalingRedisCore
import SignalingTokens

/// Keeps revocations in Redis, where all servers on it learn them at once. They hold on also while Redis is away.
final class RedisRevocations: RevocationStore {
    private(set) var revocations: [APIKey: Revocations] = [:]
    var onChange: (() -> Void)?

    private let table: RedisRevocationTable

    /// - Parameter table: open.
    init(_ table: RedisRevocationTable) {
        self.table = table
        read()
        table.onChange = { [weak self] in
            self?.read()
            self?.onChange?()
        }
    }

    private func read() {
        revocations = [:]
        for (project, rows) in table.rows {
            let found = Revocations(rows.compactMap { Revocation(row: $0.key, $0.value) })
            if !found.isEmpty { revocations[APIKey(project)] = found }
        }
    }

    func carryOut(
        _ change: RevocationChange, of project: APIKey,
        answer: @escaping (Result<RevocationOutcome, RevocationFault>) -> Void
    ) {
        switch change {
        case .add(let revocation):
            table.raise(revocation.row, of: project.rawValue) {
                answer(Self.result($0, of: revocation.subject))
            }
        case .remove(let subject):
            table.remove(subject.row, of: project.rawValue) { answer(Self.result($0, of: subject)) }
        }
    }

    func close() { table.close() }

    private static func result(
        _ result: Result<RevocationTableState.Outcome, RevocationTableState.Failure>, of subject: Revocation.Subject
    ) -> Result<RevocationOutcome, RevocationFault> {
        switch result {
        case .success(.raised(let before)): .success(.added(Revocation(subject, before: before)))
        case .success(.full): .success(.full)
        case .success(.removed(let isRemoved)): .success(isRemoved ? .removed : .absent)
        case .failure(.notKept): .failure(.notKept)
        case .failure(.undecided): .failure(.undecided)
        }
    }
}

extension Revocation {
    fileprivate var row: RevocationCall.Row {
        switch self {
        case .everything(let before), .user(_, let before): .init(subject.row, before)
        case .token: .init(subject.row, 0)
        }
    }

    /// `nil` for a row that this version does not know.
    fileprivate init?(row: String, _ number: Int64) {
        guard let subject = Subject(row: row) else { return nil }
        self.init(subject, before: number)
    }
}

extension Revocation.Subject {
    fileprivate var row: String {
        switch self {
        case .everything: "all"
        case .user(let user): "user:" + user.rawValue
        case .token(let id): "jti:" + id
        }
    }

    fileprivate init?(row: String) {
        if row == "all" {
            self = .everything
        } else if row.hasPrefix("user:") {
            self = .user(UserID(String(row.dropFirst("user:".count))))
        } else if row.hasPrefix("jti:") {
            self = .token(String(row.dropFirst("jti:".count)))
        } else {
            return nil
        }
    }
}
