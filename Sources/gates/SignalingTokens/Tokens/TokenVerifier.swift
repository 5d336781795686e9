import SignalingProtocol

/// Checks tokens and credentials against the projects of a server.
///
/// Uses no database and no clock. Compares secrets and signatures in constant time.
public struct TokenVerifier: Sendable {
    private let projects: [APIKey: Project]
    private let allowsPartnerAuth: Bool
    /// What the projects have revoked by REST (REST-8), in addition to their settings. Default: nothing.
    public var revocations: [APIKey: Revocations] = [:]

    /// - Parameters:
    ///   - projects: when two have the same API key, the later one counts.
    ///   - allowsPartnerAuth: whether REST requests may use `X-TB-PARTNER-AUTH`, which contains the secret itself. The
    ///     default is false.
    public init(projects: [Project], allowsPartnerAuth: Bool = false) {
        self.allowsPartnerAuth = allowsPartnerAuth
        self.projects = Dictionary(projects.map { ($0.apiKey, $0) }) { _, later in later }
    }

    /// Returns what a connecting client may do (CON-3, TOK-1 to TOK-8, TOK-10). Checks the API key, the session ID and the
    /// token, in this order.
    ///
    /// - Parameter dates: those that count. A client that resumes a connection has shown the token before, while it was
    ///   valid (RES-7).
    /// - Throws: `authenticationError` for an unknown API key, and for a token that is malformed, forged, expired, not
    ///   valid yet, revoked, or of another project or session. `invalidSession` for a session ID that is malformed or of another
    ///   project.
    public func verify(
        token: String, sessionId: SessionID, apiKey: APIKey, now: WallTime, checking dates: TokenDates = .all
    ) throws(SignalingError) -> AccessGrant {
        guard let project = projects[apiKey] else {
            throw SignalingError(
                .authenticationError,
                "the server does not serve this API key; check the client's key and the server's settings")
        }
        do throws(TokenError) {
            guard try SessionIDCodec.apiKey(of: sessionId) == apiKey else { throw .otherProject }
        } catch {
            throw SignalingError(.invalidSession, "the session ID is refused: \(error)")
        }
        do throws(TokenError) {
            let grant =
                switch project.key {
                case .application:
                    try ApplicationToken.verify(token, project: project, now: now, checking: dates)
                case .secrets where T1Token.isOne(token):
                    try T1Token.verify(token, project: project, now: now, checking: dates)
                case .secrets: try ProjectJWT.verify(token, project: project, now: now, checking: dates)
                }
            guard grant.sessionId == sessionId else { throw .otherSession }
            guard !isRevoked(grant.origin, of: apiKey) else { throw .revoked }
            return grant
        } catch {
            throw SignalingError(.authenticationError, "the token is refused: \(Self.reason(error))")
        }
    }

    /// Whether the project refuses a token that it has signed (TOK-10).
    public func isRevoked(_ token: TokenOrigin, of project: APIKey) -> Bool {
        if let revoked = projects[project]?.revoked, revoked.revokes(token) { return true }
        return revocations[project]?.revokes(token) ?? false
    }

    /// The end of the sentence for the client, with what to do next where the token itself does not tell.
    private static func reason(_ error: TokenError) -> String {
        error == .malformed
            ? "\(error); use a T1 token or a JWT, which `signalbox token SESSION` creates" : "\(error)"
    }

    /// Returns the project whose backend sent a REST request (REST-1).
    ///
    /// - Parameter apiKey: the API key or application ID in the request's path; `nil` when the path has none
    ///   (`POST /session/create`): then the credentials name the project.
    /// - Throws: `permissionDenied` when the credentials are missing, malformed, forged, expired, not valid yet, of
    ///   another project, or a client's token.
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

    /// The same for a request with the header `X-OPENTOK-AUTH` alone.
    public func verifyRequest(
        credentials: String?, apiKey: APIKey?, now: WallTime
    ) throws(SignalingError) -> Project {
        try verifyRequest(.init(openTokAuth: credentials), apiKey: apiKey, now: now)
    }

    private func verifyProject(_ text: String, apiKey: APIKey?, now: WallTime) throws(TokenError) -> Project {
        guard text.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        let token = try JSONWebToken.Parts(text)
        // This only chooses the secret. The claims are read again after that secret has verified them.
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

    /// The served project of that name, if the path names the same one or none.
    private func project(_ name: String?, of apiKey: APIKey?) throws(TokenError) -> Project {
        guard let name, let project = projects[APIKey(name)], apiKey == nil || apiKey == project.apiKey else {
            throw .otherProject
        }
        return project
    }
}
