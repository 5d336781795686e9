// Connects, sends a signal, and prints the first signal that arrives: its own.
//
//     hello-signalbox KEY SESSION TOKEN [SERVER]

import SignalingClient

@main
struct Hello {
    static func main() async throws {
        let arguments = CommandLine.arguments + ["http://127.0.0.1:8080"]
        let session = Session(apiKey: arguments[1], sessionId: arguments[2], server: arguments[4])
        let events = session.events
        try await session.connect(token: arguments[3])
        try await session.signal(type: "TextChat", string: "hello from Swift", connection: nil)
        for await case .signal(let signal) in events {
            print(signal.from?.data ?? "the server", "says", signal.data ?? "nothing")
            break
        }
        await session.disconnect()
    }
}
