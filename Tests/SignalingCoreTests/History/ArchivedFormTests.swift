import CoreTestSupport
import SignalingProtocol
import Testing

@testable import SignalingCore

@Suite("The form of an edited message")
struct ArchivedFormTests {
    private let content = Array(#","type":"chat","data":"See you at ten""#.utf8)

    @Test("CHG-8: the members of an edit are at the end of the content, and the version is read there")
    func end() {
        let form = ArchivedForm(
            seq: Seq(812), content: content, version: Seq(933), editedAt: WallTime(milliseconds: 1_750_000_000_000))
        #expect(form.content == content + Array(#","changed":933,"edited":1750000000000"#.utf8))
        #expect(form.version == Seq(933))
        #expect(ArchivedForm(seq: Seq(812), content: form.content) == form)
        let message = ArchivedMessage(
            seq: Seq(812), time: WallTime(milliseconds: 5), head: Array(#"{"seq":812,"from":null"#.utf8),
            content: form.content)
        #expect(message.version == Seq(933))
        #expect(message.erased.version == nil)
        var bytes: [UInt8] = []
        message.append(to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"seq":812,"from":null,"type":"chat","data":"See you at ten","changed":933,"edited":1750000000000,"#
                + #""time":5}"#)
    }

    @Test("CHG-8: every version and date can be read", arguments: [0, 1, 10, 1 << 53] as [Int64])
    func numbers(_ version: Int64) {
        for date in [-1, 0, 7, 1_750_000_000_000, 9_999_999_999_999_999] as [Int64] {
            let form = ArchivedForm(
                seq: Seq(1), content: content, version: Seq(version), editedAt: WallTime(milliseconds: date))
            #expect(form.version == Seq(version), "\(date)")
        }
    }

    @Test("CHG-8: other content has no version", arguments: MessageArchiveContract.withoutVersion)
    func none(_ content: String) {
        #expect(ArchivedForm(seq: Seq(1), content: Array(content.utf8)).version == nil)
    }

    @Test("CHG-8: whatever a client sends, its message has no version, and with an edit the edit's")
    func clients() throws {
        for data in [nil, "", #","changed":2000,"edited":1"#, #"x","changed":2000,"edited":1"#, "5", "{}"] {
            for isJSON in [false, true] {
                let event = SignalEvent(seq: Seq(1), from: nil, type: nil, data: data, isJSON: isJSON)
                let parts = try #require(EncodedLine(event, encodedSender: nil).historyParts)
                #expect(ArchivedForm(seq: Seq(1), content: parts.content).version == nil)
                let form = ArchivedForm(
                    seq: Seq(1), content: parts.content, version: Seq(7), editedAt: WallTime(milliseconds: 8))
                #expect(form.version == Seq(7))
            }
        }
    }

    @Test("CHG-8: a form changes only its message, if it is newer and the message is not erased")
    func changed() {
        let message = archived(3)
        let (old, new) = (archivedForm(3, version: 5), archivedForm(3, version: 6))
        #expect(message.changed(to: new)?.content == new.content)
        #expect(message.changed(to: old)?.changed(to: new)?.content == new.content)
        #expect(message.changed(to: new)?.changed(to: old) == nil)
        #expect(message.changed(to: new)?.changed(to: new) == nil)
        #expect(message.erased.changed(to: new) == nil)
        #expect(archived(4).changed(to: new) == nil)
    }
}
