import SignalingCore
import SignalingProtocol

/// A message on the channel of a session.
package enum ChannelMessage: Equatable {
    /// Entries that were appended.
    case entries(generation: String, [ChannelEntry])
    /// The session was removed.
    case removed(generation: String)
    /// Bytes of another node, which are not kept.
    case relayed(from: RunID, [UInt8])

    /// `nil` if the bytes are not a message.
    ///
    /// - Parameters:
    ///   - run: the reader.
    ///   - omitsOwn: whether the reader has the bytes of its own entries, so that they need not be copied.
    package init?(_ message: UnsafeRawBufferPointer, reader run: RunID, omitsOwn: Bool) {
        let end = message.firstIndex(of: 10) ?? message.endIndex
        let header = String(decoding: message[..<end], as: UTF8.self).split(separator: " ")
        let body = end < message.endIndex ? message[(end + 1)...] : message[message.endIndex...]
        switch header.first {
        case "e": self.init(entries: header, body, reader: omitsOwn ? run : nil)
        case "x" where header.count == 2: self = .removed(generation: String(header[1]))
        case "r" where header.count == 2:
            guard let sender = RunID(hexadecimal: header[1]) else { return nil }
            self = .relayed(from: sender, Array(body))
        default: return nil
        }
    }

    private init?(entries header: [Substring], _ body: Slice<UnsafeRawBufferPointer>, reader run: RunID?) {
        guard header.count > 6, let first = LogNumber.read(header[2]), let sender = RunID(hexadecimal: header[3]),
            let counter = LogNumber.read(header[4]), let time = MonotonicInstant(microseconds: header[5])
        else { return nil }
        var entries: [ChannelEntry] = []
        var offset = body.startIndex
        for (index, text) in header[6...].enumerated() {
            guard let length = Int(text), length >= 0, length <= body.endIndex - offset else { return nil }
            let id = CommandID(run: sender, counter: counter + UInt64(index))
            entries.append(
                ChannelEntry(
                    position: LogPosition(number: first + UInt64(index), id: id), time: time,
                    bytes: sender == run ? nil : Array(body[offset..<(offset + length)])))
            offset += length
        }
        self = .entries(generation: String(header[1]), entries)
    }

    /// The bytes of a message that relays others.
    static func relay(_ bytes: [UInt8], from run: RunID) -> [UInt8] { Array("r \(run.hexadecimal)\n".utf8) + bytes }
}

extension RunID {
    package var hexadecimal: String { Hexadecimal.text(rawValue) }

    init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 16, let value = UInt64(text, radix: 16) else { return nil }
        self.init(value)
    }
}

extension CommandID {
    /// As it stands in the log: run and counter.
    var text: String { "\(run.hexadecimal):\(counter)" }

    init?(text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let run = RunID(hexadecimal: parts[0]), let counter = LogNumber.read(parts[1]) else {
            return nil
        }
        self.init(run: run, counter: counter)
    }
}
