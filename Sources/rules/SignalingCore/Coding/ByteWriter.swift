/// Writes values one after the other in a compact binary form, which ``ByteReader`` reads.
///
/// | value | bytes |
/// | --- | --- |
/// | unsigned integer | LEB128: 7 bits in each byte, the lowest first; the highest bit says that another byte follows |
/// | signed integer | zigzag (0, -1, 1, -2, …), then as unsigned |
/// | 64 random bits, or a moment | 8 bytes, the lowest first |
/// | text, or bytes | their number in bytes, then UTF-8, or the bytes |
/// | optional value | 0; or 1, then the value |
struct ByteWriter: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The rules whose format is written (LOG-7).
    var rules = RulesVersion.current

    /// - Parameter capacity: the expected number of bytes. A sufficient one makes this the only allocation.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func write(byte: UInt8) { bytes.append(byte) }

    mutating func write(unsigned value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(signed value: Int64) { write(unsigned: Self.zigzag(value)) }

    /// 0, -1, 1, -2, … as 0, 1, 2, 3, …, so that integers near zero are short.
    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    /// Writes the number of values that follow.
    mutating func write(count: Int) { write(unsigned: UInt64(count)) }

    mutating func write(fixed value: UInt64) {
        for shift in stride(from: 0, to: 64 as UInt64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func write(bytes others: [UInt8]) {
        write(count: others.count)
        bytes.append(contentsOf: others)
    }

    mutating func write(text: String) {
        let text = text.utf8
        write(count: text.count)
        bytes.append(contentsOf: text)
    }

    mutating func write(_ value: some ByteCodable) { value.write(to: &self) }

    /// Writes values behind their number.
    mutating func write(values: some Collection<some ByteCodable>) {
        write(count: values.count)
        for value in values { write(value) }
    }

    mutating func write(_ value: (some ByteCodable)?) {
        write(byte: value == nil ? 0 : 1)
        if let value { write(value) }
    }
}
