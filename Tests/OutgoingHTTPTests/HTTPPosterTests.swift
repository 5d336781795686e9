import OutgoingHTTP
import Synchronization
import Testing

@Suite("Posts", .timeLimit(.minutes(5)))
struct HTTPPosterTests {
    private let poster: HTTPPoster

    init() throws { poster = try HTTPPoster() }

    private func post(_ url: String, within limit: Duration = .seconds(300)) async -> PostOutcome {
        await withCheckedContinuation { continuation in
            _ = poster.post(Self.example(url, limit)) { continuation.resume(returning: $0) }
        }
    }

    private static func example(_ url: String, _ limit: Duration = .seconds(300)) -> HTTPPost {
        HTTPPost(
            url: url, headers: [(name: "Content-Type", value: "application/json")], body: Array("{}".utf8),
            timeLimit: limit)
    }

    @Test("the receiver gets the method, path, headers and body, and later posts on the same connection")
    func request() async throws {
        let heads = Mutex<[String]>([])
        let receiver = ScriptedReceiver { peer, _ in
            while let text = peer.readPost() {
                heads.withLock { $0.append(text) }
                peer.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        for _ in 0..<3 { #expect(await post(receiver.url) == .answered(204)) }
        #expect(receiver.connectionCount == 1)
        for head in heads.withLock({ $0 }) {
            #expect(head.hasPrefix("POST /hooks HTTP/1.1\r\n"))
            let lines = Set(head.lowercased().split(separator: "\r\n"))
            let expected: Set = [
                "host: 127.0.0.1:\(receiver.port)"[...], "content-type: application/json", "content-length: 2", "{}",
            ]
            #expect(lines.isSuperset(of: expected))
            #expect(!lines.contains { $0.hasPrefix("expect") || $0.hasPrefix("cookie") || $0.hasPrefix("auth") })
        }
    }

    @Test("an answer without an end counts by its status, and its connection is cut at 65,536 bytes")
    func endlessBody() async throws {
        let sent = await sentByteCount(
            answer: "HTTP/1.1 200 OK\r\n\r\n", piece: String(repeating: "x", count: 65_536), .answered(200))
        // Most of it fills the buffers of the two sockets.
        #expect(sent < 32 << 20)
    }

    @Test(
        "a head without an end is no answer, and its connection is cut at 65,536 bytes",
        arguments: [
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n",
            "X-Header: x\r\n", "X-Header",
        ])
    func endlessHead(line: String) async throws {
        let sent = await sentByteCount(
            answer: line.hasPrefix("X") ? "HTTP/1.1 200 OK\r\n" : "", piece: String(repeating: line, count: 1024),
            .failed(.oversizedHead))
        #expect(sent < 32 << 20)
    }

    /// What a receiver can send that never ends its answer.
    private func sentByteCount(answer: String, piece: String, _ expected: PostOutcome) async -> Int {
        let (counts, continuation) = AsyncStream.makeStream(of: Int.self)
        let receiver = ScriptedReceiver { peer, _ in
            guard peer.readPost() != nil, peer.send(answer) else { return }
            while peer.send(piece) {}
            continuation.yield(peer.sentByteCount)
        }
        #expect(await post(receiver.url) == expected)
        return await counts.first { _ in true } ?? .max
    }

    @Test("a head that is not complete in time is no answer, and its connection is cut")
    func slowHead() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: Bool?.self)
        let receiver = ScriptedReceiver { peer, _ in
            let hasPost = peer.readPost() != nil && peer.send("HTTP/1.1 200 OK\r\nX-Header: ")
            continuation.yield(hasPost ? peer.waitForEnd() : nil)
        }
        var iterator = ends.makeAsyncIterator()
        var isCut: Bool?
        var limit = Duration.milliseconds(200)
        // On a busy machine, the time may be over before the receiver has the post.
        while isCut == nil {
            #expect(await post(receiver.url, within: limit) == .failed(.timedOut))
            isCut = await iterator.next() ?? false
            limit *= 2
        }
        #expect(isCut == true)
    }

    @Test("a receiver that is silent times out, and the posts to others do not wait for it")
    func silence() async throws {
        let silent = ScriptedReceiver { peer, _ in _ = peer.waitForEnd() }
        let other = ScriptedReceiver { peer, _ in
            while peer.readPost() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let (outcomes, continuation) = AsyncStream.makeStream(of: PostOutcome.self)
        let id = poster.post(Self.example(silent.url, .seconds(600))) { continuation.yield($0) }
        for _ in 0..<10 { #expect(await post(other.url) == .answered(200)) }
        #expect(await post(silent.url, within: .milliseconds(200)) == .failed(.timedOut))
        poster.cancel(id)
        #expect(await outcomes.first { _ in true } == .failed(.cancelled))
    }

    @Test("an answer whose body never comes counts by its status before the time of the post is over")
    func missingBody() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
        let receiver = ScriptedReceiver { peer, _ in
            guard peer.readPost() != nil, peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n") else { return }
            continuation.yield(peer.waitForEnd())
        }
        #expect(await post(receiver.url, within: .seconds(600)) == .answered(200))
        #expect(await ends.first { _ in true } == true, "the connection is cut")
    }

    @Test("a redirect is an answer, and is not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let receiver = ScriptedReceiver { peer, _ in
            while peer.readPost() != nil {
                peer.send("HTTP/1.1 \(status) Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
            }
        }
        #expect(await post(receiver.url) == .answered(status))
        #expect(await post(receiver.url) == .answered(status), "no request for /elsewhere came between")
        #expect(receiver.connectionCount == 1)
    }

    @Test("a kept connection that its receiver closes costs no post: it goes to a new connection")
    func closedConnection() async throws {
        let posts = Mutex(0)
        let receiver = ScriptedReceiver { peer, _ in
            guard peer.readPost() != nil else { return }
            posts.withLock { $0 += 1 }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        for _ in 0..<20 { #expect(await post(receiver.url) == .answered(200)) }
        #expect(posts.withLock { $0 } == 20, "each arrives once")
    }

    @Test("a kept connection that ends below a post costs no post either: libcurl repeats it once")
    func brokenConnection() async throws {
        let posts = Mutex(0)
        let receiver = ScriptedReceiver { peer, number in
            // The first connection ends when the second post has arrived on it.
            for turn in 0... {
                guard peer.readPost() != nil else { return }
                posts.withLock { $0 += 1 }
                if number == 0, turn == 1 { return }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        for _ in 0..<3 { #expect(await post(receiver.url) == .answered(200)) }
        #expect(posts.withLock { $0 } == 4)
        #expect(receiver.connectionCount == 2)
    }

    @Test("a fault names its kind")
    func faults() async throws {
        var receiver: ScriptedReceiver? = ScriptedReceiver { _, _ in }
        let url = try #require(receiver?.url)
        let early = await post(url)
        #expect(early != .failed(.unreachable) && early.status == nil, "a connection that ends without an answer")
        #expect(early.description.hasPrefix("no response: "))
        receiver = nil
        // A label of a name has at most 63 characters.
        #expect(await post("http://\(String(repeating: "a", count: 64)).example/") == .failed(.unknownHost))
        let file = await post("file:///etc/hostname")
        #expect(file.status == nil && file.description.contains("protocol"))
    }

    @Test("a poster that is released cancels its posts")
    func release() async throws {
        let silent = ScriptedReceiver { peer, _ in _ = peer.waitForEnd() }
        var own: HTTPPoster? = try HTTPPoster()
        let (outcomes, continuation) = AsyncStream.makeStream(of: PostOutcome.self)
        for _ in 0..<3 { _ = own?.post(Self.example(silent.url)) { continuation.yield($0) } }
        own = nil
        var received: [PostOutcome] = []
        for await outcome in outcomes {
            received.append(outcome)
            if received.count == 3 { break }
        }
        #expect(received == Array(repeating: .failed(.cancelled), count: 3))
    }
}
