/// Reads values in the form of ``ByteWriter``.
///
/// Any bytes give values or a ``CodingFault``. Each value has one form only: an integer with superfluous bytes is
/// refused. No read allocates more than the bytes that are left have room for.
struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0
    /// The rules whose format is read (LOG-7).
    var rules = RulesVersion.current

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes that have not been read.
    var remainingByteCount: Int { bytes.count - position }

    /// Call it after the last value.
    func end() throws(CodingFault) { guard remainingByteCount == 0 else { throw .trailingBytes } }

    mutating func byte() throws(CodingFault) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func unsigned() throws(CodingFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            // The tenth byte has the highest bit only.
            if shift == 63, byte > 1 { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                if byte == 0, shift > 0 { throw .malformed }
                return value
            }
            shift += 7
        }
    }

    mutating func signed() throws(CodingFault) -> Int64 { Self.zigzag(try unsigned()) }

    /// The inverse of ``ByteWriter/zigzag(_:)``.
    static func zigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }

    /// The number of values that follow.
    ///
    /// - Parameter byteCount: the least that each of them has.
    mutating func count(ofAtLeast byteCount: Int) throws(CodingFault) -> Int {
        guard let count = Int(exactly: try unsigned()), count <= remainingByteCount / byteCount else {
            throw .truncated
        }
        return count
    }

    mutating func fixed() throws(CodingFault) -> UInt64 {
        guard remainingByteCount >= 8 else { throw .truncated }
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += 8
        return value
    }

    mutating func byteArray() throws(CodingFault) -> [UInt8] { Array(try slice()) }

    mutating func text() throws(CodingFault) -> String {
        guard let text = String(validating: try slice(), as: UTF8.self) else { throw .malformed }
        return text
    }

    private mutating func slice() throws(CodingFault) -> ArraySlice<UInt8> {
        let count = try count(ofAtLeast: 1)
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    /// Reads a byte of flags.
    ///
    /// - Parameter known: every flag of this kind; another one is refused.
    mutating func flags<Flags: OptionSet>(among known: Flags) throws(CodingFault) -> Flags
    where Flags.RawValue == UInt8 {
        let byte = try byte()
        guard byte & ~known.rawValue == 0 else { throw .malformed }
        return Flags(rawValue: byte)
    }

    mutating func value<Value: ByteCodable>(_: Value.Type = Value.self) throws(CodingFault) -> Value {
        try Value(from: &self)
    }

    /// Reads values behind their number.
    ///
    /// - Parameter byteCount: the least that each of them has.
    mutating func values<Value: ByteCodable>(
        _: Value.Type = Value.self, ofAtLeast byteCount: Int
    ) throws(CodingFault) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count(ofAtLeast: byteCount)) { values.append(try value()) }
        return values
    }

    mutating func optional<Value: ByteCodable>(_: Value.Type = Value.self) throws(CodingFault) -> Value? {
        switch try byte() {
        case 0: return nil
        case 1: return try value()
        default: throw .malformed
        }
    }
}
