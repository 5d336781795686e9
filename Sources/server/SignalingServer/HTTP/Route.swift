import SignalingProtocol
import SignalingTransport

/// The resource of an HTTP request, by its path.
enum Route: Hashable {
    case livez
    case readyz
    case metrics
    /// `/admin/v1/…`
    case admin(AdminRoute)
    /// `/session/create`, and `/hl/session/create`, as SDKs from before 2015 write it.
    case createSession
    /// `/session` and `/room/{name}`, in development mode.
    case room(String)
    /// `/link`: what the code of a link stands for.
    case link
    /// `/v2/project/{apiKey}/…`, and `/v2/partner/{apiKey}/…`, its older name.
    case project(APIKey, ProjectRoute)
    case file(String)

    /// The paths of `livez` and `readyz`.
    static let healthPaths: Set<String> = ["/livez", "/readyz"]

    /// Any path without a route of its own names a file, which may not exist.
    ///
    /// A route has one spelling. A proxy that keeps `/metrics` from strangers would let `//metrics`, `/%6detrics` and
    /// `/x/../metrics` pass. Only the IDs in a path may have percent escapes, as some SDKs write them. A backend's path
    /// may begin with two slashes, if the address that an SDK was given ends with one, and end with a slash, as with the
    /// SDK for PHP.
    ///
    /// - Parameter path: with its percent escapes.
    init(path: String) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if segments.starts(with: ["", ""]),
            Self.isOfProject(segments.dropFirst()) || Self.isCreation(segments.dropFirst())
        {
            segments.removeFirst()
        }
        if Self.isOfProject(segments[...]), segments.last == "" { segments.removeLast() }
        let parts = Array(segments.dropFirst())
        guard segments[0].isEmpty, !parts.contains(where: \.isEmpty) else {
            self = .file(path)
            return
        }
        switch (parts.first, parts.count) {
        case ("livez", 1): self = .livez
        case ("readyz", 1): self = .readyz
        case ("metrics", 1): self = .metrics
        case ("admin", 3...) where parts[1] == "v1":
            self = AdminRoute(parts: Array(parts[2...])).map { .admin($0) } ?? .file(path)
        case ("session", 1): self = .room("default")
        case ("session", 2) where parts[1] == "create": self = .createSession
        case ("hl", 3) where Self.isCreation(segments[...]): self = .createSession
        case ("link", 1): self = .link
        case ("room", 2): self = PathText.decoded(parts[1]).map { .room($0) } ?? .file(path)
        case ("v2", 4...) where Self.isOfProject(segments[...]):
            if let key = PathText.decoded(parts[2]), let route = ProjectRoute(parts: Array(parts[3...])) {
                self = .project(APIKey(key), route)
            } else {
                self = .file(path)
            }
        default: self = .file(path)
        }
    }

    private static func isOfProject(_ segments: ArraySlice<String>) -> Bool {
        let parts = segments.prefix(3)
        return parts == ["", "v2", "project"] || parts == ["", "v2", "partner"]
    }

    private static func isCreation(_ segments: ArraySlice<String>) -> Bool {
        segments == ["", "session", "create"] || segments == ["", "hl", "session", "create"]
    }

    /// The permitted methods; the first is the usual one.
    var methods: [HTTPMethod] {
        switch self {
        case .livez, .readyz, .metrics, .room, .file: [.get, .head]
        case .admin(let route): route.methods
        case .createSession, .link: [.post]
        case .project(_, let route): route.methods
        }
    }
}

/// A resource below `/v2/project/{apiKey}`.
enum ProjectRoute: Hashable {
    /// `/session/{sessionId}/signal` and `/session/{sessionId}/connection/{connectionId}/signal`
    case signal(SessionID, to: ConnectionID?)
    /// `/session/{sessionId}/connection`
    case connections(SessionID)
    /// `/session/{sessionId}/connection/{connectionId}`
    case connection(SessionID, ConnectionID)
    /// `/session/{sessionId}/message`: the history (HIS-10).
    case messages(SessionID)
    /// `/session/{sessionId}/message/{seq}`
    case message(SessionID, Seq)
    /// `/session/{sessionId}/user/{userId}/message`: those of a user, to erase them (HIS-9).
    case userMessages(SessionID, UserID)
    /// `/session/{sessionId}/moderation` (MOD-7)
    case moderation(SessionID)
    /// `/session/{sessionId}/stream`: those that clients announce (STR-2). PUT (a layout) concerns media.
    case streams(SessionID)
    /// `/session/{sessionId}/stream/{streamId}`
    case stream(SessionID, String)
    /// `/link`: a code for a token.
    case link
    /// `/revocation`: refused tokens (REST-8).
    case revocations
    /// `/feed`: what the sessions of the project say (FEED-3).
    case feed
    /// Archives, broadcasts, muting and everything else about media, which OpenTok has and this server does not.
    case media

    init?(parts: [String]) {
        switch (parts.first, parts.count) {
        case ("session", 3...):
            guard let session = PathText.decoded(parts[1]) else { return nil }
            self.init(session: SessionID(session), parts: Array(parts[2...]))
        case ("link", 1): self = .link
        case ("revocation", 1): self = .revocations
        case ("feed", 1): self = .feed
        case ("archive", _), ("broadcast", _), ("captions", _), ("dial", _), ("call", _), ("render", _),
            ("callback", _), ("connect", _):
            self = .media
        default: return nil
        }
    }

    private init?(session: SessionID, parts: [String]) {
        switch (parts[0], parts.count) {
        case ("signal", 1): self = .signal(session, to: nil)
        case ("connection", 1): self = .connections(session)
        case ("connection", 2):
            guard let connection = PathText.decoded(parts[1]) else { return nil }
            self = .connection(session, ConnectionID(connection))
        case ("connection", 3) where parts[2] == "signal":
            guard let connection = PathText.decoded(parts[1]) else { return nil }
            self = .signal(session, to: ConnectionID(connection))
        case ("message", 1): self = .messages(session)
        case ("message", 2):
            guard let seq = Seq(digits: parts[1]) else { return nil }
            self = .message(session, seq)
        case ("user", 3) where parts[2] == "message":
            guard let user = PathText.decodedID(parts[1]) else { return nil }
            self = .userMessages(session, UserID(user))
        case ("moderation", 1): self = .moderation(session)
        case ("stream", 1): self = .streams(session)
        case ("stream", 2):
            guard let stream = PathText.decoded(parts[1]) else { return nil }
            self = .stream(session, stream)
        case ("connection", 3) where parts[2] == "play-dtmf", ("stream", 3) where parts[2] == "mute",
            ("stream", 3) where parts[2] == "layout", ("mute", 1), ("play-dtmf", 1), ("layout", 1):
            self = .media
        default: return nil
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .signal, .link: [.post]
        case .revocations: [.get, .head, .post, .delete]
        case .connections, .stream, .feed: [.get, .head]
        case .messages: [.get, .head, .delete]
        case .streams: [.get, .head, .put]
        case .moderation: [.get, .head, .post]
        case .connection, .message, .userMessages: [.delete]
        case .media: HTTPMethod.allCases
        }
    }
}

extension Seq {
    /// Reads digits alone: one number has one spelling.
    init?(digits: String) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(digits), number <= Seq.greatest.rawValue
        else { return nil }
        self.init(number)
    }
}
