import JSONText
import SignalingProtocol
import TestSupport
import Testing

@Suite("Server messages")
struct ServerMessageTests {
    private let ada = Connection(
        connectionId: ConnectionID("5f0c"), creationTime: WallTime(milliseconds: 1_700_000_000_000), data: "name=Ada")
    private let bob = Connection(
        connectionId: ConnectionID("77aa"), creationTime: WallTime(milliseconds: 1_700_000_000_001), data: "")

    @Test(
        "WIRE-5, WIRE-6, WIRE-7: the server's lines are read, ignored, or refused with 2001",
        arguments: try Vectors.cases("messages/server.json"))
    func vectors(_ vector: VectorCase) throws {
        let line = try #require(vector["line"]?.stringValue)
        if vector["error"] != nil {
            let error = #expect(throws: SignalingError.self) { try readServer(line) }
            #expect(error?.code.number == vector["error"]?["code"]?.integerValue.map { Int($0) })
            #expect(error?.code.name == vector["error"]?["name"]?.stringValue)
        } else if vector["ignored"]?.boolValue == true {
            #expect(try readServer(line) == nil)
        } else {
            let message = try #require(try readServer(line))
            #expect(text(message.encoded()) == vector["written"]?.stringValue ?? line)
        }
    }

    @Test("CON-5, CON-6, CON-7: connected has the connection, all connections, the seq and the outcome")
    func connected() throws {
        let welcome = Welcome(
            connection: bob, connections: [ada, bob], role: .moderator, epoch: Epoch("9c1e"), seq: Seq(41),
            outcome: .lost,
            resume: ResumeOffer(
                secret: ResumeSecret("00ff"), resumeWindow: .seconds(60), recoveryWindow: .seconds(300)),
            heartbeat: .seconds(15))
        try expectLine(
            #"{"ev":"connected","id":1,"#
                + #""connection":{"connectionId":"77aa","creationTime":1700000000001,"data":""},"connections":["#
                + #"{"connectionId":"5f0c","creationTime":1700000000000,"data":"name=Ada"},"#
                + #"{"connectionId":"77aa","creationTime":1700000000001,"data":""}],"#
                + #""capabilities":{"publish":1,"subscribe":1,"forceDisconnect":1,"forceUnpublish":1,"forceMute":1},"#
                + #""role":"moderator","epoch":"9c1e","seq":41,"outcome":"lost","#
                + #""resume":{"secret":"00ff","resumeSeconds":60,"recoverySeconds":300},"heartbeatSeconds":15,"#
                + #""limits":{"typeLength":128,"dataLength":8192}}"#,
            says: .connected(RequestID(1), welcome))
    }

