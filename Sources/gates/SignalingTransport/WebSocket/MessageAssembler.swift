/// Joins the pieces that libwebsockets delivers (fragments, and parts of frames that straddle two reads) into whole
/// text messages, and checks the limits. It buffers at most `byteLimit` bytes, and only bytes that have arrived: a frame
/// header that announces more reserves nothing.
struct MessageAssembler {
    /// The part of a message that one receive callback delivers.
    struct Piece {
        var bytes: UnsafeRawBufferPointer
        /// The first piece of its message.
        var isFirst: Bool
        /// The last piece of its message.
        var isFinal: Bool
        var isBinary: Bool
        /// How many bytes of the same frame are still to come.
        var remainingInFrame: Int
    }

    enum Outcome {
        case incomplete
        /// The piece is the whole message; nothing was copied.
        case wholePiece
        /// The message, joined from several pieces, which came in this many frames.
        case joined([UInt8], frameCount: Int)
        /// Reported once per message; the rest of the message is dropped.
        case violation(ProtocolViolation)
    }

    var byteLimit: Int
    private let fragmentLimit: Int
    private var joined: [UInt8] = []
    /// How many bytes of `joined` are whole characters.
    private var checkedCount = 0
    private var fragmentCount: Int32 = 0
    private var isDropping = false

    init(byteLimit: Int, fragmentLimit: Int) {
        self.byteLimit = byteLimit
        self.fragmentLimit = fragmentLimit
    }

    mutating func append(_ piece: Piece) -> Outcome {
        if piece.isFirst {
            joined = []
            checkedCount = 0
            fragmentCount = 0
            isDropping = false
        }
        if isDropping { return .incomplete }
        if piece.isBinary { return drop(.binaryMessage) }
        // The announced rest counts, too: a frame of 2^62 bytes is a violation at its first byte.
        let (size, overflow) = (joined.count + piece.bytes.count).addingReportingOverflow(piece.remainingInFrame)
        if overflow || size > byteLimit { return drop(.messageTooBig) }
        if piece.remainingInFrame == 0 {
            fragmentCount += 1
            if fragmentCount > fragmentLimit || (Int(fragmentCount) == fragmentLimit && !piece.isFinal) {
                return drop(.tooManyFragments)
            }
        }
        if piece.isFinal, joined.isEmpty, fragmentCount <= 1 {
            return isValidUTF8(piece.bytes) ? .wholePiece : .violation(.invalidUTF8)
        }
        joined.append(contentsOf: piece.bytes)
        guard joinedIsText() else { return drop(.invalidUTF8) }
        guard piece.isFinal else { return .incomplete }
        guard checkedCount == joined.count else { return drop(.invalidUTF8) }
        let message = joined
        joined = []
        return .joined(message, frameCount: Int(fragmentCount))
    }

    /// Checks what has arrived since the last call, so that bad text is refused before its rest arrives (RFC 6455,
    /// section 8.1).
    private mutating func joinedIsText() -> Bool {
        let count = joined.withUnsafeBytes {
            wholeUTF8Count(UnsafeRawBufferPointer(rebasing: $0.dropFirst(checkedCount)))
        }
        guard let count else { return false }
        checkedCount += count
        return true
    }

    private mutating func drop(_ violation: ProtocolViolation) -> Outcome {
        joined = []
        isDropping = true
        return .violation(violation)
    }
}
