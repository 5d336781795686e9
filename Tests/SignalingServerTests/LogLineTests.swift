import Foundation
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

    @Test("a log line has no mark that reverses the direction of what follows, and JSON keeps its value")
    func direction() throws {
        let hostile = "a\u{202E}b\u{2066}c\u{200F}d\u{061C}e\u{9B}2Jf\u{7F}"
        #expect(line(.text, "x", ["key": "\(hostile)"]).contains(" key=a�b�c�d�e�2Jf� "))
        let json = line(.json, "x", ["key": "\(hostile)"])
        #expect(json.unicodeScalars.dropLast().allSatisfy { !$0.controlsTerminals }, "\(json)")
        let object = try #require(try JSONValue(parsing: Array(json.utf8.dropLast())).objectValue)
        #expect(object["key"]?.stringValue == hostile)
    }

    @Test("no scalar but those of a terminal is replaced, and an escape in JSON has four digits")
    func scalars() {
        let shown = "é👩‍👩‍👧 שלום\u{200C}\u{AD}\u{FEFF}"
        #expect(TerminalText.text(shown, replacement: nil) == shown && TerminalText.json(shown) == shown)
        #expect(TerminalText.json("\u{85}\u{2029}\n") == #"\u0085\u2029"# + "\n")
        let all = (UInt32(0)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init).filter(\.controlsTerminals)
        #expect(all.allSatisfy { $0.value < 0x10000 } && all.count == 65 + 2 + 12)
    }

    @Test("in JSON, what the program logs as a number is a number, and a name of digits stays text")
    func numbers() throws {
        let text = line(
            .json, "x",
            [
                "count": .stringConvertible(UInt64(7)), "isOn": .stringConvertible(true), "name": "7",
                "share": .stringConvertible(0.5), "endless": .stringConvertible(Double.infinity),
                "list": [.stringConvertible(1), "1"],
            ])
        let object = try #require(try JSONValue(parsing: Array(text.utf8.dropLast())).objectValue)
        #expect(object["count"] == .integer(7) && object["isOn"] == .bool(true) && object["name"] == "7")
        #expect(object["share"] == .double(0.5) && object["endless"] == "inf")
        #expect(object["list"] == .array([.integer(1), "1"]))
        let plain = line(.text, "x", ["count": .stringConvertible(7)])
        #expect(plain.contains(" count=7 "))
    }

    @Test("the time is RFC 3339 with milliseconds, and reads back as the same instant")
    func time() throws {
        let text = LogLine.timestamp(seconds: 1_790_000_000, milliseconds: 7)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        #expect(try format.parse(text) == Date(timeIntervalSince1970: 1_790_000_000.007), "\(text)")
        #expect(try Regex(#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.007[+-]\d\d:\d\d"#).wholeMatch(in: text) != nil)
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
