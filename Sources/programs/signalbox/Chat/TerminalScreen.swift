/// The foot of a terminal, below the messages: the user's line, and a status line below it when there is a status. A
/// value: its methods return the text to write.
///
/// The cursor always rests in the user's line, which has one row whatever its length. So clearing begins there.
struct TerminalScreen {
    var columns: Int
    private(set) var input = LineEditor()
    private(set) var status = ""
    /// The column of the cursor.
    private var cursorColumn = 0

    private static let prompt = "> "

    init(columns: Int) { self.columns = columns }

    /// Draws the foot on cleared rows.
    mutating func draw() -> String {
        // A very narrow terminal has no prompt: the line must fit in one row.
        let prompt = columns > Self.prompt.count + 1 ? Self.prompt : ""
        let width = max(columns - prompt.count - 1, 0)
        let characters = input.characters
        // As many characters as fit before the cursor, then as many as fit after it.
        var start = input.cursor
        var before = 0
        while start > 0, before + Self.width(characters[start - 1]) <= width {
            start -= 1
            before += Self.width(characters[start])
        }
        var end = input.cursor
        var used = before
        while end < characters.count, used + Self.width(characters[end]) <= width {
            used += Self.width(characters[end])
            end += 1
        }
        cursorColumn = prompt.count + before
        var out = "\r" + prompt + String(characters[start..<end])
        if !status.isEmpty { out += "\r\n" + Self.cut(status, to: columns - 1) + "\u{1B}[A" }
        return out + "\r" + (cursorColumn > 0 ? "\u{1B}[\(cursorColumn)C" : "")
    }

    /// Clears the foot, and leaves the cursor at its beginning.
    func clear() -> String { "\r\u{1B}[J" }

    mutating func print(_ lines: [String]) -> String {
        clear() + lines.map { $0 + "\r\n" }.joined() + draw()
    }

    mutating func show(_ input: LineEditor) -> String {
        self.input = input
        return clear() + draw()
    }

    mutating func show(status: String) -> String {
        guard status != self.status else { return "" }
        self.status = status
        return clear() + draw()
    }

    /// A terminal that becomes narrower wraps its lines again: the cursor may be in a later row of the same line.
    mutating func resize(to columns: Int) -> String {
        let rows = columns < self.columns ? cursorColumn / max(columns, 1) : 0
        self.columns = columns
        return (rows > 0 ? "\u{1B}[\(rows)A" : "") + clear() + draw()
    }

    /// The number of columns of a character: 0, 1 or 2 (Unicode Standard Annex 11, and emoji).
    static func width(_ character: Character) -> Int {
        character.unicodeScalars.reduce(0) { max($0, width($1)) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return scalar.value == 0xFE0F ? 2 : 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    static func cut(_ text: String, to columns: Int) -> String {
        var used = 0
        var out = ""
        for character in text {
            used += width(character)
            if used > columns { break }
            out.append(character)
        }
        return out
    }
}
