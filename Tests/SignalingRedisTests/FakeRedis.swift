import CHiredis
import Foundation
import RedisTestSupport

/// A server that answers PING and INFO, and refuses everything else. Serves on threads of its own until it is released.
final class FakeRedis {
    let port: Int
    private let listener: Int32

    /// - Parameters:
    ///   - info: the reply to INFO.
    ///   - raw: in the place of every reply.
    init(info: String = "", raw: String? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) + listen(listener, 8) + getsockname(listener, address, &length)
            }
        }
        guard outcome == 0 else { throw RedisServer.Failed(description: "no fake server") }
        self.listener = listener
        port = Int(in_port_t(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while true {
                let peer = accept(listener, nil, nil)
                if peer < 0 { return }
                Thread.detachNewThread { Self.serve(peer, info: info, raw: raw) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ peer: Int32, info: String, raw: String?) {
        defer { close(peer) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(peer, &buffer, buffer.count)
            if count <= 0 { return }
            // Each test sends few and short commands, which arrive whole.
            let commands = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "*").filter {
                $0.contains("$")
            }
            for command in commands {
                let reply: String
                if let raw {
                    reply = raw
                } else if command.contains("PING") {
                    reply = "+PONG\r\n"
                } else if command.contains("INFO") {
                    reply = "$\(info.utf8.count)\r\n\(info)\r\n"
                } else if command.contains("SUBSCRIBE") {
                    reply = "*3\r\n$9\r\nsubscribe\r\n$10\r\nsb:0:nodes\r\n:1\r\n"
                } else if command.contains("FCALL") {
                    reply = "-ERR Function not found\r\n"
                } else {
                    reply = "-ERR unknown command\r\n"
                }
                _ = reply.withCString { send(peer, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
            }
        }
    }
}
