import SignalingProtocol

/// Values that are named by small numbers.
struct Interned<Value: Hashable & Sendable>: Sendable {
    private var values: [Value] = []
    private var indexes: [Value: UInt32] = [:]

    var count: Int { values.count }

    subscript(index: UInt32) -> Value { values[Int(index)] }

    func known(_ value: Value) -> UInt32? { indexes[value] }

    mutating func index(of value: Value) -> UInt32 {
        if let known = indexes[value] { return known }
        let index = UInt32(values.count)
        values.append(value)
        indexes[value] = index
        return index
    }
}

extension Interned where Value: ByteCodable {
    /// Writes the number of a value, and behind a new number the value itself.
    mutating func write(_ value: Value, to writer: inout ByteWriter) {
        let known = count
        writer.write(unsigned: UInt64(index(of: value)))
        if count > known { writer.write(value) }
    }

    mutating func read(from reader: inout ByteReader) throws(CodingFault) -> UInt32 {
        let number = try reader.unsigned()
        guard number <= UInt64(count) else { throw .malformed }
        guard number == UInt64(count) else { return UInt32(number) }
        let index = index(of: try reader.value())
        // The same value has one number.
        guard UInt64(index) == number else { throw .malformed }
        return index
    }
}

/// A text that is the same as another only with the same bytes. Two strings of Swift are equal in more cases.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ExactText: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(text: text) }

    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.text()) }
}

/// The type of a message, which may have none.
struct MessageType: Hashable, Sendable, ByteCodable {
    let exact: ExactText?

    init(_ text: String?) { exact = text.map(ExactText.init) }

    func write(to writer: inout ByteWriter) { writer.write(exact) }

    init(from reader: inout ByteReader) throws(CodingFault) { exact = try reader.optional() }
}
