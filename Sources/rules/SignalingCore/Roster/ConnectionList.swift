import SignalingProtocol

/// The connections of a session in JSON, in the order of joining, encoded once for all clients that get a list (CON-11).
///
/// The list consists of blocks. A copy of the list shares them, so thousands of clients that have not read their lists
/// yet hold references to the same bytes. A join or a departure copies one block at most.
struct ConnectionList: Sendable {
    /// Encoded connections, separated by commas.
    struct Block: Sendable {
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate var entries: [Entry] = []

        var count: Int { entries.count }

        fileprivate var address: UInt { bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
    }

    fileprivate struct Entry: Sendable {
        /// Identifies the connection: no two connections of a session have the same.
        let creationTime: WallTime
        let byteCount: Int
    }

    /// A block gets no more entries when it has this many bytes. Small, since a change copies the block if a client
    /// still reads it.
    static let blockByteCount = 16_384

    private let blockByteCount: Int
    fileprivate private(set) var blocks: [Block] = []
    private(set) var count = 0
    /// Without brackets.
    private(set) var byteCount = 0

    init(blockByteCount: Int = ConnectionList.blockByteCount) { self.blockByteCount = blockByteCount }

    /// The number of connections in each block. Pages consist of whole blocks, so it decides what a client gets.
    var blockCounts: [Int] { blocks.map(\.count) }

    /// Adds a connection, which is newer than all others.
    ///
    /// - Parameter beginsBlock: whether it begins a block, for a list that is rebuilt; `nil` decides by the block's size.
    mutating func append(_ encoded: ArraySlice<UInt8>, createdAt time: WallTime, beginsBlock: Bool? = nil) {
        let isLastFull = blocks.last.map { $0.bytes.count + encoded.count >= blockByteCount } ?? true
        if blocks.isEmpty || beginsBlock ?? isLastFull { blocks.append(Block()) }
        let last = blocks.count - 1
        if !blocks[last].entries.isEmpty { blocks[last].bytes.append(UInt8(ascii: ",")) }
        blocks[last].bytes.append(contentsOf: encoded)
        blocks[last].entries.append(Entry(creationTime: time, byteCount: encoded.count))
        count += 1
        byteCount += encoded.count + 1
    }

    /// Removes a connection; does nothing if it is not in the list.
    mutating func remove(createdAt time: WallTime) {
        guard let block = blockIndex(of: time),
            let entry = blocks[block].entries.firstIndex(where: { $0.creationTime == time })
        else { return }
        let removed = blocks[block].entries.remove(at: entry)
        count -= 1
        byteCount -= removed.byteCount + 1
        if blocks[block].entries.isEmpty {
            blocks.remove(at: block)
            return
        }
        let start = blocks[block].entries[..<entry].reduce(0) { $0 + $1.byteCount + 1 }
        // The first one goes with the comma behind it, every other one with the comma before it.
        let first = max(0, start - (entry == 0 ? 0 : 1))
        blocks[block].bytes.removeSubrange(first..<(first + removed.byteCount + 1))
        mergeIfSmall(block)
    }

    /// The block that has this connection, if any has it: blocks are in the order of creation.
    private func blockIndex(of time: WallTime) -> Int? {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].entries[0].creationTime <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// Joins a block with the next one, so that departures do not leave many small blocks.
    private mutating func mergeIfSmall(_ block: Int) {
        guard block + 1 < blocks.count,
            blocks[block].bytes.count + blocks[block + 1].bytes.count < blockByteCount / 2
        else { return }
        let next = blocks.remove(at: block + 1)
        blocks[block].bytes.append(UInt8(ascii: ","))
        blocks[block].bytes.append(contentsOf: next.bytes)
        blocks[block].entries.append(contentsOf: next.entries)
    }
}

/// The part of a ``ConnectionList`` that a client has not been sent yet. Holds references to the list's blocks.
public struct UnsentConnections: Sendable {
    private var blocks: ArraySlice<ConnectionList.Block>
    public private(set) var count: Int

    /// - Parameter byteLimit: the maximum size. The oldest connections are kept, in whole blocks.
    init(_ list: ConnectionList, byteLimit: Int = .max) {
        guard list.byteCount > byteLimit else {
            blocks = list.blocks[...]
            count = list.count
            return
        }
        var byteCount = 0
        blocks = list.blocks.prefix { block in
            byteCount += block.bytes.count + 1
            return byteCount <= byteLimit
        }
        count = blocks.reduce(0) { $0 + $1.count }
    }

    public var isEmpty: Bool { blocks.isEmpty }

    /// How many bytes of these connections are no references to the same memory as those of others.
    func unsharedByteCount(with other: UnsentConnections) -> Int {
        let shared = Set(other.blocks.map(\.address))
        return blocks.filter { !shared.contains($0.address) }.reduce(0) { $0 + $1.bytes.count }
    }

    /// Appends the next page as a line (CON-11): whole blocks, at least one.
    ///
    /// - Parameter byteLimit: the maximum size of the page's list, if one block is not larger.
    mutating func appendPage(byteLimit: Int, to message: inout [UInt8], separatedFrom start: Int) {
        let page = removeFirst(
            byteLimit: min(byteLimit, Limits.connectionPageByteCount), countLimit: Limits.connectionPageCount)
        EncodedLine.appendConnectionPage(page.lazy.map(\.bytes), rest: count, to: &message, separatedFrom: start)
    }

    /// Appends the next connections, each with a comma behind it: whole blocks, at least one.
    ///
    /// - Parameter byteLimit: the maximum size, if one block is not larger.
    mutating func appendElements(byteLimit: Int, to message: inout [UInt8]) {
        for block in removeFirst(byteLimit: byteLimit, countLimit: .max) {
            message.append(contentsOf: block.bytes)
            message.append(UInt8(ascii: ","))
        }
    }

    private mutating func removeFirst(byteLimit: Int, countLimit: Int) -> ArraySlice<ConnectionList.Block> {
        var (blockCount, elementCount, byteCount) = (0, 0, 0)
        for block in blocks {
            elementCount += block.count
            byteCount += block.bytes.count + 1
            if blockCount > 0, elementCount > countLimit || byteCount > byteLimit { break }
            blockCount += 1
            count -= block.count
        }
        defer { blocks = blocks.dropFirst(blockCount) }
        return blocks.prefix(blockCount)
    }
}

/// The other connections in the answer to a join, in one of the forms of CON-11.
public enum ConnectionListing: Sendable {
    /// No list: the client is alone, has resumed, or suppresses presence.
    case none
    /// In lines of their own, which follow `connected`.
    case inPages(UnsentConnections)
    /// Within `connected`, before the client's own connection.
    case withinConnected(UnsentConnections)
}
