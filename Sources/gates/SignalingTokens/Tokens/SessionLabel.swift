/// What operators call a session: plain text that the session's ID contains.
///
/// The label needs no memory: it survives restarts and is the same on all servers. Everyone who has the ID can read it.
public struct SessionLabel: Hashable, Sendable {
    /// In UTF-8. With the longest API key, an ID with such a label still has a permitted length.
    public static let byteLimit = 64

    public let text: String

    /// - Returns: nil for a text that is blank or too long, or has characters that control a terminal or the direction of
    ///   the text around them.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count), text.contains(where: { !$0.isWhitespace }),
            text.unicodeScalars.allSatisfy(Self.isPlain)
        else { return nil }
        self.text = text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: !scalar.properties.isBidiControl
        }
    }

    /// Why a text is refused, and what to give.
    public static let rule = "a label has 1 to \(byteLimit) bytes of plain text in one line"
}
