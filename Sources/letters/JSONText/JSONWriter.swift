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
///
/// It has memory of its own instead of an array, whose every append checks whether somebody shares it.
public struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The number of bytes written so far.
    public private(set) var byteCount = 0
    private var needsComma = false

    public init(reservingCapacity byteCount: Int = 0) {
        capacity = max(64, byteCount)
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    /// A copy of the bytes written so far.
    public var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: byteCount)) }

    // MARK: - Structure

    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the name of a member. Write its value next.
    ///
    /// - Parameter name: nothing in it has to be escaped.
    public mutating func name(_ name: StaticString) {
        comma()
        reserve(name.utf8CodeUnitCount + 3)
        put(UInt8(ascii: "\""))
        put(name)
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that is not known in advance. Write its value next.
    public mutating func name(escaping name: String) {
        value(name)
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes one or more members that are known in advance, as JSON: `"ev":"signal"`.
    public mutating func constantMembers(_ json: StaticString) {
        comma()
        append(json)
    }

    /// Writes a member's name, as JSON with its colon: `"seq":`. Write its value next.
    public mutating func constantName(_ json: StaticString) {
        comma()
        append(json)
        needsComma = false
    }

    // MARK: - Values

    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let truth): self.value(truth)
        case .integer(let number): self.value(number)
        // Swift's description of a finite Double is JSON, and the shortest that reads as the same number.
        case .double(let number): if number.isFinite { append(plain: number.description) } else { null() }
        case .string(let text): self.value(text)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                name(escaping: member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    public mutating func value(_ text: String) {
        comma()
        var text = text
        text.withUTF8 { utf8 in
            // Enough if nothing has to be escaped.
            reserve(utf8.count + 2)
            put(UInt8(ascii: "\""))
            append(escaping: UnsafeRawBufferPointer(utf8))
        }
        append(UInt8(ascii: "\""))
    }

    public mutating func value(_ number: some FixedWidthInteger) { append(plain: String(number)) }

    // The integers of the messages: the function above is not specialised for other modules.

    public mutating func value(_ number: Int64) {
        comma()
        // As long as the longest number.
        reserve(20)
        if number < 0 { put(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var digitCount = 1
        var limit: UInt64 = 10
        while rest >= limit, digitCount < 19 {
            limit *= 10
            digitCount += 1
        }
        var index = byteCount + digitCount
        byteCount = index
        repeat {
            index -= 1
            start[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }

    public mutating func value(_ number: Int) { value(Int64(number)) }

    public mutating func value(_ truth: Bool) {
        comma()
        append(truth ? "true" : "false")
    }

    public mutating func null() {
        comma()
        append("null")
    }

    // MARK: - Members

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

    // MARK: - Bytes

    private mutating func comma() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        comma()
        append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    /// Writes a value of which nothing has to be escaped.
    private mutating func append(plain text: String) {
        comma()
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(escaping bytes: UnsafeRawBufferPointer) {
        var done = 0
        while true {
            let end = PlainBytes.end(in: bytes, from: done, asciiOnly: false)
            append(UnsafeRawBufferPointer(rebasing: bytes[done..<end]))
            guard end < bytes.count else { return }
            append(escapeOf: bytes[end])
            done = end + 1
        }
    }

    private mutating func append(escapeOf byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        default:
            append("u00")
            append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0x0F
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        put(byte)
    }

    private mutating func append(_ json: StaticString) {
        reserve(json.utf8CodeUnitCount)
        put(json)
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        put(bytes)
    }

    // These need room that was reserved.

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        start[byteCount] = byte
        byteCount += 1
    }

    @inline(__always)
    private mutating func put(_ json: StaticString) {
        put(UnsafeRawBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    @inline(__always)
    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard let from = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(start + byteCount).copyMemory(from: from, byteCount: bytes.count)
        byteCount += bytes.count
    }

    @inline(__always)
    private mutating func reserve(_ count: Int) { if capacity - byteCount < count { grow(by: count) } }

    @inline(never)
    private mutating func grow(by count: Int) {
        capacity = max(2 * capacity, byteCount + count)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.initialize(from: start, count: byteCount)
        start.deallocate()
        start = larger
    }
}

extension JSONValue {
    /// The value as compact JSON in UTF-8, members in their order. Parsing it returns an equal value, except that
    /// infinities and NaN are written as `null`.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// ``encoded()`` as text.
    public func encodedText() -> String { String(decoding: encoded(), as: UTF8.self) }
}
