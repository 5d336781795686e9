// OpenTok's text-chat sample for a terminal: opentok-text-chat KEY SESSION TOKEN
// It sends each line of its input, and disconnects at the end of the input. The server is SIGNALBOX_SERVER, or
// http://127.0.0.1:8080.
import Dispatch
import Foundation
import OpenTok

let kTextChatType = "TextChat"

final class TextChatSample: NSObject {
    let token: String
    lazy var session = OTSession(
        apiKey: CommandLine.arguments[1], sessionId: CommandLine.arguments[2], delegate: self)!
    var textChat: OTKTextChatComponent?

    init(token: String) { self.token = token }

    func connect() {
        var error: OTError?
        session.connect(withToken: token, error: &error)
        if let error { fail(error) }
    }

    func readInput() {
        Thread.detachNewThread {
            while let line = readLine() {
                DispatchQueue.main.async { self.send(line) }
            }
            DispatchQueue.main.async { self.session.disconnect(nil) }
        }
    }

    func send(_ line: String) {
        guard let textChat, !line.isEmpty else { return }
        if !textChat.send(line) { print("! not sent") }
    }

    func fail(_ error: OTError) -> Never {
        print("! \(error.localizedDescription) (\(error.code))")
        exit(1)
    }
}

extension TextChatSample: OTKTextChatDelegate {
    func onMessageReady(toSend message: OTKChatMessage!) -> Bool {
        var error: OTError?
        session.signal(withType: kTextChatType, string: message.text, connection: nil, error: &error)
        return error == nil
    }
}

extension TextChatSample: OTSessionDelegate {
    func sessionDidConnect(_ session: OTSession) {
        let textChat = OTKTextChatComponent()
        textChat.delegate = self
        textChat.setMaxLength(1005)
        textChat.setSenderId(session.connection?.connectionId, alias: session.connection?.data)
        self.textChat = textChat
        print("* connected")
        readInput()
    }

    func session(
        _ session: OTSession, receivedSignalType type: String?, from connection: OTConnection?, with string: String?
    ) {
        guard type == kTextChatType, connection?.connectionId != session.connection?.connectionId else { return }
        let message = OTKChatMessage()
        message.senderAlias = connection?.data
        message.senderId = connection?.connectionId
        message.text = string
        textChat?.addMessage(message)
        print("\(message.senderAlias ?? "server"): \(message.text ?? "")")
    }

    func sessionDidDisconnect(_ session: OTSession) {
        print("* disconnected")
        exit(0)
    }

    func session(_ session: OTSession, didFailWithError error: OTError) {
        if session.sessionConnectionStatus != .connected { fail(error) }
        print("! \(error.localizedDescription) (\(error.code))")
    }

    func session(_ session: OTSession, connectionCreated connection: OTConnection) {
        print("* \(connection.data ?? "") is here")
    }

    func session(_ session: OTSession, connectionDestroyed connection: OTConnection) {
        print("* \(connection.data ?? "") has left")
    }

    func session(_ session: OTSession, streamCreated stream: OTStream) {}
    func session(_ session: OTSession, streamDestroyed stream: OTStream) {}
}

@main
struct Main {
    static func main() {
        guard CommandLine.arguments.count == 4 else {
            print("usage: opentok-text-chat KEY SESSION TOKEN")
            exit(EX_USAGE)
        }
        // Print each line at once, also into a pipe.
        setlinebuf(stdout)
        let sample = TextChatSample(token: CommandLine.arguments[3])
        sample.connect()
        withExtendedLifetime(sample) { dispatchMain() }
    }
}
