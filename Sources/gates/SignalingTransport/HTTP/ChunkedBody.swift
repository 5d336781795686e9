/// Decodes a chunked request body (RFC 9112 section 7.1) as its bytes arrive. Programs that do not know the length in
/// advance use this form. The decoder skips chunk extensions and trailers, but refuses what is none: a program before the
/// server that ends an extension or a trailer at a bare LF would see other requests (request smuggling).
struct ChunkedBody {
    enum Outcome: Hashable {
        case wantsMore
        case complete
        case malformed
        case tooLong
    }

    private enum State {
        /// In the digits of a chunk's size, after this many of them.
        case size(Int, digitCount: Int)
        /// Behind a blank, which only an extension may follow.
        case sizeBlank(Int)
        case sizeExtension(Int)
        case sizeEnd(Int)
        case data(Int)
        case dataReturn
        case dataEnd
        /// At the start of a trailer, or of the empty line that ends the body.
        case trailerStart
        case trailerName
        case trailerValue
        case trailerLineEnd
        case trailerEnd
        case end
    }

    private static let digitLimit = 8

    private(set) var bytes: [UInt8] = []
    private var state = State.size(0, digitCount: 0)
    /// Maximum size of the body in bytes, without the chunks' frames.
    let limit: Int
    /// How many bytes may still arrive, frames included: many small chunks cost more for their frames than for their
    /// data.
    private var budget: Int

    init(limit: Int) {
        self.limit = limit
        budget = 8 * limit + 4096
    }

    /// Bytes after the end of the body are ignored.
    mutating func append(_ input: some Sequence<UInt8>) -> Outcome {
        for byte in input {
            if case .end = state { break }
            budget -= 1
            guard budget >= 0 else { return .tooLong }
            if let failure = step(byte) { return failure }
        }
        if case .end = state { return .complete }
        return .wantsMore
    }

    private mutating func step(_ byte: UInt8) -> Outcome? {
        switch state {
        case .size(let size, let digitCount): return readSize(byte, size, digitCount)
        case .sizeBlank(let size):
            if byte == UInt8(ascii: ";") {
                state = .sizeExtension(size)
            } else if !Self.isBlank(byte) {
                return .malformed
            }
        case .sizeExtension(let size):
            if byte == Self.return {
                state = .sizeEnd(size)
            } else if !Self.isText(byte) {
                return .malformed
            }
        case .sizeEnd(let size):
            guard byte == Self.newline else { return .malformed }
            guard bytes.count + size <= limit else { return .tooLong }
            state = size == 0 ? .trailerStart : .data(size)
        case .data(let left):
            bytes.append(byte)
            state = left == 1 ? .dataReturn : .data(left - 1)
        case .dataReturn:
            guard byte == Self.return else { return .malformed }
            state = .dataEnd
        case .dataEnd:
            guard byte == Self.newline else { return .malformed }
            state = .size(0, digitCount: 0)
        case .trailerStart:
            guard byte == Self.return || isTokenByte(byte) else { return .malformed }
            state = byte == Self.return ? .trailerEnd : .trailerName
        case .trailerName:
            guard byte == UInt8(ascii: ":") || isTokenByte(byte) else { return .malformed }
            if byte == UInt8(ascii: ":") { state = .trailerValue }
        case .trailerValue:
            if byte == Self.return {
                state = .trailerLineEnd
            } else if !Self.isText(byte) {
                return .malformed
            }
        case .trailerLineEnd:
            guard byte == Self.newline else { return .malformed }
            state = .trailerStart
        case .trailerEnd:
            guard byte == Self.newline else { return .malformed }
            state = .end
        case .end: break
        }
        return nil
    }

    private mutating func readSize(_ byte: UInt8, _ size: Int, _ digitCount: Int) -> Outcome? {
        if let digit = Self.digit(byte) {
            guard digitCount < Self.digitLimit else { return .malformed }
            state = .size(size * 16 + digit, digitCount: digitCount + 1)
            return nil
        }
        guard digitCount > 0 else { return .malformed }
        switch byte {
        case Self.return: state = .sizeEnd(size)
        case UInt8(ascii: ";"): state = .sizeExtension(size)
        case UInt8(ascii: " "), UInt8(ascii: "\t"): state = .sizeBlank(size)
        default: return .malformed
        }
        return nil
    }

    private static let `return` = UInt8(ascii: "\r")
    private static let newline = UInt8(ascii: "\n")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Whether a byte may stand in an extension or a header's value: no control character but the tab.
    private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\t") }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
