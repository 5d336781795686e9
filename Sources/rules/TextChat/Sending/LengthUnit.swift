/// The unit of a text's length.
public enum LengthUnit: String, CaseIterable, Sendable {
    /// UTF-16 units, as `NSString`, JavaScript, Java and OpenTok's chat count: an emoji is two or more.
    case utf16
    /// Characters as a reader sees them. They depend on the Unicode version, so they are never a limit of the wire.
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
