/// The name of a project: OpenTok's API key, or the application ID of a Vonage application.
///
/// Opaque text that the server's operator chooses. OpenTok's keys are decimal digits.
public struct APIKey: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The name of a session: `1_…` or `2_…`. It names its project, too (OpenTok calls it the session ID).
///
/// A value is not necessarily well formed or of a known project: `SignalingTokens.SessionIDCodec` checks that.
public struct SessionID: RawIdentifier {
    public let rawValue: String
    /// Computed once, since each signal looks its session up several times.
    private let textHash: Int

    public init(rawValue: String) {
        self.rawValue = rawValue
        textHash = rawValue.hashValue
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.textHash == right.textHash && left.rawValue == right.rawValue
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(textHash) }
}

/// The name of one client in one session: a UUID v4 in lower-case hex, chosen by the server.
public struct ConnectionID: RawIdentifier {
    public let rawValue: String
    /// Computed once, since each signal looks its sender up several times.
    private let textHash: Int

    public init(rawValue: String) {
        self.rawValue = rawValue
        textHash = rawValue.hashValue
    }

    /// A new UUID v4 (RFC 9562 section 5.4) made from the caller's randomness.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(rawValue: RandomText.uuid(using: &generator))
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.textHash == right.textHash && left.rawValue == right.rawValue
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(textHash) }
}

/// The name of a user: the same over tabs, devices, reloads and tokens (USR-1).
public struct UserID: RawIdentifier {
    public let rawValue: String
    /// A value is not necessarily valid: ``isValid(_:)`` checks that.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Whether the text has 1 to ``Limits/userIDLength`` UTF-16 units, and no control character.
    public static func isValid(_ text: String) -> Bool {
        (1...Limits.userIDLength).contains(text.utf16.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    // By bytes, as browsers and the history compare them: Swift would hold "é" and "e" with an accent for one.
    public static func == (left: UserID, right: UserID) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    public static func < (left: UserID, right: UserID) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Checks the ID as the server does.
    ///
    /// - Throws: `invalidParameter` for one that no user has.
    public func validate() throws(SignalingError) {
        guard Self.isValid(rawValue) else { throw SignalingError(.invalidParameter, Self.requirement) }
    }

    /// What ``isValid(_:)`` demands, for an error that names the member `user`.
    public static let requirement =
        "\"user\" must be 1 to \(Limits.userIDLength) UTF-16 units without control characters"
}

/// The random name of a session's order of events. It changes only when the server loses that order.
public struct Epoch: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// 64 random bits in hex, made from the caller's randomness.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = RandomText.bits64(using: &generator)
    }
}

/// The secret that a client presents to resume its connection: 128 random bits in hex. Each connect and each resume
/// returns a new one (RES-6).
///
/// Its text appears in no description and no log.
public struct ResumeSecret: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// 128 random bits in hex, made from the caller's randomness.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = RandomText.bits128(using: &generator)
    }

    public var description: String { "<resume secret>" }
}

/// The sequence number of an event in its session's order: 1, 2, 3, …. Zero is before the first event.
public struct Seq: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static let zero = Seq(0)
    /// The greatest seq that there can be (HIS-3): browsers have integers up to it.
    public static let greatest = Seq(1 << 53)
    public var next: Seq { Seq(rawValue + 1) }
    public var previous: Seq { Seq(rawValue - 1) }
    public func advanced(by step: Int64) -> Seq { Seq(rawValue &+ step) }
    public var description: String { String(rawValue) }
    public static func < (left: Seq, right: Seq) -> Bool { left.rawValue < right.rawValue }
}

/// A client's own number for one of its requests; the answer carries it back.
///
/// Any 64-bit integer. Clients count 1, 2, 3, ….
public struct RequestID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public var next: RequestID { RequestID(rawValue &+ 1) }
    public var description: String { String(rawValue) }
    public static func < (left: RequestID, right: RequestID) -> Bool { left.rawValue < right.rawValue }
}

/// Text that names something. Each kind of name is a separate type, so the compiler rejects one in place of another.
public protocol RawIdentifier: RawRepresentable<String>, Hashable, Comparable, Sendable, CustomStringConvertible {
    init(rawValue: String)
}

extension RawIdentifier {
    public init(_ text: String) { self.init(rawValue: text) }
    public var description: String { rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
