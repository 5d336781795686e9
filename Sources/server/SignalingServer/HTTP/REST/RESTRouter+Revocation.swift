import JSONText
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Revocations of a project (REST-8).
extension RESTRouter {
    func handleRevocations(_ exchange: HTTPExchange, of project: Project) throws(SignalingError) {
        switch exchange.method {
        case .post:
            let (revocation, isUntilNow) = try revocation(exchange)
            change(.add(revocation), of: project, for: exchange, waits: isUntilNow)
        case .delete:
            let subject = try Revocation.Subject(
                user: exchange.queryValue("user"), jti: exchange.queryValue("jti"))
            change(.remove(subject), of: project, for: exchange)
        default:
            let revocations = revocations.revocations[project.apiKey] ?? Revocations()
            charge(to: project)(revocations.count)
            // 10,000 of them take longer to sort and write than the other clients should wait.
            let write = { @Sendable in
                JSONValue.object(["revocations": .array(revocations.list.map(\.json))]).encoded()
            }
            hub.environment.loop.runInBackground(write, then: { exchange.respond(.json(encoded: $0)) })
        }
    }

    /// Without `before`, all tokens that were issued until now: times of issue are whole seconds, so the next one is the
    /// first that counts as later.
    private func revocation(
        _ exchange: HTTPExchange
    ) throws(SignalingError) -> (revocation: Revocation, isUntilNow: Bool) {
        var body = try fields.object(exchange.body)
        let now = WallTime.current.milliseconds / 1000
        let isUntilNow = body["jti"] == nil && body["before"] == nil
        if isUntilNow { body.append("before", .integer(now + 1)) }
        let revocation = try Revocation(.object(body))
        let latest = now + TokenLifetime.clockSkew.components.seconds
        switch revocation {
        case .everything(let before) where before > latest, .user(_, let before) where before > latest:
            throw SignalingError(
                .invalidParameter,
                "\"before\" must not be in the future; leave it out to revoke what was issued until now"
            )
        case .everything, .user, .token: return (revocation, isUntilNow)
        }
    }

    /// - Parameter waits: whether a token that is issued after the answer must be valid. Until the moment of the revocation
    ///   has come, it would count as issued before.
    private func change(
        _ change: RevocationChange, of project: Project, for exchange: HTTPExchange, waits: Bool = false
    ) {
        exchange.overdueResponse = .undecided
        revocations.carryOut(change, of: project.apiKey) { [weak self] result in
            switch result {
            case .success(.added(let revocation)):
                self?.noteRevocation("revoked tokens", revocation.subject, of: project)
                let answer = HTTPResponse.json(revocation.json)
                guard let self, waits, let before = revocation.before else { return exchange.respond(answer) }
                let wait = Duration.milliseconds(before * 1_000 - WallTime.current.milliseconds)
                respond(answer, to: exchange, after: min(wait, .seconds(1)))
            case .success(.removed):
                if case .remove(let subject) = change {
                    self?.noteRevocation("took back a revocation of tokens", subject, of: project)
                }
                exchange.respond(.noContent)
            case .success(.absent):
                exchange.respond(.failure(.notFound, "the project has no such revocation"))
            case .success(.full):
                exchange.respond(
                    .failure(
                        .badRequest,
                        "the project has \(Limits.revocationCount) revocations; take back those whose tokens expired"))
            case .failure(.notKept):
                exchange.respond(.answer(to: .unavailable(mayBeCarriedOut: false)))
            case .failure(.undecided): exchange.respond(.undecided)
            }
        }
    }
}
