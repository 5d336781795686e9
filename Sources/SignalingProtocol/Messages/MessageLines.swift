/// The lines of a text message (WIRE-3): split at U+000A, empty ones left out.
public struct MessageLines: Sequence, IteratorProtocol {
    /// What is left of the message: whole lines.
    public private(set) var rest: UnsafeRawBufferPointer

    /// - Parameter message: has to outlive this value.
    public init(_ message: UnsafeRawBufferPointer) { rest = message }

    public mutating func next() -> UnsafeRawBufferPointer? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.count
            let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
            if !line.isEmpty { return line }
        }
        return nil
    }
}
