import SignalingProtocol

/// The revocations of one project (TOK-10). Bounded, and looked through without a search.
public struct Revocations: Hashable, Sendable {
    private var everythingBefore: Int64?
    private var users: [UserID: Int64] = [:]
    private var tokens: Set<String> = []

    public init() {}

    /// - Parameter list: of two with one subject, the later moment counts. Those beyond the limit are left out.
    public init(_ list: some Sequence<Revocation>) {
        for revocation in list { _ = add(revocation) }
    }

    public var isEmpty: Bool { everythingBefore == nil && users.isEmpty && tokens.isEmpty }
    public var count: Int { (everythingBefore == nil ? 0 : 1) + users.count + tokens.count }

    /// What holds: that of all tokens, then those of users and of single tokens, each sorted.
    public var list: [Revocation] {
        (everythingBefore.map { [.everything(before: $0)] } ?? [])
            + users.sorted { $0.key < $1.key }.map { .user($0.key, before: $0.value) }
            + tokens.sorted().map { .token($0) }
    }

    public func revokes(_ token: TokenOrigin) -> Bool {
        if let everythingBefore, token.issuedSeconds < everythingBefore { return true }
        if let user = token.user, let before = users[user], token.issuedSeconds < before { return true }
        if let id = token.tokenID, tokens.contains(id) { return true }
        return false
    }

    /// Whether adding this revocation would change nothing.
    public func covers(_ revocation: Revocation) -> Bool {
        switch revocation {
        case .everything(let before): everythingBefore.map { $0 >= before } ?? false
        case .user(let user, let before): users[user].map { $0 >= before } ?? false
        case .token(let id): tokens.contains(id)
        }
    }

    /// Adds a revocation. A later moment replaces an earlier one, and an earlier one changes nothing.
    ///
    /// - Returns: what holds now; `nil`, without a change, if the project has `Limits.revocationCount` others.
    public mutating func add(_ revocation: Revocation) -> Revocation? {
        guard contains(revocation.subject) || count < Limits.revocationCount else { return nil }
        switch revocation {
        case .everything(let before):
            let latest = max(before, everythingBefore ?? before)
            everythingBefore = latest
            return .everything(before: latest)
        case .user(let user, let before):
            let latest = max(before, users[user] ?? before)
            users[user] = latest
            return .user(user, before: latest)
        case .token(let id):
            tokens.insert(id)
            return revocation
        }
    }

    /// Takes a revocation back.
    ///
    /// - Returns: whether there was one.
    public mutating func remove(_ subject: Revocation.Subject) -> Bool {
        switch subject {
        case .everything:
            defer { everythingBefore = nil }
            return everythingBefore != nil
        case .user(let user): return users.removeValue(forKey: user) != nil
        case .token(let id): return tokens.remove(id) != nil
        }
    }

    /// Whether there is one.
    public func contains(_ subject: Revocation.Subject) -> Bool {
        switch subject {
        case .everything: everythingBefore != nil
        case .user(let user): users[user] != nil
        case .token(let id): tokens.contains(id)
        }
    }
}
