/// How deep and how long a JSON text may be.
public struct JSONLimits: Hashable, Sendable {
    /// Deepest nesting, in levels: a bare number has 0, `[]` has 1, `[[]]` has 2.
    public let depth: Int

    /// Longest text, in bytes.
    public let byteCount: Int

    /// 32 levels and 16 MiB.
    public static let standard = JSONLimits()

    /// - Parameters:
    ///   - depth: clamped to 0...256, since values are built and freed recursively.
    ///   - byteCount: clamped to 0...1 GiB, since json-c counts in 32 bits.
    public init(depth: Int = 32, byteCount: Int = 16 * 1_048_576) {
        self.depth = min(max(depth, 0), 256)
        self.byteCount = min(max(byteCount, 0), 1 << 30)
    }
}
