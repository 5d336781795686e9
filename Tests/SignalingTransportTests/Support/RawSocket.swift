import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct RawSocketError: Error, CustomStringConvertible {
    let description: String
}

/// A blocking connection to 127.0.0.1, over TCP or TLS, that sends and receives exact bytes. Reads time out after 60 s.
final class RawSocket {
    private(set) var descriptor: Int32
    private(set) var tls: OpaquePointer?
    private var pending: [UInt8] = []

    /// - Parameter tls: the TLS settings; nil for plain TCP.
    init(port: Int, receiveBufferByteCount: Int? = nil, tls options: RawTLS? = nil) throws {
        #if os(Linux)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        // Tests send single bytes: do not wait for acknowledgements between them.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if var size = receiveBufferByteCount.map(Int32.init) {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard outcome == 0 else { throw RawSocketError(description: "connect: \(String(cString: strerror(errno)))") }
        if let options { tls = try options.handshake(over: descriptor) }
    }

    /// Speaks TLS from now on.
    func startTLS(_ options: RawTLS) throws { tls = try options.handshake(over: descriptor) }

    deinit { hangUp() }

    /// Closes without a close frame or close_notify.
    func hangUp() {
        if let tls { SSL_free(tls) }
        tls = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Closes with a TCP reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        hangUp()
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                if let tls { return Int(SSL_write(tls, $0.baseAddress, Int32($0.count))) }
                return Self.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw RawSocketError(description: "send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Receives at least one byte; returns none at the end of the stream.
    func receiveSome() throws -> [UInt8] {
        if !pending.isEmpty {
            defer { pending = [] }
            return pending
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        if let tls {
            let count = buffer.withUnsafeMutableBytes { SSL_read(tls, $0.baseAddress, Int32($0.count)) }
            if count > 0 { return Array(buffer[..<Int(count)]) }
            if errno == EAGAIN, SSL_get_error(tls, count) == SSL_ERROR_WANT_READ {
                throw RawSocketError(description: "no bytes within 60 s")
            }
            return []
        }
        // A signal of the process, for example a child's end, interrupts the wait.
        var count = -1
        repeat {
            count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        } while count < 0 && errno == EINTR
        if count < 0 {
            if errno == ECONNRESET { return [] }
            throw RawSocketError(description: "recv: \(String(cString: strerror(errno)))")
        }
        return Array(buffer[..<count])
    }

    func receive(_ count: Int) throws -> [UInt8] {
        var bytes = pending
        pending = []
        while bytes.count < count {
            let more = try receiveSome()
            guard !more.isEmpty else {
                throw RawSocketError(description: "the stream ended after \(bytes.count) of \(count) bytes")
            }
            bytes += more
        }
        pending = Array(bytes[count...])
        return Array(bytes[..<count])
    }

    /// Receives everything until the peer ends the stream.
    func receiveToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try receiveSome()
            if more.isEmpty { return bytes }
            bytes += more
        }
    }

    private static func write(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
        #if os(Linux)
            Glibc.send(descriptor, base, count, Int32(MSG_NOSIGNAL))
        #else
            Darwin.send(descriptor, base, count, 0)
        #endif
    }

    // MARK: HTTP

    struct Response {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Receives one response. A response to HEAD has no body, whatever its `Content-Length`.
    func receiveResponse(isHead: Bool = false) throws -> Response {
        let head = try receiveHead()
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true).map(String.init)
        guard let first = lines.first, let status = Int(first.split(separator: " ")[1]) else {
            throw RawSocketError(description: "no status line: \(head)")
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let length = isHead ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
        return Response(status: status, headers: headers, body: try receive(length))
    }

    private func receiveHead() throws -> String { try receive(through: "\r\n\r\n") }

    private func receive(through end: String) throws -> String {
        var bytes: [UInt8] = []
        while !bytes.reversed().starts(with: end.utf8.reversed()) { bytes += try receive(1) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Receives one chunk of a body; empty at its end.
    func receiveChunk() throws -> [UInt8] {
        let line = try receive(through: "\r\n")
        guard let count = Int(line.dropLast(), radix: 16) else {
            throw RawSocketError(description: "no chunk: \(line)")
        }
        let bytes = try receive(count + 2)
        guard bytes.suffix(2) == [13, 10] else { throw RawSocketError(description: "a chunk without end") }
        return Array(bytes.dropLast(2))
    }

    func receiveTextChunk() throws -> String { String(decoding: try receiveChunk(), as: UTF8.self) }

    /// Shuts down the sending side.
    func shutDownWriting() {
        if let tls { SSL_shutdown(tls) }
        signalbox_shutdown_writing(descriptor)
    }

    /// Whether the peer's TLS has marked the end of its data.
    var hasReceivedTLSEnd: Bool { tls.map { SSL_get_shutdown($0) & SSL_RECEIVED_SHUTDOWN != 0 } ?? false }

    // MARK: WebSocket

    static let handshakeKey = "dGhlIHNhbXBsZSBub25jZQ=="

    static func handshake(
        path: String = "/v1/signaling", subprotocol: String? = "signalbox.v1", extra: String = "",
        upgrade: String = "websocket"
    ) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: \(upgrade)\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(handshakeKey)\r\nSec-WebSocket-Version: 13\r\n"
            + (subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? "") + extra + "\r\n"
    }

    static func webSocket(
        port: Int, extra: String = "", receiveBufferByteCount: Int? = nil, tls: RawTLS? = nil
    ) throws -> RawSocket {
        let socket = try RawSocket(port: port, receiveBufferByteCount: receiveBufferByteCount, tls: tls)
        try socket.send(handshake(extra: extra))
        let response = try socket.receiveResponse()
        guard response.status == 101 else { throw RawSocketError(description: "handshake: \(response)") }
        return socket
    }

    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10
    }

    static func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | opcode.rawValue]
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(maskBit | UInt8(payload.count))
        case ..<65_536: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(maskBit | 127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard isMasked else { return bytes + payload }
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    func sendText(_ text: String) throws { try send(Self.frame(.text, Array(text.utf8))) }

    func sendClose(code: UInt16, reason: String = "") throws {
        try send(Self.frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8)))
    }

    struct Frame {
        var opcode: Opcode?
        var isFinal: Bool
        var payload: [UInt8]
        var text: String { String(decoding: payload, as: UTF8.self) }
        var closeCode: Int { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005 }
        var closeReason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
    }

    func receiveFrame() throws -> Frame {
        let head = try receive(2)
        var count = Int(head[1] & 0x7F)
        if count == 126 {
            count = try receive(2).reduce(0) { $0 << 8 | Int($1) }
        } else if count == 127 {
            count = try receive(8).reduce(0) { $0 << 8 | Int($1) }
        }
        return Frame(
            opcode: Opcode(rawValue: head[0] & 0x0F), isFinal: head[0] & 0x80 != 0, payload: try receive(count))
    }
}
