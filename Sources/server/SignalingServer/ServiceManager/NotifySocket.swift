import FoundationEssentials
import Glibc

/// A datagram socket of a service manager, to which a service reports: sd_notify(3).
struct NotifySocket: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter name: the absolute path of a socket, or `@` and the name of a socket in Linux's abstract namespace.
    /// - Returns: nil for any other name, and for one that is too long.
    init?(name: String) {
        var bytes = Array(name.utf8)
        guard bytes.count > 1, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        // Ends with a NUL, which counts.
        case UInt8(ascii: "/"): bytes.append(0)
        // Begins with a NUL. The name ends with the length of the address, and needs no other NUL.
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count <= capacity else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + bytes.count)
    }

    /// Sends one datagram. A service manager that is gone is no failure of the server.
    ///
    /// - Parameter waits: whether the caller may wait until the receiver has room.
    func send(_ text: String, waits: Bool) {
        #if canImport(Glibc)
            let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, waits ? 0 : Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }
}
