import CommandSupport

/// Rows of text in aligned columns, two spaces apart. Text of others is made safe for a terminal.
struct TextTable {
    enum Column {
        case left(String)
        case right(String)

        var title: String {
            switch self {
            case .left(let title), .right(let title): title
            }
        }
    }

    private let columns: [Column]
    private var rows: [[String]]

    init(_ columns: [Column]) {
        self.columns = columns
        rows = [columns.map(\.title)]
    }

    /// - Parameter row: a text for each column.
    mutating func append(_ row: [String]) { rows.append(row.map { Printable.text($0) }) }

    /// The titles, and a line for each row.
    var lines: [String] {
        let widths = columns.indices.map { index in rows.map { $0[index].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (index, text) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[index] - text.count)
                switch columns[index] {
                case .left: line += index == columns.count - 1 ? text : text + padding
                case .right: line += padding + text
                }
                if index < columns.count - 1 { line += "  " }
            }
            return line
        }
    }
}
