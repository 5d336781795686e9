import SignalingProtocol

/// The draft with its limits: an edit never makes it too long, and it states whether the draft can be sent.
public struct Composer: Equatable, Sendable {
    public private(set) var text = ""

    /// The longest text after an edit, in ``unit``; not below 0. Lowering it leaves the text as it is. Default 1000.
    public var maxLength: Int { didSet { maxLength = max(maxLength, 0) } }

    /// The unit of all lengths. Default ``LengthUnit/graphemes``.
    public let unit: LengthUnit

    /// Whether text that shows nothing, such as white space, can be sent, as in OpenTok's chat. Default false.
    public var sendsBlankText: Bool

    public init(maxLength: Int = 1000, unit: LengthUnit = .graphemes, sendsBlankText: Bool = false) {
        self.maxLength = max(maxLength, 0)
        self.unit = unit
        self.sendsBlankText = sendsBlankText
    }

    /// How much more text fits. Negative if the limit was lowered below the text's length.
    public var remaining: Int { maxLength - unit.length(of: text) }

    /// Replaces the text. If the text is too long, the composer refuses it as a whole and keeps the old one.
    @discardableResult
    public mutating func edit(_ newText: String) -> EditResult {
        let excess = unit.length(of: newText) - maxLength
        guard excess <= 0 else { return .refused(excess: excess, remaining: remaining) }
        text = newText
        return .accepted(remaining: -excess)
    }

    /// Why the text itself cannot be sent: blank is checked before too long. Nil if it can.
    public var refusal: SendRefusal? { refusal(of: text) }

    /// Why another text cannot be sent. Nil if it can.
    func refusal(of text: String) -> SendRefusal? {
        let isBlank = sendsBlankText ? text.isEmpty : text.isBlank
        if isBlank { return .blank }
        let excess = unit.length(of: text) - maxLength
        return excess > 0 ? .tooLong(excess: excess) : nil
    }

    mutating func clear() { text = "" }

    /// Restores a text of an earlier run, which may have had another limit.
    mutating func restore(_ text: String) { self.text = text }
}

/// The result of an edit. Lengths are in the composer's unit.
public enum EditResult: Equatable, Sendable {
    case accepted(remaining: Int)
    /// The new text is too long by `excess`; the old text stays and leaves `remaining`.
    case refused(excess: Int, remaining: Int)

    public var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
