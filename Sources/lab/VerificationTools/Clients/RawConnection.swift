import Foundation

/// A blocking TCP connection to a loopback port.
struct RawConnection {
    private let descriptor: Int32

    /// - Parameter descriptor: of a listening socket. Its calls wait for as long as it takes.
    init(accepted descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter patience: how many seconds one call may take.
    init?(port: Int, patience: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let isConnected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if !isConnected {
            close()
            return nil
        }
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let written = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard written > 0 else { return false }
            sent += written
        }
        return true
    }

    /// - Returns: nil at the end, and when the server takes too long.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// - Returns: the bytes before the next line end, without a carriage return; nil at the end, and when the server takes
    ///   too long.
    func receiveLine() -> String? {
        var bytes: [UInt8] = []
        while !bytes.contains(UInt8(ascii: "\n")) {
            guard let more = receive() else { return nil }
            bytes += more
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The other side gets a reset at the close.
    func willReset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Foundation.linger>.size))
    }

    func close() { _ = Foundation.close(descriptor) }
}
