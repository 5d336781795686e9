import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Listens on 127.0.0.1, and handles each connection by a script on a thread of its own.
final class ScriptedReceiver: Sendable {
    private let listener: Int32
    let port: Int
    private let accepted = Mutex(0)

    /// - Parameter script: gets the connection, and its number from 0 on. The connection is closed afterwards.
    init(_ script: @escaping @Sendable (ScriptedPeer, Int) -> Void) {
        #if os(Linux)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length)
                listen(listener, 64)
                getsockname(listener, $0, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        // Threads of their own: calls that block would use up a queue's.
        Thread.detachNewThread { [weak self] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                let number = self?.count()
                Thread.detachNewThread { number.map { script(ScriptedPeer(descriptor), $0) } }
            }
            close(listener)
        }
    }

    /// Ends `accept`.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var url: String { "http://127.0.0.1:\(port)/hooks" }
    var connectionCount: Int { accepted.withLock { $0 } }

    private func count() -> Int {
        accepted.withLock { accepted in
            defer { accepted += 1 }
            return accepted
        }
    }
}

/// One connection to a ``ScriptedReceiver``. Calls wait as long as the poster keeps the connection: a receiver that gives
/// up on a busy machine would end the silence that a test is about.
final class ScriptedPeer {
    private let descriptor: Int32
    private(set) var sentByteCount = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // A single byte does not wait for the acknowledgement of the one before.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// Reads one post. Its body must be `{}`.
    ///
    /// - Returns: `nil` when the connection has ended.
    func readPost() -> String? {
        var text: [UInt8] = []
        while !String(decoding: text, as: UTF8.self).hasSuffix("\r\n\r\n{}") {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: whether the connection still exists.
    @discardableResult
    func send(_ text: String) -> Bool {
        let count = Array(text.utf8).withUnsafeBytes {
            #if os(Linux)
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            #else
                Darwin.send(descriptor, $0.baseAddress, $0.count, 0)
            #endif
        }
        sentByteCount += max(0, count)
        return count == text.utf8.count
    }

    /// Waits until the poster has ended the connection.
    func waitForEnd() -> Bool {
        var byte: UInt8 = 0
        var count: Int
        repeat { count = recv(descriptor, &byte, 1, 0) } while count > 0
        return count == 0 || errno == ECONNRESET
    }
}