    @Test("SIG-6, SIG-10: ack has a seq, except for an online-only signal")
    func ack() throws {
        try expectLine(#"{"ev":"ack","id":2,"seq":42}"#, says: .ack(RequestID(2), Seq(42)))
        try expectLine(#"{"ev":"ack","id":2}"#, says: .ack(RequestID(2), nil))
    }

    @Test("ERR-1, WIRE-8: error has a code, a name, a message, retryable, and an id if there is one")
    func error() throws {
        let error = SignalingError(.connectionLimitExceeded, "the session is full")
        let line =
            #"{"ev":"error","id":2,"code":1027,"name":"OT_CONNECTION_LIMIT_EXCEEDED","#
            + #""message":"the session is full","retryable":true}"#
        try expectLine(line, says: .error(RequestID(2), error))
        guard case .error(_, let read) = try readServer(line) else { throw error }
        #expect(read.message == "the session is full")
        #expect(read.isRetryable)
        try expectLine(
            #"{"ev":"error","code":404,"name":"OT_NOT_FOUND","message":"","retryable":false}"#,
            says: .error(nil, SignalingError(.notFound, "")))
    }

    @Test("SIG-7, SIG-9, SIG-13: signal has its sender, or `from` null for a signal by REST")
    func signal() throws {
        try expectLine(
            #"{"ev":"signal","seq":42,"from":"5f0c","type":"t","data":"d","to":"77aa"}"#,
            says: .signal(
                SignalEvent(seq: Seq(42), from: ada.connectionId, type: "t", data: "d", to: bob.connectionId)))
        try expectLine(
            #"{"ev":"signal","from":null}"#, says: .signal(SignalEvent(seq: nil, from: nil, type: nil, data: nil)))
        try expectLine(
            #"{"ev":"signal","seq":1,"from":"5f0c","#
                + #""connection":{"connectionId":"5f0c","creationTime":1700000000000,"data":"name=Ada"},"data":""}"#,
            says: .signal(SignalEvent(seq: Seq(1), from: ada.connectionId, sender: ada, type: nil, data: "")))
        try expectLine(
            #"{"ev":"signal","seq":1,"from":null,"data":"[1]","json":true}"#,
            says: .signal(SignalEvent(seq: Seq(1), from: nil, type: nil, data: "[1]", isJSON: true)))
    }

    @Test(
        "RES-13, LEAVE-4: reconnectAfter is capped at 60 s, and an invalid one is ignored",
        arguments: [
            ("0", .after(.zero)), ("1500", .after(.milliseconds(1500))), ("60000", .after(.seconds(60))),
            ("60001", .after(.seconds(60))), ("-1", .yes), ("1.5", .yes), (#""soon""#, .yes), ("null", .yes),
        ] as [(String, Reconnect)])
    func reconnectAfter(_ milliseconds: String, _ expected: Reconnect) throws {
        let start = #"{"ev":"disconnected","reason":"networkDisconnected","reconnect":"#
        #expect(
            try readServer(start + #"true,"reconnectAfter":\#(milliseconds)}"#)
                == .disconnected(.networkDisconnected, expected))
        #expect(
            try readServer(start + #"false,"reconnectAfter":\#(milliseconds)}"#)
                == .disconnected(.networkDisconnected, .never))
    }

    @Test("PRES-2, LEAVE-4, HB-2: presence, disconnected and ping")
    func others() throws {
        try expectLine(
            #"{"ev":"connectionCreated","seq":2,"#
                + #""connection":{"connectionId":"77aa","creationTime":1700000000001,"data":""}}"#,
            says: .connectionCreated(Seq(2), bob))
        for reason in DisconnectReason.allCases {
            try expectLine(
                #"{"ev":"connectionDestroyed","seq":3,"connectionId":"77aa","reason":"\#(reason.rawValue)"}"#,
                says: .connectionDestroyed(Seq(3), bob.connectionId, reason))
        }
        try expectLine(
            #"{"ev":"disconnected","reason":"networkDisconnected","reconnect":true}"#,
            says: .disconnected(.networkDisconnected, .yes))
        try expectLine(#"{"ev":"ping","seq":44}"#, says: .ping(Seq(44)))
    }

    @Test("extreme numbers of a server overflow nothing")
    func hostileNumbers() throws {
        let largest = Int64.max
        let line =
            #"{"ev":"connected","id":\#(largest),"connection":{"connectionId":"","creationTime":\#(largest)},"#
            + #""connections":[],"role":"publisher","epoch":"","seq":0,"outcome":"new","resume":{"secret":"","#
            + #""resumeSeconds":\#(largest),"recoverySeconds":\#(-largest)},"heartbeatSeconds":\#(-largest)}"#
        guard case .connected(_, let welcome) = try readServer(line) else {
            Issue.record("not connected")
            return
        }
        #expect(welcome.heartbeat == .seconds(1))
        let soon = MonotonicInstant(nanoseconds: 1)
        #expect(soon.advanced(by: welcome.resume.resumeWindow) > soon)
        #expect(soon.advanced(by: welcome.resume.recoveryWindow) < soon)
        guard case .error(_, let error) = try readServer(#"{"ev":"error","code":\#(largest),"name":""}"#) else {
            Issue.record("not an error")
            return
        }
        #expect(error.code.number == Int.max)
    }
}

@Suite("Encoded lines")
struct EncodedLineTests {
    @Test("SIG-9: a line with or without its sender has the bytes of a full encoding", arguments: [31, 32] as [UInt64])
    func sender(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let sender = Connection(
                connectionId: ConnectionID(using: &random), creationTime: WallTime(milliseconds: 17),
                data: randomText(&random))
            func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
            var event = SignalEvent(
                seq: maybe(Seq(5)), from: sender.connectionId, type: maybe(randomText(&random)),
                data: maybe(randomText(&random)), isJSON: .random(using: &random), to: maybe(ConnectionID("x")))
            let line = EncodedLine(event, encodedSender: EncodedLine.encode(sender))
            #expect(appended(line, withSender: false) == ServerMessage.signal(event).encoded(), "seed \(seed)")
            #expect(line.byteCount == line.bytes.count)
            event.sender = sender
            #expect(appended(line, withSender: true) == ServerMessage.signal(event).encoded(), "seed \(seed)")
        }
    }

    @Test("SIG-7, SIG-9: a signal by REST carries no sender")
    func fromServer() {
        let event = SignalEvent(seq: Seq(1), from: nil, type: "t", data: nil)
        let line = EncodedLine(event, encodedSender: nil)
        #expect(appended(line, withSender: true) == ServerMessage.signal(event).encoded())
    }

    @Test("other messages are the same for every receiver")
    func otherMessages() {
        let line = EncodedLine(.ping(Seq(3)))
        #expect(appended(line, withSender: true) == ServerMessage.ping(Seq(3)).encoded())
    }

    @Test("WIRE-3: newlines separate lines, without one before the first or after the last")
    func separators() {
        let ping = EncodedLine(.ping(Seq(3)))
        let signal = EncodedLine(SignalEvent(seq: Seq(1), from: nil, type: nil, data: nil), encodedSender: nil)
        var message = Array("room for a frame's head".utf8)
        let start = message.count
        for line in [ping, signal, ping] { line.append(to: &message, withSender: true, separatedFrom: start) }
        EncodedLine.append(ping.bytes, to: &message, separatedFrom: start)
        let lines = [ping, signal, ping, ping].map { text($0.bytes) }
        #expect(text(Array(message[start...])) == lines.joined(separator: "\n"))
    }

    private func appended(_ line: EncodedLine, withSender: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        line.append(to: &bytes, withSender: withSender, separatedFrom: 0)
        return bytes
    }
}
