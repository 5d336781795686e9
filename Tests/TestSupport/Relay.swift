import Foundation
import Synchronization

/// A network between clients and a server on this machine that can be cut: a TCP relay on a free port.
public final class Relay: Sendable {
    public let port: Int
    private let target: UInt16
    private let listener: Int32
    private let pairs = Mutex<[Pair]>([])

    private struct Pair {
        let client: Int32
        let server: Int32
    }

    public init(to port: Int) throws {
        target = UInt16(port)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        guard listener >= 0 else { throw POSIXError(.ENOTSOCK) }
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// No more connections; those that are there are cut.
    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cut()
    }

    /// Cuts every connection at once, as a network that is lost does: nobody says goodbye.
    public func cut() {
        for pair in pairs.withLock({ pairs in
            defer { pairs = [] }
            return pairs
        }) {
            for end in [pair.client, pair.server] {
                var reset = linger(l_onoff: 1, l_linger: 0)
                setsockopt(end, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
                shutdown(end, Int32(SHUT_RDWR))
            }
        }
    }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(target)
            let isConnected = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                close(server)
                close(client)
                continue
            }
            pairs.withLock { $0.append(Pair(client: client, server: server)) }
            let ends = Mutex(2)
            let closeWhenBothEnd: @Sendable () -> Void = {
                let isLast = ends.withLock { count in
                    count -= 1
                    return count == 0
                }
                guard isLast else { return }
                close(client)
                close(server)
            }
            for (from, to) in [(client, server), (server, client)] {
                Thread.detachNewThread { [self] in
                    Self.copy(from, to)
                    pairs.withLock { pairs in pairs.removeAll { $0.client == client } }
                    closeWhenBothEnd()
                }
            }
        }
    }

    private static func copy(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let written = buffer[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
        }
        shutdown(to, Int32(SHUT_RDWR))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
