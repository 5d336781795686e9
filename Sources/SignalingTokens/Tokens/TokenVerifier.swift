import SignalingProtocol

/// Decides who gets in: the one place where tokens and credentials are checked against the projects that are served.
///
/// Asks no database and no clock. Everything secret is compared in constant time.
public struct TokenVerifier: Sendable {
    private let projects: [APIKey: Project]
    private let allowsPartnerAuth: Bool

    /// When two projects have the same API key, the later one counts.
    ///
    /// - Parameter allowsPartnerAuth: whether `X-TB-PARTNER-AUTH`, which shows the secret itself, is accepted with REST
    ///   requests.
    public init(projects: [Project], allowsPartnerAuth: Bool = false) {
        self.allowsPartnerAuth = allowsPartnerAuth
        self.projects = Dictionary(projects.map { ($0.apiKey, $0) }) { _, later in later }
    }

    /// What a client that connects may do (`docs/PROTOCOL.md`, CON-3, TOK-1 to TOK-8).
    ///
    /// Throws 1004 for a key that is not served, and for a token that is malformed, forged, out of its time, or of another
    /// project or session; 1005 for a session id that is malformed or of another project. The key is looked at first, then
    /// the session id, then the token.
    ///
    /// - Parameter allowsExpired: whether a token whose time is over is good, too: it is for a connection that was opened
    ///   while it was valid and only comes back (RES-7).
    public func verify(
        token: String, sessionID: SessionID, apiKey: APIKey, now: WallTime, allowsExpired: Bool = false
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
                switch project.key {
                case .application:
                    try ApplicationToken.verify(token, project: project, now: now, allowsExpired: allowsExpired)
                case .secrets where T1Token.isOne(token):
                    try T1Token.verify(token, project: project, now: now, allowsExpired: allowsExpired)
                case .secrets: try ProjectJWT.verify(token, project: project, now: now, allowsExpired: allowsExpired)
                }
            guard grant.sessionID == sessionID else { throw .otherSession }
            return grant
        } catch {
            throw SignalingError(.authenticationError, "the token is refused: \(error)")
        }
    }

    /// Whose backend a REST request comes from (REST-1). `apiKey` is the project of the request's path, for an application
    /// its id; nil when the path has none (`POST /session/create`): then the credentials say it.
    ///
    /// Throws 403 when the credentials are missing, malformed, forged, out of time, of another project, or a client's token.
    public func verifyRequest(
        _ headers: RequestCredentials.Headers, apiKey: APIKey?, now: WallTime
    ) throws(SignalingError) -> Project {
        do throws(TokenError) {
            if let token = headers.openTokAuth { return try verifyProject(token, apiKey: apiKey, now: now) }
            if let authorization = headers.authorization {
                guard let token = RequestCredentials.bearer(authorization) else { throw .malformed }
                return try verifyApplication(String(token), apiKey: apiKey, now: now)
            }
            if allowsPartnerAuth, let pair = headers.partnerAuth { return try verifyPartner(pair, apiKey: apiKey) }
            throw .missing
        } catch {
            throw SignalingError(.permissionDenied, "the credentials are refused: \(error)")
        }
    }

    /// The same for a request with `X-OPENTOK-AUTH` alone.
    public func verifyRequest(
        credentials: String?, apiKey: APIKey?, now: WallTime
    ) throws(SignalingError) -> Project {
        try verifyRequest(.init(openTokAuth: credentials), apiKey: apiKey, now: now)
    }

    private func verifyProject(_ text: String, apiKey: APIKey?, now: WallTime) throws(TokenError) -> Project {
        guard text.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        let token = try JSONWebToken.Parts(text)
        // Only to choose the secret; the claims are read again once that secret has verified them.
        let project = try project(try token.claims().iss, of: apiKey)
        guard case .secrets = project.key else { throw .wrongAlgorithm }
        try RequestCredentials.verify(token, project: project, now: now)
        return project
    }

    private func verifyApplication(_ text: String, apiKey: APIKey?, now: WallTime) throws(TokenError) -> Project {
        guard text.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        let token = try JSONWebToken.Parts(text)
        let project = try project(try token.claims().applicationID, of: apiKey)
        guard case .application = project.key else { throw .wrongAlgorithm }
        try RequestCredentials.verify(token, project: project, now: now)
        return project
    }

    private func verifyPartner(_ pair: String, apiKey: APIKey?) throws(TokenError) -> Project {
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .malformed }
        let project = try project(String(parts[0]), of: apiKey)
        guard RequestCredentials.isSecret(parts[1], of: project) else { throw .wrongSignature }
        return project
    }

    /// The project of that name, if it is the path's.
    private func project(_ name: String?, of apiKey: APIKey?) throws(TokenError) -> Project {
        guard let name, let project = projects[APIKey(name)], apiKey == nil || apiKey == project.apiKey else {
            throw .otherProject
        }
        return project
    }
}
