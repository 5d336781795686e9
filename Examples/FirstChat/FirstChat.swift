// The program of the first page about TextChat (Sources/rules/TextChat/TextChat.docc/TextChat.md).
// A test compares the page with this file.
//   first-chat KEY SESSION TOKEN [SERVER]
import SignalingClient
import TextChat
import TextChatFoundation

@main
@MainActor
struct FirstChat {
    static func main() async throws {
        let arguments = CommandLine.arguments + ["http://127.0.0.1:8080"]
        guard arguments.count > 4 else { return print("usage: first-chat KEY SESSION TOKEN [SERVER]") }
        let session = Session(apiKey: arguments[1], sessionId: arguments[2], server: arguments[4])
        let chat = TextChatComponent()
        chat.channel = session
        chat.isVisible = true
        chat.runTyping()

        // Ask for the events before you connect, so that you miss none.
        let events = session.channelEvents
        let receiving = Task {
            for await event in events {
                for change in chat.handle(event, now: .now) {
                    if case .insert(let row, _) = change, let message = row.message?.message {
                        print("\(chat.names.name(of: message).text()): \(message.text)")
                    }
                }
            }
        }
        try await session.connect(token: arguments[3])
        chat.setSenderId(session.connectionId?.rawValue, alias: session.connection?.data)
        chat.readHistory()

        chat.edit("Hello")
        switch await chat.send() {
        case .sent: print("sent")
        case .failed(let failure): print("not sent: \(failure)")
        case .refused(let refusal): print("still in the draft: \(refusal)")
        case .heldBack(let localID): print("waits for the failed message \(localID)")
        case .discarded, .stillSending: break
        }

        await session.disconnect()
        await receiving.value
    }
}
