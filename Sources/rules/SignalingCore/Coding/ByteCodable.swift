import SignalingProtocol

/// A value with one form in bytes. The form belongs to the version of what contains the value: a change of it needs a
/// new version there.
protocol ByteCodable {
    func write(to writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(CodingFault)
}

/// One of a few cases, as one byte.
protocol NumberedCase: ByteCodable, CaseIterable {
    /// Never given to another case, also not after its own case was removed.
    var number: UInt8 { get }
}

extension NumberedCase {
    func write(to writer: inout ByteWriter) { writer.write(byte: number) }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let number = try reader.byte()
        guard let found = Self.allCases.first(where: { $0.number == number }) else { throw .malformed }
        self = found
    }
}

extension ByteCodable where Self: RawIdentifier {
    func write(to writer: inout ByteWriter) { writer.write(text: rawValue) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(rawValue: try reader.text()) }
}

extension SessionID: ByteCodable {}
extension ConnectionID: ByteCodable {}
extension Epoch: ByteCodable {}
extension UserID: ByteCodable {}

extension MonotonicInstant: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(fixed: UInt64(bitPattern: nanoseconds)) }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(nanoseconds: Int64(bitPattern: try reader.fixed()))
    }
}

extension WallTime: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(signed: milliseconds) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(milliseconds: try reader.signed()) }
}

/// All 128 bits, so that a duration of any length and precision keeps its value.
extension Duration: ByteCodable {
    func write(to writer: inout ByteWriter) {
        let attoseconds = UInt128(bitPattern: attoseconds)
        writer.write(fixed: UInt64(truncatingIfNeeded: attoseconds))
        writer.write(fixed: UInt64(truncatingIfNeeded: attoseconds >> 64))
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let low = try reader.fixed()
        let high = try reader.fixed()
        self.init(attoseconds: Int128(bitPattern: UInt128(high) << 64 | UInt128(low)))
    }
}

/// A place in a session's order. Small enough that later ones cannot overflow.
extension Seq: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(unsigned: UInt64(bitPattern: rawValue)) }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let value = try reader.unsigned()
        guard value <= UInt64(Self.greatest.rawValue) else { throw .malformed }
        self.init(Int64(value))
    }
}

extension RequestID: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(signed: rawValue) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.signed()) }
}

extension SocketID: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(fixed: rawValue) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.fixed()) }
}

extension RunID: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(fixed: rawValue) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.fixed()) }
}

extension SocketBinding: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(socket)
    }

    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.value(), try reader.value()) }
}

extension Connection: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(creationTime)
        writer.write(text: data)
        if writer.rules >= .moderation { writer.write(user) }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            connectionId: try reader.value(), creationTime: try reader.value(), data: try reader.text(),
            user: reader.rules >= .moderation ? try reader.optional() : nil)
    }
}

extension TokenFingerprint: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(fixed: rawValue) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(try reader.fixed()) }
}

extension ResumeSecretHash: ByteCodable {
    func write(to writer: inout ByteWriter) { writer.write(bytes: bytes) }
    init(from reader: inout ByteReader) throws(CodingFault) { self.init(bytes: try reader.byteArray()) }
}

extension Role: NumberedCase {
    var number: UInt8 {
        switch self {
        case .subscriber: 0
        case .publisher: 1
        case .moderator: 2
        case .publisherOnly: 3
        }
    }
}

extension DisconnectReason: NumberedCase {
    var number: UInt8 {
        switch self {
        case .clientDisconnected: 0
        case .forceDisconnected: 1
        case .networkDisconnected: 2
        }
    }
}
