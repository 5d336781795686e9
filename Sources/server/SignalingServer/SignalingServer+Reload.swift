import SignalingCore
import SignalingTokens
import SignalingTransport
import Synchronization

extension SignalingServer {
    /// Applies a new configuration to the running server, as far as a running server can change: the projects, their users,
    /// partner authentication, the files of the certificate, the number of connections of a session, the rates, what the history
    /// keeps, the labels of sessions, and the time to drain. Drops no connection. Ignores all other members.
    ///
    /// The connections of tokens that the settings revoke end (TOK-10). Another client of a removed project, or with a
    /// token that an old secret has signed, stays connected but cannot come back.
    ///
    /// - Returns: whether the server has another certificate.
    /// - Throws: ``ConfigurationError`` or `TransportError`. Nothing has changed then.
    @discardableResult
    public func reload(_ configuration: ServerConfiguration) async throws -> Bool {
        let projects = try configuration.access.projects().map(configuration.served)
        return try await loop.run {
            guard let parts = self.parts else {
                throw ConfigurationError("the server is not running. Start it, and reload the settings again.")
            }
            // First the only step that can fail.
            let isNewCertificate = try configuration.tls.map { try parts.transport.reloadCertificate($0) } ?? false
            let served = projects ?? configuration.served(parts.projects)
            var verifier = TokenVerifier(projects: served, allowsPartnerAuth: configuration.allowsPartnerAuth)
            verifier.revocations = parts.router.revocations.revocations
            parts.hub.verifier = verifier
            parts.hub.endRevoked()
            parts.router.verifier = verifier
            parts.router.requestRate = configuration.requestRate
            parts.router.admin.labels = configuration.sessionLabels
            parts.hub.limits.inputRate = configuration.inputRate
            parts.sessions.engine.changeLimits(
                to: self.isDurable ? configuration.durableBounds : configuration.sessionBounds, configuration.history,
                now: self.loop.now)
            parts.router.feeds.policy = configuration.history
            parts.webhooks.add(served, except: Set(configuration.projectWebhooks.keys))
            self.drainTime.withLock { $0 = configuration.drainTime }
            self.parts?.projects = served
            return isNewCertificate
        }
    }
}
