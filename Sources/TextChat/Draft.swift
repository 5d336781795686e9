/// The text that is being written, never longer than its limit through an edit.
public struct Draft: Equatable, Sendable {
    public private(set) var text = ""

    /// Longest text that an edit may leave behind; not below 0. Lowering it leaves the text as it is.
    public var maxLength: Int {
        didSet { maxLength = max(maxLength, 0) }
    }

    public let unit: LengthUnit

    public init(maxLength: Int, unit: LengthUnit) {
        self.maxLength = max(maxLength, 0)
        self.unit = unit
    }

    /// How much may still be written. Negative when the limit was lowered below the text's length.
    public var remaining: Int { maxLength - unit.length(of: text) }

    /// Replaces the text by what an edit would make of it. One that would be too long is refused whole, nothing is cut off:
    /// returns false, and the text stays.
    @discardableResult
    public mutating func edit(_ newText: String) -> Bool {
        guard unit.length(of: newText) <= maxLength else { return false }
        text = newText
        return true
    }

    mutating func clear() { text = "" }
}
