import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingTransport

@Suite("A streamed response", .timeLimit(.minutes(5)))
struct HTTPStreamTests {
    private static let get = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let end = ServerEvent.note("end")

    /// Answers each request with a stream, and notes its end. `work` gets the stream.
    private func stream(
        from server: TestServer, _ work: @escaping @Sendable (HTTPStream) -> Void = { _ in }
    ) async throws {
        try await server.onLoop { _, handler in
            handler.onRequest = { [unowned handler] exchange in
                let stream = exchange.beginStream(
                    HTTPResponse(status: 200, contentType: "text/event-stream", text: "ignored"))
                stream.onEnd = { [events = handler.events] in events.append(Self.end) }
                handler.streams.append(stream)
                work(stream)
            }
        }
    }

    private func write(_ text: String, to server: TestServer) async throws {
        try await server.onLoop { _, handler in for stream in handler.streams { stream.write(Array(text.utf8)) } }
    }

    private func waitForEnd(_ server: TestServer) async throws {
        try await server.events.first("end of the stream") { $0 == Self.end }
    }

    private func endCount(_ server: TestServer) -> Int { server.events.all.count { $0 == Self.end } }

    @Test(
        "each piece arrives when it is written, and the connection closes behind the last one", arguments: Wire.allCases
    )
    func pieces(wire: Wire) async throws {
        try await TestServer.with(wire, { $0.responseHeaders = [("X-Common", "yes")] }) { server in
            try await stream(from: server)
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            let head = try socket.receiveResponse()
            #expect(head.status == 200)
            #expect(head.headers["content-type"] == "text/event-stream")
            #expect(head.headers["transfer-encoding"] == "chunked")
            #expect(head.headers["connection"] == "close")
            #expect(head.headers["content-length"] == nil)
            #expect(head.headers["x-common"] == "yes")
            for text in ["data: 1\n\n", "data: zwei\n\n", String(repeating: "x", count: 30_000)] {
                try await write(text, to: server)
                #expect(try socket.receiveTextChunk() == text)
            }
            #expect(endCount(server) == 0)
            try await server.onLoop { _, handler in
                #expect(handler.streams.map(\.waitingByteCount) == [0])
                handler.streams[0].write(Array("last".utf8))
                handler.streams[0].end()
                #expect(!handler.streams[0].isOpen)
                handler.streams[0].write(Array("too late".utf8))
                handler.streams[0].end()
            }
            #expect(try socket.receiveTextChunk() == "last")
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            #expect(wire == .plain || socket.hasReceivedTLSEnd)
            socket.hangUp()
            try await server.waitForNoConnections()
            #expect(endCount(server) == 1)
        }
    }

