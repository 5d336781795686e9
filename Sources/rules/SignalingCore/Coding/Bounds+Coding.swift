import SignalingProtocol

/// Every limit, since each of them can change an outcome (LOG-6).
extension SessionState.Bounds: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(signed: Int64(connectionCount))
        writer.write(log)
        writer.write(resumeWindow)
        writer.write(recoveryWindow)
        writer.write(signed: Int64(detachedCountPerToken))
        writer.write(signed: Int64(recoverableCount))
        writer.write(signalRate)
        writer.write(onlineOnlyRate)
        writer.write(signed: Int64(onlineOnlyConnectionCount))
        writer.write(awayDelay)
        writer.write(signed: Int64(listBlockByteCount))
        writer.write(signed: Int64(untoldEventCount))
        if writer.rules >= .history { writer.write(history) }
        if writer.rules >= .changes {
            writer.write(byte: changes.reduce(0) { $0 | $1.bit })
            writer.write(asOf)
            writer.write(readMarkers)
            writer.write(byte: announces ? 1 : 0)
            writer.write(unreadDelay)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init()
        connectionCount = try reader.integer()
        log = try reader.value()
        resumeWindow = try reader.value()
        recoveryWindow = try reader.value()
        detachedCountPerToken = try reader.integer()
        recoverableCount = try reader.integer()
        signalRate = try reader.optional()
        onlineOnlyRate = try reader.optional()
        onlineOnlyConnectionCount = try reader.integer()
        awayDelay = try reader.value()
        listBlockByteCount = try reader.integer()
        untoldEventCount = try reader.integer()
        if reader.rules >= .history { history = try reader.optional() }
        if reader.rules >= .changes {
            let bits = try reader.byte()
            changes = Set(ChangeKind.allCases.filter { bits & $0.bit != 0 })
            guard bits == changes.reduce(0, { $0 | $1.bit }) else { throw .malformed }
            asOf = try reader.value()
            readMarkers = try reader.value()
            switch try reader.byte() {
            case 0: announces = false
            case 1: announces = true
            default: throw .malformed
            }
            unreadDelay = try reader.value()
        }
    }
}

extension ChangeKind {
    /// Never given to another kind.
    fileprivate var bit: UInt8 {
        switch self {
        case .edit: 1
        case .erase: 2
        case .react: 4
        }
    }
}

extension SessionLog.Bounds: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(signed: Int64(eventCount))
        writer.write(signed: Int64(byteCount))
        writer.write(age)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init()
        // Not by the initializer, which clamps.
        eventCount = try reader.integer()
        byteCount = try reader.integer()
        age = try reader.value()
    }
}

extension RateLimit: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(signed: Int64(perSecond))
        writer.write(signed: Int64(burst))
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let (perSecond, burst) = (try reader.integer(), try reader.integer())
        self.init(perSecond: perSecond, burst: burst)
        guard self.perSecond == perSecond, self.burst == burst else { throw .malformed }
    }
}

extension ByteReader {
    fileprivate mutating func integer() throws(CodingFault) -> Int {
        guard let value = Int(exactly: try signed()) else { throw .malformed }
        return value
    }
}
