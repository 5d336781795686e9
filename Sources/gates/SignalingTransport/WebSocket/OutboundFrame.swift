import CLibwebsockets

/// A buffer with one text message, and the headroom below it into which libwebsockets writes the frame header.
///
/// A frame can be written to any number of server sockets one after another, since the header depends on the length
/// only and server frames are not masked. It can be cleared, filled and written again. Confined to the loop of its
/// sockets.
public final class OutboundFrame {
    private static let headroom = Int(SIGNALBOX_LWS_PRE)
    @exclusivity(unchecked) private var storage: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var count = 0
    /// The message's current size. Other modules do not see the attribute of a stored property.
    public var byteCount: Int { count }

    /// - Parameter reservingByteCount: initial capacity in bytes; the buffer grows when needed.
    public init(reservingByteCount: Int = 0) {
        capacity = max(64, reservingByteCount)
        storage = .allocate(byteCount: Self.headroom + capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    public var isEmpty: Bool { byteCount == 0 }

    public func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(byteCount + bytes.count)
        (storage + Self.headroom + byteCount).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    public func append(contentsOf bytes: some Sequence<UInt8>) {
        let copied: Void? = bytes.withContiguousStorageIfAvailable { append(contentsOf: UnsafeRawBufferPointer($0)) }
        if copied == nil { for byte in bytes { append(byte) } }
    }

    public func append(_ byte: UInt8) {
        reserve(byteCount + 1)
        storage.storeBytes(of: byte, toByteOffset: Self.headroom + byteCount, as: UInt8.self)
        count += 1
    }

    /// Clears the frame. Without `keepingCapacity` its memory shrinks to the minimum.
    public func removeAll(keepingCapacity: Bool = true) {
        count = 0
        guard !keepingCapacity else { return }
        storage.deallocate()
        capacity = 64
        storage = .allocate(byteCount: Self.headroom + capacity, alignment: 16)
    }

    /// The message's bytes. The pointer is valid during `body` only.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: storage + Self.headroom, count: byteCount))
    }

    /// The start of the payload. libwebsockets writes into the headroom below it, and on client sockets masks the
    /// payload in place.
    var payload: UnsafeMutablePointer<UInt8> { (storage + Self.headroom).assumingMemoryBound(to: UInt8.self) }

    private func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        let grown = max(needed, capacity * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: Self.headroom + grown, alignment: 16)
        larger.copyMemory(from: storage, byteCount: Self.headroom + byteCount)
        storage.deallocate()
        storage = larger
        capacity = grown
    }
}
