/// The lines that the user has sent, for the arrow keys. The line that is being typed is the newest.
struct InputHistory {
    private static let lineCount = 200

    private var lines: [String] = []
    /// The shown line; `lines.count` is the one that is being typed.
    private var index = 0
    /// The line that is being typed, while an older one is shown.
    private var draft = ""

    mutating func add(_ line: String) {
        if lines.last != line { lines.append(line) }
        if lines.count > Self.lineCount { lines.removeFirst() }
        index = lines.count
        draft = ""
    }

    /// The line before the shown one; `nil` at the oldest.
    mutating func older(than shown: String) -> String? {
        guard index > 0 else { return nil }
        if index == lines.count { draft = shown }
        index -= 1
        return lines[index]
    }

    /// The line after the shown one; `nil` at the line that is being typed.
    mutating func newer() -> String? {
        guard index < lines.count else { return nil }
        index += 1
        return index == lines.count ? draft : lines[index]
    }
}
