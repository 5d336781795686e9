/// What a peer did against the rules of WebSocket or our limits.
public enum ProtocolViolation: Sendable, Hashable {
    /// A binary message; this protocol is text (close with 1003).
    case binaryMessage
    /// A message over the limit in bytes (1009).
    case messageTooBig
    /// A message over the limit in fragments (1009).
    case tooManyFragments
    /// A text message that is not UTF-8 (1007).
    case invalidUTF8
}

/// Joins what libwebsockets delivers in pieces, frames that straddle reads and fragments, to whole text messages, and
/// holds them to the limits. What it keeps is bounded by `byteLimit`.
struct MessageAssembler {
    /// One callback's worth of a message.
    struct Piece {
        var bytes: UnsafeRawBufferPointer
        /// The first of its message.
        var isFirst: Bool
        /// The last of its message.
        var isFinal: Bool
        var isBinary: Bool
        /// What the frame that this belongs to still announces, after this piece.
        var remainingInFrame: Int
    }

    enum Outcome {
        case incomplete
        /// The piece is the whole message: nothing was copied.
        case wholePiece
        /// The message was joined from pieces.
        case joined([UInt8])
        /// Reported once a message; what follows of the message is dropped.
        case violation(ProtocolViolation)
    }

    private let byteLimit: Int
    private let fragmentLimit: Int
    private var joined: [UInt8] = []
    private var fragmentCount: Int32 = 0
    private var isDropping = false

    init(byteLimit: Int, fragmentLimit: Int) {
        self.byteLimit = byteLimit
        self.fragmentLimit = fragmentLimit
    }

    mutating func take(_ piece: Piece) -> Outcome {
        if piece.isFirst {
            joined = []
            fragmentCount = 0
            isDropping = false
        }
        if isDropping { return .incomplete }
        if piece.isBinary { return drop(.binaryMessage) }
        // The announced rest counts as well: a frame of 2^62 bytes is refused at its first.
        let (size, overflow) = (joined.count + piece.bytes.count).addingReportingOverflow(piece.remainingInFrame)
        if overflow || size > byteLimit { return drop(.messageTooBig) }
        if piece.remainingInFrame == 0 {
            fragmentCount += 1
            if fragmentCount > fragmentLimit || (Int(fragmentCount) == fragmentLimit && !piece.isFinal) {
                return drop(.tooManyFragments)
            }
        }
        guard piece.isFinal else {
            if joined.isEmpty { joined.reserveCapacity(size) }
            joined.append(contentsOf: piece.bytes)
            return .incomplete
        }
        if joined.isEmpty {
            return isValidUTF8(piece.bytes) ? .wholePiece : .violation(.invalidUTF8)
        }
        joined.append(contentsOf: piece.bytes)
        let message = joined
        joined = []
        return message.withUnsafeBytes(isValidUTF8) ? .joined(message) : .violation(.invalidUTF8)
    }

    private mutating func drop(_ violation: ProtocolViolation) -> Outcome {
        joined = []
        isDropping = true
        return .violation(violation)
    }
}
