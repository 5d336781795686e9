import JSONText
import Logging
import Testing

@testable import SignalingServer

@Suite("Log lines")
struct LogLineTests {
    private func line(_ format: LogFormat, _ message: String, _ metadata: Logger.Metadata) -> String {
        LogLine.make(
            format, level: .info, label: "signalbox", metadata: metadata, source: "SignalingServer", message: message)
    }

    @Test("a text line is one line, whatever the texts are")
    func oneLine() {
        let text = line(.text, "hello\nforged", ["key": "a\u{1B}[31m\r\nb\u{2028}c"])
        #expect(text.hasSuffix(" info signalbox: key=a�[31m��b�c [SignalingServer] hello�forged\n"), "\(text)")
        #expect(text.filter(\.isNewline).count == 1)
    }

    @Test("a JSON line has the standard members, and details cannot replace them")
    func json() throws {
        let text = line(.json, "say \"hi\"\n", ["level": "forged", "address": "::1"])
        #expect(text.hasSuffix("\n") && text.dropLast().allSatisfy { !$0.isNewline })
        let object = try #require(try JSONValue(parsing: Array(text.utf8.dropLast())).objectValue)
        #expect(object["level"]?.stringValue == "info" && object["message"]?.stringValue == "say \"hi\"\n")
        #expect(object["address"]?.stringValue == "::1" && object["label"]?.stringValue == "signalbox")
    }
}
