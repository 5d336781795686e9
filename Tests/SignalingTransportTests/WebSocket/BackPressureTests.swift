import SignalingTransport
import Testing

@Suite("Back-pressure: a server socket whose reading is paused", .serialized)
struct BackPressureTests {
    @Test(
        "WIRE-13: input waits while reading is paused, and is delivered completely and in order afterwards",
        arguments: Wire.allCases
    )
    func pause(wire: Wire) async throws {
        let count = 5_000
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, message in
                    if message.elementsEqual("number 0".utf8) { socket.isReading = false }
                }
            }
            let socket = try server.webSocket()
            for number in 0..<count { try socket.sendText("number \(number)") }
            // Round trips of another client: the loop has turned, and would have read.
            let other = try server.webSocket()
            for _ in 0..<3 {
                try other.sendText("other")
                _ = try await server.onLoop { _, _ in }
            }
            try await server.events.first { $0 == .message(2, "other") }
            // At most one read is delivered, over TLS one record.
            #expect(server.events.all.count { if case .message(1, _) = $0 { true } else { false } } < 1_000)
            try await server.onLoop { _, handler in handler.sockets[1]?.isReading = true }
            try await server.events.first { $0 == .message(1, "number \(count - 1)") }
            let numbers = server.events.all.compactMap { event -> String? in
                if case .message(1, let text) = event { text } else { nil }
            }
            #expect(numbers == (0..<count).map { "number \($0)" })
            withExtendedLifetime(other) {}
        }
    }

    @Test(
        "the socket is still written to, and reports when it has drained and how much its peer has acknowledged",
        arguments: Wire.allCases)
    func writing(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let slow = try server.webSocket(receiveBufferByteCount: 8192)
            try await server.events.first { $0 == .opened(1) }
            let (frames, before) = try await server.onLoop { _, handler -> (Int, UInt64) in
                guard let socket = handler.sockets[1] else { return (0, 0) }
                socket.isReading = false
                let frame = OutboundFrame()
                frame.append(contentsOf: repeatElement(0x61, count: 60_000))
                var frames = 1
                while socket.write(frame) == .sent { frames += 1 }
                return (frames, socket.acknowledgedByteCount)
            }
            for _ in 0..<frames { #expect(try slow.receiveFrame().payload.count == 60_000) }
            try await server.events.first { $0 == .drained(1) }
            let after = try await server.onLoop { _, handler in handler.sockets[1]?.acknowledgedByteCount ?? 0 }
            #expect(before < after && after >= UInt64(frames * 60_000))
        }
    }

    @Test(
        "a socket that this side closes receives its peer's answer, and does not wait for the timeout",
        arguments: Wire.allCases)
    func closing(wire: Wire) async throws {
        try await TestServer.with(wire, { $0.closeTimeout = .long }) { server in
            let socket = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            try await server.onLoop { _, handler in handler.sockets[1]?.isReading = false }
            try socket.sendText("not read")
            try await server.onLoop { _, handler in handler.sockets[1]?.close(code: 1001, reason: "bye") }
            #expect(try socket.receiveFrame().closeCode == 1001)
            try socket.sendClose(code: 1001)
            try await server.events.first { $0 == .closed(1, nil) }
            #expect(!server.events.all.contains(.message(1, "not read")))
        }
    }
}
