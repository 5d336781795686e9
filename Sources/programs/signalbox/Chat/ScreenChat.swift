import ArgumentParser
import CommandSupport
import Glibc
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatRunning
import UnixSignals

/// A chat on a terminal with cursor control: messages in groups, the user's line at the foot, and below it the users
/// who are typing.
@MainActor
final class ScreenChat {
    private let session: Session
    private let component: TextChatComponent
    private let colors = TerminalColors()
    private var keys = KeyReader()
    private var line = LineEditor()
    private var history = InputHistory()
    /// How much the line is too long. The component then has the last text that fits.
    private var excess = 0
    private var screen = TerminalScreen(columns: RawTerminal.columns)
    private var isReconnecting = false
    /// No message can be that long. The bound is for pasted files.
    private static let lineByteCount = 131_072

    private var outcome: ExitCode?
    /// Printed after the terminal is restored.
    private var complaint: String?
    private var randomness = SystemRandomNumberGenerator()
    private var forms = ShownForms()
    /// The sender of the last message, unless another line follows it.
    private var lastSender: (ChatMessage.Direction, ChatAuthor?)?

    init(session: Session, alias: String?, isTypingShown: Bool) {
        self.session = session
        component = TextChatComponent(
            composer: Composer(unit: .utf16), timeline: ChatTimeline(calendar: TerminalCalendar(), limit: 1000))
        component.isVisible = true
        component.channel = session
        component.setSenderId(session.connectionId?.rawValue, alias: alias)
        component.typing.isOptedOut = !isTypingShown
        component.runTyping()
    }

    /// Runs until the input or the connection ends.
    ///
    /// - Returns: the exit code after a failure.
    func run(events: AsyncStream<SessionEvent>) async -> ExitCode? {
        // Before the first line is shown: a user who has seen it may change the window's size.
        let resizes = await UnixSignalsSequence(trapping: .sigwinch)
        RawTerminal.begin()
        RawTerminal.write(screen.print([colors.notice("-- " + PresenceText(of: session).arrival)]))
        let tasks = [
            Task {
                for await bytes in RawTerminal.input() { if !type(bytes) { break } }
                // A message is on the screen before it is sent, and leaving must not overtake it.
                for sending in sendings.values { await sending.value }
                await session.disconnect()
            },
            Task {
                for await _ in resizes {
                    RawTerminal.write(screen.resize(to: RawTerminal.columns))
                }
            },
            Task { [stream = component.typing.snapshotStream()] in for await _ in stream { showStatus() } },
        ]
        component.onActivity = { [weak self] activity in
            switch activity {
            case .historyRead(let changes):
                self?.show(changes)
                // The user sees them.
                self?.component.markRead()
            case .restrictionChanged: self?.showRestriction()
            default: break
            }
        }
        component.advance(to: .now)
        component.readHistory()
        for await event in events { if !handle(event) { break } }
        for task in tasks { task.cancel() }
        component.typing.stop()
        RawTerminal.end()
        if let complaint { StandardError.print("signalbox: \(complaint)") }
        return outcome
    }

    /// The messages whose outcome is not known yet.
    private var sendings: [LocalID: Task<Void, Never>] = [:]

    // MARK: Keys

    /// - Returns: whether more input can follow.
    private func type(_ bytes: [UInt8]) -> Bool {
        for key in keys.keys(in: bytes) {
            switch key {
            case .enter: enter()
            case .up: if let older = history.older(than: line.text) { replace(older) }
            case .down: if let newer = history.newer() { replace(newer) }
            case .redraw: RawTerminal.write(screen.resize(to: RawTerminal.columns))
            case .endOfInput: if line.characters.isEmpty { return false }
            case .text, .backspace, .delete, .left, .right, .home, .end, .clear, .eraseToEnd, .eraseWord: edit(key)
            }
        }
        return true
    }

    private func edit(_ key: LineEditor.Key) {
        var next = line
        next.apply(key)
        guard next.text.utf8.count <= Self.lineByteCount else { return RawTerminal.write("\u{7}") }
        show(next)
    }

    private func replace(_ text: String) {
        var next = LineEditor()
        next.replace(text)
        show(next)
    }

    /// Shows another line. One over the limit stays, marked, until the user shortens it.
    private func show(_ next: LineEditor) {
        line = next
        switch component.edit(Self.draft(of: line.text)) {
        case .accepted: excess = 0
        case .refused(let excess, _): self.excess = excess
        }
        RawTerminal.write(screen.show(line))
        showStatus()
    }

    /// The message in a line. Others do not see that the user types a command.
    private static func draft(of line: String) -> String {
        switch ChatEntry(line) {
        case .message(let text), .reply(let text): text
        case .help, .who, .edit, .delete, .react, .unknown: ""
        }
    }

    private func enter() {
        guard excess == 0 else { return RawTerminal.write("\u{7}") }
        let entry = ChatEntry(line.text)
        switch entry {
        case .message: return send()
        case .reply(let text):
            if let complaint = component.replyToLast(text) { return say(complaint) }
            return send()
        case .edit, .delete, .react:
            Task {
                // The last message may be on its way still: without its seq it would not be the one that is changed.
                for sending in sendings.values { await sending.value }
                if let complaint = await component.change(entry) { say(complaint) }
                // The answer may come before the event.
                show(component.rows.map { .update($0, at: 0) })
            }
        case .help: ChatEntry.helpLines.forEach(say)
        case .who: say(PresenceText(of: session).list)
        case .unknown(let command): return say(ChatEntry.unknownText(command))
        }
        history.add(line.text)
        show(LineEditor())
    }

