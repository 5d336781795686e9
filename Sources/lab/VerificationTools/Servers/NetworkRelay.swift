import Foundation
import Synchronization

/// The network between one client and the server, with faults on request: a TCP relay on a free loopback port.
package final class NetworkRelay: Sendable {
    package enum Cut: Sendable {
        /// Resets both sockets.
        case abrupt
        /// Discards everything that the client sends, without closing a socket.
        case silentUp
        /// Discards everything that the server sends, without closing a socket.
        case silentDown
        /// Changes nothing: the server itself is about to fall silent.
        case silentServer
    }

    /// How fast the client reads.
    enum Pace: Sendable {
        case full
        case bytesPerSecond(Int)
        /// The client reads nothing: what the server sends waits in the buffers of the system.
        case stalled
    }

    package let port: Int
    private let listener: Int32
    private let pace = Mutex(Pace.full)
    /// While it holds, new sockets are refused at once.
    private let isDown = Atomic(false)
    private let isStopped = Atomic(false)
    private let receiveBufferByteCount: Int?
    private let target: Mutex<UInt16>
    private let tap: WireTap?
    private let pairs = Mutex<[Pair]>([])

    /// The two sockets of a client's connection. The last of its two threads closes them.
    private final class Pair: Sendable {
        let client: Int32
        let server: Int32
        let line: WireTap.Line?
        let discardsUp = Atomic(false)
        let discardsDown = Atomic(false)
        let running = Atomic(2)

        func discards(_ isUp: Bool) -> Bool {
            isUp ? discardsUp.load(ordering: .relaxed) : discardsDown.load(ordering: .relaxed)
        }

        init(client: Int32, server: Int32, line: WireTap.Line?) {
            self.client = client
            self.server = server
            self.line = line
        }
    }

    /// - Parameters:
    ///   - tap: sees all messages that pass.
    ///   - receiveBufferByteCount: the system's buffer for bytes from the server; nil: the system's default. A small one
    ///     makes a stalled client block the server soon.
    package init(to port: Int, tap: WireTap? = nil, receiveBufferByteCount: Int? = nil) throws {
        self.tap = tap
        self.receiveBufferByteCount = receiveBufferByteCount
        target = Mutex(UInt16(truncatingIfNeeded: port))
        (listener, self.port) = try Self.listen()
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Listens on a free loopback port.
    static func listen() throws -> (listener: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && Foundation.listen(listener, 128) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// The port to which the next connection goes.
    var targetPort: Int { Int(target.withLock(\.self)) }

    /// Sends the next connections to another port, after a restart of the server.
    package func retarget(to port: Int) { target.withLock { $0 = UInt16(truncatingIfNeeded: port) } }

    /// Cuts the client off, until ``goUp()``.
    package func goDown() {
        isDown.store(true, ordering: .relaxed)
        cut(.abrupt)
    }

    package func goUp() { isDown.store(false, ordering: .relaxed) }

    /// Changes how fast the client reads from now on.
    func setPace(_ new: Pace) {
        if case .full = new {} else { pairs.withLock { $0.forEach { $0.line?.impaired() } } }
        pace.withLock { $0 = new }
    }

    /// Ends the relay. May be called again.
    package func stop() {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        // Its thread closes the descriptor. A second close would hit another socket that got the same number.
        shutdown(listener, Int32(SHUT_RDWR))
        cut(.abrupt)
    }

    /// Cuts the present connections; new ones work.
    package func cut(_ cut: Cut) {
        pairs.withLock { pairs in
            for pair in pairs {
                switch cut {
                case .abrupt: pair.line?.ended()
                case .silentUp, .silentDown, .silentServer: pair.line?.ended(isSilent: true)
                }
                switch cut {
                case .silentUp: pair.discardsUp.store(true, ordering: .relaxed)
                case .silentDown: pair.discardsDown.store(true, ordering: .relaxed)
                case .silentServer: break
                case .abrupt:
                    for end in [pair.client, pair.server] {
                        var reset = linger(l_onoff: 1, l_linger: 0)
                        setsockopt(end, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
                        shutdown(end, Int32(SHUT_RDWR))
                    }
                }
            }
        }
    }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                close(listener)
                return
            }
            if isDown.load(ordering: .relaxed) {
                close(client)
                continue
            }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if var byteCount = receiveBufferByteCount.map({ Int32($0) }) {
                setsockopt(server, SOL_SOCKET, SO_RCVBUF, &byteCount, socklen_t(MemoryLayout<Int32>.size))
            }
            var address = Self.loopback(target.withLock { $0 })
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
            let pair = Pair(client: client, server: server, line: tap?.openLine())
            pairs.withLock { $0.append(pair) }
            if case .full = pace.withLock(\.self) {} else { pair.line?.impaired() }
            Thread.detachNewThread { [self] in copy(pair, isUp: true) }
            Thread.detachNewThread { [self] in copy(pair, isUp: false) }
        }
    }

    private func copy(_ pair: Pair, isUp: Bool) {
        let (from, to) = isUp ? (pair.client, pair.server) : (pair.server, pair.client)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, isUp ? buffer.count : waitForPace(buffer.count), 0)
            guard count > 0 else { break }
            if pair.discards(isUp) { continue }
            pair.line?.passed(buffer[..<count], isUp: isUp)
            var sent = 0
            while sent < count {
                let written = buffer[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
        }
        pair.line?.ended()
        // A silent cut discards the end of the stream, too.
        if !pair.discards(isUp) { shutdown(to, Int32(SHUT_RDWR)) }
        pairs.withLock { pairs in
            guard pair.running.subtract(1, ordering: .relaxed).newValue == 0 else { return }
            pairs.removeAll { $0 === pair }
            close(pair.client)
            close(pair.server)
        }
    }

    /// Waits as long as the client does not read.
    ///
    /// - Returns: how many bytes to read now.
    private func waitForPace(_ limit: Int) -> Int {
        let piece = 512
        while true {
            switch pace.withLock(\.self) {
            case .full: return limit
            case .bytesPerSecond(let rate):
                Thread.sleep(forTimeInterval: Double(piece) / Double(max(rate, 1)))
                return min(limit, piece)
            case .stalled: Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
