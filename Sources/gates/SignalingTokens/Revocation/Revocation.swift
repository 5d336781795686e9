import JSONText
import SignalingProtocol

/// What a project refuses before it expires (TOK-10).
public enum Revocation: Hashable, Sendable {
    /// All tokens of the project that were issued before this second since 1970.
    case everything(before: Int64)
    /// The tokens of a user that were issued before this second since 1970.
    case user(UserID, before: Int64)
    /// The JWT with this `jti`.
    case token(String)

    /// What a revocation is about. A project has at most one for each.
    public enum Subject: Hashable, Sendable {
        case everything
        case user(UserID)
        case token(String)
    }

    /// Longest `jti` by which a token can be revoked, in UTF-16 units.
    public static let tokenIDLength = 256

    /// Whether a token can be revoked by this `jti`.
    public static func isTokenID(_ text: String) -> Bool { (1...tokenIDLength).contains(text.utf16.count) }

    public var subject: Subject {
        switch self {
        case .everything: .everything
        case .user(let user, _): .user(user)
        case .token(let id): .token(id)
        }
    }

    /// The second since 1970 from which tokens are valid again; `nil` for a single token.
    public var before: Int64? {
        switch self {
        case .everything(let before), .user(_, let before): before
        case .token: nil
        }
    }

    /// - Parameter before: has no meaning for a single token.
    public init(_ subject: Subject, before: Int64) {
        self =
            switch subject {
            case .everything: .everything(before: before)
            case .user(let user): .user(user, before: before)
            case .token(let id): .token(id)
            }
    }

    /// As REST and the state folder have it: `{"user":"u-17","before":1700000000}`, `{"before":…}`, `{"jti":"…"}`.
    public var json: JSONValue {
        switch self {
        case .everything(let before): ["before": .integer(before)]
        case .user(let user, let before): ["user": .string(user.rawValue), "before": .integer(before)]
        case .token(let id): ["jti": .string(id)]
        }
    }
}

extension Revocation.Subject {
    /// - Parameters: the members of a request, at most one of them.
    /// - Throws: `invalidParameter` for both, and for a text that is neither a user ID nor a `jti`.
    public init(user: String?, jti: String?) throws(SignalingError) {
        switch (user, jti) {
        case (nil, nil): self = .everything
        case (let user?, nil):
            guard UserID.isValid(user) else {
                throw SignalingError(
                    .invalidParameter,
                    "\"user\" must be 1 to \(Limits.userIDLength) UTF-16 units without control characters")
            }
            self = .user(UserID(user))
        case (nil, let jti?):
            guard Revocation.isTokenID(jti) else {
                throw SignalingError(
                    .invalidParameter, "\"jti\" must be 1 to \(Revocation.tokenIDLength) UTF-16 units")
            }
            self = .token(jti)
        case (.some, .some): throw SignalingError(.invalidParameter, "use \"user\" or \"jti\", not both")
        }
    }
}

extension Revocation {
    /// Reads one as ``json`` writes it. `before` may be absent only for a single token.
    ///
    /// - Throws: `invalidParameter` for anything else.
    public init(_ json: JSONValue) throws(SignalingError) {
        guard let object = json.objectValue else {
            throw SignalingError(.invalidParameter, "a revocation is an object with \"user\", \"jti\" or \"before\"")
        }
        for member in object where !["user", "jti", "before"].contains(member.name) {
            throw SignalingError(
                .invalidParameter, "a revocation has \"user\", \"jti\" and \"before\", and no other members")
        }
        let subject = try Subject(user: try object.text("user"), jti: try object.text("jti"))
        if case .token = subject {
            guard object["before"] == nil else {
                throw SignalingError(.invalidParameter, "\"before\" has no meaning beside \"jti\"")
            }
            self.init(subject, before: 0)
        } else {
            guard let before = object["before"]?.integerValue, before >= 0 else {
                throw SignalingError(.invalidParameter, "\"before\" must be a number of seconds since 1970")
            }
            self.init(subject, before: before)
        }
    }
}

extension JSONObject {
    fileprivate func text(_ name: String) throws(SignalingError) -> String? {
        guard let member = self[name] else { return nil }
        guard let text = member.stringValue else {
            throw SignalingError(.invalidParameter, "\"\(name)\" must be a string")
        }
        return text
    }
}
