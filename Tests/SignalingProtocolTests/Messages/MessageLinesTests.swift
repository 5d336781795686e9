import SignalingProtocol
import TestSupport
import Testing

@Suite("WIRE-3: the lines of a text message")
struct MessageLinesTests {
    @Test(
        "WIRE-3: a message is split at U+000A, and empty lines are skipped",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\na", ["a"]), ("a\nb", ["a", "b"]), ("a\n\n\nb\n\n", ["a", "b"]),
            ("\n", []), ("\n\n\n", []), ("a\u{2028}b", ["a\u{2028}b"]), ("a\u{85}b\u{B}c", ["a\u{85}b\u{B}c"]),
        ] as [(String, [String])])
    func split(_ message: String, _ expected: [String]) {
        #expect(lines(message) == expected)
    }

    @Test("WIRE-3: a line ends at the first U+000A, wherever that is, and at no byte that looks like one")
    func everyPlace() {
        // 0x0B, 0x8A and U+010A differ from it in one bit, or have it as a part.
        let text = "a\u{B}\u{8A}\u{10A}bcdefghijklmnopqrstuvwxyz".unicodeScalars
        for count in 0..<text.count {
            let first = String(String.UnicodeScalarView(text.prefix(count)))
            for second in ["", "x", "a line of more than eight bytes"] {
                #expect(lines(first + "\n" + second) == [first, second].filter { !$0.isEmpty })
            }
        }
    }

    @Test("WIRE-3: U+000D ends no line, and is white space at the end of one")
    func carriageReturn() throws {
        #expect(lines("a\r\nb\rc") == ["a\r", "b\rc"])
        #expect(try readClient("{\"op\":\"pong\"}\r") == .pong)
        // A line of white space is neither empty nor JSON.
        #expect(lines("\r\n \n") == ["\r", " "])
        #expect(throws: ClientMessageError.self) { try readClient("\r") }
    }

    @Test("an empty message has no lines")
    func nothing() {
        #expect(Array(MessageLines(UnsafeRawBufferPointer(start: nil, count: 0))).isEmpty)
    }

    @Test("WIRE-3: lines joined by any number of newlines are the same lines", arguments: [41, 42] as [UInt64])
    func joined(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let parts = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                randomText(&random).filter { !$0.isNewline }
            }
            .map { text in String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" })) }
            var message = ""
            for part in parts {
                message += part + String(repeating: "\n", count: Int.random(in: 1..<4, using: &random))
            }
            #expect(lines(message) == parts.filter { !$0.isEmpty }, "seed \(seed)")
        }
    }

    @Test("WIRE-3, WIRE-9: objects are read in order, also after a malformed one")
    func order() throws {
        let message = #"{"op":"signal","id":1}"# + "\nnonsense\n\n" + #"{"op":"disconnect","id":2}"# + "\n"
        var heard: [String] = []
        for line in lines(message) {
            do throws(ClientMessageError) { heard.append("\(try readClient(line))") } catch {
                heard.append("\(error.error.code.number)")
            }
        }
        #expect(heard.count == 3)
        #expect(heard[1] == "400")
        #expect(lines(message).first.map { try? readClient($0) } == .signal(RequestID(1), SignalRequest()))
        #expect(lines(message).last.map { try? readClient($0) } == .disconnect(RequestID(2)))
    }

    private func lines(_ message: String) -> [String] {
        Array(message.utf8).withUnsafeBytes { bytes in
            MessageLines(bytes).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
