import Dispatch
import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing
import VerificationTools

@testable import OpenTok

@Suite("OpenTok's session over a real server", .timeLimit(.minutes(5)))
struct SessionTests {
    // MARK: Connect and disconnect

    @Test("a session that is not connected has no connection, capabilities or streams")
    func before() throws {
        let session = OTSession(apiKey: "100", sessionId: "1_x", delegate: nil)!
        #expect(session.sessionConnectionStatus == .notConnected)
        #expect(session.apiKey == "100")
        #expect(session.sessionId == "1_x")
        #expect(session.connection == nil)
        #expect(session.capabilities == nil)
        #expect(session.streams.isEmpty)
        #expect(session.apiQueue.label == DispatchQueue.main.label)
        if let other = OTSession(apiKey: "", sessionId: "", delegate: nil, settings: nil) {
            #expect(other.sessionConnectionStatus == .notConnected)
        } else {
            Issue.record("a session with empty arguments is nil")
        }
    }

    @Test("earlier connections are reported after sessionDidConnect in their order, the own one never")
    func presence() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob")
            #expect(try await ada.next() == .created("Bob"))
            let eve = try await room.join("Eve")
            #expect(try await eve.next() == .created("Ada"))
            #expect(try await eve.next() == .created("Bob"))
            #expect(try await ada.next() == .created("Eve"))
            bob.session.disconnect(nil)
            #expect(try await ada.next() == .destroyed("Bob"))
            #expect(try await eve.next() == .destroyed("Bob"))
            // No other event was pending, in particular none about the own connection.
            #expect(eve.signal("end", nil) == nil)
            #expect(try await eve.next() == .signal(type: "end", from: "Eve", string: nil))
            #expect(try await ada.next() == .signal(type: "end", from: "Eve", string: nil))
        }
    }

    @Test("a connection has id, data and an increasing creation time; capabilities depend on the role")
    func connection() async throws {
        try await Room.run { room in
            // The server's milliseconds are rounded down.
            let begin = Date(timeIntervalSinceNow: -0.001)
            let ada = try await room.join("Ada", role: .subscriber)
            let bob = try await room.join("Bob", role: .moderator)
            let first = try #require(ada.session.connection)
            let second = try #require(bob.session.connection)
            #expect(first.data == "Ada")
            #expect(first.connectionId != second.connectionId)
            #expect(first != second)
            #expect(first.creationTime < second.creationTime)
            #expect((begin...Date()).contains(first.creationTime))
            let (little, all) = (try #require(ada.session.capabilities), try #require(bob.session.capabilities))
            #expect([little.canPublish, little.canSubscribe, little.canForceDisconnect] == [false, true, false])
            #expect([all.canPublish, all.canSubscribe, all.canForceDisconnect] == [true, true, true])
        }
    }

    @Test("after disconnect the state is reset, the delegate is called, and the session can connect again")
    func disconnect() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let first = ada.session.connection
            #expect(code { ada.session.disconnect(&$0) } == nil)
            #expect(ada.session.sessionConnectionStatus == .disconnecting)
            #expect(try await ada.next() == .disconnected)
            #expect(code { ada.session.connect(withToken: try! room.token("Ada"), error: &$0) } == nil)
            #expect(try await ada.next() == .connected)
            #expect(ada.session.connection != first)
        }
    }

    @Test("requests made before disconnect are still sent")
    func lastWords() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob")
            #expect(try await bob.next() == .created("Ada"))
            #expect(ada.signal("bye", "Ada leaves") == nil)
            ada.session.disconnect(nil)
            #expect(try await bob.next() == .signal(type: "bye", from: "Ada", string: "Ada leaves"))
            #expect(try await bob.next() == .destroyed("Ada"))
        }
    }

    @Test("a disconnect while connecting ends with sessionDidDisconnect alone")
    func disconnectEarly() async throws {
        try await Room.run { room in
            let ada = try room.client()
            ada.session.connect(withToken: try room.token(), error: nil)
            #expect(ada.session.sessionConnectionStatus == .connecting)
            #expect(code { ada.session.disconnect(&$0) } == nil)
            #expect(try await ada.next() == .disconnected)
            ada.session.connect(withToken: try room.token(), error: nil)
            #expect(try await ada.next() == .connected)
        }
    }

    @Test("a session that is released disconnects")
    func letGo() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            var bob: Client? = try await room.join("Bob")
            #expect(try await ada.next() == .created("Bob"))
            #expect(try await bob?.next() == .created("Ada"))
            bob = nil
            #expect(try await ada.next() == .destroyed("Bob"))
        }
    }

    @Test("with connectionEventsSuppressed no presence is reported, and signals still have their senders")
    func suppressed() async throws {
        try await Room.run { room in
            let bob = try await room.join("Bob")
            let settings = OTSessionSettings()
            settings.connectionEventsSuppressed = true
            let ada = try await room.join("Ada", settings: settings)
            #expect(try await bob.next() == .created("Ada"))
            #expect(bob.signal("chat", "hello") == nil)
            #expect(try await ada.next() == .signal(type: "chat", from: "Bob", string: "hello"))
        }
    }

    // MARK: Signals

    @Test("a broadcast reaches all clients, its sender included, with the sender's connection")
    func broadcast() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob")
            #expect(try await ada.next() == .created("Bob"))
            #expect(try await bob.next() == .created("Ada"))
            for (sender, name) in [(ada, "Ada"), (bob, "Bob")] {
                #expect(sender.signal("chat", "hello from \(name)") == nil)
                for client in [ada, bob] {
                    #expect(
                        try await client.next() == .signal(type: "chat", from: name, string: "hello from \(name)"))
                }
            }
        }
    }

    @Test("a signal to one connection reaches only that connection")
    func directed() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob")
            #expect(try await ada.next() == .created("Bob"))
            #expect(try await bob.next() == .created("Ada"))
            #expect(ada.signal("chat", "psst", to: bob.session.connection) == nil)
            #expect(ada.signal("chat", "all") == nil)
            #expect(try await bob.next() == .signal(type: "chat", from: "Ada", string: "psst"))
            #expect(try await bob.next() == .signal(type: "chat", from: "Ada", string: "all"))
            #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: "all"))
        }
    }

    @Test("type and string may be nil; an empty type means none, an empty string is kept")
    func absent() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            ada.session.signal(withType: nil, string: nil, connection: nil, error: nil)
            #expect(try await ada.next() == .signal(type: nil, from: "Ada", string: nil))
            ada.session.signal(withType: "", string: "", connection: nil, retryAfterReconnect: false, error: nil)
            #expect(try await ada.next() == .signal(type: nil, from: "Ada", string: ""))
        }
    }

    @Test("signals of one sender arrive in the order in which they were sent, none lost")
    func order() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            for number in 0..<2_000 { #expect(ada.signal("count", String(number)) == nil) }
            for number in 0..<2_000 {
                try #require(try await ada.next() == .signal(type: "count", from: "Ada", string: String(number)))
            }
        }
    }

    @Test("the calls of one thread reach the server in their order: signals, forced disconnects, the end")
    func orderOfCalls() async throws {
        try await Room.run { room in
            let eve = try await room.join("Eve")
            let receiver = try #require(eve.session.connection)
            let ada = try await room.join("Ada", role: .moderator)
            var others: [Client] = []
            for number in 0..<20 { others.append(try await room.join("\(number)")) }
            let names = ["Ada"] + others.indices.map(String.init)
            for name in names { #expect(try await eve.next() == .created(name)) }
            // No call waits for the end of another one.
            for (number, other) in others.enumerated() {
                let connection = try #require(other.session.connection)
                #expect(ada.signal("all", String(number)) == nil)
                #expect(code { ada.session.forceDisconnect(connection, error: &$0) } == nil)
                #expect(ada.signal("one", String(number), to: receiver) == nil)
            }
            #expect(code { ada.session.disconnect(&$0) } == nil)
            for number in others.indices.map(String.init) {
                try #require(try await eve.next() == .signal(type: "all", from: "Ada", string: number))
                try #require(try await eve.next() == .destroyed(number))
                try #require(try await eve.next() == .signal(type: "one", from: "Ada", string: number))
            }
            #expect(try await eve.next() == .destroyed("Ada"))
        }
    }

    @Test("a signal by REST has no connection")
    func rest() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            #expect(try await room.signalByREST(type: "notice", data: "at noon") == 204)
            #expect(try await ada.next() == .signal(type: "notice", from: nil, string: "at noon"))
        }
    }

    // MARK: Errors at once

    @Test("error 1413 for a string over 8192 UTF-16 units, none at 8192")
    func tooLong() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            for (unit, count) in [("a", 8192), ("€", 8192), ("👋", 4096), ("\"", 8192), ("\u{1}", 8192)] {
                let text = String(repeating: unit, count: count)
                #expect(ada.signal("chat", text) == nil)
                #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: text))
                #expect(ada.signal("chat", text + unit) == .sessionSignalDataTooLong)
            }
        }
    }

    @Test(
        "error 1461 for a type that is too long or has other characters",
        arguments: ["a b", "a:b", "é", "a\n"])
    func badType(_ type: String) async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            #expect(ada.signal(type, "x") == .sessionInvalidSignalType)
            #expect(ada.signal(String(repeating: "t", count: 129), "x") == .sessionInvalidSignalType)
            let longest = String(repeating: "t", count: 128)
            #expect(ada.signal(longest, "x") == nil)
            #expect(try await ada.next() == .signal(type: longest, from: "Ada", string: "x"))
            #expect(ada.signal("a.b_c-d~E9", "x") == nil)
            #expect(try await ada.next() == .signal(type: "a.b_c-d~E9", from: "Ada", string: "x"))
        }
    }

    @Test("error 1010 for a call that needs a connection, before and after it")
    func notConnected() async throws {
        try await Room.run { room in
            let ada = try room.client()
            let bob = try #require(try await room.join("Bob").session.connection)
            #expect(ada.signal("chat", "x") == .notConnected)
            #expect(code { ada.session.disconnect(&$0) } == .notConnected)
            #expect(code { ada.session.forceDisconnect(bob, error: &$0) } == .notConnected)
            ada.session.connect(withToken: try room.token(), error: nil)
            #expect(ada.signal("chat", "x") == .notConnected)
            #expect(try await ada.next() == .connected)
            ada.session.disconnect(nil)
            #expect(ada.signal("chat", "x") == .notConnected)
            while try await ada.next() != .disconnected {}
            #expect(ada.signal("chat", "x") == .notConnected)
        }
    }

    @Test("error 1011 for an empty key, session id or token", arguments: [0, 1, 2])
    func empty(_ index: Int) throws {
        let session = try #require(
            OTSession(apiKey: index == 0 ? "" : "100", sessionId: index == 1 ? "" : "1_x", delegate: nil))
        #expect(
            code { session.connect(withToken: index == 2 ? "" : "T1==x", error: &$0) } == .nullOrInvalidParameter)
        #expect(session.sessionConnectionStatus == .notConnected)
    }

    @Test("error 1015 for connect while connecting, connected and disconnecting; the connection continues")
    func illegalState() async throws {
        try await Room.run { room in
            let ada = try room.client()
            let token = try room.token("Ada")
            let connect = { code { ada.session.connect(withToken: token, error: &$0) } }
            #expect(connect() == nil)
            #expect(connect() == .sessionIllegalState)
            #expect(try await ada.next() == .connected)
            #expect(connect() == .sessionIllegalState)
            #expect(ada.signal("chat", "still here") == nil)
            #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: "still here"))
            // On the queue on which the end is reported: it cannot come in between.
            ada.session.apiQueue.sync {
                ada.session.disconnect(nil)
                #expect(connect() == .sessionIllegalState)
            }
            #expect(try await ada.next() == .disconnected)
        }
    }

    @Test("a call without an error clears an earlier error")
    func cleared() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            var error: OTError?
            ada.session.signal(withType: "a b", string: nil, connection: nil, error: &error)
            #expect(error != nil)
            ada.session.signal(withType: "ab", string: nil, connection: nil, error: &error)
            #expect(error == nil)
        }
    }

    // MARK: Errors later

    @Test("errors 1004 and 1005 are reported to the delegate, and the session has failed")
    func refused() async throws {
        try await Room.run { room in
            let ada = try room.client()
            #expect(code { ada.session.connect(withToken: "T1==nonsense", error: &$0) } == nil)
            #expect(try await ada.next() == .failed(.authorizationFailure))
            #expect(ada.session.sessionConnectionStatus == .failed)
            #expect(ada.session.connection == nil)
            ada.session.connect(withToken: try room.token("Ada"), error: nil)
            #expect(try await ada.next() == .connected)

            let bob = try room.client(sessionId: "no session")
            bob.session.connect(withToken: try room.token(), error: nil)
            #expect(try await bob.next() == .failed(.errorInvalidSession))
        }
    }

    @Test("error 1006 when there is no server")
    func unreachable() async throws {
        let room = try await Room()
        let ada = try room.client()
        await room.stop()
        #expect(code { ada.session.connect(withToken: try! room.token(), error: &$0) } == nil)
        #expect(try await ada.next() == .failed(.connectionFailed))
        #expect(ada.session.sessionConnectionStatus == .failed)
    }

    @Test("error 1550 for a role that may not signal, 1011 for a target that has left; the session continues")
    func refusedSignals() async throws {
        try await Room.run { room in
            let mute = try await room.join("Mute", role: .publisherOnly)
            #expect(mute.signal("chat", "x") == nil)
            #expect(try await mute.next() == .failed(.sessionUnableToSendSignal))
            #expect(mute.session.sessionConnectionStatus == .connected)

            let ada = try await room.join("Ada")
            #expect(try await ada.next() == .created("Mute"))
            let gone = try #require(mute.session.connection)
            mute.session.disconnect(nil)
            #expect(try await ada.next() == .destroyed("Mute"))
            #expect(ada.signal("chat", "x", to: gone) == nil)
            #expect(try await ada.next() == .failed(.nullOrInvalidParameter))
            #expect(ada.signal("chat", "still here") == nil)
            #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: "still here"))
        }
    }

    @Test(
        "a forced disconnect calls sessionDidDisconnect; 1520 at once without a moderator's token"
    )
    func forced() async throws {
        try await Room.run { room in
            let bob = try await room.join("Bob")
            let chief = try await room.join("Chief", role: .moderator)
            #expect(try await bob.next() == .created("Chief"))
            #expect(try await chief.next() == .created("Bob"))
            let (victim, moderator) = (try #require(bob.session.connection), try #require(chief.session.connection))
            #expect(
                code { bob.session.forceDisconnect(moderator, error: &$0) } == .sessionUnableToForceDisconnect)
            #expect(code { chief.session.forceDisconnect(victim, error: &$0) } == nil)
            #expect(try await bob.next() == .disconnected)
            #expect(try await chief.next() == .destroyed("Bob"))
            #expect(code { chief.session.forceDisconnect(victim, error: &$0) } == nil)
            #expect(try await chief.next() == .failed(.nullOrInvalidParameter))
        }
    }

    @Test("a lost connection is reported as 1022, then sessionDidDisconnect")
    func serverGone() async throws {
        let room = try await Room(sessionBounds: .init(resumeWindow: .seconds(1), recoveryWindow: .zero))
        let ada = try await room.join("Ada")
        await room.stop()
        #expect(try await ada.next() == .reconnecting)
        #expect(try await ada.next() == .failed(.connectionDropped))
        #expect(try await ada.next() == .disconnected)
        #expect(ada.signal("chat", "x") == .notConnected)
    }

    @Test("G3: after a lost socket the session resumes, and receives the signals it missed once")
    func reconnects() async throws {
        try await Room.run { room in
            let relay = try NetworkRelay(to: try #require(room.url.port))
            defer { relay.stop() }
            let settings = OTSessionSettings()
            settings.apiURL = URL(string: "http://127.0.0.1:\(relay.port)")
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob", settings: settings)
            #expect(try await ada.next() == .created("Bob"))
            #expect(try await bob.next() == .created("Ada"))
            let own = bob.session.connection
            relay.cut(.abrupt)
            #expect(try await bob.next() == .reconnecting)
            #expect(ada.signal("chat", "while he is away") == nil)
            var error: OTError?
            bob.session.signal(
                withType: "chat", string: "not later", connection: nil, retryAfterReconnect: false, error: &error)
            let isBackAlready = error == nil
            #expect(bob.signal("chat", "later") == nil)
            #expect(try await bob.next() == .reconnected)
            #expect(bob.session.connection == own)
            // Two clients send concurrently: the server may put either signal first.
            var sent: [DelegateEvent] = [
                .signal(type: "chat", from: "Ada", string: "while he is away"),
                .signal(type: "chat", from: "Bob", string: "later"),
            ]
            if isBackAlready { sent.append(.signal(type: "chat", from: "Bob", string: "not later")) }
            for client in [bob, ada] {
                var received: [DelegateEvent] = []
                for _ in sent { received.append(try await client.next()) }
                #expect(
                    sent.allSatisfy(received.contains), "G3, G7: each signal once, and no presence event: \(received)")
            }
        }
    }

    @Test("G7: a replayed signal of a client that has left creates no connection")
    func replay() async throws {
        let room = try await Room(sessionBounds: .init(resumeWindow: .zero, recoveryWindow: .seconds(600)))
        let relay = try NetworkRelay(to: try #require(room.url.port))
        defer { relay.stop() }
        let settings = OTSessionSettings()
        settings.apiURL = URL(string: "http://127.0.0.1:\(relay.port)")
        let ada = try await room.join("Ada")
        let bob = try await room.join("Bob", settings: settings)
        let eve = try await room.join("Eve")
        for other in ["Bob", "Eve"] { #expect(try await ada.next() == .created(other)) }
        for other in ["Ada", "Eve"] { #expect(try await bob.next() == .created(other)) }
        relay.goDown()
        #expect(try await bob.next() == .reconnecting)
        #expect(try await ada.next() == .destroyed("Bob"))
        let farewell = DelegateEvent.signal(type: "chat", from: "Eve", string: "farewell")
        #expect(eve.signal("chat", "farewell") == nil)
        #expect(try await ada.next() == farewell)
        eve.session.disconnect()
        #expect(try await ada.next() == .destroyed("Eve"))
        relay.goUp()
        #expect(try await ada.next() == .created("Bob"))
        #expect(try await bob.next() == .destroyed("Eve"))
        #expect(try await bob.next() == .reconnected)
        #expect(try await bob.next() == farewell)
        #expect(ada.signal("chat", "still here") == nil)
        #expect(try await bob.next() == .signal(type: "chat", from: "Ada", string: "still here"))
        await room.stop()
    }

    // MARK: Delegate, media, server

    @Test("a delegate isolated to the main actor is called on it, also in Swift 6")
    func mainActor() async throws {
        @MainActor final class Model: @MainActor OTSessionDelegate {
            let (events, continuation) = AsyncStream.makeStream(of: Bool.self)
            func sessionDidConnect(_ session: OTSession) {
                continuation.yield(DispatchQueue.getSpecific(key: Recorder.mark) == true)
            }
            func sessionDidDisconnect(_ session: OTSession) {}
            func session(_ session: OTSession, didFailWithError error: OTError) {}
            func session(_ session: OTSession, streamCreated stream: OTStream) {}
            func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
        }
        try await Room.run { room in
            let settings = OTSessionSettings()
            settings.apiURL = room.url
            let token = try room.token("Ada")
            let sessionId = room.sessionId
            let session = try #require(
                OTSession(apiKey: Room.apiKey, sessionId: sessionId, delegate: nil, settings: settings))
            let (model, events) = await MainActor.run {
                let model = Model()
                session.delegate = model
                return (model, model.events)
            }
            DispatchQueue.main.setSpecific(key: Recorder.mark, value: true)
            session.connect(withToken: token, error: nil)
            var iterator = events.makeAsyncIterator()
            let isOnMain = await iterator.next(isolation: #isolation)
            #expect(isOnMain == true)
            withExtendedLifetime(model) {}
        }
    }

    @Test("the delegate is called on the main queue by default")
    func mainQueue() async throws {
        try await Room.run { room in
            DispatchQueue.main.setSpecific(key: Recorder.mark, value: true)
            let recorder = Recorder()
            let settings = OTSessionSettings()
            settings.apiURL = room.url
            let session = try #require(
                OTSession(
                    apiKey: Room.apiKey, sessionId: room.sessionID.rawValue, delegate: recorder, settings: settings))
            session.connect(withToken: try room.token("Ada"), error: nil)
            var events = recorder.events.makeAsyncIterator()
            let first = await events.next(isolation: #isolation)
            #expect(first == .connected)
        }
    }

    @Test("the delegate is held weakly and can be replaced")
    func delegate() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            var other: Recorder? = Recorder()
            var events = try #require(other).events.makeAsyncIterator()
            ada.session.delegate = other
            #expect(ada.session.delegate === other)
            #expect(ada.signal("chat", "to the other") == nil)
            let next = await events.next(isolation: #isolation)
            #expect(next == .signal(type: "chat", from: "Ada", string: "to the other"))
            ada.session.apiQueue.sync {}
            other = nil
            let end = await events.next(isolation: #isolation)
            #expect(end == nil)
            #expect(ada.session.delegate == nil)
        }
    }

    @Test("the settings' logger gets the lines of the session")
    func logger() async throws {
        struct Handler: LogHandler {
            let lines: AsyncStream<String>.Continuation
            var metadata = Logger.Metadata()
            var logLevel = Logger.Level.trace

            subscript(metadataKey key: String) -> Logger.MetadataValue? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let session = metadata["session"].map { "\($0)" } ?? "none"
                lines.yield("\(event.level) \(event.message) \(session)")
            }
        }
        try await Room.run { room in
            let (lines, continuation) = AsyncStream.makeStream(of: String.self)
            let settings = OTSessionSettings()
            settings.logger = Logger(label: "test") { _ in Handler(lines: continuation) }
            let ada = try await room.join("Ada", settings: settings)
            ada.session.disconnect(nil)
            #expect(try await ada.next() == .disconnected)
            var read = lines.makeAsyncIterator()
            for expected in ["debug connecting", "info connected", "debug disconnected"] {
                #expect(await read.next() == "\(expected) \(room.sessionId)")
            }
        }
    }

    /// Implements the methods with reasons. Those without must not be called then.
    private final class Reasons: OTSessionDelegate, Sendable {
        let (events, continuation) = AsyncStream.makeStream(of: String.self)

        func sessionDidConnect(_ session: OTSession) { continuation.yield("connected") }
        func sessionDidDisconnect(_ session: OTSession) { Issue.record("called beside the method with a reason") }
        func sessionDidDisconnect(_ session: OTSession, reason: OTDisconnectReason) {
            continuation.yield("disconnected \(reason.rawValue)")
        }
        func session(_ session: OTSession, connectionDestroyed connection: OTConnection) {
            Issue.record("called beside the method with a reason")
        }
        func session(
            _ session: OTSession, connectionDestroyed connection: OTConnection, reason: OTDisconnectReason
        ) {
            continuation.yield("destroyed \(connection.data ?? "") \(reason.rawValue)")
        }
        func sessionDidReconnect(_ session: OTSession) { Issue.record("called beside the method with an outcome") }
        func sessionDidReconnect(_ session: OTSession, outcome: OTReconnectOutcome) {
            continuation.yield("reconnected \(outcome.rawValue)")
        }
        func session(_ session: OTSession, didFailWithError error: OTError) {}
        func session(_ session: OTSession, streamCreated stream: OTStream) {}
        func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
    }

    @Test("a delegate can get the reasons and the outcome that JavaScript's event handlers get")
    func reasons() async throws {
        try await Room.run { room in
            let relay = try NetworkRelay(to: try #require(room.url.port))
            defer { relay.stop() }
            let settings = OTSessionSettings()
            settings.apiURL = URL(string: "http://127.0.0.1:\(relay.port)")
            let delegate = Reasons()
            let session = OTSession(
                apiKey: Room.apiKey, sessionId: room.sessionId, delegate: delegate, settings: settings)!
            session.apiQueue = DispatchQueue(label: "reasons")
            var events = delegate.events.makeAsyncIterator()
            #expect(code { session.connect(withToken: try! room.token("Ada"), error: &$0) } == nil)
            #expect(await events.next() == "connected")
            let bob = try await room.join("Bob")
            bob.session.disconnect(nil)
            #expect(await events.next() == "destroyed Bob clientDisconnected")
            relay.cut(.abrupt)
            #expect(await events.next() == "reconnected resumed")
            let chief = try await room.join("Chief", role: .moderator)
            #expect(try await chief.next() == .created("Ada"))
            let eve = try await room.join("Eve")
            let own = try #require(eve.session.connection)
            #expect(code { chief.session.forceDisconnect(own, error: &$0) } == nil)
            #expect(await events.next() == "destroyed Eve forceDisconnected")
            let victim = try #require(session.connection)
            #expect(code { chief.session.forceDisconnect(victim, error: &$0) } == nil)
            #expect(await events.next() == "disconnected forceDisconnected")
        }
    }

    @Test("a delegate needs only the five methods that OpenTok requires")
    func leastDelegate() async throws {
        final class Least: OTSessionDelegate {
            func sessionDidConnect(_ session: OTSession) {
                session.signal(withType: "chat", string: "x", connection: nil, error: nil)
            }
            func sessionDidDisconnect(_ session: OTSession) {}
            func session(_ session: OTSession, didFailWithError error: OTError) {}
            func session(_ session: OTSession, streamCreated stream: OTStream) {}
            func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
        }
        try await Room.run { room in
            let bob = try await room.join("Bob")
            let ada = try room.client()
            let least = Least()
            ada.session.delegate = least
            ada.session.connect(withToken: try room.token("Ada"), error: nil)
            #expect(try await bob.next() == .created("Ada"))
            #expect(try await bob.next() == .signal(type: "chat", from: "Ada", string: "x"))
            withExtendedLifetime(least) {}
        }
    }

    @Test("media calls report an error, and the session continues")
    func media() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let settings = OTPublisherSettings()
            settings.name = "camera"
            let publisher = OTPublisher(delegate: nil, settings: settings)!
            #expect(publisher.name == "camera")
            var error: OTError?
            ada.session.publish(publisher, error: &error)
            #expect(error?.domain == OT_PUBLISHER_ERROR_DOMAIN)
            #expect(error?.code == Int(OTPublisherErrorCode.publisherInternalError.rawValue))
            #expect(code { ada.session.unpublish(publisher, error: &$0) } == .sessionPublisherNotFound)
            let stream = OTStream(
                streamId: "s", connection: try #require(ada.session.connection), session: ada.session)
            #expect(stream.videoType == .camera && stream.videoDimensions == .zero)
            ada.session.delegate?.session(ada.session, info: OTMuteForcedInfo(active: true))
            let subscriber = OTSubscriber(stream: stream, delegate: nil)!
            ada.session.subscribe(subscriber, error: &error)
            #expect(error?.domain == OT_SUBSCRIBER_ERROR_DOMAIN)
            #expect(error?.code == Int(OTSubscriberErrorCode.subscriberInternalError.rawValue))
            #expect(code { ada.session.unsubscribe(subscriber, error: &$0) } == .sessionSubscriberNotFound)
            #expect(ada.signal("chat", "still here") == nil)
            #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: "still here"))
        }
    }

    @Test("without a connection media calls say that the session is not connected, in code and text")
    func mediaWithoutConnection() throws {
        let session = try #require(OTSession(apiKey: "100", sessionId: "1_x", delegate: nil))
        var error: OTError?
        session.publish(try #require(OTPublisher(delegate: nil, settings: OTPublisherSettings())), error: &error)
        #expect(error?.code == Int(OTPublisherErrorCode.sessionDisconnected.rawValue))
        #expect(error?.localizedDescription == "not connected to the session")
        let peer = Connection(connectionId: ConnectionID("c"), creationTime: WallTime(milliseconds: 0), data: "")
        let stream = OTStream(streamId: "s", connection: OTConnection(peer), session: session)
        session.subscribe(try #require(OTSubscriber(stream: stream, delegate: nil)), error: &error)
        #expect(error?.code == Int(OTSubscriberErrorCode.subscriberSessionDisconnected.rawValue))
        #expect(error?.localizedDescription == "not connected to the session")
    }

    @Test("the server is that of the settings, else OTSession.serverURL, else SIGNALBOX_SERVER, else localhost")
    func server() throws {
        let settings = OTSessionSettings()
        settings.apiURL = URL(string: "https://settings.example")
        let configured = try #require(OTSession(apiKey: "1", sessionId: "1_x", delegate: nil, settings: settings))
        let unconfigured = try #require(OTSession(apiKey: "1", sessionId: "1_x", delegate: nil))
        let environment = ["SIGNALBOX_SERVER": "http://environment.example"]
        #expect(unconfigured.server(environment: [:]) == "http://127.0.0.1:8080")
        #expect(unconfigured.server(environment: environment) == "http://environment.example")
        OTSession.serverURL = URL(string: "wss://chosen.example")
        defer { OTSession.serverURL = nil }
        #expect(unconfigured.server(environment: environment) == "wss://chosen.example")
        #expect(configured.server(environment: environment) == "https://settings.example")
    }
}
