/// Why a text is not taken as JSON. Its description never shows any of the text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public let kind: Kind

    /// Where the fault begins, in bytes from the start of the text; nil when that is not known.
    public let offset: Int?

    public init(_ kind: Kind, at offset: Int? = nil) {
        self.kind = kind
        self.offset = offset
    }

    public var description: String { offset.map { "\(kind) at byte \($0)" } ?? "\(kind)" }
}

extension JSONError {
    /// What is wrong. More may be added; compare with `==`, or keep a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        private enum Code: String {
            case emptyInput = "empty input"
            case unexpectedEnd = "unexpected end"
            case unexpectedCharacter = "unexpected character"
            case trailingBytes = "something after the value"
            case comment = "a comment"
            case singleQuote = "single quotes"
            case nonFiniteNumber = "NaN or Infinity"
            case malformedNumber = "malformed number"
            case numberOutOfRange = "number out of range"
            case controlCharacter = "unescaped control character"
            case badEscape = "bad escape"
            case loneSurrogate = "lone surrogate"
            case invalidUTF8 = "invalid UTF-8"
            case duplicateName = "duplicate member name"
            case nulInName = "NUL in a member name"
            case tooDeep = "nested too deep"
            case tooLarge = "text too large"
            case outOfMemory = "not enough memory"
        }

        private let code: Code
        private init(_ code: Code) { self.code = code }
        public var description: String { code.rawValue }

        /// Nothing but white space.
        public static let emptyInput = Kind(.emptyInput)
        /// The text stops inside a value; the offset is the text's length.
        public static let unexpectedEnd = Kind(.unexpectedEnd)
        /// A byte that cannot stand there: a trailing comma, `TRUE`, a byte order mark, ….
        public static let unexpectedCharacter = Kind(.unexpectedCharacter)
        /// A second value, or anything else, behind the first.
        public static let trailingBytes = Kind(.trailingBytes)
        /// `//` or `/*`.
        public static let comment = Kind(.comment)
        /// `'text'`.
        public static let singleQuote = Kind(.singleQuote)
        /// `NaN`, `Infinity`, `-Infinity`.
        public static let nonFiniteNumber = Kind(.nonFiniteNumber)
        /// `01`, `1.`, `.5`, `+1`, `1e`, `-`.
        public static let malformedNumber = Kind(.malformedNumber)
        /// An integer over 64 signed bits, or a number too large for a `Double`; the offset is where it starts.
        public static let numberOutOfRange = Kind(.numberOutOfRange)
        /// U+0000 to U+001F in a string, not escaped.
        public static let controlCharacter = Kind(.controlCharacter)
        /// `\x`, `\u12`; the offset is that of the backslash.
        public static let badEscape = Kind(.badEscape)
        /// `\ud800` that is not half of a pair; the offset is that of the backslash.
        public static let loneSurrogate = Kind(.loneSurrogate)
        /// Overlong, coded surrogate, over U+10FFFF, cut, or no UTF-8 at all; the offset is that of its first byte.
        public static let invalidUTF8 = Kind(.invalidUTF8)
        /// Twice the same name in one object, however spelled; the offset is that of the second.
        public static let duplicateName = Kind(.duplicateName)
        /// `\u0000` in a member name; the offset is that of the backslash.
        public static let nulInName = Kind(.nulInName)
        /// Deeper than ``JSONLimits/depth``; the offset is that of the bracket that goes too far.
        public static let tooDeep = Kind(.tooDeep)
        /// Longer than ``JSONLimits/byteCount``, which is the offset.
        public static let tooLarge = Kind(.tooLarge)
        /// The value could not be built; no offset.
        public static let outOfMemory = Kind(.outOfMemory)
    }
}
