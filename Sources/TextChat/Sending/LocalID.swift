import SignalingProtocol

/// The sender's own name for one message, random, unique among the sender's messages.
public struct LocalID: RawIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Longer ones are not taken from others, in bytes: they are kept in memory, and 64 random bits need 16.
    static let longest = 64

    /// 64 random bits in hex.
    public init(using generator: inout some RandomNumberGenerator) {
        let digits = String(generator.next() as UInt64, radix: 16)
        rawValue = String(repeating: "0", count: 16 - digits.count) + digits
    }
}
