/// Why a text is not valid JSON. The description contains nothing of the text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public let kind: Kind

    /// The offset of the fault in bytes from the start of the text; `nil` when it is not known.
    public let offset: Int?

    public init(_ kind: Kind, at offset: Int? = nil) {
        self.kind = kind
        self.offset = offset
    }

    public var description: String { offset.map { "\(kind) at byte \($0)" } ?? "\(kind)" }
}

extension JSONError {
    /// The kind of fault. New kinds may be added: compare with `==`, or keep a `default`.
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
            case tooManyValues = "too many values"
            case outOfMemory = "not enough memory"
        }

        private let code: Code
        private init(_ code: Code) { self.code = code }
        public var description: String { code.rawValue }

        /// The text holds only white space.
        public static let emptyInput = Kind(.emptyInput)
        /// The text ends inside a value. The offset is the text's length.
        public static let unexpectedEnd = Kind(.unexpectedEnd)
        /// A byte that the grammar does not permit there: a trailing comma, `TRUE`, a byte order mark, ….
        public static let unexpectedCharacter = Kind(.unexpectedCharacter)
        /// The text continues after the value with more than white space.
        public static let trailingBytes = Kind(.trailingBytes)
        /// `//` or `/*`.
        public static let comment = Kind(.comment)
        /// `'text'`.
        public static let singleQuote = Kind(.singleQuote)
        /// `NaN`, `Infinity`, `-Infinity`.
        public static let nonFiniteNumber = Kind(.nonFiniteNumber)
        /// `01`, `1.`, `.5`, `+1`, `1e`, `-`.
        public static let malformedNumber = Kind(.malformedNumber)
        /// An integer over 64 signed bits, or a number too large for a `Double`. The offset is that of its first byte.
        public static let numberOutOfRange = Kind(.numberOutOfRange)
        /// An unescaped character U+0000 to U+001F in a string.
        public static let controlCharacter = Kind(.controlCharacter)
        /// `\x`, `\u12`. The offset is that of the backslash.
        public static let badEscape = Kind(.badEscape)
        /// `\ud800` without the other half of its pair. The offset is that of the backslash.
        public static let loneSurrogate = Kind(.loneSurrogate)
        /// An overlong form, a coded surrogate, a value over U+10FFFF, or an incomplete or invalid sequence. The offset
        /// is that of its first byte.
        public static let invalidUTF8 = Kind(.invalidUTF8)
        /// The same name twice in one object, escaped or not. The offset is that of the second.
        public static let duplicateName = Kind(.duplicateName)
        /// `\u0000` in a member name. The offset is that of the backslash.
        public static let nulInName = Kind(.nulInName)
        /// Nested deeper than ``JSONLimits/depth``. The offset is that of the first bracket over the limit.
        public static let tooDeep = Kind(.tooDeep)
        /// Longer than ``JSONLimits/byteCount``. The offset is that limit.
        public static let tooLarge = Kind(.tooLarge)
        /// More values than ``JSONLimits/valueCount``. The offset is that of the first value over the limit.
        public static let tooManyValues = Kind(.tooManyValues)
        /// json-c could not allocate memory. No offset.
        public static let outOfMemory = Kind(.outOfMemory)
    }
}
