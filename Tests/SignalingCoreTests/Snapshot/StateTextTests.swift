import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The state file's text")
struct StateTextTests {
    /// One of each: connections attached, detached, expired and force-disconnected, an answer of each kind, two
    /// secrets, a directed signal.
    private static func sample() -> [SessionSnapshot] {
        var session = SessionState(
            id: room, epoch: Epoch("e"), bounds: .init(signalRate: RateLimit(perSecond: 1, burst: 9)))
        var effects: [SessionEffect] = []
        func handle(_ command: SessionCommand, _ seconds: Double) {
            _ = session.handle(command, now: .seconds(seconds), effects: &effects)
        }
        for name in ["ada", "bob", "gone", "out"] { session.join(name, name == "ada" ? .moderator : .publisher) }
        for name in ["gone", "out"] { handle(.detach(SocketBinding(name)), 1) }
        let ada = SocketBinding("ada")
        handle(.forceDisconnect(.connection(ada, RequestID(1)), client("out")), 2)
        handle(.signal(.connection(ada, RequestID(2)), SignalRequest(type: "t", data: "say \"é\u{2028}\0\"")), 3)
        handle(.signal(.connection(ada, RequestID(3)), SignalRequest(to: client("bob"))), 62)
        handle(.signal(.connection(ada, RequestID(4)), SignalRequest(to: client("nobody"))), 62)
        handle(.signal(.connection(ada, RequestID(5)), SignalRequest(type: "x", isOnlineOnly: true)), 62)
        let claim = Resumption(
            connectionId: client("bob"), secretHash: hash("bob-1"), epoch: Epoch("e"), after: Seq(2))
        handle(
            .join(
                JoinRequest(
                    connectionId: client("bob2"), role: .publisher, data: "name=bob", wallTime: .init(milliseconds: 0),
                    socket: 2, resumption: claim)), 63)
        var other = SessionState(id: SessionID("1_other"), epoch: Epoch("f"))
        other.join("eve")
        return [session.snapshot(at: .seconds(63.5)), other.snapshot(at: .seconds(63.5))]
    }

    private let text = stateText(sample(), at: .seconds(63.5))
    private var lines: [String] { TestSupport.text(text).split(separator: "\n").map(String.init) }

    /// The lines with a matching checksum, for damage that the checksum does not detect.
    private func sealed(_ lines: [String]) -> [UInt8] {
        let body = Array(lines.dropLast().map { $0 + "\n" }.joined().utf8)
        var sum: UInt64 = 14_695_981_039_346_656_037
        for byte in body { sum = (sum ^ UInt64(byte)) &* 1_099_511_628_211 }
        let end = lines[lines.count - 1]
        let number = end.split(separator: ",")[0]
        return body + Array("\(number),\"end\":\"\(String(sum, radix: 16))\"}\n".utf8)
    }

    private func fault(_ text: [UInt8], pieces: Int = .max) -> StateFault? {
        do throws(StateFault) {
            _ = try readState(text, pieces: pieces)
            return nil
        } catch { return error }
    }

    @Test("RES-15: the text is read as it was written, in pieces of any size")
    func roundTrip() throws {
        #expect(lines.count == 28)
        #expect(sealed(lines) == text, "the helper computes the writer's checksum")
        for pieces in [1, 2, 7, 100, .max] {
            let read = try readState(text, now: .seconds(63.5), pieces: pieces)
            #expect(stateText(read, at: .seconds(63.5)) == text)
        }
        #expect(try readState(stateText([], at: .seconds(0))).isEmpty)
    }

    @Test("the lines have the documented format, and hold hashes instead of secrets")
    func format() {
        #expect(lines[0] == #"{"signalboxState":2,"takenAt":1700000000000}"#)
        #expect(lines[1].hasPrefix(#"{"session":"1_room","epoch":"e","seq":8,"creationTime":3,"members":2,"#))
        #expect(lines[2].contains(#""answers":[[1],[2,6],[3,8],[4,404,"OT_NOT_FOUND",false,""#))
        #expect(lines[3].contains(#""unconfirmed":["#))
        #expect(lines.contains { $0.hasPrefix(#"{"ev":"signal","seq":6,"#) })
    }

    @Test("a change of any byte is detected", arguments: [0x01, 0x80] as [UInt8])
    func eachByte(_ mask: UInt8) {
        for index in text.indices {
            var damaged = text
            damaged[index] ^= mask
            #expect(fault(damaged) != nil, "\(index)")
        }
    }

