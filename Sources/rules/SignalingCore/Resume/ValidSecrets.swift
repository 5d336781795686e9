import SignalingProtocol

/// The secrets with which a client can claim one connection, as hashes (RES-6).
///
/// The server does not know which `connected` has reached the client, and an attempt that the client has given up may
/// arrive after a later one. So the server voids a secret only when it knows that the client has a newer one.
struct ValidSecrets: Hashable, Sendable {
    /// The maximum number of unconfirmed secrets (G5).
    static let unconfirmedLimit = 8

    /// The newest secret that the client is known to have: the server has received a line on its socket, or the client
    /// began the connection with it.
    private(set) var confirmed: ResumeSecretHash
    /// The secrets that the server has issued since then, the newest last.
    private(set) var unconfirmed: [ResumeSecretHash]
    /// The maximum number of superseded secrets (G5).
    static let supersededLimit = 4
    /// Secrets that were valid, the newest last. A connect with one is late: its client has given it up (RES-8).
    private(set) var superseded: [ResumeSecretHash]

    /// - Parameters:
    ///   - unconfirmed: the newest last. Only the newest ones up to the limit count.
    ///   - superseded: likewise.
    init(
        _ confirmed: ResumeSecretHash, unconfirmed: [ResumeSecretHash] = [], superseded: [ResumeSecretHash] = []
    ) {
        self.confirmed = confirmed
        self.unconfirmed = unconfirmed.suffix(Self.unconfirmedLimit)
        self.superseded = superseded.suffix(Self.supersededLimit)
    }

    func contains(_ secret: ResumeSecretHash) -> Bool { secret == confirmed || unconfirmed.contains(secret) }

    /// Adds the secret for a new socket. Drops the oldest unconfirmed one over the limit.
    ///
    /// - Parameter claimed: the secret that the client presented. It is never dropped: the client has it, and may have
    ///   no newer one.
    mutating func issue(_ secret: ResumeSecretHash, claimed: ResumeSecretHash) {
        if unconfirmed.count >= Self.unconfirmedLimit, let oldest = unconfirmed.firstIndex(where: { $0 != claimed }) {
            unconfirmed.remove(at: oldest)
        }
        unconfirmed.append(secret)
    }

    /// The server has received a line on the newest socket: its client has the newest secret, and needs no other.
    ///
    /// - Parameter rules: older ones know of no superseded secrets.
    mutating func confirm(_ rules: RulesVersion = .current) {
        guard let newest = unconfirmed.last else { return }
        let old = rules >= .history ? superseded + [confirmed] + unconfirmed.dropLast() : []
        self = ValidSecrets(newest, superseded: old)
    }

    /// Takes a superseded secret out, so that it is answered once: a client that has no other, such as a copy of a tab,
    /// begins a connection with its next attempt.
    ///
    /// - Returns: whether it was there.
    mutating func takeSuperseded(_ secret: ResumeSecretHash) -> Bool {
        guard let index = superseded.firstIndex(of: secret) else { return false }
        superseded.remove(at: index)
        return true
    }
}
