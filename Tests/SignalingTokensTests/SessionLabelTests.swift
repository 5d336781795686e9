import SignalingProtocol
import Testing

@testable import SignalingTokens

@Suite("Labels of sessions")
struct SessionLabelTests {
    private static let keys = ["100", String(repeating: "k", count: 64)]

    @Test("an ID keeps its label, and has a permitted length with the longest key", arguments: keys)
    func roundTrip(_ key: String) throws {
        let project = try #require(Project(apiKey: APIKey(key), secret: "s"))
        var random = SystemRandomNumberGenerator()
        for text in ["Support 7", "a~b~~c", "label=", "Zoë 😀", String(repeating: "x", count: 64)] {
            let label = try #require(SessionLabel(text))
            let id = SessionIDCodec.make(
                for: project, now: WallTime(milliseconds: Int64(9_999_999_999_999)), label: label, using: &random)
            #expect(try SessionIDCodec.read(id).apiKey == APIKey(key) && id.rawValue.utf8.count <= 255)
            #expect(SessionIDCodec.label(of: id)?.text == text)
        }
        let plain = SessionIDCodec.make(for: project, now: WallTime(milliseconds: 0), using: &random)
        #expect(SessionIDCodec.label(of: plain) == nil)
    }

    @Test("what others write into the last fields is no label, and a label is plain text of at most 64 bytes")
    func refusals() {
        for content in ["1~100~~1~r~P~~fn4", "1~100~~1~r", "1~100~~1~r~P~~label=", "1~100~~1~r~P~~label=a\u{1B}[2J"] {
            let id = SessionID("1_" + Base64.urlSafe(Array(content.utf8)))
            #expect((try? SessionIDCodec.read(id)) != nil && SessionIDCodec.label(of: id) == nil, "\(content)")
        }
        for text in ["", " ", "a\nb", "a\u{2028}b", "a\u{202E}b", "a\u{200F}b", String(repeating: "x", count: 65)] {
            #expect(SessionLabel(text) == nil, "\(text.debugDescription)")
        }
    }
}
