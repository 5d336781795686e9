import SignalingServer

/// Text of others, made safe for a terminal: without escape sequences, and without marks that reverse the direction of
/// what follows.
package enum Printable {
    /// In one line.
    package static func text(_ text: String) -> String {
        lines(TerminalText.text(text, replacement: " ") { $0 == "\n" })
    }

    /// In as many lines as the text has.
    package static func lines(_ text: String) -> String {
        // The marks have no width, so nothing stands for them.
        TerminalText.text(TerminalText.text(text, replacement: nil) { $0.properties.isBidiControl }, replacement: " ") {
            $0.controlsTerminals && $0 != "\n"
        }
    }

    /// A sentence of `TypingPhrase`, which isolates the direction of the names in it.
    package static func phrase(_ text: String) -> String {
        TerminalText.text(text, replacement: " ") { $0.controlsTerminals && !$0.properties.isBidiControl }
    }
}