    @Test("a text cut anywhere is detected")
    func cut() {
        for count in text.indices { #expect(fault(Array(text[..<count])) != nil, "\(count)") }
    }

    @Test("a missing or repeated line is detected")
    func lineOrder() {
        for index in lines.indices {
            var missing = lines
            missing.remove(at: index)
            if index < lines.count - 1 { #expect(fault(sealed(missing)) != nil, "without \(index)") }
            var twice = lines
            twice.insert(lines[index], at: index)
            #expect(fault(sealed(twice)) != nil, "\(index) twice")
        }
    }

    @Test("text after the end is detected")
    func appended() {
        for more in ["\n", " ", "{}\n", "x", "\0"] + [TestSupport.text(text)] {
            #expect(fault(text + Array(more.utf8)) == .damaged)
        }
    }

    @Test("another file is refused as foreign, and another version by its number")
    func foreign() {
        for other in [
            "", "\n", "[]\n", "{}\n", "null\n", "1\n", "{\"signalboxState\":\"1\"}\n", "PK\u{3}\u{4}\n", "{\n",
        ] {
            #expect(fault(Array(other.utf8)) == .foreign, "\(other)")
        }
        #expect(fault([0, 255, 10, 0]) == .foreign)
        var random = SeededGenerator(seed: 1)
        #expect(fault((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }) == .foreign)
        for version in [0, 1, 99, -1, Int64.max] {
            let other = #"{"signalboxState":\#(version),"later":1}"# + "\n"
            #expect(fault(Array(other.utf8)) == .version(version))
        }
        #expect(StateFault.version(1).description == "it has version 1, and this program reads version 2")
    }

    static let swaps: [(String, String)] = [
        (#""takenAt":1700000000000"#, #""takenAt":"then""#),
        (#""takenAt":1700000000000"#, #""takenAt":9223372036854775807"#),
        (#""takenAt":1700000000000"#, #""takenAt":1700000000000,"more":1"#),
        (#""seq":8,"creationTime""#, #""seq":-1,"creationTime""#),
        (#""seq":8,"creationTime""#, #""seq":1,"creationTime""#),
        (#""seq":8,"creationTime""#, #""seq":9223372036854775807,"creationTime""#),
        (#""seq":8,"creationTime""#, #""seq":8.0,"creationTime""#),
        (#""creationTime":3,"members""#, #""creationTime":9223372036854775807,"members""#),
        (#""members":2"#, #""members":9007199254740992"#), (#""members":2"#, #""members":-1"#),
        (#""members":2"#, #""members":1"#), (#""departed":1"#, #""departed":9007199254740992"#),
        (#""expelled":1"#, #""expelled":0"#), (#""senders":1"#, #""senders":2"#),
        (#""events":8"#, #""events":9"#), (#""events":8"#, #""events":7"#),
        (#""epoch":"e""#, #""epoch":7"#), (#""epoch":"e","#, ""), (#""epoch":"e","#, #""epoch":"e","later":{},"#),
        (#""session":"1_other""#, #""session":"1_room""#),
        (#"{"connection":"bob""#, #"{"connection":"ada""#), (#""role":"moderator""#, #""role":"king""#),
        (#""begin":1,"#, #""begin":9,"#), (#""joined":1,"#, #""joined":-1,"#),
        (#""secret":"6"#, #""secret":"g"#), (#""secret":"6"#, #""secret":"66"#), (#""lost":0"#, #""lost":-1"#),
        (#""signals":"#, #""signals":-"#), (#""highest":4"#, #""highest":"4""#),
        (#""answers":[[1],"#, #""answers":[[],"#),
        (#""answers":[[1],"#, #""answers":[1,"#), (#""answers":[[1],"#, #""answers":[[1,2,3],"#),
        (#""answers":[[1],"#, #""answers":[["1"],"#), (#"[2,6]"#, #"[2,null]"#), (#",404,"#, #",{},"#),
        (#""sender":0,"at""#, #""sender":1,"at""#), (#""sender":0,"at""#, #""sender":-1,"at""#),
        (#""sender":0,"at":"#, #""sender":0,"at":99999"#), (#""sender":0,"at""#, #""at""#),
        (#""age":"#, #""age":-"#), (#""sessions":2"#, #""sessions":1"#), (#""sessions":2"#, #""sessions":3"#),
    ]

    @Test("contradictory values are detected even with a matching checksum", arguments: swaps)
    func nonsense(_ old: String, _ new: String) throws {
        let whole = lines.joined(separator: "\n")
        try #require(whole.contains(old), "\(old) is not there")
        let damaged = whole.replacing(old, with: new, maxReplacements: 1).split(separator: "\n").map(String.init)
        #expect(fault(sealed(damaged)) == .damaged)
    }

    @Test("G5: a line over the limit is refused, so memory is bounded")
    func endless() {
        var reader = StateReader(now: .seconds(0), wallTime: stateWallTime)
        let piece = [UInt8](repeating: UInt8(ascii: "["), count: 65_536)
        var pieceCount = 0
        var found: StateFault?
        while found == nil, pieceCount < 1_000 {
            do throws(StateFault) { try reader.read(piece[...]) } catch { found = error }
            pieceCount += 1
        }
        #expect(found == .foreign && pieceCount == StateText.lineByteLimit / piece.count + 1)
    }

    @Test("the largest session ID, connection data, signals and answers fit")
    func largest() throws {
        var session = SessionState(
            id: SessionID(String(repeating: "s", count: Limits.sessionIDByteCount)), epoch: Epoch("e"))
        let data = String(repeating: "\u{1}", count: Limits.connectionDataLength)
        var effects: [SessionEffect] = []
        _ = session.handle(
            .join(
                JoinRequest(connectionId: client("ada"), role: .publisher, data: data, wallTime: .init(milliseconds: 0))
            ),
            now: .seconds(0), effects: &effects)
        let long = String(repeating: "\u{1}", count: Limits.dataLength)
        for request in 1...300 {
            let sender = CommandSender.connection(SocketBinding("ada"), RequestID(.max - 300 + Int64(request)))
            let isBad = request.isMultiple(of: 2)
            _ = session.handle(
                .signal(sender, SignalRequest(type: "t", data: long, to: isBad ? client("nobody") : nil)),
                now: .seconds(0), effects: &effects)
        }
        let text = stateText([session.snapshot(at: .seconds(1))], at: .seconds(1))
        #expect(stateText(try readState(text, now: .seconds(1)), at: .seconds(1)) == text)
    }
}
