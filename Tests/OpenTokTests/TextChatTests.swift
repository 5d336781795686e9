import Foundation
import OpenTok
import SignalingProtocol
import Testing

/// A delegate that records the messages and sends nothing.
private final class RecordingDelegate: OTKTextChatDelegate {
    var accepts = true
    private(set) var messages: [OTKChatMessage] = []

    func onMessageReady(toSend message: OTKChatMessage!) -> Bool {
        messages.append(message)
        return accepts
    }
}

@Suite("OpenTok's text chat of 2015", .timeLimit(.minutes(5)))
struct TextChatTests {
    private func message(_ text: String, from sender: String?, at seconds: Double? = nil) -> OTKChatMessage {
        let message = OTKChatMessage()
        message.text = text
        message.senderId = sender
        message.senderAlias = sender?.uppercased()
        message.dateTime = seconds.map(Date.init(timeIntervalSince1970:))
        return message
    }

    @Test("the delegate gets text, sender and date; an accepted message is shown and the draft is empty")
    func sent() throws {
        let (chat, delegate) = (OTKTextChatComponent(), RecordingDelegate())
        chat.delegate = delegate
        chat.setSenderId("id", alias: "Ada")
        let before = Date(timeIntervalSinceNow: -1)
        #expect(chat.send("  hello "))
        let message = try #require(delegate.messages.first)
        #expect(message.text == "  hello ")
        #expect(message.senderId == "id")
        #expect(message.senderAlias == "Ada")
        #expect(message.dateTime > before)
        #expect(chat.rows.map(\.kind) == [.sent, .divider])
        #expect(chat.rows[0].message?.text == "  hello ")
        #expect(chat.draft == "")
        #expect(delegate.messages.count == 1)
    }

    @Test("CHAT-9: a page of the history stands before what arrives, with the times of the session")
    func history() throws {
        let chat = OTKTextChatComponent()
        let page = HistoryPage(
            range: Seq(3)...Seq(4), more: false,
            messages: [("me", "hi", 3), ("bob", "hello", 4)].map { (sender, text, seq) in
                HistoryMessage(
                    seq: Seq(seq),
                    from: Connection(
                        connectionId: ConnectionID(sender), creationTime: WallTime(milliseconds: 0), data: ""),
                    time: WallTime(milliseconds: seq * 1000),
                    content: .signal(type: "TextChat", data: text, isJSON: false))
            })
        chat.setSenderId("me", alias: "Me")
        chat.addHistory(page)
        chat.addHistory(page)
        chat.addMessage(message("new", from: "bob", at: 500))
        #expect(chat.rows.compactMap(\.message?.text) == ["hi", "hello", "new"])
        #expect(chat.rows.map(\.kind) == [.sent, .divider, .received, .divider, .received, .divider])
        #expect(chat.rows[0].message?.dateTime == Date(timeIntervalSince1970: 3))
    }

    @Test("a refused message, or one without a delegate, stays in the draft and is not shown")
    func refused() {
        let (chat, delegate) = (OTKTextChatComponent(), RecordingDelegate())
        #expect(!chat.send("hello"))
        chat.delegate = delegate
        delegate.accepts = false
        #expect(!chat.send("hello"))
        #expect(chat.draft == "hello")
        #expect(chat.rows.isEmpty)
        delegate.accepts = true
        #expect(chat.send())
        #expect(chat.rows.count == 2)
    }

    @Test("an empty text is not sent and the delegate is not called; white space is sent")
    func empty() {
        let (chat, delegate) = (OTKTextChatComponent(), RecordingDelegate())
        chat.delegate = delegate
        #expect(!chat.send(""))
        #expect(delegate.messages.isEmpty)
        #expect(chat.send(" "))
    }

    @Test("a text of the maximum length in UTF-16 units is accepted; a longer one is refused as a whole")
    func length() {
        let chat = OTKTextChatComponent()
        #expect(chat.edit(String(repeating: "a", count: 1000)))
        #expect(!chat.edit(String(repeating: "a", count: 1001)))
        chat.setMaxLength(1005)
        #expect(chat.charactersLeft == 5)
        #expect(chat.edit(String(repeating: "a", count: 1003) + "👋"))
        #expect(chat.charactersLeft == 0)
        #expect(!chat.edit(String(repeating: "a", count: 1004) + "👋"))
        chat.setMaxLength(1000)
        #expect(chat.charactersLeft == -5)
    }

    @Test("addMessage is always true, marks the message as received, and sets a missing date")
    func received() throws {
        let chat = OTKTextChatComponent()
        chat.setSenderId("me", alias: "Me")
        let message = message("hello", from: "me")
        let before = Date(timeIntervalSinceNow: -1)
        #expect(chat.addMessage(message))
        #expect(message.dateTime > before)
        #expect(chat.rows.map(\.kind) == [.received, .divider])
        #expect(chat.rows[0].message?.senderAlias == "ME")
        #expect(chat.addMessage(OTKChatMessage()))
        #expect(chat.rows.filter { $0.kind == .received }.count == 2)
    }

    @Test(
        "CHAT-7: a row less than 120 s after one of the same sender is short; a divider precedes any other"
    )
    func grouping() {
        let chat = OTKTextChatComponent()
        for (sender, seconds) in [("a", 0.0), ("a", 119.999), ("a", 239.999), ("b", 240)] {
            chat.addMessage(message("x", from: sender, at: seconds))
        }
        #expect(
            chat.rows.map(\.kind) == [.received, .receivedShort, .divider, .received, .divider, .received, .divider])
    }

    @Test("full rows show hh:mma, short rows and dividers no time")
    func time() throws {
        let chat = OTKTextChatComponent()
        let utc = try #require(TimeZone(identifier: "UTC"))
        chat.addMessage(message("x", from: "a", at: 15 * 3600 + 7 * 60))
        chat.addMessage(message("y", from: "a", at: 15 * 3600 + 7 * 60 + 1))
        #expect(chat.rows.map { $0.timeText(in: utc) } == ["03:07PM", nil, nil])
    }

    @Test("dates out of range are accepted", arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func dates(_ seconds: Double) {
        let chat = OTKTextChatComponent()
        #expect(chat.addMessage(message("x", from: "a", at: seconds)))
        #expect(chat.rows.count == 2)
        #expect(chat.rows[0].timeText() != nil)
    }

    @Test("a delegate may implement any of the three names of its method")
    func spellings() {
        final class Plain: OTKTextChatDelegate {
            func onMessageReady(toSend message: OTKChatMessage) -> Bool { message.text == "yes" }
        }
        final class Objective: OTKTextChatDelegate {
            func onMessageReadyToSend(_ message: OTKChatMessage) -> Bool { message.text == "yes" }
        }
        let delegates: [any OTKTextChatDelegate] = [Plain(), Objective()]
        for delegate in delegates {
            let chat = OTKTextChatComponent()
            chat.delegate = delegate
            #expect(!chat.send("no"))
            #expect(chat.send("yes"))
        }
    }

    @Test("a delegate without the method stops the program with a message that names the method")
    func noSpelling() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            final class Nothing: OTKTextChatDelegate {}
            let (chat, delegate) = (OTKTextChatComponent(), Nothing())
            chat.delegate = delegate
            chat.send("hello")
        }
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("onMessageReady(toSend:)"))
    }
}
