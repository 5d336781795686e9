/// Makes text of others safe to print, without a change of what a reader sees.
package enum TerminalText {
    /// - Parameter isReplaced: which scalars to replace; by default those that a terminal does not show but carries out.
    package static func text(
        _ text: String, replacement: Unicode.Scalar?,
        where isReplaced: (Unicode.Scalar) -> Bool = { $0.controlsTerminals }
    ) -> String {
        guard text.unicodeScalars.contains(where: isReplaced) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.compactMap { isReplaced($0) ? replacement : $0 }))
    }

    /// Escapes the same scalars in encoded JSON, where they can only be in strings: the value stays the same. JSON itself
    /// asks for the escape of U+0000 to U+001F alone.
    package static func json(_ encoded: String) -> String {
        guard encoded.unicodeScalars.contains(where: { $0.controlsTerminals && $0 != "\n" }) else { return encoded }
        var escaped = ""
        for scalar in encoded.unicodeScalars {
            if scalar.controlsTerminals, scalar != "\n" {
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// Whether a terminal carries it out: a control character, also one of C1 such as U+009B, which begins an escape
    /// sequence; a line or paragraph separator; or a mark that reorders the text around it (Unicode Standard Annex 9). All
    /// of them are below U+10000.
    package var controlsTerminals: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
