import SignalingCore
import SignalingProtocol

/// Neighbouring messages of a session in one row, so that an erased message leaves no trace in the file (HIS-9).
///
/// SQLite moves small rows from page to page, and leaves copies in the unused part of a page: `secure_delete` overwrites
/// what is deleted, and not these copies. (Of 3,000 erased rows in a table of messages, 10 could be found in the file
/// afterwards.) The overflow pages of a large row never move, and `secure_delete` does overwrite them. So a chunk is so
/// large that SQLite keeps ``prefixByteCount`` bytes of the row in the table's page and the rest in overflow pages, and
/// begins with as many zeros.
struct ArchiveChunk {
    /// In the order of their seqs; at least one.
    var messages: [ArchivedMessage]

    /// What SQLite keeps of a large row in the page of the table, for pages of 4,096 bytes
    /// (https://www.sqlite.org/fileformat2.html, "B-tree Pages").
    private static let prefixByteCount = 489
    static let pageByteCount = 4_096
    /// What an overflow page holds.
    private static let overflowByteCount = 4_092
    /// Numbers before the blob, which count for the row's size: 7 bytes of types and at most 24 of values.
    private static let columnByteCount = 39
    /// A chunk gets messages until it fills two overflow pages: a page of history takes few chunks, and an append writes
    /// few bytes.
    private static let fullByteCount = 2 * overflowByteCount - columnByteCount - 4
    private static let numbersByteCount = 24
    /// What the row of a chunk takes in the pages of the table, and what the row of a session takes: measured, with pages
    /// that are not full.
    private static let (chunkRowByteCount, sessionRowByteCount) = (600, 120)

    /// About what a session takes on the disk: exact if its messages have one size.
    static func storedByteCount(ofMessages count: Int, byteCount: Int) -> Int {
        guard count > 0 else { return sessionRowByteCount }
        let size = max(1, byteCount / count)
        let fullCount = max(1, fullByteCount / size)
        func stored(_ count: Int) -> Int {
            count == 0 ? 0 : overflowPageCount(count * size) * pageByteCount + chunkRowByteCount
        }
        return sessionRowByteCount + count / fullCount * stored(fullCount) + stored(count % fullCount)
    }

    /// The overflow pages of a chunk with so many bytes of messages.
    private static func overflowPageCount(_ byteCount: Int) -> Int {
        (byteCount + 4 + columnByteCount + overflowByteCount - 1) / overflowByteCount
    }

    init(_ messages: [ArchivedMessage]) { self.messages = messages }

    /// Divides messages into chunks.
    ///
    /// - Parameter evenly: whether each gets about as many bytes, so that all have room for messages that grow. Otherwise
    ///   each is as full as it can be, up to the last.
    static func pack(_ messages: [ArchivedMessage], evenly: Bool = false) -> [ArchiveChunk] {
        let used = encodedByteCount(of: messages)
        let enough = evenly ? used / max(1, (used + fullByteCount - 1) / fullByteCount) : fullByteCount
        var chunks: [ArchiveChunk] = []
        var byteCount = 0
        for message in messages {
            let size = encodedByteCount(of: message)
            if let last = chunks.indices.last, byteCount < enough, byteCount + size <= fullByteCount {
                chunks[last].messages.append(message)
                byteCount += size
            } else {
                chunks.append(ArchiveChunk([message]))
                byteCount = size
            }
        }
        return chunks
    }

    /// The seq of the first message.
    var first: Int64 { messages.first?.seq.rawValue ?? 0 }
    /// Whether it is less than half full.
    var isSparse: Bool { Self.encodedByteCount(of: messages) < Self.fullByteCount / 2 }

    private static func encodedByteCount(of messages: [ArchivedMessage]) -> Int {
        messages.reduce(0) { $0 + encodedByteCount(of: $1) }
    }

    private static func encodedByteCount(of message: ArchivedMessage) -> Int {
        numbersByteCount + message.head.count + (message.content?.count ?? 0)
    }

    // MARK: - Coding

    func encoded() -> [UInt8] {
        let used = Self.encodedByteCount(of: messages)
        let pages = Self.overflowPageCount(used)
        let byteCount = pages * Self.overflowByteCount + Self.prefixByteCount - Self.columnByteCount
        var bytes = [UInt8](repeating: 0, count: Self.prefixByteCount)
        bytes.reserveCapacity(byteCount)
        bytes.append(number: UInt32(used))
        for message in messages {
            bytes.append(number: message.seq.rawValue)
            bytes.append(number: message.time.milliseconds)
            bytes.append(number: UInt32(message.head.count))
            // 0 without content.
            bytes.append(number: UInt32(message.content.map { $0.count + 1 } ?? 0))
            bytes.append(contentsOf: message.head)
            if let content = message.content { bytes.append(contentsOf: content) }
        }
        bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
        return bytes
    }

    /// `nil` if the bytes are not those of a chunk.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = Reader(bytes: bytes, offset: Self.prefixByteCount)
        guard let used = reader.number(UInt32.self), Int(used) <= bytes.count - reader.offset else { return nil }
        let end = reader.offset + Int(used)
        messages = []
        while reader.offset < end {
            guard let seq = reader.number(Int64.self), let time = reader.number(Int64.self),
                let headCount = reader.number(UInt32.self), let contentCount = reader.number(UInt32.self),
                let head = reader.bytes(Int(headCount)),
                let content = reader.bytes(max(0, Int(contentCount) - 1))
            else { return nil }
            messages.append(
                ArchivedMessage(
                    seq: Seq(seq), time: WallTime(milliseconds: time), head: head,
                    content: contentCount == 0 ? nil : content))
        }
        guard !messages.isEmpty, reader.offset == end else { return nil }
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset: Int

        mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard offset + size <= bytes.count else { return nil }
            defer { offset += size }
            return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
        }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard count <= bytes.count - offset else { return nil }
            defer { offset += count }
            return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
