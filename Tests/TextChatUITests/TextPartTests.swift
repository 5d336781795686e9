import Foundation
import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@testable import TextChatUI

@Suite("Links and people")
struct TextPartTests {
    private func links(_ text: String) -> [String] {
        ChatLinks.parts(of: text).filter { $0.address != nil }.map(\.text)
    }

    @Test("a link is what the element makes one of, or nothing", arguments: try Vectors.cases("view/links.json"))
    func vectors(_ vector: VectorCase) throws {
        let text = try #require(vector["text"]?.stringValue)
        let expected = try #require(vector["links"]?.arrayValue).compactMap(\.stringValue)
        #expect(links(text) == (vector["web"]?.boolValue == true ? [] : expected))
    }

    @Test("the parts of any text are the text, and a link opens the host that it shows")
    func hostile() throws {
        let texts = try #require(try Vectors.load("hostile/texts.json")["texts"]?.arrayValue).compactMap(\.stringValue)
        let long = ["a", "https://a", "/を", "(https://a.example/(", "https://a.example/)"].map {
            String(repeating: $0, count: 2000)
        }
        for text in texts + long + ["see https://example.org/a%20b?c=日本#d, and more"] {
            let parts = ChatLinks.parts(of: text)
            #expect(parts.map(\.text).joined() == text)
            #expect(String(ChatLinks.attributed(text).characters) == text)
            for part in parts {
                guard let address = part.address else { continue }
                #expect(address.scheme == "https" || address.scheme == "http")
                let host = try #require(address.host())
                #expect(part.text.lowercased().hasPrefix("\(address.scheme ?? "")://\(host)"))
                #expect(address.user() == nil)
            }
        }
    }

    @Test(
        "the initial and the colour of a person are those of the element",
        arguments: try Vectors.cases("view/people.json"))
    func people(_ vector: VectorCase) throws {
        let person = ChatPerson(name: vector.name, id: try #require(vector["id"]?.stringValue))
        #expect(person.initial == vector["initial"]?.stringValue)
        #expect(person.colour == vector["colour"]?.integerValue.map(Int.init))
    }

    @Test("CHAT-4: a guest has a mark where others have a user, and VoiceOver says it")
    @MainActor
    func guests() throws {
        func signal(_ seq: Int64, _ id: String, user: String?) -> SignalChannelEvent {
            let sender = Connection(
                connectionId: ConnectionID(id), creationTime: WallTime(milliseconds: 0), data: "Ada",
                user: user.map { UserID($0) })
            return .signal(Signal(type: "text-chat", data: #"{"text":"hi"}"#, from: sender, seq: Seq(seq)))
        }
        let model = ChatModel(words: ChatWords(locale: Locale(identifier: "en")))
        var people: [ChatPerson] { model.rows.compactMap { $0.message.map { model.person(of: $0.message) } } }
        model.handle(signal(1, "guest", user: nil))
        #expect(people.map(\.isGuest) == [false], "among guests nobody has a mark")
        let revision = model.nameRevision
        model.handle(signal(2, "member", user: "u-17"))
        #expect(people.map(\.isGuest) == [true, false])
        #expect(model.nameRevision > revision, "a view is told")
        let message = try #require(model.rows.compactMap(\.message).first?.message)
        #expect(model.spoken(message).hasPrefix("Ada (guest), hi"))
        var fromServer = message
        fromServer.senderID = nil
        #expect(!model.person(of: fromServer).isGuest)
    }
}
