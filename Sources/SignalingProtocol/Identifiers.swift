/// The name of a project: OpenTok's API key (or, for Vonage's tokens, an application id).
///
/// Opaque text chosen by whoever runs the server; OpenTok's are decimal digits.
public struct APIKey: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The name of a session: `1_…` or `2_…`, carrying its project (`opentok.md` calls it session id).
///
/// Holding a value says nothing about whether it is well formed or ours; `SignalingTokens.SessionIDCodec` decides that.
public struct SessionID: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The name of one client in one session: a UUID v4 in lower-case hex, chosen by the server.
public struct ConnectionID: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A UUID v4 (RFC 9562 section 5.4) made from the caller's randomness.
    public init(using generator: inout some RandomNumberGenerator) {
        let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
        let digits =
            Hexadecimal.text((high & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000)
            + Hexadecimal.text((low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place == 8 || place == 12 || place == 16 || place == 20 { text.append("-") }
            text.append(digit)
        }
        rawValue = text
    }
}

/// The random name of a session's order of events. It changes only when that order was lost.
public struct Epoch: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// 64 random bits in hex.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = Hexadecimal.text(generator.next() as UInt64)
    }
}

/// What a client shows to resume its connection: 128 random bits in hex, new at each (re)connect.
///
/// Its text appears in no description and no log.
public struct ResumeSecret: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// 128 random bits in hex.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = Hexadecimal.text(generator.next() as UInt64) + Hexadecimal.text(generator.next() as UInt64)
    }

    public var description: String { "<resume secret>" }
}

/// The place of an event in its session's one order: 1, 2, 3, …; 0 is before the first.
public struct Seq: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static let zero = Seq(0)
    public var next: Seq { Seq(rawValue + 1) }
    public var previous: Seq { Seq(rawValue - 1) }
    public var description: String { String(rawValue) }
    public static func < (left: Seq, right: Seq) -> Bool { left.rawValue < right.rawValue }
}

/// A client's own counter for its requests; the answer carries it back. Any integer; by custom 1, 2, 3, ….
public struct RequestID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public var next: RequestID { RequestID(rawValue &+ 1) }
    public var description: String { String(rawValue) }
    public static func < (left: RequestID, right: RequestID) -> Bool { left.rawValue < right.rawValue }
}

/// Text that names something. Each kind is a type of its own, so that one cannot stand where another is meant.
public protocol RawIdentifier: RawRepresentable<String>, Hashable, Comparable, Sendable, CustomStringConvertible {
    init(rawValue: String)
}

extension RawIdentifier {
    public init(_ text: String) { self.init(rawValue: text) }
    public var description: String { rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
