/// Why bytes are refused as a logged command or as the state of a session.
public enum CodingFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end within a value, or claim more values than they have room for.
    case truncated
    /// The bytes have this other version of the format.
    case version(UInt8)
    /// A value is outside of its range, or contradicts another one.
    case malformed
    /// More bytes follow the last value.
    case trailingBytes

    public var description: String {
        switch self {
        case .truncated: "the bytes end within a value"
        case .version(let number): "the bytes have version \(number) of the format, which this program does not know"
        case .malformed: "a value is outside of its range"
        case .trailingBytes: "bytes follow the last value"
        }
    }
}
