import SignalingCore
import SignalingProtocol

/// What a table of revocations asks Redis (TOK-10). A row is a subject and a number, of which the greatest counts.
package enum RevocationCall: Equatable {
    /// Asks for the number of changes of each project, and for the name of the process.
    case index
    /// Asks for the rows of a project.
    case rows(project: String)
    /// Adds rows, or raises their numbers.
    case raise(project: String, rows: [Row], limit: Int)
    case remove(project: String, subject: String)

    package struct Row: Equatable {
        package let subject: String
        package let number: Int64

        package init(_ subject: String, _ number: Int64) {
            self.subject = subject
            self.number = number
        }
    }

    package func command(database: Int) -> RedisCommand {
        switch self {
        case .index: return RedisCommand(.revocationIndex)
        case .rows(let project): return RedisCommand(.revocationRows, key: Self.key(project), [project])
        case .raise(let project, let rows, let limit):
            var command = RedisCommand(
                .revoke, key: Self.key(project), [String(database), project, String(limit)],
                extraCount: rows.count * 2)
            for row in rows {
                command.add(row.subject)
                command.add(String(row.number))
            }
            return command
        case .remove(let project, let subject):
            return RedisCommand(.takeBackRevocation, key: Self.key(project), [String(database), project, subject])
        }
    }

    private static func key(_ project: String) -> String { "sb:revoked:" + project }

    /// Whether a message on the channel of the nodes says that a project's rows have changed.
    package static func isNews(_ message: String) -> Bool { message.hasPrefix("revoked ") }
}

/// Redis' answer to a ``RevocationCall``.
package enum RevocationAnswer: Equatable {
    case index(process: String, changeCounts: [String: Int64])
    case rows([String: Int64], changeCount: Int64)
    /// The number of the first row.
    case raised(Int64)
    /// The project has as many rows as it may have.
    case full
    case removed(Bool)
    case failed(RedisFailure)
    case notUnderstood

    package init(to call: RevocationCall, _ reply: RedisReply) {
        if let failure = reply.failure {
            self = .failed(failure)
            return
        }
        let answer: RevocationAnswer? =
            switch (call, reply[0].text) {
            case (.index, "revoked"): Self.index(reply)
            case (.rows, "rows"): Self.rows(reply)
            case (.raise, "raised"): reply[1].number.map { .raised($0) }
            case (.raise, "full"): .full
            case (.remove, "removed"): reply[1].number.map { .removed($0 > 0) }
            case (.index, _), (.rows, _), (.raise, _), (.remove, _): nil
            }
        self = answer ?? .notUnderstood
    }

    private static func index(_ reply: RedisReply) -> RevocationAnswer? {
        guard let process = reply[1].text, let counts = numbers(reply[2]) else { return nil }
        return .index(process: process, changeCounts: counts)
    }

    private static func rows(_ reply: RedisReply) -> RevocationAnswer? {
        guard let count = reply[1].number, let rows = numbers(reply[2]) else { return nil }
        return .rows(rows, changeCount: count)
    }

    /// The names and numbers of a hash; `nil` if a value is no number.
    private static func numbers(_ reply: RedisReply) -> [String: Int64]? {
        guard reply.array != nil else { return nil }
        var numbers: [String: Int64] = [:]
        for (name, value) in reply.fields {
            guard let number = value.number else { return nil }
            numbers[name] = number
        }
        return numbers
    }
}
