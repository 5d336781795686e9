import Glibc
import SignalingTransport

/// The addresses at which devices of the local network reach this machine.
package enum LocalAddresses {
    /// IPv4 addresses, the one that this machine itself would use for the internet first: of several networks, the
    /// others are mostly those of virtual machines and containers.
    package static func all() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [String] = []
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry = entry?.pointee, let address = entry.ifa_addr, address.pointee.sa_family == AF_INET,
                entry.ifa_flags & UInt32(IFF_UP) != 0, let text = text(of: address)
            else { continue }
            found.append(text)
        }
        return ordered(found, preferred: preferred())
    }

    static func ordered(_ addresses: [String], preferred: String?) -> [String] {
        var seen: Set<String> = []
        let usable = addresses.filter {
            LocalNetwork.contains(literal: $0) && !ServerConfiguration.isLoopback($0) && seen.insert($0).inserted
        }
        return usable.filter { $0 == preferred } + usable.filter { $0 != preferred }
    }

    /// The address that a packet to the internet would have. Sends none: a datagram socket only looks up the route.
    private static func preferred() -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(9).bigEndian
        // An address of documentations (RFC 5737).
        target.sin_addr.s_addr = inet_addr("192.0.2.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard connect(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0
                else { return nil }
                return text(of: address)
            }
        }
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { four in
            var bytes = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
            guard inet_ntop(AF_INET, &four.pointee.sin_addr, &bytes, socklen_t(INET_ADDRSTRLEN)) != nil else {
                return nil
            }
            return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
