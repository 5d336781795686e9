import SignalingProtocol

/// The sender's name for one message: random, and unique among the sender's messages.
public struct LocalID: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The maximum length in bytes of a local ID from others, since the timeline keeps it. 64 random bits need 16.
    static let longest = 64

    /// 64 random bits in hex.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = Hexadecimal.text(generator.next() as UInt64)
    }
}
