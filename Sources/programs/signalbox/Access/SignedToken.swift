import CommandSupport
import SignalingProtocol
import SignalingTokens

extension SigningOptions.Signer {
    /// A token in the signer's usual form.
    ///
    /// - Throws: the exit code 64 for a request that no token can have.
    func token(_ request: AccessRequest) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        do {
            return switch self {
            case .project(let project):
                try T1Token.make(request, project: project, now: .current, using: &randomness)
            case .application(let application):
                try ApplicationToken.make(request, application: application, now: .current, using: &randomness)
            }
        } catch { throw AccessRequest.failure(error, session: request.sessionId.rawValue) }
    }
}

extension AccessRequest {
    /// The exit code 64, after a message on standard error.
    static func failure(_ error: any Error, session: String) -> any Error {
        let reason =
            switch error as? TokenError {
            case .malformed?, .tooLong?:
                "\"\(session)\" is not a session id. `signalbox session create` creates one. Rooms of development mode "
                    + "need no token: `signalbox link \(session) --name NAME` invites to one."
            case .otherProject?:
                "cannot create a token: the session \(session) belongs to another project. Give the credentials of that project."
            default: "cannot create a token for session \(session): \(error)"
            }
        return ExitStatus.exit(ExitStatus.usage, reason)
    }
}
