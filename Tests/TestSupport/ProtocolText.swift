import Foundation

/// Reads the tables of `docs/PROTOCOL.md`, so that tests can compare them with the code.
public struct ProtocolText: Sendable {
    private let lines: [String]

    public static func load() throws -> ProtocolText {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return ProtocolText(
            try String(contentsOf: root.appending(path: "docs").appending(path: "PROTOCOL.md"), encoding: .utf8))
    }

    public init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The JSON lines of the first code block after a line that starts with `start`, both directions, without arrows.
    /// An indented line that does not begin with `{` continues the object above it. Empty without a block.
    public func example(after start: String) -> [String] {
        guard let index = lines.firstIndex(where: { $0.hasPrefix(start) }) else { return [] }
        let block = lines[(index + 1)...].drop { $0 != "```" }.dropFirst().prefix { $0 != "```" }
        var objects: [String] = []
        for line in block {
            let content = line.trimmingCharacters(in: CharacterSet(charactersIn: " →←"))
            if content.hasPrefix("{") || objects.isEmpty {
                objects.append(content)
            } else {
                objects[objects.count - 1] += content
            }
        }
        return objects
    }

    /// The rows of the first table after a line that starts with `start`, without the header row. Cells come without
    /// the spaces and back quotes around them. Empty if there is no table before the next heading.
    public func table(after start: String) -> [[String]] {
        guard let index = lines.firstIndex(where: { $0.hasPrefix(start) }) else { return [] }
        return lines[(index + 1)...]
            .prefix { !$0.hasPrefix("## ") }
            .drop { !$0.hasPrefix("|") }
            .prefix { $0.hasPrefix("|") }
            .dropFirst(2)
            .map { row in
                row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map { cell in
                    cell.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                }
            }
    }
}
