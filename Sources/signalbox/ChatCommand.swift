import ArgumentParser
import Dispatch
import Foundation
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatFoundation

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Chat in a terminal: type a line, see the others.",
        discussion: """
            Ctrl-D leaves. Below the line that you write stands who else is writing; they see the same of you, unless \
            --no-typing is given. With a pipe on either side it is plain lines: what comes in is sent, what others say \
            comes out as "name: text". --name is the name that others see.
            """)

    @OptionGroup var session: SessionOptions

    @Flag(help: "Do not let others see that you are writing.")
    var noTyping = false

    func run() async throws {
        let access = try await session.access()
        let leaving = access.session
        let events = leaving.events
        let outcome = try await Interruption.doing({ await leaving.disconnect() }) {
            try await session.connect(access)
            let alias = session.name.isEmpty ? "me" : session.name
            if RawTerminal.isAvailable {
                let chat = await ScreenChat(session: leaving, alias: alias, isTypingShown: !noTyping)
                return await chat.run(events: events)
            }
            let chat = await PlainChat(session: leaving, alias: alias)
            return await chat.run(events: events, lines: InputLines.stream())
        }
        if let outcome { throw outcome }
    }
}

/// A chat in plain lines: between two pipes, or on a terminal that cannot be drawn on.
@MainActor
private final class PlainChat {
    private let session: Session
    // What is piped through goes out as it came in, a line of blanks too.
    private let component = TextChatComponent(composer: Composer(unit: .utf16, sendsBlankText: true))
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var outcome: ExitCode?
    private var randomness = SystemRandomNumberGenerator()

    init(session: Session, alias: String) {
        self.session = session
        component.channel = session
        component.setSenderId(session.connectionID?.rawValue, alias: alias)
    }

    /// Runs until the input or the connection ends; returns how the program has to end, if not well.
    func run(events: AsyncStream<SessionEvent>, lines: AsyncStream<String>) async -> ExitCode? {
        if isTerminal { say("You are in. \(presence) Ctrl-D leaves.") }
        let reading = Task { await self.send(lines) }
        for await event in events { if !take(event) { break } }
        reading.cancel()
        return outcome
    }

    private var presence: String {
        switch session.connections.count {
        case ...1: "Nobody else is here yet."
        case 2: "One other is here."
        case let count: "\(count - 1) others are here."
        }
    }

    /// Each line waits for its acknowledgement, so lines arrive in their order and none is lost in silence.
    private func send(_ lines: AsyncStream<String>) async {
        for await line in lines {
            guard component.edit(line).isAccepted else {
                fail("a line is longer than \(component.maxLength) characters, and was not sent")
                continue
            }
            let localID = LocalID(using: &randomness)
            switch await component.send(now: .current, localID: localID) {
            case .sent, .discarded, .refused(.blank): break
            case .failed(let failure):
                fail("not sent: \(failure.reason)")
                // Nobody can try again here: the lines behind it go on.
                component.discard(localID)
            case .refused(.notConnected): fail("not sent: not connected")
            case .refused: fail("a line is too long for a signal, and was not sent")
            }
        }
        await session.disconnect()
    }

    /// - Returns: whether more can come.
    private func take(_ event: SessionEvent) -> Bool {
        switch event {
        case .signal(let signal):
            printNew(component.handle(.signal(signal), now: .current))
        case .connectionCreated(let connection):
            if isTerminal { say("\(name(connection)) is here") }
        case .connectionDestroyed(let connection, _):
            if isTerminal { say("\(name(connection)) has left") }
        case .reconnecting:
            say("the connection is lost; trying to come back")
        case .reconnected(let outcome):
            say(outcome == .lost ? "back; something may be missing" : "back")
        case .disconnected(.clientDisconnected):
            return false
        case .disconnected(let reason):
            fail(reason == .forceDisconnected ? "a moderator has ended the connection" : "the connection is lost")
            return false
        case .overflowed:
            fail("this terminal is too slow: something was missed")
            return false
        }
        return true
    }

    private func printNew(_ changes: [TimelineChange]) {
        for case .insert(let row, _) in changes {
            if let message = row.message?.message, message.direction == .received { show(message) }
        }
    }

    private func show(_ message: ChatMessage) {
        let name = message.senderAlias ?? "somebody"
        let time = isTerminal ? ChatTimeText.text(message.sentAt ?? .current, in: .current) + " " : ""
        StandardOutput.print("\(time)\(Printable.text(name)): \(Printable.text(message.text))")
    }

    private func name(_ connection: Connection) -> String { Printable.name(connection) }

    private func say(_ text: String) { StandardOutput.print("-- \(text)") }

    private func fail(_ text: String) {
        StandardError.print("signalbox: \(text)")
        outcome = ExitCode(ExitStatus.failed)
    }
}

/// Others' text as it may stand on a terminal: it must not drive it (escape sequences), nor look like several lines.
enum Printable {
    static func text(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
                        ? " " : $0
                }))
    }

    static func name(_ connection: Connection) -> String {
        connection.data.isEmpty ? "somebody" : text(connection.data)
    }
}

extension ChatMessage.Failure {
    /// For a person.
    var reason: String {
        switch self {
        case .error(let error): error.message
        case .interrupted: "interrupted"
        }
    }
}

/// The lines of standard input, one at a time and as they are asked for, on a thread that may wait.
private enum InputLines {
    static func stream() -> AsyncStream<String> {
        AsyncStream {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: readLine()) }
            }
        }
    }
}
