/// Writes compact JSON directly into bytes, without a ``JSONValue``, for messages that are written often.
///
/// The writer adds the commas. The caller must alternate names and values and match brackets. Only the characters that
/// RFC 8259 requires are escaped (`"`, `\`, U+0000 to U+001F), so a value never contains a line break.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("ev", "ack")
/// writer.member("id", 2)
/// writer.endObject()          // {"ev":"ack","id":2}
/// ```
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    public init(reservingCapacity byteCount: Int = 0) {
        bytes = []
        bytes.reserveCapacity(byteCount)
    }

    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the name of a member. Write its value next.
    ///
    /// - Parameter name: nothing in it has to be escaped.
    public mutating func name(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        append(name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that is not known in advance. Write its value next.
    public mutating func name(escaping name: String) {
        comma()
        bytes.appendJSON(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func value(_ value: JSONValue) {
        comma()
        value.append(to: &bytes)
    }

    public mutating func value(_ text: String) {
        comma()
        bytes.appendJSON(text)
    }

    public mutating func value(_ number: some FixedWidthInteger) {
        comma()
        bytes.append(contentsOf: String(number).utf8)
    }

    // The integers of the messages: the function above is not specialised for other modules.

    public mutating func value(_ number: Int64) {
        comma()
        bytes.appendJSON(number)
    }

    public mutating func value(_ number: Int) { value(Int64(number)) }

    public mutating func value(_ truth: Bool) {
        comma()
        bytes.append(contentsOf: (truth ? "true" : "false").utf8)
    }

    public mutating func null() { value(JSONValue.null) }

    public mutating func member(_ name: StaticString, _ value: JSONValue) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ text: String) {
        self.name(name)
        value(text)
    }

    public mutating func member(_ name: StaticString, _ number: some FixedWidthInteger) {
        self.name(name)
        value(number)
    }

    public mutating func member(_ name: StaticString, _ number: Int64) {
        self.name(name)
        value(number)
    }

    public mutating func member(_ name: StaticString, _ number: Int) {
        self.name(name)
        value(number)
    }

    public mutating func member(_ name: StaticString, _ truth: Bool) {
        self.name(name)
        value(truth)
    }

    /// Writes one or more members that are known in advance, as JSON: `"ev":"signal"`.
    public mutating func constantMembers(_ json: StaticString) {
        comma()
        append(json)
    }

    /// Writes a member's name, as JSON with its colon: `"seq":`. Write its value next. For the lines of every signal, where
    /// it takes half the time of ``name(_:)``.
    public mutating func constantName(_ json: StaticString) {
        comma()
        append(json)
        needsComma = false
    }

    private mutating func append(_ json: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    /// Ends the text with U+000A and starts the next one (WIRE-3).
    public mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Writes a line that is JSON already.
    ///
    /// - Precondition: the bytes hold no line break, and the line before it has ended.
    public mutating func line(_ bytes: [UInt8]) {
        self.bytes.append(contentsOf: bytes)
        endLine()
    }

    /// Returns the bytes written so far and continues with an empty buffer. Use it to write a long text piece by piece.
    public mutating func drainBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        comma()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }
}

extension JSONValue {
    /// The value as compact JSON in UTF-8, members in their order. Parsing it returns an equal value, except that
    /// infinities and NaN are written as `null`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// ``encoded()`` as text.
    public func encodedText() -> String { String(decoding: encoded(), as: UTF8.self) }

    /// Appends the value as compact JSON to the bytes.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.appendJSON(value)
        // Swift's description of a finite Double is JSON, and the shortest that reads as the same number.
        case .double(let value): bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .string(let value): bytes.appendJSON(value)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSON(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension [UInt8] {
    /// Appends the text as a JSON string, with its quotes.
    mutating func appendJSON(_ text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            var start = 0
            while true {
                let end = PlainBytes.end(in: bytes, from: start, asciiOnly: false)
                append(contentsOf: utf8[start..<end])
                guard end < utf8.count else { break }
                appendEscape(utf8[end])
                start = end + 1
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends the number in decimal digits.
    mutating func appendJSON(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        var power: UInt64 = 1
        while magnitude / power >= 10 { power *= 10 }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / power % 10))
            power /= 10
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        default:
            append(contentsOf: "u00".utf8)
            append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0x0F
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }
}
