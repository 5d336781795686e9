/// Parses a terminal's bytes into keys. It drops unknown sequences, so that they are never inserted as text.
struct KeyReader {
    private enum State {
        case plain
        /// Inside a UTF-8 character.
        case character(missing: Int)
        case escape
        /// After `ESC [` or `ESC O`.
        case sequence([UInt8])
    }

    private var state = State.plain
    private var bytes: [UInt8] = []
    private var isPasting = false
    private var text = ""

    /// The parser drops longer sequences.
    private static let sequenceByteCount = 16
    /// A larger paste is split; each part is longer than the longest message.
    private static let pasteByteCount = 65_536

    mutating func keys(in input: some Sequence<UInt8>) -> [LineEditor.Key] {
        var keys: [LineEditor.Key] = []
        for byte in input { read(byte, &keys) }
        // A paste may arrive in several reads. It stays one text, so that a long one is refused as a whole.
        if !isPasting || text.utf8.count > Self.pasteByteCount { flush(&keys) }
        return keys
    }

    private mutating func flush(_ keys: inout [LineEditor.Key]) {
        guard !text.isEmpty else { return }
        keys.append(.text(text))
        text = ""
    }

    private mutating func add(_ key: LineEditor.Key, _ keys: inout [LineEditor.Key]) {
        flush(&keys)
        keys.append(key)
    }

    private mutating func read(_ byte: UInt8, _ keys: inout [LineEditor.Key]) {
        switch state {
        case .plain: plain(byte, &keys)
        case .character(let missing):
            guard byte & 0xC0 == 0x80 else {
                // The character is incomplete: drop it and parse this byte again.
                state = .plain
                return plain(byte, &keys)
            }
            bytes.append(byte)
            state = missing > 1 ? .character(missing: missing - 1) : .plain
            if missing == 1, let character = String(validating: bytes, as: UTF8.self),
                let value = character.unicodeScalars.first?.value, !(0x80...0x9F).contains(value)
            {
                text += character
            }
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence([])
            case 0x1B: break
            default: state = .plain
            }
        case .sequence(let before):
            if (0x40...0x7E).contains(byte) {
                state = .plain
                sequence(before, byte, &keys)
            } else if before.count >= Self.sequenceByteCount || byte < 0x20 {
                state = .plain
            } else {
                state = .sequence(before + [byte])
            }
        }
    }

    private mutating func plain(_ byte: UInt8, _ keys: inout [LineEditor.Key]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
        case 0xC2..<0xF5:
            bytes = [byte]
            state = .character(missing: byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3)
        case 0x09, 0x0A, 0x0D:
            if isPasting || byte == 0x09 { text += " " } else { add(.enter, &keys) }
        case 0x7F, 0x08: add(.backspace, &keys)
        case 0x01: add(.home, &keys)
        case 0x02: add(.left, &keys)
        case 0x04: add(.endOfInput, &keys)
        case 0x05: add(.end, &keys)
        case 0x06: add(.right, &keys)
        case 0x0B: add(.eraseToEnd, &keys)
        case 0x0C: add(.redraw, &keys)
        case 0x0E: add(.down, &keys)
        case 0x10: add(.up, &keys)
        case 0x15: add(.clear, &keys)
        case 0x17: add(.eraseWord, &keys)
        default: break
        }
    }

    private mutating func sequence(_ parameters: [UInt8], _ last: UInt8, _ keys: inout [LineEditor.Key]) {
        switch (String(decoding: parameters, as: UTF8.self), last) {
        case ("200", UInt8(ascii: "~")), ("201", UInt8(ascii: "~")):
            flush(&keys)
            isPasting = parameters.last == UInt8(ascii: "0")
        case ("3", UInt8(ascii: "~")): add(.delete, &keys)
        case ("1", UInt8(ascii: "~")), ("7", UInt8(ascii: "~")), ("", UInt8(ascii: "H")): add(.home, &keys)
        case ("4", UInt8(ascii: "~")), ("8", UInt8(ascii: "~")), ("", UInt8(ascii: "F")): add(.end, &keys)
        case ("", UInt8(ascii: "A")): add(.up, &keys)
        case ("", UInt8(ascii: "B")): add(.down, &keys)
        case ("", UInt8(ascii: "C")): add(.right, &keys)
        case ("", UInt8(ascii: "D")): add(.left, &keys)
        default: break
        }
    }
}
