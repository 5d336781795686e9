import SignalingProtocol

/// The text that is being written, never longer than its limit through an edit, and what may be sent of it.
public struct Composer: Equatable, Sendable {
    public private(set) var text = ""

    /// Longest text that an edit may leave behind; not below 0. Lowering it leaves the text as it is.
    public var maxLength: Int { didSet { maxLength = max(maxLength, 0) } }

    public let unit: LengthUnit

    /// Whether white space alone is a message, as OpenTok's chat has it. Default false.
    public var sendsBlankText: Bool

    public init(maxLength: Int = 1000, unit: LengthUnit = .graphemes, sendsBlankText: Bool = false) {
        self.maxLength = max(maxLength, 0)
        self.unit = unit
        self.sendsBlankText = sendsBlankText
    }

    /// How much may still be written. Negative when the limit was lowered below the text's length.
    public var remaining: Int { maxLength - unit.length(of: text) }

    /// Replaces the text by what an edit would make of it. One that would be longer than the limit is refused whole, nothing
    /// is cut off, and the text stays.
    @discardableResult
    public mutating func edit(_ newText: String) -> EditResult {
        let excess = unit.length(of: newText) - maxLength
        guard excess <= 0 else { return .refused(excess: excess, remaining: remaining) }
        text = newText
        return .accepted(remaining: -excess)
    }

    /// Why the text cannot be sent, as far as the text itself says: blank before too long. Nil: it can.
    public var refusal: SendRefusal? {
        let isBlank = sendsBlankText ? text.isEmpty : text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        if isBlank { return .blank }
        return remaining < 0 ? .tooLong(excess: -remaining) : nil
    }

    mutating func clear() { text = "" }

    /// A text from an earlier run, whose limit may have been another one.
    mutating func restore(_ text: String) { self.text = text }
}

/// What has become of an edit. Lengths are in the composer's unit.
public enum EditResult: Equatable, Sendable {
    case accepted(remaining: Int)
    /// The edit would have been too long by `excess`; the text that stays leaves `remaining`.
    case refused(excess: Int, remaining: Int)

    public var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
