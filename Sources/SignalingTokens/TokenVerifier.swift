import SignalingProtocol

/// Decides who gets in: the one place where tokens and credentials are checked against the projects that are served.
///
/// Asks no database and no clock. Everything secret is compared in constant time.
public struct TokenVerifier: Sendable {
    private let projects: [APIKey: Project]

    /// When two projects have the same API key, the later one counts.
    public init(projects: [Project]) {
        self.projects = Dictionary(projects.map { ($0.apiKey, $0) }) { _, later in later }
    }

    /// What a client that connects may do (`docs/PROTOCOL.md`, CON-3, TOK-1 to TOK-6).
    ///
    /// Throws 1004 for a key that is not served, and for a token that is malformed, forged, out of its time, or of another
    /// project or session; 1005 for a session id that is malformed or of another project. The key is looked at first, then
    /// the session id, then the token.
    public func verify(
        token: String, sessionID: SessionID, apiKey: APIKey, now: WallTime
    ) throws(SignalingError) -> AccessGrant {
        guard let project = projects[apiKey] else {
            throw SignalingError(.authenticationError, "the API key is not known here")
        }
        do throws(TokenError) {
            guard try SessionIDCodec.read(sessionID).apiKey == apiKey else { throw .otherProject }
        } catch {
            throw SignalingError(.invalidSession, "the session id is refused: \(error)")
        }
        do throws(TokenError) {
            let grant =
                T1Token.isOne(token)
                ? try T1Token.verify(token, project: project, now: now)
                : try ProjectJWT.verify(token, project: project, now: now)
            guard grant.sessionID == sessionID else { throw .otherSession }
            return grant
        } catch {
            throw SignalingError(.authenticationError, "the token is refused: \(error)")
        }
    }

    /// Whose backend a REST request comes from (REST-1). `apiKey` is the project of the request's path, nil when the path
    /// has none (`POST /session/create`): then the credentials say it.
    ///
    /// Throws 403 when the credentials are missing, malformed, forged, out of time, of another project, or a client's token.
    public func verifyRequest(
        credentials: String?, apiKey: APIKey?, now: WallTime
    ) throws(SignalingError) -> Project {
        do throws(TokenError) {
            guard let credentials, credentials.utf8.count <= Limits.tokenByteCount else { throw .malformed }
            let token = try JSONWebToken.Parts(credentials)
            // Only to choose the secret; the claims are read again once that secret has verified them.
            guard let issuer = try token.claims().iss, let project = projects[APIKey(issuer)],
                apiKey == nil || apiKey == project.apiKey
            else { throw .otherProject }
            try RequestCredentials.verify(token, project: project, now: now)
            return project
        } catch {
            throw SignalingError(.permissionDenied, "the credentials are refused: \(error)")
        }
    }
}
