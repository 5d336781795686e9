import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import TextChat

@Suite("Chat messages in signals")
struct WireFormTests {
    @Test(
        "signals are read leniently, and the server's stamp names the sender",
        arguments: try Vectors.cases("chat/received.json"))
    func vector(_ vector: VectorCase) throws {
        let signal = try #require(vector["signal"])
        let message = ChatWireForm.message(
            from: incoming(
                type: signal["type"]?.stringValue, data: signal["data"]?.stringValue,
                from: signal["from"]?.stringValue.map { ConnectionID($0) },
                senderData: signal["senderData"]?.stringValue, user: signal["user"]?.stringValue),
            now: WallTime(milliseconds: try #require(vector["now"]?.integerValue)))
        let expected = try #require(vector["message"])
        guard !expected.isNull else {
            #expect(message == nil)
            return
        }
        let now = WallTime(milliseconds: try #require(vector["now"]?.integerValue))
        var wanted = ChatMessage(
            text: try #require(expected["text"]?.stringValue), senderID: expected["senderId"]?.stringValue,
            senderUser: expected["user"]?.stringValue.map { UserID($0) },
            senderAlias: expected["alias"]?.stringValue,
            sentAt: WallTime(milliseconds: try #require(expected["sentAt"]?.integerValue)), receivedAt: now,
            localID: expected["localId"]?.stringValue.map { LocalID($0) }, direction: .received)
        wanted.isFromServer = signal["from"]?.stringValue == nil
        wanted.senderData = wanted.isFromServer ? nil : signal["senderData"]?.stringValue ?? ""
        wanted.stamp = .init(
            connection: signal["from"]?.stringValue.map { ConnectionID($0) },
            form: signal["type"]?.stringValue.flatMap(ChatWireForm.init(rawValue:)) ?? .json)
        wanted.data = message?.data
        #expect(message == wanted)
    }

    static let message = ChatMessage(
        text: "a \"b\"\n\0", senderID: "conn-1", senderAlias: "Zoë", sentAt: WallTime(milliseconds: 1_700_000_000_000),
        localID: LocalID("00ff"), direction: .sent, state: .sending)

    @Test("the JSON is the accelerators', with a local id beside it")
    func writtenJSON() {
        let signal = ChatWireForm.json.signal(for: Self.message)
        #expect(
            signal
                == SignalRequest(
                    type: "text-chat",
                    data: #"{"text":"a \"b\"\n\u0000","sender":{"id":"conn-1","alias":"Zoë"},"#
                        + #""sentOn":1700000000000,"localId":"00ff"}"#))
    }

    @Test("bare text is only the text")
    func writtenBareText() {
        let signal = ChatWireForm.bareText.signal(for: Self.message)
        #expect(signal == SignalRequest(type: "TextChat", data: Self.message.text))
    }

    @Test("members without a value are not written")
    func absent() {
        let signal = ChatWireForm.json.signal(for: ChatMessage(text: "hi"))
        #expect(signal.data == #"{"text":"hi","sender":{}}"#)
    }

    @Test("one component reads the messages of another", arguments: ChatWireForm.allCases)
    func roundTrip(_ form: ChatWireForm) throws {
        let signal = form.signal(for: Self.message)
        let read = try #require(
            ChatWireForm.message(
                from: incoming(
                    type: signal.type, data: signal.data, from: ConnectionID("conn-1"), senderData: "Zoë"),
                now: WallTime(milliseconds: 1_700_000_000_000)))
        #expect(read.text == Self.message.text)
        #expect(read.senderID == "conn-1")
        #expect(read.senderAlias == "Zoë")
        #expect(read.sentAt == Self.message.sentAt)
        #expect(read.localID == (form == .json ? Self.message.localID : nil))
    }

    @Test("random data never traps")
    func garbage() {
        var random = SeededGenerator(seed: 1)
        let pieces = [
            #"{"text":"#, #""hi""#, ",", #""sentOn":"#, "1e300", "-1e999", "null", "}", "{", #""sender":{"#, "[", "\0",
        ]
        for _ in 0..<3_000 {
            let data = (0..<Int.random(in: 0..<9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            _ = ChatWireForm.message(
                from: incoming(type: "text-chat", data: data.joined()), now: WallTime(milliseconds: .max))
        }
    }
}

/// A signal as it arrives; `senderData` is the connection data in the sender's token.
func incoming(
    type: String? = nil, data: String? = nil, from: ConnectionID? = nil, senderData: String? = nil,
    user: String? = nil, seq: Seq? = nil
) -> Signal {
    Signal(
        type: type, data: data, from: from.map { connection($0.rawValue, data: senderData ?? "", user: user) },
        seq: seq)
}

func connection(_ id: String, data: String = "", user: String? = nil) -> Connection {
    Connection(
        connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: data,
        user: user.map { UserID($0) })
}
