import ArgumentParser
import Dispatch
import Foundation
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatFoundation

/// A chat in plain lines: between two pipes, or on a terminal without cursor control.
@MainActor
final class PlainChat {
    private let session: Session
    // Sends every line of a pipe as it is, even a blank one.
    private let component = TextChatComponent(composer: Composer(unit: .utf16, sendsBlankText: true))
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var outcome: ExitCode?
    private var randomness = SystemRandomNumberGenerator()

    init(session: Session, alias: String?) {
        self.session = session
        component.channel = session
        component.setSenderId(session.connectionId?.rawValue, alias: alias)
    }

    /// Runs until the input or the connection ends.
    ///
    /// - Returns: the exit code after a failure.
    func run(events: AsyncStream<SessionEvent>, lines: AsyncStream<String>) async -> ExitCode? {
        if isTerminal { say(PresenceText(of: session).arrival) }
        component.onActivity = { [weak self] activity in
            switch activity {
            case .historyRead(let changes): self?.printNew(changes)
            case .restrictionChanged: self?.sayRestriction()
            default: break
            }
        }
        component.advance(to: .now)
        component.readHistory()
        let reading = Task { await self.send(lines) }
        for await event in events { if !handle(event) { break } }
        reading.cancel()
        return outcome
    }

    /// Sends each line after the acknowledgement of the line before it, so that lines keep their order and every
    /// failure is reported.
    private func send(_ lines: AsyncStream<String>) async {
        for await line in lines {
            guard let line = message(line) else { continue }
            guard component.edit(line).isAccepted else {
                fail("not sent: the line is longer than \(component.maxLength) characters")
                continue
            }
            let localID = LocalID(using: &randomness)
            switch await component.send(now: .now, localID: localID) {
            case .sent, .discarded, .stillSending, .refused(.blank), .refused(.cancelled): break
            case .heldBack: component.passFailed()
            case .failed(let failure):
                fail("not sent: \(failure.reason)")
                // There is no way to retry here; continue with the next line.
                component.discard(localID)
            case .refused(.notConnected): fail("not sent: not connected")
            case .refused(.restricted(let restriction)): fail("not sent: \(RestrictionText.text(restriction))")
            case .refused: fail("not sent: the line is too long for a signal")
            }
        }
        await session.disconnect()
    }

    /// The message of a line; `nil` for a command. A pipe has no commands: each of its lines is a message.
    private func message(_ line: String) -> String? {
        switch isTerminal ? ChatEntry(line) : .message(line) {
        case .message(let text): return text
        case .help: ChatEntry.helpLines.forEach(say)
        case .who: say(PresenceText(of: session).list)
        case .unknown(let command): say(ChatEntry.unknownText(command))
        }
        return nil
    }

    /// - Returns: whether more events can follow.
    private func handle(_ event: SessionEvent) -> Bool {
        switch event {
        case .signal(let signal):
            printNew(component.handle(.signal(signal), now: .now))
        case .history, .erased, .moderated: break
        case .restricted, .unrestricted:
            component.advance(to: .now)
        case .connectionCreated, .connectionDestroyed, .connectionAway, .connectionBack, .userJoined, .userLeft:
            if isTerminal, let text = PresenceText.text(of: event, in: session) { say(text) }
        case .reconnecting:
            say("the connection is lost; trying to come back")
        case .reconnected(.lost, let missing?):
            say("back; up to \(missing.last.rawValue - missing.first.rawValue + 1) events are missing")
        case .reconnected(let outcome, _):
            say(outcome == .lost ? "back; something may be missing" : "back")
        case .disconnected(.clientDisconnected, _):
            return false
        case .disconnected(_, let ban?):
            fail(RestrictionText.text(ban))
            return false
        case .disconnected(.forceDisconnected, nil):
            fail("a moderator has ended the connection")
            return false
        case .disconnected(.networkDisconnected, nil):
            fail("the connection is lost")
            return false
        case .overflowed:
            fail("this terminal is too slow: something was missed")
            return false
        }
        return true
    }

    private func sayRestriction() {
        say(component.restriction.map { "you cannot write: \(RestrictionText.text($0))" } ?? "you can write again")
    }

    /// Shows messages of others, of the user's other connections, and of the session's history.
    private func printNew(_ changes: [TimelineChange]) {
        for case .insert(let row, _) in changes {
            if let message = row.message?.message { show(message) }
        }
    }

    private func show(_ message: ChatMessage) {
        let time = isTerminal ? ChatTimeText.text(message.receivedAt ?? .now, in: .current) + " " : ""
        StandardOutput.print("\(time)\(Printable.name(message, in: component.names)): \(Printable.text(message.text))")
    }

    private func say(_ text: String) { StandardOutput.print("-- \(text)") }

    private func fail(_ text: String) {
        StandardError.print("signalbox: \(text)")
        outcome = ExitCode(ExitStatus.failed)
    }
}

/// The lines of standard input. Each is read on request, on a thread that may block.
enum InputLines {
    static func stream() -> AsyncStream<String> {
        AsyncStream {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: readLine()) }
            }
        }
    }
}
