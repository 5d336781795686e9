import SignalingTransport
import Testing

@Suite("A server's WebSocket", .timeLimit(.minutes(5)))
struct ServerSocketTests {
    @Test("echoes text messages of every frame size class, and an empty one", arguments: Wire.allCases)
    func echo(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            for count in [0, 1, 125, 126, 2047, 2048, 2049, 40_000, 65_535, 65_536] {
                let text = String(repeating: "x", count: count)
                try socket.sendText(text)
                #expect(try socket.receiveFrame().payload.count == count)
            }
        }
    }

    @Test("joins fragments, with a ping between them, whole or byte by byte", arguments: Wire.allCases)
    func fragments(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let bytes =
                RawSocket.frame(.text, Array("hé".utf8).dropLast().map { $0 }, isFinal: false)
                + RawSocket.frame(.ping, [1, 2, 3]) + RawSocket.frame(.continuation, [], isFinal: false)
                + RawSocket.frame(.continuation, [0xA9] + Array("llo".utf8))
            let whole = try server.webSocket()
            try whole.send(bytes)
            let dripping = try server.webSocket()
            for byte in bytes { try dripping.send([byte]) }
            for socket in [whole, dripping] {
                // The pong does not wait for the message (RFC 6455, section 5.5.2).
                let pong = try socket.receiveFrame()
                #expect(pong.opcode == .pong && pong.payload == [1, 2, 3])
                #expect(try socket.receiveFrame().text == "héllo")
            }
        }
    }

    @Test("an answer that waits for a pong goes out before the close frame, and its farewell", arguments: Wire.allCases)
    func answerAfterPong(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, _ in
                    let (answer, farewell) = (OutboundFrame(), OutboundFrame())
                    answer.append(contentsOf: "answer".utf8)
                    farewell.append(contentsOf: "farewell".utf8)
                    #expect(socket.write(answer) == .backlogged && socket.write(answer) == .refused)
                    socket.close(code: 4001, reason: "", farewell: farewell)
                }
            }
            let socket = try server.webSocket()
            try socket.send(
                RawSocket.frame(.text, [97], isFinal: false) + RawSocket.frame(.ping, [1])
                    + RawSocket.frame(.continuation, [98]))
            #expect(try socket.receiveFrame().opcode == .pong)
            #expect(try socket.receiveFrame().text == "answer")
            #expect(try socket.receiveFrame().text == "farewell")
            #expect(try socket.receiveFrame().closeCode == 4001)
        }
    }

    @Test("many messages in one packet are delivered one by one", arguments: Wire.allCases)
    func batched(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try socket.send((0..<500).flatMap { RawSocket.frame(.text, Array("m\($0)".utf8)) })
            for number in 0..<500 { #expect(try socket.receiveFrame().text == "m\(number)") }
        }
    }

    @Test(
        "RFC 6455 4.1: a client that sends before the handshake's response is cut, and its input is not read",
        arguments: Wire.allCases)
    func coalesced(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.rawSocket()
            // libwebsockets would write its response over a part of this, and read the rest as frames.
            try socket.send(Array(RawSocket.handshake().utf8) + RawSocket.frame(.text, Array("early".utf8)))
            #expect(try socket.receiveResponse().status == 101)
            #expect(throws: (any Error).self) { try socket.receiveFrame() }
            let after = try server.webSocket()
            try after.sendText("in time")
            #expect(try after.receiveFrame().text == "in time")
        }
    }

    @Test(
        "a message at the limit is delivered; a larger one is reported once, and the next one is delivered",
        arguments: Wire.allCases)
    func sizeLimit(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try socket.sendText(String(repeating: "a", count: 65_536))
            #expect(try socket.receiveFrame().payload.count == 65_536)
            try socket.sendText(String(repeating: "a", count: 65_537))
            // The same in fragments that are each within the limit.
            try socket.send(RawSocket.frame(.text, Array(repeating: 97, count: 40_000), isFinal: false))
            try socket.send(RawSocket.frame(.continuation, Array(repeating: 97, count: 40_000)))
            try socket.sendText("after")
            #expect(try socket.receiveFrame().text == "after")
            let violations = server.events.all.filter { $0 == .violated(1, .messageTooBig) }
            #expect(violations.count == 2)
        }
    }

    @Test("a frame that announces 2^62 bytes is refused at its first byte")
    func hugeFrame() async throws {
        try await TestServer.with { server in
            try await server.onLoop { _, handler in
                handler.onViolation = { socket, _ in socket.close(code: 1009, reason: "message too big") }
            }
            let socket = try server.webSocket()
            try socket.send([0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0x61])
            let frame = try socket.receiveFrame()
            #expect(frame.opcode == .close && frame.closeCode == 1009 && frame.closeReason == "message too big")
        }
    }

    @Test("a message of 64 fragments is delivered, one of 65 is not", arguments: Wire.allCases)
    func fragmentLimit(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            func send(fragments count: Int) throws {
                for index in 0..<count {
                    try socket.send(
                        RawSocket.frame(index == 0 ? .text : .continuation, [0x61], isFinal: index == count - 1))
                }
            }
            try send(fragments: 64)
            #expect(try socket.receiveFrame().payload.count == 64)
            try send(fragments: 65)
            try await server.events.first { $0 == .violated(1, .tooManyFragments) }
            try socket.sendText("after")
            #expect(try socket.receiveFrame().text == "after")
        }
    }

    @Test(
        "binary messages and text that is not UTF-8 are reported",
        arguments: [
            (RawSocket.Opcode.binary, [1, 2, 3] as [UInt8], ProtocolViolation.binaryMessage),
            (.text, [0xC0, 0xAF], .invalidUTF8), (.text, [0xED, 0xA0, 0x80], .invalidUTF8),
            (.text, [0x61, 0xE2, 0x82], .invalidUTF8), (.text, [0xF4, 0x90, 0x80, 0x80], .invalidUTF8),
        ])
    func violations(_ opcode: RawSocket.Opcode, _ payload: [UInt8], _ expected: ProtocolViolation) async throws {
        try await TestServer.with { server in
            let socket = try server.webSocket()
            try socket.send(RawSocket.frame(opcode, payload))
            try await server.events.first { $0 == .violated(1, expected) }
        }
    }

    @Test(
        "the server's close code and reason reach the client, cut to what a close frame holds", arguments: Wire.allCases
    )
    func serverCloses(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, _ in
                    socket.close(code: 4502, reason: String(repeating: "é", count: 100))
                    socket.close(code: 4001, reason: "not this")
                }
            }
            let socket = try server.webSocket()
            try socket.sendText("go")
            let frame = try socket.receiveFrame()
            #expect(frame.opcode == .close && frame.closeCode == 4502)
            #expect(frame.closeReason == String(repeating: "é", count: 61))
            try socket.sendText("dropped")
            try socket.sendClose(code: 4502)
            try await server.events.first { isClosed($0) }
            #expect(server.events.all == [.opened(1), .message(1, "go"), .closed(1, nil)])
        }
    }

    @Test("a client that does not answer the close frame is cut at the deadline", arguments: Wire.allCases)
    func closeIsBounded(wire: Wire) async throws {
        try await TestServer.with(wire, { $0.closeTimeout = .milliseconds(200) }) { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, _ in socket.close(code: 1000, reason: "goodbye") }
            }
            let socket = try server.webSocket()
            try socket.sendText("go")
            #expect(try socket.receiveFrame().opcode == .close)
            try await server.events.first { $0 == .closed(1, nil) }
        }
    }

    @Test(
        "the peer's close code is reported: 1005 if it gave none, nil if the connection was lost",
        arguments: Wire.allCases)
    func peerCodes(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let coded = try server.webSocket()
            try coded.sendClose(code: 1001, reason: "leaving")
            try await server.events.first { $0 == .closed(1, 1001) }
            let bare = try server.webSocket()
            try bare.send(RawSocket.frame(.close, []))
            try await server.events.first { $0 == .closed(2, 1005) }
            let lost = try server.webSocket()
            lost.hangUp()
            try await server.events.first { $0 == .closed(3, nil) }
            let reset = try server.webSocket()
            reset.reset()
            try await server.events.first { $0 == .closed(4, nil) }
        }
    }

    @Test("one frame is written to a hundred sockets, one after another", arguments: Wire.allCases)
    func fanOut(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let sockets = try (0..<100).map { _ in try server.webSocket() }
            let outcomes = try await server.onLoop { _, handler -> [WriteOutcome] in
                let frame = OutboundFrame()
                frame.append(contentsOf: "one for all".utf8)
                return handler.sockets.values.map { $0.write(frame) }
            }
            #expect(outcomes == Array(repeating: .sent, count: 100))
            for socket in sockets { #expect(try socket.receiveFrame().text == "one for all") }
        }
    }

    @Test("a message is written in parts, and pings between them are answered", arguments: Wire.allCases)
    func parts(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            let texts: [(MessagePart, String)] = [
                (.first, "one "), (.middle, "two "), (.last, "three"), (.whole, "four"),
            ]
            for (part, text) in texts {
                let outcome = try await server.onLoop { _, handler in
                    let frame = OutboundFrame()
                    frame.append(contentsOf: text.utf8)
                    return handler.sockets[1]?.write(frame, as: part)
                }
                #expect(outcome == .sent)
                let frame = try socket.receiveFrame()
                #expect(frame.text == text)
                #expect(frame.isFinal == (part == .last || part == .whole))
                #expect(frame.opcode == (part == .first || part == .whole ? .text : .continuation))
                try socket.send(RawSocket.frame(.ping, [1, 2]))
                let pong = try socket.receiveFrame()
                #expect(pong.opcode == .pong && pong.isFinal && pong.payload == [1, 2])
            }
        }
    }

    @Test("a message in parts continues after a backlog, and a close may end it", arguments: Wire.allCases)
    func backloggedParts(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let slow = try server.webSocket(receiveBufferByteCount: 8192)
            try await server.events.first { $0 == .opened(1) }
            let count = try await server.onLoop { _, handler -> Int in
                let frame = OutboundFrame()
                frame.append(contentsOf: repeatElement(0x61, count: 60_000))
                var count = 1
                while handler.sockets[1]?.write(frame, as: count == 1 ? .first : .middle) == .sent { count += 1 }
                return count
            }
            try slow.send(RawSocket.frame(.ping, [1, 2]))
            var frames: [RawSocket.Frame] = []
            while frames.count < count {
                let frame = try slow.receiveFrame()
                if frame.opcode != .pong { frames.append(frame) }
            }
            #expect(frames[0].opcode == .text && frames.dropFirst().allSatisfy { $0.opcode == .continuation })
            #expect(frames.allSatisfy { !$0.isFinal && $0.payload.count == 60_000 })
            try await server.events.first { $0 == .drained(1) }
            try await server.onLoop { _, handler in
                let frame = OutboundFrame()
                frame.append(contentsOf: "more".utf8)
                handler.sockets[1]?.write(frame, as: .middle)
                handler.sockets[1]?.close(code: 4002, reason: "slow consumer")
            }
            var next = try slow.receiveFrame()
            if next.opcode == .pong { next = try slow.receiveFrame() }
            #expect(next.text == "more" && !next.isFinal)
            next = try slow.receiveFrame()
            if next.opcode == .pong { next = try slow.receiveFrame() }
            #expect(next.closeCode == 4002)
        }
    }

    @Test(
        "a slow reader is backlogged, refused and drained, and other clients are not affected",
        arguments: [(1_000, Wire.plain), (65_536, .plain), (3_000_000, .plain), (65_536, .tls)])
    func backlog(byteCount: Int, wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let slow = try server.webSocket(receiveBufferByteCount: 8192)
            let quick = try server.webSocket()
            try await server.events.first { $0 == .opened(2) }
            let count = try await server.onLoop { _, handler -> Int in
                let frame = OutboundFrame()
                guard let socket = handler.sockets[1] else { return -1 }
                var count = 0
                for number in 0..<100_000 {
                    frame.removeAll()
                    frame.append(contentsOf: "\(number) ".utf8)
                    frame.append(contentsOf: repeatElement(0x61, count: byteCount))
                    count += 1
                    if socket.write(frame) != .sent { break }
                }
                return socket.isBacklogged && socket.write(frame) == .refused ? count : -2
            }
            #expect(count > 0 && count < 100_000)
            try quick.sendText("still here")
            #expect(try quick.receiveFrame().text == "still here")
            #expect(!server.events.all.contains(.drained(1)))
            for number in 0..<count {
                let frame = try slow.receiveFrame()
                #expect(frame.text.hasPrefix("\(number) ") && frame.payload.count > byteCount)
            }
            try await server.events.first { $0 == .drained(1) }
            try slow.sendText("again")
            #expect(try slow.receiveFrame().text == "again")
        }
    }

    @Test(
        "a slow reader that is closed or terminated is gone at the deadline, however much is buffered",
        arguments: [true, false],
        Wire.allCases)
    func backloggedEnd(isClose: Bool, wire: Wire) async throws {
        try await TestServer.with(wire, { $0.closeTimeout = .milliseconds(200) }) { server in
            let slow = try server.webSocket(receiveBufferByteCount: 8192)
            try await server.events.first { $0 == .opened(1) }
            try await server.onLoop { _, handler in
                let frame = OutboundFrame()
                frame.append(contentsOf: repeatElement(0x61, count: 500_000))
                while handler.sockets[1]?.write(frame) == .sent {}
                if isClose {
                    handler.sockets[1]?.close(code: 4002, reason: "slow consumer")
                } else {
                    handler.sockets[1]?.terminate()
                }
            }
            try await server.events.first { $0 == .closed(1, nil) }
            withExtendedLifetime(slow) {}
        }
    }

    @Test(
        "a socket can be terminated within any callback, its own or another's", arguments: ["self", "other", "opened"],
        Wire.allCases)
    func terminate(whom: String, wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                if whom == "opened" { handler.onOpened = { $0.terminate() } }
                handler.onMessage = { [unowned handler] socket, _ in
                    for target in handler.sockets.values where (whom == "self") == (target === socket) {
                        target.terminate()
                        #expect(target.write(OutboundFrame()) == .closed)
                    }
                }
            }
            let first = try server.webSocket()
            if whom == "opened" {
                try await server.events.first { $0 == .closed(1, nil) }
                return
            }
            let second = try server.webSocket()
            try await server.events.first { $0 == .opened(2) }
            try first.sendText("go")
            try await server.events.first { $0 == .closed(whom == "self" ? 1 : 2, nil) }
            let gone = whom == "self" ? first : second
            #expect(try gone.receiveToEnd() == [])
        }
    }

    @Test("hundreds of sockets open, echo and close", arguments: [(1000, Wire.plain), (100, .tls)])
    func hundreds(count: Int, wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            var sockets: [RawSocket] = []
            for _ in 0..<count { sockets.append(try server.webSocket()) }
            for (number, socket) in sockets.enumerated() { try socket.sendText("\(number)") }
            for (number, socket) in sockets.enumerated() { #expect(try socket.receiveFrame().text == "\(number)") }
            #expect(try await server.onLoop { server, _ in server.socketCount } == count)
            try await server.onLoop { server, _ in server.closeAll(code: 1001, reason: "server is stopping") }
            for socket in sockets { #expect(try socket.receiveFrame().closeCode == 1001) }
            sockets = []
            for _ in 0..<count where server.events.all.count(where: isClosed) < count {
                try await server.onLoop { _, _ in }
            }
            let ids = (1...count).map { UInt64($0) }
            for id in ids { try await server.events.first { $0 == .closed(id, nil) } }
            #expect(try await server.onLoop { server, _ in server.socketCount } == 0)
        }
    }

    @Test("unmasked frames are accepted, since libwebsockets 4.1.6 cannot refuse them")
    func unmasked() async throws {
        try await TestServer.with { server in
            let socket = try server.webSocket()
            try socket.send(RawSocket.frame(.text, Array("bare".utf8), isMasked: false))
            #expect(try socket.receiveFrame().text == "bare")
        }
    }

    @Test("a socket has its origin and its peer's address", arguments: Wire.allCases)
    func properties(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket(extra: "Origin: https://example.org\r\n")
            try await server.events.first { $0 == .opened(1) }
            let seen = try await server.onLoop { _, handler in
                [handler.sockets[1]?.origin ?? "", handler.sockets[1]?.remoteAddress ?? ""]
            }
            #expect(seen == ["https://example.org", "127.0.0.1"])
            withExtendedLifetime(socket) {}
        }
    }
}
