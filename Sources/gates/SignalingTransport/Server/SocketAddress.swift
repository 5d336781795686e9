import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address with its port.
struct SocketAddress {
    private(set) var storage: sockaddr_storage
    var length: socklen_t {
        storage.ss_family == sa_family_t(AF_INET6)
            ? socklen_t(MemoryLayout<sockaddr_in6>.size) : socklen_t(MemoryLayout<sockaddr_in>.size)
    }

    init(_ storage: sockaddr_storage) { self.storage = storage }

    /// An address literal, or "localhost" for 127.0.0.1. Other names are not looked up, since that would block the
    /// loop.
    init?(host: String, port: Int) {
        guard let port = UInt16(exactly: port) else { return nil }
        let literal = host == "localhost" ? "127.0.0.1" : host
        storage = sockaddr_storage()
        var four = sockaddr_in()
        if inet_pton(AF_INET, literal, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
            return
        }
        var six = sockaddr_in6()
        let bare = literal.hasPrefix("[") && literal.hasSuffix("]") ? String(literal.dropFirst().dropLast()) : literal
        guard inet_pton(AF_INET6, bare, &six.sin6_addr) == 1 else { return nil }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
    }

    /// The address that a socket is bound to.
    init?(boundTo descriptor: Int32) {
        storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let outcome = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard outcome == 0 else { return nil }
    }

    /// Whether this is `::`, all addresses of the machine.
    var isAnySix: Bool { family == AF_INET6 && host == "::" }

    var family: Int32 { Int32(storage.ss_family) }

    var port: Int {
        withUnsafeBytes(of: storage) { bytes in
            family == AF_INET6
                ? Int(UInt16(bigEndian: bytes.load(as: sockaddr_in6.self).sin6_port))
                : Int(UInt16(bigEndian: bytes.load(as: sockaddr_in.self).sin_port))
        }
    }

    /// The address without the port, as text.
    var host: String {
        let isSix = family == AF_INET6
        return withUnsafeBytes(of: storage) { bytes in
            guard let base = bytes.baseAddress else { return "" }
            let offset =
                isSix
                ? MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) : MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
                guard let start = text.baseAddress,
                    inet_ntop(family, base + (offset ?? 0), start, socklen_t(INET6_ADDRSTRLEN)) != nil
                else { return "" }
                return String(cString: start)
            }
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
