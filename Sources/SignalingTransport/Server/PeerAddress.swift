import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A peer's IPv4 or IPv6 address without its port, in 17 bytes, since every idle socket keeps one.
struct PeerAddress {
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
