import SignalingProtocol

/// An online-only signal on its way to another node.
struct RelayedSignal: Sendable {
    /// The first byte. A change of the format increases it.
    static let version: UInt8 = 1

    let epoch: Epoch
    /// The node that relays the signal: that of its sender.
    let node: RunID
    /// The number of the last entry that this node had carried out.
    let number: UInt64
    let signal: OnlineOnlySignal

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 128 + signal.line.byteCount)
        writer.write(byte: Self.version)
        writer.write(epoch)
        writer.write(node)
        writer.write(unsigned: number)
        writer.write(signal.after)
        writer.write(signal.from)
        switch signal.audience {
        case .everyone: writer.write(byte: 0)
        case .only(let target):
            writer.write(byte: 1)
            writer.write(target)
        }
        writer.write(byte: signal.type == nil ? 0 : 1)
        if let type = signal.type { writer.write(text: type) }
        writer.write(signal.line)
        return writer.bytes
    }

    /// Reads the bytes of ``encoded()``.
    ///
    /// - Throws: ``CodingFault`` for any other bytes.
    init(decoding bytes: [UInt8]) throws(CodingFault) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .version(version) }
        epoch = try reader.value()
        node = try reader.value()
        number = try reader.unsigned()
        let after: Seq = try reader.value()
        let from: ConnectionID? = try reader.optional()
        let target: ConnectionID? = try reader.optional()
        let hasType = try reader.byte()
        guard hasType <= 1 else { throw .malformed }
        let type = hasType == 1 ? try reader.text() : nil
        let line: EncodedLine = try reader.value()
        try reader.end()
        signal = OnlineOnlySignal(
            after: after, from: from, type: type, audience: target.map(Audience.only) ?? .everyone, line: line)
    }

    init(epoch: Epoch, node: RunID, number: UInt64, signal: OnlineOnlySignal) {
        self.epoch = epoch
        self.node = node
        self.number = number
        self.signal = signal
    }
}
