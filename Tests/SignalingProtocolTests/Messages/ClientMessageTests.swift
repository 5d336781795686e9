import JSONText
import SignalingProtocol
import TestSupport
import Testing

@Suite("Client messages")
struct ClientMessageTests {
    @Test(
        "WIRE-4, WIRE-5, WIRE-6, WIRE-7, WIRE-8, WIRE-9: clients' lines are read, or refused with code, name and id",
        arguments: try Vectors.cases("messages/client.json"))
    func vectors(_ vector: VectorCase) throws {
        let line = try #require(vector["line"]?.stringValue)
        if let refusal = vector["error"] {
            let error = #expect(throws: ClientMessageError.self) { try readClient(line) }
            #expect(error?.error.code.number == refusal["code"]?.integerValue.map { Int($0) })
            #expect(error?.error.code.name == refusal["name"]?.stringValue)
            #expect(error?.id?.rawValue == vector["id"]?.integerValue)
            #expect(error?.isMalformed == vector["malformed"]?.boolValue ?? true)
        } else {
            let message = try readClient(line)
            let written = vector["written"]?.stringValue ?? line
            #expect(text(message.encoded()) == written)
            #expect(try readClient(written) == message)
        }
    }

    @Test("CON-3, CON-4, RES-1: connect has a key, a session, a token, options and the connection to resume")
    func connect() throws {
        var request = ConnectRequest(apiKey: APIKey("100"), sessionId: SessionID("1_MX4x"), token: "T1==abc")
        try expectLine(
            #"{"op":"connect","id":1,"apiKey":"100","sessionId":"1_MX4x","token":"T1==abc"}"#,
            says: .connect(RequestID(1), request))
        request.connectionEventsSuppressed = true
        request.resume = ResumeRequest(
            connectionId: ConnectionID("5f0c"), secret: ResumeSecret("00ff"), epoch: Epoch("9c1e"), after: Seq(41))
        try expectLine(
            #"{"op":"connect","id":1,"apiKey":"100","sessionId":"1_MX4x","token":"T1==abc","#
                + #""options":{"connectionEventsSuppressed":true},"#
                + #""resume":{"connectionId":"5f0c","secret":"00ff","epoch":"9c1e","after":41}}"#,
            says: .connect(RequestID(1), request))
    }

    @Test(
        "WIRE-4, WIRE-7: a line that looks like a signal is read by a way of its own, as every other line is",
        arguments: [21, 22, 23] as [UInt64])
    func bothWays(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lines = [
            #"{"op":"signal","id":2}"#,
            #"{"op":"signal","id":-7,"type":"chat","data":"Grüße 😀","to":"5f0c","onlineOnly":true,"json":false}"#,
            #"{"op":"signal" , "id" : 2, "data":"a\nb \ud83d\ude00", "da\u0074a":"x", "other":{"id":[1,{"b":null}]}}"#,
            #"{"op":"signal","type":null,"id":1.5,"data":{},"json":"yes","onlineOnly":0,"to":true}"#,
            #"{"op":"signal","id":1,"x":[{"a":1,"a":2}],"y":{"a":{"\u0061":1,"a":1}},"id":3,"op":"pong"}"#,
            #"{ "op": "signal", "id": 4, "type": "chat", "data": "x" }"#,
            #"{"id":5,"type":"signal","op":"signal","data":"x"}"#, #"{"id":6,"type":"signal","op":"pong"}"#,
            #"{"id":7,"data":"signal","op":"sig\u006eal"}"#, #"{"to":"signal","id":8}"#,
            #"{"op":"signal","id":1"# + (0..<20).map { #","m\#($0)":\#($0)"# }.joined() + "}",
        ].map { Array($0.utf8) }
        for round in 0..<6_000 {
            var line = lines[round % lines.count]
            for _ in 0..<(round < lines.count ? 0 : Int.random(in: 1...3, using: &random)) { mutate(&line, &random) }
            expectSame(line)
        }
    }

