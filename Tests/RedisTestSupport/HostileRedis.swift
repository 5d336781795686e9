import CHiredis
import Foundation
import Synchronization

/// Stands between a log and its Redis, passes everything on, and lies when a test says so. Serves on threads of its own
/// until it is released.
package final class HostileRedis: Sendable {
    /// The two connections of a link, in the order in which a log makes them.
    package enum Connection: Int, CaseIterable, Sendable { case commands, subscriptions }

    package enum Lie: Sendable {
        /// At once, between what Redis says.
        case unasked([UInt8])
        /// In the place of the next that Redis says, after it has spoken some times.
        case instead([UInt8], skipping: Int)
    }

    private struct State {
        var lies: [Connection: Lie] = [:]
        var toldCount = 0
        var connectionCount = 0
    }

    package let port: Int
    private let listener: Int32
    private let redisPort: Int
    private let state = Mutex(State())

    package init(before redisPort: Int) throws {
        self.redisPort = redisPort
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard let port = Self.listen(listener) else { throw RedisServer.Failed(description: "no hostile Redis") }
        self.port = port
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0, let self else { return }
                Thread.detachNewThread { [weak self] in self?.serve(peer) ?? { _ = close(peer) }() }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    package var address: String { "redis://127.0.0.1:\(port)" }
    /// How many lies were told.
    package var toldCount: Int { state.withLock { $0.toldCount } }
    /// How many connections were made to it.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Replaces a lie that is still to be told.
    package func tell(_ lie: Lie, on connection: Connection) { state.withLock { $0.lies[connection] = lie } }

    /// Tells the truth from here on.
    package func stopLying() { state.withLock { $0.lies = [:] } }

    private static func listen(_ listener: Int32) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) + Foundation.listen(listener, 8)
                    + getsockname(listener, address, &length)
            }
        }
        return outcome == 0 ? Int(in_port_t(bigEndian: address.sin_port)) : nil
    }

    private func serve(_ log: Int32) {
        defer { close(log) }
        let index = state.withLock {
            $0.connectionCount += 1
            return $0.connectionCount - 1
        }
        guard let connection = Connection(rawValue: index % 2),
            let context = redisConnect("127.0.0.1", Int32(redisPort)), context.pointee.err == 0
        else { return }
        defer { redisFree(context) }
        let redis = context.pointee.fd
        var polled = [
            pollfd(fd: log, events: Int16(POLLIN), revents: 0), pollfd(fd: redis, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            // A lie between two replies has no event of its own.
            if poll(&polled, 2, 2) < 0 { return }
            if polled[0].revents != 0, !pass(from: log, to: redis, &buffer, { $0 }) { return }
            if polled[1].revents != 0, !pass(from: redis, to: log, &buffer, { lie(on: connection) ?? $0 }) { return }
            if let bytes = unaskedLie(on: connection), !write(bytes[...], to: log) { return }
        }
    }

    private func pass(
        from source: Int32, to target: Int32, _ buffer: inout [UInt8],
        _ change: (ArraySlice<UInt8>) -> ArraySlice<UInt8>
    ) -> Bool {
        let count = read(source, &buffer, buffer.count)
        return count > 0 && write(change(buffer[..<count]), to: target)
    }

    private func write(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func unaskedLie(on connection: Connection) -> [UInt8]? {
        state.withLock { state in
            guard case .unasked(let bytes)? = state.lies[connection] else { return nil }
            state.lies[connection] = nil
            state.toldCount += 1
            return bytes
        }
    }

    private func lie(on connection: Connection) -> ArraySlice<UInt8>? {
        state.withLock { state in
            guard case .instead(let bytes, let skipping)? = state.lies[connection] else { return nil }
            if skipping > 0 {
                state.lies[connection] = .instead(bytes, skipping: skipping - 1)
                return nil
            }
            state.lies[connection] = nil
            state.toldCount += 1
            return bytes[...]
        }
    }
}

extension HostileRedis {
    /// What no Redis says on its own: broken protocol, other protocols, and replies of every kind and shape.
    package static let wrongAnswers: [[UInt8]] = {
        let ends = [
            "", "0", "-1", "-2", "1", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "x",
        ]
        var texts = ["\r\n", "\n", "\0", "x", " ", "\u{1b}[2J\u{7}\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"]
        texts += ends.map { ":\($0)\r\n" }
        texts += ends.map { "*\($0)\r\n" }.filter { $0 != "*1\r\n" }
        texts += [
            "$\r\n", "$0\r\n\r\n", "$-1\r\n", "$-2\r\n", "$x\r\n", "$99999999999999999999\r\n", "$1\r\nabcdef\r\n",
        ]
        texts += [
            "+\r\n", "+OK\r\n", "-\r\n", "-ERR x\r\n", "-WRONGTYPE x\r\n", "-LOADING x\r\n", "-READONLY x\r\n",
            "-OOM x\r\n",
        ]
        // RESP3.
        texts += [
            "_\r\n", "#t\r\n", ",1.5\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n", ">1\r\n+a\r\n", "(1\r\n",
            "=5\r\ntxt:x\r\n", "|0\r\n",
        ]
        texts += ["*1\r\n*0\r\n", "*1\r\n$-1\r\n", "*1\r\n:1\r\n", "*1\r\n-ERR x\r\n", "*2\r\n$2\r\nok\r\n*-1\r\n"]
        // Deeper, and larger, than any reply.
        texts += [String(repeating: "*1\r\n", count: 64), "*2147483647\r\n:1\r\n", "*2147483648\r\n:1\r\n"]
        texts.append(String(repeating: "*4194304\r\n", count: 6))
        // As the functions answer, with the wrong contents.
        texts += ["ok", "none", "found", "fine", "wanted", "gap", "repeated", "lost", "list", "nothing"].map {
            "*1\r\n$\($0.utf8.count)\r\n\($0)\r\n"
        }
        // As the channels speak, with the wrong contents.
        texts += ["subscribe", "unsubscribe", "message", "pmessage"].flatMap { kind in
            let head = "*3\r\n$\(kind.utf8.count)\r\n\(kind)\r\n"
            return [
                "*1\r\n+\(kind)\r\n", "\(head)$5\r\nother\r\n:1\r\n", "\(head)$-1\r\n:1\r\n",
                "\(head)$5\r\nother\r\n*0\r\n",
            ]
        }
        return texts.map { Array($0.utf8) } + [[0x15, 3, 3, 0, 2, 2, 40], [0xff, 0xfe, 0, 13, 10]]
    }()
}
