/// What the length of a text is counted in.
public enum LengthUnit: String, CaseIterable, Sendable {
    /// What `NSString`, JavaScript and Java count, and so OpenTok's chat: an emoji is two or more.
    case utf16
    /// What a reader takes for one character. Depends on the Unicode version, so it is never a limit of the wire.
    case graphemes
    /// Bytes of UTF-8.
    case utf8

    public func length(of text: String) -> Int {
        switch self {
        case .utf16: text.utf16.count
        case .graphemes: text.count
        case .utf8: text.utf8.count
        }
    }
}
