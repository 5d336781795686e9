import SignalingProtocol

/// The sessions of a server that has stopped, as text: what ``StateWriter`` writes and ``StateReader`` reads.
///
/// Lines of JSON: one that says what this is, then for each session a line with its name and what there is of it,
/// and a line for each connection, ticket and sender. Each event has two, one about it and its own, just as clients get it.
/// The last line has a checksum. Moments are nanoseconds before or after that at which it was written.
enum StateText {
    /// Another one for each change: a text is read by who knows all that stands in it, or not at all.
    static let version: Int64 = 1

    /// Longest line, in bytes: an event of the largest size has 64 KiB at most, a connection with all its answers less.
    static let lineByteLimit = 1_048_576

    /// FNV-1a (Fowler, Noll, Vo). It is there for accidents: who may write the file needs no forgery.
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

/// Why a text is not taken as a server's state.
public enum StateFault: Error, Hashable, Sendable, CustomStringConvertible {
    case foreign
    case version(Int64)
    case damaged

    public var description: String {
        switch self {
        case .foreign: "it is not a state of this program"
        case .version(let number): "it is of version \(number), and this program reads \(StateText.version)"
        case .damaged: "it is damaged"
        }
    }
}