    private func send() {
        let localID = LocalID(using: &randomness)
        if let refusal = component.enqueue(now: .now, localID: localID) {
            component.reply(to: nil)
            if let reason = refusal.reason { say(reason) }
            return
        }
        history.add(line.text)
        line = LineEditor()
        RawTerminal.write(screen.show(line))
        showOwn(localID)
        sendings[localID] = Task {
            defer { sendings[localID] = nil }
            guard case .failed(let failure) = await component.outcome(of: localID) else { return }
            say("not sent: \(failure.reason)")
            outcome = ExitCode(ExitStatus.failed)
            // There is no way to retry here; continue with the next line.
            component.discard(localID)
        }
    }

    /// Shows the user's new message, and a new day before it.
    private func showOwn(_ localID: LocalID) {
        let rows = component.rows
        guard let id = component.timeline.rowID(of: localID), let index = rows.lastIndex(where: { $0.id == id }) else {
            return
        }
        var changes = [TimelineChange.insert(rows[index], at: index)]
        if index > 0, case .day = rows[index - 1].content {
            changes.insert(.insert(rows[index - 1], at: index - 1), at: 0)
        }
        show(changes)
    }

    // MARK: Events

    /// - Returns: whether more events can follow.
    private func handle(_ event: SessionEvent) -> Bool {
        for event in event.channelEvents(connectionId: session.connectionId) {
            show(component.handle(event, now: .now))
        }
        switch TerminalNews(event, in: session) {
        case .nothing: break
        case .presence(let text): say(text)
        case .lost: isReconnecting = true
        case .back:
            isReconnecting = false
            component.setSenderId(session.connectionId?.rawValue, alias: component.senderAlias)
        case .left: return false
        case .ended(let reason):
            complaint = reason
            outcome = ExitCode(ExitStatus.failed)
            return false
        }
        showStatus()
        return true
    }

    // MARK: The screen

    private func say(_ text: String) {
        lastSender = nil
        RawTerminal.write(screen.print([colors.notice("-- \(Printable.text(text))")]))
    }

    private func showRestriction() {
        say(component.restriction.news)
        showStatus()
    }

    private func showStatus() {
        let status =
            if excess > 0 {
                "too long by \(excess) \(excess == 1 ? "character" : "characters"): shorten the line to send it"
            } else if isReconnecting {
                "the connection is lost; trying to come back…"
            } else if let restriction = component.restriction {
                "you cannot write: \(RestrictionText.text(restriction))"
            } else {
                TypingPhrase(of: component.typing.current, names: component.names).text()
            }
        let shown = status.isEmpty ? MessageText.receipt(component.receipt) : status
        RawTerminal.write(screen.show(status: Printable.phrase(shown)))
    }

    private func show(_ changes: [TimelineChange]) {
        var lines: [String] = []
        // In the order of the list: the component inserts a day after the message that it precedes.
        let inserted = Set(changes.compactMap { if case .insert(let row, _) = $0 { row.id } else { nil } })
        for row in inserted.isEmpty ? [] : component.rows where inserted.contains(row.id) {
            switch row.content {
            case .message(let message): lines += self.lines(of: message)
            case .day(let day):
                lines.append(colors.notice("-- \(day)"))
                lastSender = nil
            case .gap:
                lines.append(colors.notice("-- something may be missing here"))
                lastSender = nil
            case .beginning:
                lines.append(colors.notice("-- the beginning of the conversation"))
                lastSender = nil
            case .unreadDivider: break
            }
        }
        let news = forms.news(in: changes)
        for message in news.messages { lines += self.lines(ofChanged: message) }
        if news.deletedCount > 0 {
            lines.append(colors.notice("-- \(news.deletedCount) messages were deleted"))
            lastSender = nil
        }
        for message in news.reacted {
            lines.append(colors.notice("-- " + MessageText(names: component.names).reactions(to: message)))
            lastSender = nil
        }
        if !lines.isEmpty { RawTerminal.write(screen.print(lines)) }
    }

    /// What a message is now that was shown in another form.
    private func lines(ofChanged message: ChatMessage) -> [String] {
        lastSender = nil
        let (name, text) = (self.name(of: message), MessageText(names: component.names))
        return ["\(name) \(TerminalCalendar.time(message.receivedAt ?? .now))", "  " + text.text(of: message)]
    }

    private func name(of message: ChatMessage) -> String {
        if message.direction == .sent { return colors.ownName("You") }
        return colors.name(
            Printable.name(message, in: component.names), of: message.senderUser?.rawValue ?? message.senderID)
    }

    /// The lines of a message. Name and time are shown once for a group, and again after another line.
    private func lines(of row: MessageRow) -> [String] {
        let message = row.message
        let sender = (message.direction, message.direction == .sent ? nil : message.author)
        let isSameGroup = !row.position.isFirst && lastSender.map { $0 == sender } ?? false
        lastSender = sender
        let text = MessageText(names: component.names)
        let quote = text.quote(component.quote(of: message)).map { [colors.notice("  > \($0)")] } ?? []
        let body = quote + ["  " + text.text(of: message)]
        if isSameGroup { return body }
        return ["\(name(of: message)) \(TerminalCalendar.time(message.receivedAt ?? .now))"] + body
    }
}
