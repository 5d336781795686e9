import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatRunning

/// A chat in plain lines: between two pipes, or on a terminal without cursor control.
@MainActor
final class PlainChat {
    private let session: Session
    // Sends every line of a pipe as it is, even a blank one.
    private let component = TextChatComponent(composer: Composer(unit: .utf16, sendsBlankText: true))
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Messages up to this seq were in the session before, and are not printed; nil: all are.
    private var silentThrough: Seq?
    private var epoch: Epoch?
    /// Messages that have arrived before the history is printed, which is before them; nil: it is.
    private var held: [ChatMessage]?
    private var forms = ShownForms()
    private var receipt = ""
    private var outcome: ExitCode?
    private var randomness = SystemRandomNumberGenerator()

    /// - Parameter showsHistory: prints the messages that the session has kept, too.
    init(session: Session, alias: String?, showsHistory: Bool) {
        self.session = session
        component.channel = session
        component.setSenderId(session.connectionId?.rawValue, alias: alias)
        if showsHistory, session.hasHistory { held = [] } else { silentThrough = session.claim?.seq }
        epoch = session.epoch
    }

    /// Whether users read and write at a terminal; without a pipe on either side.
    nonisolated static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Runs until the input or the connection ends.
    ///
    /// - Returns: the exit code after a failure.
    func run(events: AsyncStream<SessionEvent>, lines: AsyncStream<String>) async -> ExitCode? {
        if isTerminal { say(PresenceText(of: session).arrival) }
        component.onActivity = { [weak self] activity in
            switch activity {
            case .historyRead(let changes): self?.printHistory(changes)
            case .historyChanged: if self?.component.historyError != nil { self?.printHistory([]) }
            case .restrictionChanged: if let self { say(component.restriction.news) }
            default: break
            }
        }
        component.advance(to: .now)
        component.readHistory()
        let reading = Task { await self.send(lines) }
        for await event in events { if !handle(event) { break } }
        reading.cancel()
        printHistory([])
        return outcome
    }

    /// Sends each line after the acknowledgement of the line before it, so that lines keep their order and every
    /// failure is reported.
    private func send(_ lines: AsyncStream<String>) async {
        for await line in lines {
            guard let line = await message(line) else { continue }
            guard component.edit(line).isAccepted else {
                fail("not sent: the line is longer than \(component.maxLength) characters")
                continue
            }
            let localID = LocalID(using: &randomness)
            switch await send(localID) {
            case .sent, .discarded, .stillSending: break
            case .heldBack: component.passFailed()
            case .failed(let failure):
                fail("not sent: \(failure.reason)")
                // There is no way to retry here; continue with the next line.
                component.discard(localID)
            case .refused(let refusal):
                component.reply(to: nil)
                if let reason = refusal.reason { fail(reason) }
            }
        }
        await session.disconnect()
    }

    /// Sends the draft. A pipe is faster than the rate of a session: what the rate refuses waits, and is sent again.
    private func send(_ localID: LocalID) async -> SendResult {
        var result = await component.send(now: .now, localID: localID)
        var wait = Self.shortestWait
        while case .failed(.error(let error)) = result, error.code == .rateLimited, !Task.isCancelled {
            try? await Task.sleep(for: error.retryAfter ?? wait)
            wait = min(wait * 2, Self.longestWait)
            result = await component.retry(localID)
        }
        return result
    }

    private static let shortestWait = Duration.milliseconds(20)
    private static let longestWait = Duration.seconds(1)

    /// The message of a line; `nil` for a command. A pipe has no commands: each of its lines is a message.
    private func message(_ line: String) async -> String? {
        let entry = isTerminal ? ChatEntry(line) : .message(line)
        switch entry {
        case .message(let text): return text
        case .reply(let text):
            guard let complaint = component.replyToLast(text) else { return text }
            say(complaint)
        case .edit, .delete, .react:
            if let complaint = await component.change(entry) { say(complaint) }
            // The answer may come before the event.
            showChanged(component.rows.map { .update($0, at: 0) })
        case .help: ChatEntry.helpLines.forEach(say)
        case .who: say(PresenceText(of: session).list)
        case .unknown(let command): say(ChatEntry.unknownText(command))
        }
        return nil
    }

    /// - Returns: whether more events can follow.
    private func handle(_ event: SessionEvent) -> Bool {
        for each in event.channelEvents(connectionId: session.connectionId) {
            let changes = component.handle(each, now: .now)
            let new = messages(in: changes)
            if held == nil { new.forEach(show) } else { held?.append(contentsOf: new) }
            showChanged(changes)
        }
        showReceipt()
        switch TerminalNews(event, in: session) {
        case .nothing: break
        case .presence(let text): if isTerminal { say(text) }
        case .lost: say("the connection is lost; trying to come back")
        case .back(let text):
            noteConnection()
            say(text)
        case .left: return false
        case .ended(let reason):
            fail(reason)
            return false
        }
        return true
    }

    /// The session may have begun a new order, in which seqs begin anew or go on higher (HIS-3).
    private func noteConnection() {
        component.setSenderId(session.connectionId?.rawValue, alias: component.senderAlias)
        if session.epoch != epoch, let seq = session.claim?.seq, let through = silentThrough, seq < through {
            silentThrough = Seq(0)
        }
        epoch = session.epoch
    }

    /// Messages of others, of the user's other connections, and of the session's history.
    private func messages(in changes: [TimelineChange]) -> [ChatMessage] {
        changes.compactMap { if case .insert(let row, _) = $0 { row.message?.message } else { nil } }.filter(isNew)
    }

    /// Shows a page of the history, and what has arrived meanwhile.
    private func printHistory(_ changes: [TimelineChange]) {
        messages(in: changes).forEach(show)
        held?.forEach(show)
        held = nil
        showChanged(changes)
    }

    /// Shows the messages that have changed since they were printed once more. One that is not printed yet changes there.
    private func showChanged(_ changes: [TimelineChange]) {
        let news = forms.news(in: changes)
        if news.deletedCount > 0 { say("\(news.deletedCount) messages were deleted") }
        if isTerminal {
            for message in news.reacted { say(MessageText(names: component.names).reactions(to: message)) }
        }
        for message in news.messages {
            guard let index = held?.firstIndex(where: { $0.seq == message.seq }) else {
                show(message)
                continue
            }
            held?[index] = message
        }
    }

    private func showReceipt() {
        let receipt = MessageText.receipt(component.receipt)
        guard isTerminal, receipt != self.receipt else { return }
        self.receipt = receipt
        if !receipt.isEmpty { say(receipt) }
    }

    private func isNew(_ message: ChatMessage) -> Bool {
        guard let silentThrough, let seq = message.seq else { return true }
        return seq > silentThrough
    }

    private func show(_ message: ChatMessage) {
        let time = isTerminal ? TerminalCalendar.time(message.receivedAt ?? .now) + " " : ""
        let text = MessageText(names: component.names)
        let quote = text.quote(component.quote(of: message)).map { "[\($0)] " } ?? ""
        StandardOutput.print(
            "\(time)\(Printable.name(message, in: component.names)): \(quote)\(text.text(of: message))")
    }

    private func say(_ text: String) { StandardOutput.print("-- \(text)") }

    private func fail(_ text: String) {
        StandardError.print("signalbox: \(text)")
        outcome = ExitCode(ExitStatus.failed)
    }
}
