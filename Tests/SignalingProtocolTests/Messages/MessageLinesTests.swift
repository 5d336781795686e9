import SignalingProtocol
import TestSupport
import Testing

@Suite("WIRE-3: the lines of a text message")
struct MessageLinesTests {
    @Test(
        "a message is split at U+000A, and empty lines are left out",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\na", ["a"]), ("a\nb", ["a", "b"]), ("a\n\n\nb\n\n", ["a", "b"]),
            ("\n", []), ("\n\n\n", []), ("a\u{2028}b", ["a\u{2028}b"]), ("a\u{85}b\u{B}c", ["a\u{85}b\u{B}c"]),
        ] as [(String, [String])])
    func split(_ message: String, _ expected: [String]) {
        #expect(lines(message) == expected)
    }

    @Test("U+000D ends no line; it is JSON's white space at the end of one")
    func carriageReturn() throws {
        #expect(lines("a\r\nb\rc") == ["a\r", "b\rc"])
        #expect(try readClient("{\"op\":\"pong\"}\r") == .pong)
        // A line of nothing but white space is not empty, and not JSON either.
        #expect(lines("\r\n \n") == ["\r", " "])
        #expect(throws: ClientMessageError.self) { try readClient("\r") }
    }

    @Test("no message at all has no lines")
    func nothing() {
        #expect(Array(MessageLines(UnsafeRawBufferPointer(start: nil, count: 0))).isEmpty)
    }

    @Test("lines joined in any way are the lines that were joined", arguments: [41, 42] as [UInt64])
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

    @Test("objects are read in the order in which they stand, whole, one by one, and after a bad one")
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
