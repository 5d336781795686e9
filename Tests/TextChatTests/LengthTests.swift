import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat
import TextChatTesting

@Suite("Length and refusals")
struct LengthTests {
    @Test(
        "an edit is accepted or refused, and refusals to send come in a fixed order",
        arguments: try Vectors.folder("length"))
    func vector(_ vector: VectorCase) throws {
        let text = try text(vector)
        let unit = try #require(vector["unit"]?.stringValue.flatMap(LengthUnit.init))
        let longest = Int(try #require(vector["maxLength"]?.integerValue))
        let chat = TextChatComponent(
            composer: Composer(
                maxLength: longest, unit: unit, sendsBlankText: vector["sendsBlankText"]?.boolValue ?? false),
            wireForm: vector["form"]?.stringValue.flatMap(ChatWireForm.init) ?? .json)
        let channel = MemorySession().connect("me")
        if vector["isConnected"]?.boolValue == false { channel.disconnect() }
        chat.channel = channel
        chat.setSenderId("me", alias: nil)
        if let excess = vector["excess"]?.integerValue {
            #expect(chat.edit(text) == .refused(excess: Int(excess), remaining: longest))
            #expect(chat.draft.isEmpty)
            return
        }
        #expect(chat.edit(text).isAccepted)
        if let lowered = vector["lowered"]?.integerValue { chat.maxLength = Int(lowered) }
        #expect(chat.remaining == Int(try #require(vector["remaining"]?.integerValue)))
        if let expected = vector["refusal"] {
            #expect(chat.refusal() == refusal(expected))
            #expect(chat.canSend == expected.isNull)
        }
    }

    private func text(_ vector: VectorCase) throws -> String {
        if let text = vector["text"]?.stringValue { return text }
        let pair = try #require(vector["text"]?["repeat"]?.arrayValue)
        return String(repeating: try #require(pair[0].stringValue), count: Int(try #require(pair[1].integerValue)))
    }

    private func refusal(_ value: JSONValue) -> SendRefusal? {
        switch value.stringValue {
        case "blank": .blank
        case "notConnected": .notConnected
        default:
            if let excess = value["tooLong"]?.integerValue {
                .tooLong(excess: Int(excess))
            } else {
                value["signalTooLong"]?.integerValue.map { .signalTooLong(excess: Int($0)) }
            }
        }
    }

    @Test("the longest text is 1000 graphemes by default")
    func standard() {
        let composer = Composer()
        #expect((composer.maxLength, composer.unit) == (1000, .graphemes))
    }

    @Test("a lowered limit trims nothing: the count goes below zero, and only edits within the limit are accepted")
    func lowering() {
        var composer = Composer()
        composer.edit("hello")
        composer.maxLength = 3
        #expect(composer.text == "hello")
        #expect(composer.remaining == -2)
        #expect(composer.edit("hell") == .refused(excess: 1, remaining: -2))
        #expect(composer.edit("hel") == .accepted(remaining: 0))
        composer.maxLength = -5
        #expect(composer.maxLength == 0)
        #expect(composer.edit("").isAccepted)
    }
}
