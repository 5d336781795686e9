import JSONText

/// The lines of a text message (WIRE-3): splits at U+000A and skips empty lines.
public struct MessageLines: Sequence, IteratorProtocol {
    /// The bytes of the lines that have not been returned yet.
    public private(set) var rest: UnsafeRawBufferPointer

    /// - Parameter message: the bytes of the message. They must outlive this value.
    public init(_ message: UnsafeRawBufferPointer) { rest = message }

    public mutating func next() -> UnsafeRawBufferPointer? {
        while !rest.isEmpty {
            let end = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: rest) ?? rest.count
            let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
            if !line.isEmpty { return line }
        }
        return nil
    }
}
