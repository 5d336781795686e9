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
