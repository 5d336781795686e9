import Foundation
import SignalingClient
import SignalingCore
import SignalingProtocol
import SignalingServer
import Synchronization
import Testing
import VerificationTools

@Suite("A Swift client and a server over a real socket", .timeLimit(.minutes(5)))
struct SessionTests {
    @Test("the call stack of a journal entry does not grow with the number of entries")
    func journal() async throws {
        try await LocalServer.run { local in
            let depths = Mutex<[Int]>([])
            let session = local.session()
            session.keepJournal { entry in
                if case .sent = entry { depths.withLock { $0.append(Thread.callStackReturnAddresses.count) } }
            }
            try await session.connect(token: try local.token())
            for _ in 0..<50 { try await session.signal(type: "x", string: nil) }
            await session.disconnect()
            let noted = depths.withLock { $0 }
            #expect(noted.count == 50 && Set(noted).count == 1, "\(noted)")
        }
    }

    @Test("SIG-4: a broadcast reaches every client, its sender included, with one seq and the sender's id (G1, G8)")
    func broadcast() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(data: "Ada")
            let bob = try await local.join(data: "Bob")
            let seq = try await ada.session.signal(type: "chat", string: "hello", connection: nil)
            for client in [ada, bob] {
                let signal = try await client.events.nextSignal()
                #expect(signal.type == "chat")
                #expect(signal.data == "hello")
                #expect(signal.seq == seq)
                #expect(signal.from?.connectionId == (try ada.connection.connectionId))
                #expect(signal.from?.data == "Ada")
                #expect(!signal.isDirected)
            }
        }
    }

    @Test("SIG-4: a directed signal reaches its target alone")
    func directed() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join()
            let bob = try await local.join()
            let eve = try await local.join()
            try await ada.session.signal(type: "chat", string: "psst", connection: try bob.connection)
            try await ada.session.signal(type: "chat", string: "all", connection: nil)
            #expect(try await bob.events.nextSignal().data == "psst")
            #expect(try await bob.events.nextSignal().data == "all")
            #expect(try await eve.events.nextSignal().data == "all")
            #expect(try await ada.events.nextSignal().data == "all")
        }
    }

    /// The error of a task's call, without its place.
    private func failure(of task: Task<Void, any Error>) async -> SignalingError? {
        switch await task.result {
        case .success: nil
        case .failure(let error): error as? SignalingError
        }
    }

    @Test("a connect ends when its task is cancelled, before the server answers and before it begins")
    func cancelledConnect() async throws {
        // It accepts connections and never answers.
        let silent = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(silent) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(silent, $0, length)
                listen(silent, 5)
                getsockname(silent, $0, &length)
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        let session = Session(apiKey: "100", sessionId: "1_x", server: "http://127.0.0.1:\(port)")
        for _ in 0..<2 {
            let connecting = Task { try await session.connect(token: "t") }
            // The client's connection has arrived, so the connect has begun.
            let accepted = accept(silent, nil, nil)
            connecting.cancel()
            let error = await failure(of: connecting)
            #expect(error?.code == .connectFailed && error?.message.contains("cancelled before the server") == true)
            close(accepted)
        }
        let gate = AsyncStream.makeStream(of: Void.self)
        let late = Task {
            for await _ in gate.stream {}
            try await session.connect(token: "t")
        }
        late.cancel()
        gate.continuation.finish()
        #expect(await failure(of: late)?.message.contains("cancelled before it began") == true)
    }

    @Test("G2: a signal that waits for the connection is withdrawn when its task is cancelled, and never arrives")
    func cancelledSignal() async throws {
        let (first, second) = (try await LocalServer(), try await LocalServer())
        let relay = try NetworkRelay(to: first.address.port)
        defer { relay.stop() }
        let ada = try await first.join(data: "Ada", server: "http://127.0.0.1:\(relay.port)")
        relay.goDown()
        await first.server.stop()
        #expect(try await ada.events.next() == .reconnecting)
        let session = ada.session
        let waiting = Task { _ = try await session.signal(type: "x", string: "withdrawn") }
        let kept = Task { _ = try await session.signal(type: "x", string: "kept") }
        waiting.cancel()
        let error = await failure(of: waiting)
        #expect(error?.code == .notConnected && error?.message.contains("cancelled before it was sent") == true)
        relay.retarget(to: second.address.port)
        relay.goUp()
        #expect(try await ada.events.next() == .reconnected(.lost))
        #expect(await failure(of: kept) == nil)
        #expect(try await ada.events.nextSignal().data == "kept")
        await second.server.stop()
    }

    @Test("a token or connection ID that is too long fails at once, and the connection stays")
    func tooLong() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(role: .moderator)
            let long = String(repeating: "a", count: 100_000)
            let request = SignalRequest(type: "chat", data: "x", to: ConnectionID(long))
            await #expect(throws: SignalingError(.notFound, "")) { try await ada.session.send(request) }
            await #expect(throws: SignalingError(.badTarget, "")) {
                try await ada.session.forceDisconnect(ConnectionID(long))
            }
            await #expect(throws: SignalingError(.authenticationError, "")) { try await ada.session.refreshToken(long) }
            try await ada.session.signal(string: "still here")
            #expect(try await ada.events.nextSignal().data == "still here")
        }
    }

    @Test("WIRE-7: an untyped signal without data arrives as one")
    func empty() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join()
            try await ada.session.signal()
            let signal = try await ada.events.nextSignal()
            #expect(signal.type == nil)
            #expect(signal.data == nil)
        }
    }

    @Test(
        "every character arrives as it was sent", arguments: ["\u{0}", "line\nbreak", "\u{2028}", "👩‍👩‍👧‍👦", "مرحبا", "\"\\"])
    func text(_ text: String) async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(data: text)
            try await ada.session.signal(type: "chat", string: text)
            let signal = try await ada.events.nextSignal()
            #expect(signal.data == text)
            #expect(signal.from?.data == text)
        }
    }

    @Test("G7: each other client receives a join and a departure once, and its list of connections follows")
    func presence() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(data: "Ada")
            let bob = try await local.join(data: "Bob")
            let joined = try bob.connection
            #expect(try await ada.events.next() == .connectionCreated(joined))
            #expect(ada.session.connections.map(\.data) == ["Ada", "Bob"])
            #expect(bob.session.connections.map(\.data) == ["Ada", "Bob"])
            await bob.session.disconnect()
            #expect(try await ada.events.next() == .connectionDestroyed(joined, .clientDisconnected))
            #expect(ada.session.connections.map(\.data) == ["Ada"])
        }
    }

    @Test("LEAVE-1: disconnecting ends with one event, and the session can be connected again")
    func reconnect() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join()
            await ada.session.disconnect()
            #expect(try await ada.events.next() == .disconnected(.clientDisconnected))
            #expect(ada.session.connection == nil)
            #expect(await refusal { try await ada.session.signal() }?.code == .notConnected)
            try await ada.session.connect(token: try local.token())
            try await ada.session.signal(type: "again")
            #expect(try await ada.events.nextSignal().type == "again")
        }
    }

    @Test("CON-4: with connection events suppressed none arrive, and signals carry their senders")
    func suppressed() async throws {
        try await LocalServer.run { local in
            let quiet = try await local.join(options: .init(connectionEventsSuppressed: true))
            let ada = try await local.join(data: "Ada")
            try await ada.session.signal(type: "chat")
            guard case .signal(let signal) = try await quiet.events.next() else {
                Issue.record("something else came first")
                return
            }
            #expect(signal.from == (try ada.connection))
            // It does not know how many there are.
            #expect(quiet.session.memberCount == nil && ada.session.memberCount == 2)
        }
    }

    @Test("LEAVE-3: a moderator disconnects another client; each side sees the reason")
    func forceDisconnect() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join(role: .moderator)
            let bob = try await local.join()
            let victim = try bob.connection
            #expect(try await ada.events.next() == .connectionCreated(victim))
            try await ada.session.forceDisconnect(victim.connectionId)
            #expect(try await ada.events.next() == .connectionDestroyed(victim, .forceDisconnected))
            #expect(try await bob.events.next() == .disconnected(.forceDisconnected))
            #expect(await refusal { try await ada.session.forceDisconnect(victim.connectionId) }?.code == .badTarget)
        }
    }

    @Test("LEAVE-2, SIG-5: roles decide who may moderate and who may signal")
    func roles() async throws {
        try await LocalServer.run { local in
            let publisher = try await local.join(role: .publisher)
            let mute = try await local.join(role: .publisherOnly)
            let subscriber = try await local.join(role: .subscriber)
            let target = try mute.connection.connectionId
            #expect(
                await refusal { try await publisher.session.forceDisconnect(target) }?.code == .unableToForceDisconnect)
            #expect(await refusal { try await mute.session.signal(type: "chat") }?.code == .permissionDenied)
            try await subscriber.session.signal(type: "chat")
            #expect(try await mute.events.nextSignal().type == "chat")
        }
    }

    @Test("SIG-4: an unknown target is 404, and no client receives the signal")
    func missingTarget() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join()
            let gone = Connection(
                connectionId: ConnectionID("00000000-0000-4000-8000-000000000000"),
                creationTime: WallTime(milliseconds: 0), data: "")
            #expect(await refusal { try await ada.session.signal(connection: gone) }?.code == .notFound)
            try await ada.session.signal(type: "after")
            #expect(try await ada.events.nextSignal().type == "after")
        }
    }

    @Test("CON-3: a token of another session is refused with 1004, a bad session id with 1005")
    func refused() async throws {
        try await LocalServer.run { local in
            #expect(
                await refusal { try await local.session().connect(token: "T1==nonsense") }?.code == .authenticationError
            )
            let elsewhere = Session(
                apiKey: LocalServer.apiKey, sessionId: "1_nonsense", server: local.address.url)
            let token = try local.token()
            #expect(await refusal { try await elsewhere.connect(token: token) }?.code == .invalidSession)
        }
    }

    @Test("an unreachable server is 1006, and an invalid URL is 400")
    func unreachable() async throws {
        let session = Session(apiKey: "1", sessionId: "2_x", server: "http://127.0.0.1:1")
        #expect(await refusal { try await session.connect(token: "t") }?.code == .connectFailed)
        let nowhere = Session(apiKey: "1", sessionId: "2_x", server: "ftp://127.0.0.1")
        #expect(await refusal { try await nowhere.connect(token: "t") }?.code == .invalidParameter)
    }

    @Test("RES-13: after the window a client gives up on its server, and pending signals fail")
    func serverStops() async throws {
        let local = try await LocalServer(
            sessionBounds: .init(resumeWindow: .seconds(1), recoveryWindow: .zero))
        let ada = try await local.join()
        await local.server.stop()
        #expect(try await ada.events.next() == .reconnecting)
        #expect(await refusal { try await ada.session.signal() }?.code == .notConnected)
        #expect(try await ada.events.next() == .disconnected(.networkDisconnected))
    }

    @Test("a hundred concurrent signals are each acknowledged, and arrive in the order of their seqs")
    func many() async throws {
        try await LocalServer.run { local in
            let ada = try await local.join()
            let bob = try await local.join()
            let session = ada.session
            let seqs = try await withThrowingTaskGroup(of: Seq?.self) { group in
                for number in 0..<100 {
                    group.addTask { try await session.signal(type: "n", string: String(number)) }
                }
                return try await group.reduce(into: Set<Seq>()) { seqs, seq in if let seq { seqs.insert(seq) } }
            }
            #expect(seqs.count == 100)
            var heard: [Seq] = []
            while heard.count < 100 { heard.append(try #require(try await bob.events.nextSignal().seq)) }
            #expect(heard == seqs.sorted())
        }
    }

    @Test("G5: each of 10,000 concurrent signals gets one answer: a seq of its own, or a documented error")
    func tenThousand() async throws {
        try await LocalServer.run { local in
            let session = try await local.join().session
            let answers = await withTaskGroup(of: Result<Seq?, any Error>.self) { group in
                for number in 0..<10_000 {
                    group.addTask {
                        do {
                            return .success(try await session.signal(type: "n", string: String(number)))
                        } catch { return .failure(error) }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 10_000)
            var seqs: Set<Seq> = []
            for answer in answers {
                switch answer {
                case .success(let seq):
                    let isNew = seqs.insert(try #require(seq)).inserted
                    #expect(isNew)
                case .failure(let error): #expect((error as? SignalingError)?.code == .rateLimited)
                }
            }
            #expect(!seqs.isEmpty)
            // The session goes on.
            #expect(try await local.join().session.signal() != nil)
        }
    }

    @Test("each of 1,000 receivers gets a broadcast once")
    func thousand() async throws {
        try await LocalServer.run { local in
            var clients: [Client] = []
            for _ in 0..<1000 {
                clients.append(try await local.join(options: .init(connectionEventsSuppressed: true)))
            }
            try await clients[0].session.signal(type: "chat", string: "all")
            try await clients[0].session.signal(type: "end")
            for client in clients {
                #expect(try await client.events.nextSignal().data == "all")
                #expect(try await client.events.nextSignal().type == "end")
            }
            for client in clients { await client.session.disconnect() }
        }
    }
}
