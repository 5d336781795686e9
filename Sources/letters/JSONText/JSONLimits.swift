/// How deep, how long and how rich a JSON text may be.
public struct JSONLimits: Hashable, Sendable {
    /// Deepest nesting, in levels: a bare number has 0, `[]` has 1, `[[]]` has 2.
    public let depth: Int

    /// Longest text, in bytes.
    public let byteCount: Int

    /// Most values, containers included: `{"a":[1,2]}` has 4. A member's name belongs to its value.
    ///
    /// Time and memory for a text depend on the number of its values more than on its length: 64 kB of empty lists cost
    /// a hundred times as much as a string of 64 kB. Set it for texts from strangers.
    public let valueCount: Int

    /// 32 levels and 16 MiB, and any number of values.
    public static let standard = JSONLimits()

    /// - Parameters:
    ///   - depth: clamped to 0...256, since values are built and freed recursively.
    ///   - byteCount: clamped to 0...1 GiB, since json-c counts in 32 bits.
    ///   - valueCount: at least 1. The default is any number.
    public init(depth: Int = 32, byteCount: Int = 16 * 1_048_576, valueCount: Int = .max) {
        self.depth = min(max(depth, 0), 256)
        self.byteCount = min(max(byteCount, 0), 1 << 30)
        self.valueCount = max(valueCount, 1)
    }
}