    /// A line with many blanks in front does not look like a signal.
    private func expectSame(_ line: [UInt8]) {
        func read(_ line: [UInt8]) -> Result<ClientMessage, ClientMessageError> {
            Result { () throws(ClientMessageError) in try readClient(line) }
        }
        switch (read(line), read([UInt8](repeating: UInt8(ascii: " "), count: 60) + line)) {
        case (.success(let message), .success(let other)): #expect(message == other, "\(text(line))")
        case (.failure(let error), .failure(let other)):
            #expect(error.id == other.id && error.error.code == other.error.code, "\(text(line))")
        case (.success, .failure), (.failure, .success): Issue.record("one way refuses \(text(line))")
        }
    }

    @Test("SIG-1, SIG-13: signal has a type, data, a target, onlineOnly and json, all optional")
    func signal() throws {
        try expectLine(#"{"op":"signal","id":2}"#, says: .signal(RequestID(2), SignalRequest()))
        try expectLine(
            #"{"op":"signal","id":2,"type":"t","data":"d","to":"c","onlineOnly":true}"#,
            says: .signal(
                RequestID(2), SignalRequest(type: "t", data: "d", to: ConnectionID("c"), isOnlineOnly: true)))
        try expectLine(
            #"{"op":"signal","id":2,"data":"[1]","json":true}"#,
            says: .signal(RequestID(2), SignalRequest(data: "[1]", isJSON: true)))
    }

    @Test("LEAVE-1, LEAVE-2, HB-1: forceDisconnect, disconnect and pong")
    func others() throws {
        try expectLine(
            #"{"op":"forceDisconnect","id":3,"connectionId":"5f0c"}"#,
            says: .forceDisconnect(RequestID(3), ConnectionID("5f0c")))
        try expectLine(#"{"op":"disconnect","id":4}"#, says: .disconnect(RequestID(4)))
        try expectLine(#"{"op":"pong"}"#, says: .pong)
    }

    @Test("WIRE-4: a line that is not UTF-8 is refused like any line that is not JSON")
    func notUTF8() throws {
        for bytes in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            let line = Array(#"{"op":"signal","id":2,"data":""#.utf8) + bytes + Array(#""}"#.utf8)
            let error = #expect(throws: ClientMessageError.self) { try readClient(line) }
            #expect(error == ClientMessageError(id: nil, SignalingError(.invalidParameter, "")))
        }
    }

    @Test("WIRE-4: the parser's limits are those of the protocol")
    func depth() {
        #expect(JSONLimits.standard.depth == Limits.jsonDepth)
        #expect(JSONLimits.standard.byteCount >= Limits.messageByteCount)
        #expect(JSONLimits.standard.byteCount >= Limits.clientMessageByteCount)
    }

    @Test("WIRE-9: an error message never repeats the client's text")
    func silence() {
        let lines = [
            #"{"op":"hush-1","id":1}"#, #"{"op":"signal","id":1,"data":["hush-1"]}"#, #"{"hush-1":1,"hush-1":2}"#,
            #"{"op":"connect","id":1,"apiKey":"hush-1","sessionId":{"hush-1":1},"token":"hush-1"}"#, "hush-1",
        ]
        for line in lines {
            let error = #expect(throws: ClientMessageError.self) { try readClient(line) }
            #expect(error.map { $0.error.message.contains("hush") || $0.error.message.contains("-1") } == false)
        }
    }

    @Test("WIRE-9: an error message is short however long the fault")
    func shortRefusal() {
        let accents = String(repeating: "\u{301}", count: 10_000)
        let error = #expect(throws: ClientMessageError.self) { try readClient(#"{"op":"a\#(accents)","id":1}"#) }
        #expect((error?.error.message.utf8.count ?? .max) < 220)
    }

    @Test(
        "WIRE-3: random messages are read as they were written, each in one line",
        arguments: [11, 12, 13] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let message = randomMessage(&random)
            let bytes = message.encoded()
            let again = try readClient(bytes)
            #expect(again == message, "seed \(seed)")
            #expect(again.encoded() == bytes, "seed \(seed)")
            #expect(!bytes.contains(UInt8(ascii: "\n")), "WIRE-3, seed \(seed)")
        }
    }

    @Test(
        "WIRE-9: a mutated line is a message or is refused with 400",
        arguments: [21, 22, 23, 24] as [UInt64])
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lines = try Vectors.cases("messages/client.json").filter { $0["error"] == nil }
            .compactMap { $0["line"]?.stringValue }
        var parser = JSONParser()
        var readCount = 0
        for _ in 0..<4_000 {
            var bytes = Array((lines.randomElement(using: &random) ?? "").utf8)
            for _ in 0...Int.random(in: 0..<3, using: &random) { mutate(&bytes, &random) }
            bytes.withUnsafeBytes { line in
                do throws(ClientMessageError) {
                    let message = try ClientMessage(line: line, parser: &parser)
                    readCount += 1
                    #expect(try readClient(message.encoded()) == message, "seed \(seed): \(bytes)")
                } catch {
                    #expect(error.error.code == .invalidParameter, "seed \(seed): \(bytes)")
                    #expect(error.error.message.utf8.count < 220, "seed \(seed): \(bytes)")
                }
                // A client that receives such a line must handle it as well.
                do throws(SignalingError) { _ = try ServerMessage.decode(line: line, parser: &parser) } catch {
                    #expect(error.code == .unexpectedServerResponse, "seed \(seed): \(bytes)")
                }
            }
        }
        #expect(readCount > 200, "seed \(seed): too few lines were messages")
    }

    private func randomMessage(_ random: inout SeededGenerator) -> ClientMessage {
        let id = RequestID(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random))
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let resume = ResumeRequest(
                connectionId: ConnectionID(randomText(&random)), secret: ResumeSecret(using: &random),
                epoch: Epoch(using: &random), after: Seq(Int64.random(in: 0..<Int64.max, using: &random)))
            return .connect(
                id,
                ConnectRequest(
                    apiKey: APIKey(randomText(&random)), sessionId: SessionID(randomText(&random)),
                    token: randomText(&random), connectionEventsSuppressed: .random(using: &random),
                    resume: maybe(resume)))
        case 1, 2:
            return .signal(
                id,
                SignalRequest(
                    type: maybe(randomText(&random)), data: maybe(randomText(&random)),
                    to: maybe(ConnectionID(randomText(&random))), isOnlineOnly: .random(using: &random),
                    isJSON: .random(using: &random)))
        case 3: return .forceDisconnect(id, ConnectionID(randomText(&random)))
        default: return maybe(.pong) ?? .disconnect(id)
        }
    }
}

func randomText(_ random: inout SeededGenerator) -> String {
    let ranges: [ClosedRange<UInt32>] = [
        0...0x1F, 0x20...0x7E, 0x22...0x22, 0x5C...0x5C, 0x7F...0x7FF, 0x800...0xFFFF, 0x1_0000...0x10_FFFF,
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0..<8, using: &random) {
        let range = ranges.randomElement(using: &random) ?? 0...0
        if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) { text.unicodeScalars.append(scalar) }
    }
    return text
}

func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let special = Array(#"{}[],:"\/'+-.0123456789eEutfnINa"#.utf8) + [0x00, 0x0A, 0x0D, 0x1F, 0x80, 0xC0, 0xED, 0xFF]
    let index = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes.insert(special.randomElement(using: &random) ?? 0, at: index)
    case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
    case 2 where index < bytes.count: bytes.remove(at: index)
    case 3 where index < bytes.count: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 4 where index < bytes.count: bytes[index] = special.randomElement(using: &random) ?? 0
    case 5: bytes.removeLast(bytes.count - index)
    default: break
    }
}
