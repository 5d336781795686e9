import SignalingTransport
import Testing

@Suite("WIRE-16: frames that break RFC 6455", .timeLimit(.minutes(5)))
struct FramingViolationTests {
    struct Violation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let code: Int

        init(_ name: String, _ bytes: [UInt8], code: Int = 1002) {
            testDescription = name
            self.bytes = bytes
            self.code = code
        }
    }

    /// A header with a mask of zeros, as a client sends it.
    private static func header(_ first: UInt8, _ length: [UInt8] = [0x80]) -> [UInt8] {
        [first] + length + [0, 0, 0, 0]
    }

    /// Frames that the library itself refuses.
    static let violations: [Violation] =
        [(0x10, "RSV3"), (0x20, "RSV2"), (0x40, "RSV1"), (0x70, "all reserved bits")].flatMap { bits, name in
            [
                Violation("a text with \(name)", header(0x81 | bits)),
                Violation("a ping with \(name)", header(0x89 | bits)),
                Violation("a close frame with \(name)", header(0x88 | bits)),
            ]
        }
        + ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).map {
            Violation("the reserved opcode \($0)", header(0x80 | $0))
        } + [
            Violation("a ping in fragments", header(0x09)),
            Violation("a close frame in fragments", header(0x08)),
            Violation("a ping of 126 bytes", header(0x89, [0xFE, 0, 126]) + Array(repeating: 0, count: 126)),
            Violation("a pong of 2^16 bytes", header(0x8A, [0xFF, 0, 0, 0, 0, 0, 1, 0, 0])),
            Violation("a close frame of 126 bytes", header(0x88, [0xFE, 0, 126]) + Array(repeating: 0, count: 126)),
            Violation("a continuation of nothing", header(0x80)),
            Violation("a text within a message", RawSocket.frame(.text, [97], isFinal: false) + header(0x81)),
            Violation("a length with its highest bit", header(0x81, [0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0])),
        ]

    @Test(
        "the server closes with 1002, sends nothing after its close frame, and ends the connection",
        arguments: violations, Wire.allCases)
    func violation(_ violation: Violation, wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            try socket.send(violation.bytes)
            let frame = try socket.receiveFrame()
            #expect(frame.opcode == .close && frame.closeCode == violation.code, "\(frame)")
            let outcome = try await server.onLoop { _, handler in
                let frame = OutboundFrame()
                frame.append(contentsOf: "late".utf8)
                return handler.sockets[1]?.write(frame)
            }
            #expect(outcome == nil || outcome == .closed)
            // The answer to the close frame; the library misreads it after some violations.
            try? socket.sendClose(code: 1002)
            #expect(try socket.receiveToEnd() == [])
            try await server.events.first { $0 == .closed(1, nil) }
        }
    }

    @Test(
        "what the server answers at the end of the turn still goes out before the close frame", arguments: Wire.allCases
    )
    func answersBefore(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { server, handler in
                var isDue = false
                handler.onMessage = { _, _ in isDue = true }
                server.loop.onTurnEnded = { [unowned handler] in
                    guard isDue else { return }
                    isDue = false
                    let frame = OutboundFrame()
                    frame.append(contentsOf: "answer".utf8)
                    handler.sockets[1]?.write(frame)
                }
            }
            let socket = try server.webSocket()
            try socket.send(RawSocket.frame(.text, [97]) + Self.header(0xC1))
            #expect(try socket.receiveFrame().text == "answer")
            #expect(try socket.receiveFrame().closeCode == 1002)
        }
    }

    @Test(
        "a close frame that breaks RFC 6455 is answered by its fault, and the connection ends",
        arguments: [
            Violation("one byte", RawSocket.frame(.close, [3])),
            Violation("the code 0", RawSocket.frame(.close, [0, 0])),
            Violation("the code 1005", RawSocket.frame(.close, [0x03, 0xED])),
            Violation("the code 2999", RawSocket.frame(.close, [0x0B, 0xB7])),
            Violation("the code 5000", RawSocket.frame(.close, [0x13, 0x88])),
            Violation("the code 65535", RawSocket.frame(.close, [0xFF, 0xFF])),
            Violation(
                "a reason that is not UTF-8", RawSocket.frame(.close, [0x03, 0xE8, 0xED, 0xA0, 0x80]), code: 1007),
            Violation("a reason that ends too early", RawSocket.frame(.close, [0x03, 0xE8, 0xE2, 0x82]), code: 1007),
        ], Wire.allCases)
    func closeFrame(_ violation: Violation, wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try socket.send(violation.bytes)
            let frame = try socket.receiveFrame()
            #expect(frame.opcode == .close && frame.closeCode == violation.code && frame.isFinal)
            #expect(try socket.receiveToEnd() == [])
            try await server.events.first { isClosed($0) }
        }
    }

    @Test("a valid close frame is echoed with its reason", arguments: Wire.allCases)
    func echoedClose(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try socket.sendClose(code: 4999, reason: "été")
            let frame = try socket.receiveFrame()
            #expect(frame.closeCode == 4999 && frame.closeReason == "été")
            #expect(try socket.receiveToEnd() == [])
        }
    }

    @Test("text that cannot become UTF-8 is refused before the rest of its message arrives", arguments: Wire.allCases)
    func earlyUTF8(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onViolation = { socket, _ in socket.close(code: 1007, reason: "text is not UTF-8") }
            }
            let socket = try server.webSocket()
            try socket.send(RawSocket.frame(.text, Array("κόσμε".utf8), isFinal: false))
            // Above U+10FFFF, whatever follows.
            try socket.send(RawSocket.frame(.continuation, [0xF4, 0x90], isFinal: false))
            #expect(try socket.receiveFrame().closeCode == 1007)
        }
    }

    @Test(
        "a character may be split between fragments, and an empty fragment may begin a message",
        arguments: Wire.allCases)
    func splitCharacters(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            let text = Array("aé€𝄞z".utf8)
            for index in 0...text.count {
                try socket.send(RawSocket.frame(.text, Array(text[..<index]), isFinal: false))
                try socket.send(RawSocket.frame(.continuation, Array(text[index...])))
                #expect(try socket.receiveFrame().text == "aé€𝄞z")
            }
        }
    }
}
