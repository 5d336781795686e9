import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("Names over messages")
struct NameBookTests {
    @Test(
        "CHAT-4: the name is what the server vouches for, else an alias that is nobody else's, whatever is read first",
        arguments: try Vectors.cases("senders/names.json"), [false, true])
    func vector(_ vector: VectorCase, isReversed: Bool) throws {
        var names = NameBook()
        for peer in SenderVectors.here(vector) { names.note(peer) }
        for peer in SenderVectors.crowd(vector) {
            names.note(peer)
            names.noteDeparture(peer.connectionId)
        }
        for peer in SenderVectors.left(vector) { names.noteDeparture(peer.connectionId) }
        let messages = try SenderVectors.signals(vector).map {
            try #require(ChatWireForm.message(from: $0, now: WallTime(milliseconds: 0)))
        }
        for message in isReversed ? messages.reversed() : messages { names.note(message) }
        #expect(messages.map { names.name(of: $0).text() } == SenderVectors.shown(vector))
        #expect(messages.map { names.number(of: $0) } == SenderVectors.numbers(vector))
    }

    @Test(
        "CHAT-4: those who are here are not forgotten when one's own connection begins anew",
        arguments: try Vectors.cases("senders/present.json"))
    func present(_ vector: VectorCase) throws {
        var names = NameBook()
        let present = SenderVectors.here(vector) + SenderVectors.crowd(vector)
        for peer in present { names.note(peer) }
        let messages = try SenderVectors.signals(vector).map {
            try #require(ChatWireForm.message(from: $0, now: WallTime(milliseconds: 0)))
        }
        for message in messages { names.note(message) }
        names.enter(present)
        #expect(messages.map { names.name(of: $0).text() } == SenderVectors.shown(vector))
    }

    @Test(
        "CHAT-4: a guest cannot have a word of the chat as a name",
        arguments: try Vectors.cases("senders/reserved.json"))
    func reserved(_ vector: VectorCase) throws {
        func shown(_ name: JSONValue) -> String { DisplayName.text(data: name.stringValue, connectionID: "dan-id") }
        for name in vector["reserved"]?.arrayValue ?? [] { #expect(shown(name) == "Guest 1895", "\(name)") }
        for name in vector["free"]?.arrayValue ?? [] { #expect(shown(name) == name.stringValue) }
        // The token of a user vouches for the name.
        #expect(DisplayName.text(data: "Server", connectionID: "x", user: UserID("u-1")) == "Server")
    }

    @Test("CHAT-4: a name that is shown may turn out to be another's, and the book tells")
    func revision() {
        var names = NameBook()
        let eve = ChatMessage(text: "hi", senderID: "eve-id", senderAlias: "Ada", seq: Seq(1))
        names.note(eve)
        #expect(names.name(of: eve) == .name("Ada"))
        let before = names.revision
        names.note(Connection(connectionId: ConnectionID("bob"), creationTime: WallTime(milliseconds: 0), data: "Bob"))
        #expect(names.revision == before)
        names.note(Connection(connectionId: ConnectionID("ada"), creationTime: WallTime(milliseconds: 0), data: "Ada"))
        #expect(names.revision > before)
        #expect(names.name(of: eve) == .guest(1059))
    }

    @Test("G5: at most four thousand are remembered who are not here")
    func bound() {
        var names = NameBook()
        let ids = (0...4096).map { ConnectionID("c\($0)") }
        for id in ids {
            names.note(Connection(connectionId: id, creationTime: WallTime(milliseconds: 0), data: "n" + id.rawValue))
        }
        #expect(names.name(of: ids[0]) == .name("nc0"))
        for id in ids { names.noteDeparture(id) }
        #expect(names.name(of: ids[4096]) == .name("nc4096"))
        #expect(names.name(of: ids[0]) == .guest(4117))
        for _ in 0..<3 {
            for id in ids {
                names.note(Connection(connectionId: id, creationTime: WallTime(milliseconds: 0), data: "again"))
                names.noteDeparture(id)
            }
        }
        #expect(names.name(of: ids[4096]) == .name("again"))
        #expect(names.name(of: ids[0]) == .guest(4117))
    }
}
