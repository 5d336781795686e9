/// The line that a person is writing in a terminal: keys go in as the bytes that a terminal sends, what they mean comes out.
///
/// Characters are what a reader takes for one. Pasted line breaks are blanks, so that nothing is sent by a paste.
struct LineEditor: Equatable {
    enum Key: Equatable {
        case text(String)
        case enter, backspace, delete, left, right, home, end, clear, eraseToEnd, eraseWord, redraw, endOfInput
    }

    private(set) var characters: [Character] = []
    /// Characters before the cursor.
    private(set) var cursor = 0

    var text: String { String(characters) }

    mutating func replace(_ text: String) {
        characters = Array(text)
        cursor = characters.count
    }

    /// Changes the line; `enter`, `redraw` and `endOfInput` do not.
    mutating func apply(_ key: Key) {
        switch key {
        case .text(let text):
            // Joined, since what is added may combine with what stands before it.
            let head = Array(String(characters[..<cursor]) + text)
            characters = Array(String(head) + String(characters[cursor...]))
            cursor = min(head.count, characters.count)
        case .backspace:
            guard cursor > 0 else { return }
            cursor -= 1
            characters.remove(at: cursor)
        case .delete: if cursor < characters.count { characters.remove(at: cursor) }
        case .left: cursor = max(cursor - 1, 0)
        case .right: cursor = min(cursor + 1, characters.count)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .clear:
            characters.removeSubrange(..<cursor)
            cursor = 0
        case .eraseToEnd: characters.removeSubrange(cursor...)
        case .eraseWord:
            var start = cursor
            while start > 0, characters[start - 1].isWhitespace { start -= 1 }
            while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
            characters.removeSubrange(start..<cursor)
            cursor = start
        case .enter, .redraw, .endOfInput: break
        }
    }
}

/// Takes a terminal's bytes apart into keys. What it does not know it drops: a sequence is never taken for text.
struct KeyReader {
    private enum State {
        case plain
        /// Inside a character; so many bytes are missing.
        case character(missing: Int)
        case escape
        /// After `ESC [` or `ESC O`.
        case sequence([UInt8])
    }

    private var state = State.plain
    private var bytes: [UInt8] = []
    private var isPasting = false
    private var text = ""

    /// Longer sequences are dropped.
    private static let longestSequence = 16
    /// In bytes. Longer ones are given in pieces; each is longer than any message.
    private static let longestPaste = 65_536

    mutating func keys(in input: some Sequence<UInt8>) -> [LineEditor.Key] {
        var keys: [LineEditor.Key] = []
        for byte in input { take(byte, &keys) }
        // A paste comes in pieces, and is one text: too long, it is refused whole.
        if !isPasting || text.utf8.count > Self.longestPaste { flush(&keys) }
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

    private mutating func take(_ byte: UInt8, _ keys: inout [LineEditor.Key]) {
        switch state {
        case .plain: plain(byte, &keys)
        case .character(let missing):
            guard byte & 0xC0 == 0x80 else {
                // Cut off: what it was is lost, what follows is not.
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
            } else if before.count >= Self.longestSequence || byte < 0x20 {
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
        case ("", UInt8(ascii: "C")): add(.right, &keys)
        case ("", UInt8(ascii: "D")): add(.left, &keys)
        default: break
        }
    }
}