    @Test("a request with a body may be answered with a stream, in the callback or later", arguments: Wire.allCases)
    func requestsWithBodies(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = { [unowned handler] exchange in handler.exchanges.append(exchange) }
            }
            for isLate in [true, false] {
                if !isLate {
                    try await stream(from: server) {
                        $0.write(Array("piece".utf8))
                        $0.end()
                    }
                }
                for (number, body) in [
                    "Content-Length: 5\r\n\r\nhello", "Content-Length: 0\r\n\r\n",
                    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                ].enumerated() {
                    let socket = try server.rawSocket()
                    let path = "/\(number)\(isLate)"
                    try socket.send("POST \(path) HTTP/1.1\r\nHost: h\r\n\(body)")
                    try await server.events.first { $0 == .request("POST", path) }
                    if isLate {
                        try await server.onLoop { _, handler in
                            let stream = handler.exchanges.removeLast().beginStream(HTTPResponse(status: 201))
                            stream.write(Array("piece".utf8))
                            stream.end()
                        }
                    }
                    #expect(try socket.receiveResponse().status == (isLate ? 201 : 200))
                    #expect(try socket.receiveTextChunk() == "piece")
                    #expect(try socket.receiveTextChunk() == "")
                    #expect(try socket.receiveToEnd() == [])
                }
            }
        }
    }

    @Test(
        "a handler that minds its limit never keeps more, and a slow reader gets every byte", arguments: Wire.allCases)
    func slowReader(wire: Wire) async throws {
        let (limit, pieceByteCount, pieceCount) = (100_000, 30_000, 300)
        try await TestServer.with(wire) { server in
            try await stream(from: server) { stream in
                var sentCount = 0
                let pump = { [unowned stream] in
                    while sentCount < pieceCount, stream.waitingByteCount < limit {
                        stream.write(Array(repeating: UInt8(sentCount % 251), count: pieceByteCount))
                        sentCount += 1
                    }
                    #expect(stream.waitingByteCount < limit + pieceByteCount + 200)
                    if sentCount == pieceCount { stream.end() }
                }
                stream.onDrain = pump
                pump()
            }
            let socket = try server.rawSocket(receiveBufferByteCount: 16_384)
            try socket.send(Self.get)
            #expect(try socket.receiveResponse().status == 200)
            for number in 0..<pieceCount {
                let chunk = try socket.receiveChunk()
                #expect(chunk.count == pieceByteCount && chunk.allSatisfy { $0 == UInt8(number % 251) }, "\(number)")
            }
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            try await waitForEnd(server)
        }
    }

    @Test("a handler that always has more to write lets others be served in between")
    func turns() async throws {
        try await TestServer.with { server in
            try await server.onLoop { server, handler in
                let core = server.loop.core
                handler.onRequest = { exchange in
                    let stream = exchange.beginStream(HTTPResponse(status: 200))
                    var turns: [UInt64] = []
                    stream.onDrain = { [unowned stream] in
                        turns.append(core.turn)
                        guard turns.count < 20 else {
                            // Input comes between the end of a turn and the next number.
                            #expect(Set(turns).count >= turns.count - 1)
                            return stream.end()
                        }
                        stream.write([UInt8(ascii: "x")])
                    }
                }
            }
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            for _ in 0..<19 { #expect(try socket.receiveTextChunk() == "x") }
            #expect(try socket.receiveTextChunk() == "")
        }
    }

    @Test(
        "a client that takes nothing is cut at the deadline for a response, and the loop does not spin until then",
        arguments: Wire.allCases, Writing.allCases)
    func noReader(wire: Wire, writing: Writing) async throws {
        try await TestServer.with(wire, { $0.responseTimeout = .short }) { server in
            try await stream(from: server) { stream in
                let piece = Array(repeating: UInt8(1), count: writing == .whenDrained ? 10_000 : 20_000_000)
                stream.write(piece)
                if writing == .allAndEnd { stream.end() }
                if writing == .whenDrained { stream.onDrain = { [unowned stream] in stream.write(piece) } }
            }
            let socket = try server.rawSocket(receiveBufferByteCount: 8192)
            try socket.send(Self.get)
            try await server.events.first { $0 == .request("GET", "/stream") }
            try socket.send(String(repeating: Self.get, count: 3))
            let turns = EventLog<Int>()
            try await server.onLoop { server, _ in server.loop.onTurnEnded = { turns.append(1) } }
            try await waitForEnd(server)
            try await server.waitForNoConnections()
            #expect(turns.all.count < (writing == .whenDrained ? 3_000 : 300))
            #expect(endCount(server) == 1)
            try await server.onLoop { _, handler in #expect(handler.streams.map(\.waitingByteCount) == [0]) }
        }
    }

    @Test("a stream with nothing to write outlasts the deadlines of other phases", arguments: Wire.allCases)
    func silence(wire: Wire) async throws {
        try await TestServer.with(
            wire,
            {
                $0.answerTimeout = .milliseconds(300)
                $0.responseTimeout = .milliseconds(300)
                $0.keepAliveTimeout = .milliseconds(300)
            }
        ) { server in
            try await stream(from: server)
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            try await server.onLoop { _, handler in handler.onRequest = { _ in } }
            for _ in 0..<2 {
                let other = try server.rawSocket()
                try other.send(Self.get)
                #expect(try other.receiveResponse().status == 503)
            }
            try await write("still here", to: server)
            #expect(try socket.receiveTextChunk() == "still here")
        }
    }

    enum Writing: CaseIterable {
        case all, allAndEnd, whenDrained
    }

    enum Departure: CaseIterable {
        case hangUp, reset, halfClose
    }

    @Test("a client that closes its side ends the stream", arguments: Wire.allCases, Departure.allCases)
    func clientLeaves(wire: Wire, departure: Departure) async throws {
        try await TestServer.with(wire) { server in
            for waits in [false, true] {
                try await stream(from: server) {
                    if waits { $0.write(Array(repeating: 1, count: 20_000_000)) }
                }
                let before = endCount(server)
                let socket = try server.rawSocket(receiveBufferByteCount: waits ? 8192 : nil)
                try socket.send(Self.get)
                _ = try socket.receiveResponse()
                try socket.send("input that nobody reads")
                #expect(endCount(server) == before)
                switch departure {
                case .hangUp: socket.hangUp()
                case .reset: socket.reset()
                case .halfClose: socket.shutDownWriting()
                }
                try await server.waitForNoConnections()
                #expect(endCount(server) == before + 1)
                try await write("to nobody", to: server)
                withExtendedLifetime(socket) {}
            }
        }
    }

    @Test("when the server stops accepting, a stream is told, complete and closed", arguments: Wire.allCases)
    func drain(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server)
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            try await server.onLoop { server, handler in
                handler.streams[0].write(Array("before".utf8))
                server.stopAccepting()
                #expect(handler.events.all.last == Self.end)
                #expect(!handler.streams[0].isOpen)
                handler.streams[0].write(Array("after".utf8))
            }
            #expect(try socket.receiveTextChunk() == "before")
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            socket.hangUp()
            try await server.waitForNoConnections()
            #expect(endCount(server) == 1)
        }
    }

    @Test("a stream that begins while the server stops accepting ends after what was written", arguments: Wire.allCases)
    func beginDuringDrain(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = { [unowned handler] in handler.exchanges.append($0) }
            }
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            try await server.events.first { $0 == .request("GET", "/stream") }
            try await server.onLoop { server, handler in
                server.stopAccepting()
                let stream = handler.exchanges[0].beginStream(HTTPResponse(status: 200))
                stream.onEnd = { [events = handler.events] in events.append(Self.end) }
                stream.write(Array("before".utf8))
            }
            _ = try socket.receiveResponse()
            #expect(try socket.receiveTextChunk() == "before")
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            #expect(endCount(server) == 1)
        }
    }

    @Test("a stream that has ended closes in the end, although its client stays", arguments: Wire.allCases)
    func clientStays(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server) { $0.end() }
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            #expect(try socket.receiveTextChunk() == "")
            try await server.waitForNoConnections()
            withExtendedLifetime(socket) {}
        }
    }

    @Test("a loop that stops tells its open streams", arguments: Wire.allCases)
    func stop(wire: Wire) async throws {
        let events = EventLog<ServerEvent>()
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = { [unowned handler] exchange in
                    let stream = exchange.beginStream(HTTPResponse(status: 200))
                    stream.onEnd = { events.append(Self.end) }
                    handler.streams.append(stream)
                }
            }
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            await server.stop()
            #expect(events.all == [Self.end])
            #expect(try socket.receiveToEnd() == [])
        }
    }

    @Test("HEAD gets the head, and its stream ends", arguments: Wire.allCases)
    func head(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server) { stream in
                #expect(!stream.isOpen)
                stream.write(Array("nothing of this".utf8))
            }
            let socket = try server.rawSocket()
            try socket.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
            let response = try socket.receiveResponse(isHead: true)
            #expect(response.status == 200)
            #expect(response.headers["content-type"] == "text/event-stream")
            #expect(try socket.receiveToEnd() == [])
            try await waitForEnd(server)
            #expect(endCount(server) == 1)
        }
    }

    @Test("a client of HTTP/1.0 gets no chunks: the body ends with the connection", arguments: Wire.allCases)
    func version10(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server)
            let socket = try server.rawSocket()
            try socket.send("GET /stream HTTP/1.0\r\n\r\n")
            let head = try socket.receiveResponse()
            #expect(head.headers["transfer-encoding"] == nil)
            for text in ["data: 1\n\n", "data: 2\n\n"] {
                try await write(text, to: server)
                #expect(String(decoding: try socket.receive(text.utf8.count), as: UTF8.self) == text)
            }
            try await server.onLoop { _, handler in handler.streams[0].end() }
            #expect(try socket.receiveToEnd() == [])
            // Without it the client could not tell the end from a lost connection.
            #expect(wire == .plain || socket.hasReceivedTLSEnd)
        }
    }

    @Test(
        "requests behind a stream are discarded, do not make the loop spin, and leave the response whole",
        arguments: Wire.allCases)
    func pipelined(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server)
            let socket = try server.rawSocket()
            // Some in one read with the first request, and some later.
            try socket.send(Self.get + "GET /behind HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try socket.receiveResponse()
            let turns = EventLog<Int>()
            try await server.onLoop { server, _ in server.loop.onTurnEnded = { turns.append(1) } }
            for number in 0..<20 {
                try socket.send("POST /behind HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n")
                try socket.send(String(repeating: "x", count: 5000))
                try await write("\(number)", to: server)
                #expect(try socket.receiveTextChunk() == "\(number)")
            }
            try await server.onLoop { _, handler in handler.streams[0].end() }
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            #expect(turns.all.count < 300)
            #expect(server.events.all.count { $0 != Self.end } == 1)
        }
    }

    @Test("a stream may follow other requests on a connection", arguments: Wire.allCases)
    func afterOthers(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.rawSocket()
            for _ in 0..<2 {
                try socket.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                #expect(try socket.receiveResponse().text == "POST /p hello")
            }
            try await stream(from: server)
            try socket.send(Self.get)
            _ = try socket.receiveResponse()
            try await write("piece", to: server)
            #expect(try socket.receiveTextChunk() == "piece")
            try await server.onLoop { _, handler in handler.streams[0].end() }
            #expect(try socket.receiveTextChunk() == "")
            #expect(try socket.receiveToEnd() == [])
            try await waitForEnd(server)
        }
    }

    @Test(
        "whatever client and handler do, each piece arrives whole and in order, and each stream ends once",
        arguments: Wire.allCases)
    func random(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await stream(from: server)
            let seeds: Range<UInt64> = 0..<60
            for seed in seeds {
                try await live(with: server, SeededGenerator(seed: seed), number: Int(seed))
                #expect(endCount(server) <= Int(seed) + 1, "seed \(seed)")
            }
            try await server.waitForNoConnections()
            #expect(endCount(server) == seeds.count)
            try await server.onLoop { _, handler in
                #expect(handler.streams.allSatisfy { !$0.isOpen && $0.waitingByteCount == 0 })
            }
        }
    }

    /// The life of one stream: its client reads, sends and leaves, and its handler writes and ends, in random order.
    private func live(with server: TestServer, _ seeded: SeededGenerator, number: Int) async throws {
        var random = seeded
        let isSmall = Bool.random(using: &random)
        let socket = try server.rawSocket(receiveBufferByteCount: isSmall ? 8192 : nil)
        try socket.send(Self.get)
        _ = try socket.receiveResponse()
        var (sizes, read): ([Int], Int) = ([], 0)
        func readPiece() throws {
            let chunk = try socket.receiveChunk()
            #expect(chunk.count == sizes[read] && chunk.allSatisfy { $0 == UInt8(read) }, "seed \(number)")
            read += 1
        }
        for _ in 0..<14 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let piece = Array(
                    repeating: UInt8(sizes.count),
                    count: [1, 15, 16, 5_000, 300_000].randomElement(using: &random) ?? 1)
                sizes.append(piece.count)
                try await server.onLoop { _, handler in handler.streams[number].write(piece) }
            case 8..<15: if read < sizes.count { try readPiece() }
            case 15, 16: try socket.send(String(repeating: Self.get, count: 10))
            case 17, 18:
                try await server.onLoop { _, handler in handler.streams[number].end() }
                while read < sizes.count { try readPiece() }
                #expect(try socket.receiveChunk() == [], "seed \(number)")
                #expect(try socket.receiveToEnd() == [], "seed \(number)")
                return
            default: return Bool.random(using: &random) ? socket.hangUp() : socket.reset()
            }
        }
    }

    @Test(
        "a second response, and one to a client that has gone, is a stream that ends at once", arguments: Wire.allCases)
    func deadStreams(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = { [unowned handler] in handler.exchanges.append($0) }
            }
            let (staying, leaving) = (try server.rawSocket(), try server.rawSocket())
            for socket in [staying, leaving] { try socket.send(Self.get) }
            let both = EventLog<Bool>()
            try await server.onLoop { server, handler in
                server.loop.onTurnEnded = { [unowned handler] in if handler.exchanges.count == 2 { both.append(true) } }
            }
            try await both.first("two requests") { $0 }
            try await server.onLoop { server, handler in
                for exchange in handler.exchanges {
                    exchange.respond(HTTPResponse(status: 202))
                    let stream = exchange.beginStream(HTTPResponse(status: 200))
                    stream.onEnd = { [events = handler.events] in events.append(Self.end) }
                    #expect(!stream.isOpen)
                    stream.write([1])
                    stream.end()
                    #expect(stream.waitingByteCount == 0)
                }
            }
            #expect(try staying.receiveResponse().status == 202)
            #expect(try leaving.receiveResponse().status == 202)
            leaving.hangUp()
            staying.hangUp()
            try await server.waitForNoConnections()
            #expect(endCount(server) == 2)
            // The exchange of a connection that is gone.
            try await server.onLoop { _, handler in
                let stream = handler.exchanges[0].beginStream(HTTPResponse(status: 200))
                stream.onEnd = { [events = handler.events] in events.append(.note("gone")) }
            }
            try await server.events.first("end") { $0 == .note("gone") }
        }
    }

    @Test(
        "a client that has gone while its request was answered ends a stream that begins then", arguments: Wire.allCases
    )
    func goneBefore(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = { [unowned handler] in handler.exchanges.append($0) }
            }
            let socket = try server.rawSocket()
            try socket.send(Self.get)
            try await server.events.first { $0 == .request("GET", "/stream") }
            socket.reset()
            try await server.onLoop { _, handler in
                let stream = handler.exchanges[0].beginStream(HTTPResponse(status: 200))
                stream.onEnd = { [events = handler.events] in events.append(Self.end) }
                stream.write([1])
            }
            try await waitForEnd(server)
            try await server.waitForNoConnections()
        }
    }
}
