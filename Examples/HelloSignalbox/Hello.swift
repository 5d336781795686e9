// Connects, sends a signal, and prints the first signal that arrives: its own.
//
//     hello-signalbox KEY SESSION TOKEN [SERVER]

import Foundation
import SignalingClient

@main
struct Hello {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 || arguments.count == 5 else {
            fail("usage: hello-signalbox KEY SESSION TOKEN [SERVER]", status: 64)
        }
        let server = arguments.count == 5 ? arguments[4] : "http://127.0.0.1:8080"
        let session = Session(apiKey: arguments[1], sessionId: arguments[2], server: server)
        let events = session.events
        do {
            try await session.connect(token: arguments[3])
            try await session.signal(type: "TextChat", string: "hello from Swift", connection: nil)
        } catch {
            fail("hello-signalbox: \(error.message)", status: 1)
        }
        for await case .signal(let signal) in events {
            print(signal.from?.data ?? "the server", "says", signal.data ?? "nothing")
            break
        }
        await session.disconnect()
    }

    static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
