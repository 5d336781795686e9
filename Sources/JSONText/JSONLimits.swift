/// How much JSON a parser takes.
public struct JSONLimits: Hashable, Sendable {
    /// Deepest nesting: `[]` is 1, `[[]]` is 2, a bare number 0.
    public let depth: Int

    /// Longest text, in bytes.
    public let byteCount: Int

    /// 32 levels, 16 MiB.
    public static let standard = JSONLimits()

    /// `depth` is held within 0...256, since values are built and freed recursively; `byteCount` within
    /// 0...1 GiB, since json-c counts in 32 bits.
    public init(depth: Int = 32, byteCount: Int = 16 * 1_048_576) {
        self.depth = min(max(depth, 0), 256)
        self.byteCount = min(max(byteCount, 0), 1 << 30)
    }
}
