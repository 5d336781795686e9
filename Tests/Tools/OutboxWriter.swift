import Foundation
import SignalingClient
import TextChat
import TextChatFoundation

/// A program with an outbox, for a test that kills it at any moment: it writes messages, half of them before it has
/// connected, and says which of them it has.
///
///     signalbox-tools outbox-writer FILE KEY SESSION TOKEN SERVER FIRST COUNT
///
/// It prints `written N` when message N is in the outbox, and `sent` when the session has all of them.
@MainActor
enum OutboxWriter {
    static func run(_ arguments: [String]) async throws {
        let (first, count) = (Int(arguments[5]) ?? 0, Int(arguments[6]) ?? 0)
        let session = Session(apiKey: arguments[1], sessionId: arguments[2], server: arguments[4])
        let chat = TextChatComponent()
        try chat.openOutbox(
            FileOutbox(url: URL(fileURLWithPath: arguments[0])), room: arguments[2], now: .now)
        chat.channel = session
        var waiting = chat.messages.compactMap(\.localID)

        func write(_ numbers: Range<Int>) {
            for number in numbers {
                var randomness = SystemRandomNumberGenerator()
                let localID = LocalID(using: &randomness)
                chat.edit("message \(number)")
                // The queue is full when the program was killed many times before it could send.
                guard chat.enqueue(now: .now, localID: localID) == nil else { return }
                waiting.append(localID)
                // In one write: the output of a killed program ends with a whole line or an incomplete one.
                FileHandle.standardOutput.write(Data("written \(number)\n".utf8))
            }
        }

        write(first..<(first + count / 2))
        let events = session.channelEvents
        let receiving = Task { for await event in events { chat.handle(event, now: .now) } }
        try await session.connect(token: arguments[3], replacing: chat.formerConnection)
        chat.readHistory()
        write((first + count / 2)..<(first + count))
        for localID in waiting {
            let outcome = await chat.outcome(of: localID)
            guard outcome == .sent else {
                FileHandle.standardOutput.write(Data("not sent: \(outcome)\n".utf8))
                exit(1)
            }
        }
        FileHandle.standardOutput.write(Data("sent\n".utf8))
        await session.disconnect()
        await receiving.value
    }
}
