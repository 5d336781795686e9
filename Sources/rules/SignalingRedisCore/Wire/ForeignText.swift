/// Text of Redis for logs and terminals. What is at the address of Redis may send anything.
package enum ForeignText {
    static let characterCount = 300

    /// At most 300 characters in one line, without control characters and escape sequences.
    package static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let printable = scalars.prefix(characterCount).map { isControl($0) ? "\u{FFFD}" : $0 }
        let isWhole =
            scalars.index(scalars.startIndex, offsetBy: characterCount + 1, limitedBy: scalars.endIndex) == nil
        return String(String.UnicodeScalarView(printable)) + (isWhole ? "" : "…")
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
