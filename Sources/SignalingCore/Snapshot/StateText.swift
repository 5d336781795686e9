import SignalingProtocol

/// The format of the sessions of a stopped server: ``StateWriter`` writes it and ``StateReader`` reads it (RES-15).
///
/// Lines of JSON. The first line has the version and the time of writing. Each session has a line with its name and its
/// counts, then a line for each connection, ticket and sender. Each event has two lines: its attributes, and its own
/// line as clients get it. The last line has a checksum. Moments are nanoseconds before or after the time of writing.
enum StateText {
    /// Increased by every change of the format: a reader reads texts of its own version only.
    static let version: Int64 = 2

    /// The maximum length of a line in bytes. The largest event has 64 KiB, and a connection with all its answers has
    /// less.
    static let lineByteLimit = 1_048_576

    /// FNV-1a (Fowler, Noll, Vo). It detects accidental damage, not forgery: only the server's user can write the file.
    struct Checksum: Hashable, Sendable {
        private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ bytes: some Sequence<UInt8>) {
            let isDone: Void? = bytes.withContiguousStorageIfAvailable { buffer in
                var sum = sum
                for byte in buffer { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
                self.sum = sum
            }
            if isDone == nil { add(Array(bytes)) }
        }

        var text: String { String(sum, radix: 16) }
    }
}

/// Why the reader refuses a text.
public enum StateFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a state of this program.
    case foreign
    /// The text has this other version of the format.
    case version(Int64)
    /// The text is incomplete, or was changed after it was written.
    case damaged

    public var description: String {
        switch self {
        case .foreign: "it is not a state file of this program"
        case .version(let number): "it has version \(number), and this program reads version \(StateText.version)"
        case .damaged: "it is damaged"
        }
    }
}
