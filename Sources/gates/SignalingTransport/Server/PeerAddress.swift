import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A peer's IPv4 or IPv6 address without its port, in 17 bytes, since every idle socket keeps one.
public struct PeerAddress: Hashable, Sendable {
    /// In the byte order of the network, as in `sockaddr`.
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var isSix = false

    init(_ address: SocketAddress) {
        withUnsafeBytes(of: address.storage) { bytes in
            isSix = address.family == AF_INET6
            if isSix {
                var six = bytes.load(as: sockaddr_in6.self).sin6_addr
                withUnsafeBytes(of: &six) { part in
                    high = part.load(as: UInt64.self)
                    low = part.load(fromByteOffset: 8, as: UInt64.self)
                }
            } else {
                high = UInt64(bytes.load(as: sockaddr_in.self).sin_addr.s_addr)
            }
        }
        unmap()
    }

    /// An address literal: `192.0.2.7`, `2001:db8::7`, `[2001:db8::7]`. nil for anything else.
    init?(_ text: some StringProtocol) {
        guard text != "localhost", let address = SocketAddress(host: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// An address literal without brackets.
    init?(literal text: some StringProtocol) {
        guard !text.contains("[") else { return nil }
        self.init(text)
    }

    /// 4 or 16 bytes, the most significant first; nil for any other number.
    init?(networkOrder bytes: [UInt8]) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: high = UInt64(UInt32(truncatingIfNeeded: number(bytes)).bigEndian)
        case 16:
            (high, low, isSix) = (number(bytes[..<8]).bigEndian, number(bytes[8...]).bigEndian, true)
            unmap()
        default: return nil
        }
    }

    /// Makes an IPv4 address of ::ffff:192.0.2.7: a socket for both kinds of addresses, or a proxy with such a socket,
    /// names an IPv4 client so.
    private mutating func unmap() {
        if isSix, high == 0, UInt64(bigEndian: low) >> 32 == 0xFFFF {
            (high, low, isSix) = (UInt64(UInt32(truncatingIfNeeded: UInt64(bigEndian: low)).bigEndian), 0, false)
        }
    }

    /// The address as it counts for limits: IPv4 as a whole, IPv6 by its first 64 bits.
    var prefix: PeerAddress {
        var prefix = self
        prefix.low = 0
        return prefix
    }

    /// 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        isSix
            ? high == 0 && UInt64(bigEndian: low) == 1
            : UInt32(bigEndian: UInt32(truncatingIfNeeded: high)) >> 24 == 127
    }

    /// The number of bits of this kind of address.
    var bitCount: Int { isSix ? 128 : 32 }

    /// Whether the first `count` bits are those of another address of the same kind.
    func shares(_ count: Int, bitsWith other: PeerAddress) -> Bool {
        guard isSix == other.isSix, count <= bitCount else { return false }
        guard isSix else {
            let difference = UInt32(bigEndian: UInt32(truncatingIfNeeded: high ^ other.high))
            return difference.leadingZeroBitCount >= count
        }
        let leading = UInt64(bigEndian: high ^ other.high).leadingZeroBitCount
        if leading < 64 { return leading >= count }
        return 64 + UInt64(bigEndian: low ^ other.low).leadingZeroBitCount >= count
    }

    var text: String {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            if isSix {
                var six = sockaddr_in6()
                six.sin6_family = sa_family_t(AF_INET6)
                withUnsafeMutableBytes(of: &six.sin6_addr) { part in
                    part.storeBytes(of: high, as: UInt64.self)
                    part.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
                }
                bytes.storeBytes(of: six, as: sockaddr_in6.self)
            } else {
                var four = sockaddr_in()
                four.sin_family = sa_family_t(AF_INET)
                four.sin_addr.s_addr = UInt32(truncatingIfNeeded: high)
                bytes.storeBytes(of: four, as: sockaddr_in.self)
            }
        }
        return SocketAddress(storage).host
    }
}
