/// The line that the user is typing, with the cursor. ``KeyReader`` parses a terminal's bytes into its keys.
///
/// Characters are grapheme clusters. Pasted line breaks become spaces, so that a paste never sends.
struct LineEditor: Equatable {
    enum Key: Equatable {
        case text(String)
        case enter, backspace, delete, left, right, up, down, home, end, clear, eraseToEnd, eraseWord, redraw
        case endOfInput
    }

    private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0

    var text: String { String(characters) }

    mutating func replace(_ text: String) {
        characters = Array(text)
        cursor = characters.count
    }

    /// Changes the line; `enter`, `up`, `down`, `redraw` and `endOfInput` do not.
    mutating func apply(_ key: Key) {
        switch key {
        case .text(let text):
            // The new text may combine with the character before it.
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
        case .enter, .up, .down, .redraw, .endOfInput: break
        }
    }
}
