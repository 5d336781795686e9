import Foundation
import Observation
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatFoundation

/// A chat for a view: the state of a `TextChatComponent` on the main actor, observed by SwiftUI.
///
/// ```swift
/// let model = ChatModel(outbox: file, room: sessionId)
/// ChatView(model: model).task { await model.run(session, token: fetchToken) }
/// ```
///
/// It needs no view: a program without SwiftUI can observe it, too.
@MainActor
@Observable
public final class ChatModel {
    public private(set) var rows: [TimelineRow] = []
    public private(set) var unreadCount = 0
    public private(set) var status = ChatStatus.connecting
    /// What the user has to know of the connection, as a text; nil: nothing.
    public var statusSentence: String? { words.sentence(of: status, server: server) }
    /// The reader's day now: the name of a day separator depends on it.
    public private(set) var today: LocalDay
    /// Who types, as a sentence; empty when nobody does.
    public private(set) var typing = ""
    public private(set) var hasEarlier = false
    public private(set) var isLoadingEarlier = false
    /// The ``NameBook/revision`` of the names: a view that shows names depends on it.
    public private(set) var nameRevision = 0
    /// What it means that there are no messages; nil: there are some, or nobody knows yet.
    public private(set) var emptyNote: ChatWord?
    /// What the user must know about the draft or the outbox; nil: nothing.
    public private(set) var notice: ChatWord?
    /// Whether the draft has a text to send, and the user may send it.
    public private(set) var canSend = false
    /// Why the user cannot write, or was banned, and until when, as a text; empty when nothing is in the way. The field
    /// is read-only meanwhile, and keeps its text.
    public private(set) var restriction = ""
    @ObservationIgnored private var ban: Restriction?
    private var text = ""

    /// The chat itself, for everything that this model leaves out. Use it on the main actor.
    @ObservationIgnored public let chat: TextChatComponent
    /// The texts and dates of the chat.
    @ObservationIgnored public let words: ChatWords
    private var server = ""
    @ObservationIgnored private let days: DayClock
    @ObservationIgnored private var dayTask: Task<Void, Never>?
    @ObservationIgnored private var plan = ConnectPlan()

    /// - Parameters:
    ///   - chat: a component that no other code has used; nil: one with separators of days. Give your own timeline a
    ///     `ReaderCalendar` for them.
    ///   - outbox: a file for messages that have not been sent, in a folder that exists; nil: the user can write only
    ///     while there is a connection.
    ///   - room: names the room, such as its session ID.
    ///   - words: the texts and dates of the chat; the default are those of the app's language.
    public init(
        _ chat: TextChatComponent? = nil, outbox: URL? = nil, room: String = "", words: ChatWords = ChatWords()
    ) {
        let calendar = ReaderCalendar(timeZone: words.timeZone)
        self.chat = chat ?? TextChatComponent(timeline: ChatTimeline(calendar: calendar))
        self.words = words
        days = DayClock(timeZone: words.timeZone)
        today = days.day(at: .now)
        if let outbox { open(FileOutbox(url: outbox), room: room) }
        followUpdates()
        let typers = self.chat.typing.snapshotStream()
        Task { [weak self] in for await snapshot in typers { self?.show(snapshot) } }
        self.chat.onActivity = { [weak self] _ in self?.refresh() }
        refresh()
    }

    deinit { dayTask?.cancel() }

    /// The name to show over a message (CHAT-4).
    public func sender(of message: ChatMessage) -> String {
        // A view that asks is drawn again when a name turns out to be another's.
        _ = nameRevision
        return words.sender(of: message, in: chat.names)
    }

    /// The text of a row between messages; nil for a message.
    public func text(of row: TimelineRow) -> String? {
        switch row.content {
        case .message: nil
        case .day(let day): words.text(of: day, today: today)
        case .unreadDivider: words(.newMessagesBelow)
        case .gap: words(.gap)
        case .beginning: words(.beginning)
        }
    }

    /// What VoiceOver says of a message.
    public func spoken(_ message: ChatMessage) -> String {
        _ = nameRevision
        return words.spoken(message, in: chat.names)
    }

    // MARK: The user

    /// The text that the user is writing, for a text field.
    public var draft: String {
        get { text }
        set {
            // A text that is too long stays in the field until the user shortens it.
            text = newValue
            notice = chat.edit(newValue).isAccepted ? nil : .tooLarge
            refresh()
        }
    }

    /// Sends the draft. If it cannot be sent it stays, and ``notice`` says why.
    public func send() {
        guard text == chat.draft else { return }
        var randomness = SystemRandomNumberGenerator()
        switch chat.enqueue(now: .now, localID: LocalID(using: &randomness)) {
        case nil:
            text = ""
            notice = nil
        case .tooLong, .signalTooLong: notice = .tooLarge
        case .tooManyWaiting: notice = .tooManyWaiting
        case .blank, .notConnected, .restricted, .localIDTaken, .byDelegate, .cancelled: break
        }
        refresh()
    }

    /// Sends a failed message again.
    public func retry(_ message: ChatMessage) {
        guard let localID = message.localID else { return }
        Task { [weak self] in
            _ = await self?.chat.retry(localID)
            self?.refresh()
        }
    }

    public func discard(_ message: ChatMessage) {
        if let localID = message.localID { chat.discard(localID) }
        refresh()
    }

    /// Loads the page before the oldest message.
    public func loadEarlier() {
        chat.loadEarlier()
        refresh()
    }

    /// Whether the user sees the chat. Messages that arrive meanwhile are read.
    public var isVisible: Bool {
        get { chat.isVisible }
        set {
            chat.isVisible = newValue
            if newValue { chat.markRead() }
            refresh()
            watchDays()
        }
    }

    /// Names the days anew at each midnight while the user sees the chat.
    private func watchDays() {
        dayTask?.cancel()
        dayTask = nil
        guard isVisible else { return }
        dayTask = Task { [weak self] in
            while !Task.isCancelled, let wait = self?.noteDay(.now) { try? await Task.sleep(for: wait) }
        }
    }

    /// Returns when to look again.
    @discardableResult
    func noteDay(_ now: WallTime) -> Duration {
        let day = days.day(at: now)
        if today != day { today = day }
        return days.wait(at: now)
    }

    // MARK: The connection

    /// Connects, and keeps the chat connected until the task is cancelled, which leaves the session. It returns earlier
    /// if only the user can change something: ``status`` says what.
    ///
    /// - Parameter token: returns a new token, for each connect; your backend has it. If it throws, the chat tries
    ///   again after a while. A function without an actor will do.
    public func run(_ session: Session, token: @MainActor () async throws -> String) async {
        server = URLComponents(string: session.server)?.host ?? session.server
        chat.channel = session
        chat.runTyping()
        while !Task.isCancelled {
            plan.begin()
            ban = nil
            show(plan.status)
            let events = session.events
            let step: ConnectPlan.Step
            do {
                try await session.connect(token: try await token(), replacing: chat.formerConnection)
                let end = await follow(session, events)
                ban = end.ban
                step = plan.ended(end.reason, isBanned: ban != nil)
            } catch {
                let error = error as? SignalingError
                ban = error?.restriction
                step = plan.failed(error)
            }
            show(plan.status)
            refresh()
            switch step {
            case .stop: return
            case .tryAgain(let wait): try? await Task.sleep(for: wait)
            }
        }
        await session.disconnect()
    }

    /// Passes on the events of a connection until it ends.
    private func follow(
        _ session: Session, _ events: AsyncStream<SessionEvent>
    ) async -> (reason: DisconnectReason, ban: Restriction?) {
        chat.setSenderId(
            session.connectionId?.rawValue, alias: session.connection.flatMap { DisplayName.read(from: $0.data) })
        if let connection = session.connectionId { handle(.connected(connection)) }
        for await event in events {
            for each in event.channelEvents(connectionId: session.connectionId) { handle(each) }
            if case .disconnected(let reason, let ban) = event { return (reason, ban) }
        }
        // The task is cancelled, or the stream has overflowed. The chat reads what it has missed after the next connect.
        await session.disconnect()
        return (Task.isCancelled ? .clientDisconnected : .networkDisconnected, nil)
    }

    func handle(_ event: SignalChannelEvent) {
        switch event {
        case .connected, .reconnected: plan.connected()
        case .reconnecting: plan.reconnecting()
        case .signal, .history, .erased, .connectionCreated, .connectionDestroyed, .restrictionsChanged, .lost,
            .disconnected:
            break
        }
        chat.handle(event, now: .now)
        show(plan.status)
        refresh()
    }

    // MARK: What is shown

    private func open(_ outbox: FileOutbox, room: String) {
        do {
            switch try chat.openOutbox(outbox, room: room, now: .now) {
            case .opened: break
            case .setAside: notice = .damaged
            }
        } catch {
            notice = .damaged
        }
    }

    private func show(_ status: ChatStatus) { if self.status != status { self.status = status } }

    /// The stream ends with the component, and its task does not keep the model alive.
    private func followUpdates() {
        let updates = chat.updateStream()
        Task { [weak self] in for await update in updates { self?.show(update) } }
    }

    private func show(_ update: ChatUpdate) {
        switch update {
        case .rows, .changes, .unreadCount, .draft: refresh()
        case .overflowed: followUpdates()
        }
    }

    private func show(_ snapshot: TypingSnapshot) {
        typing = words.sentence(of: TypingPhrase(of: snapshot, names: chat.names))
    }

    /// A session without a history may have had messages before (HIS-8).
    private var currentEmptyNote: ChatWord? {
        guard chat.rows.isEmpty, status == .connected, let channel = chat.channel else { return nil }
        if !channel.hasHistory { return .fromNowOn }
        return chat.hasEarlier == false ? .noMessages : nil
    }

    /// Copies what has changed: a view redraws for each assignment.
    private func refresh() {
        // The computer may have slept over midnight.
        noteDay(.now)
        if nameRevision != chat.names.revision { nameRevision = chat.names.revision }
        if rows != chat.rows { rows = chat.rows }
        if unreadCount != chat.unreadCount { unreadCount = chat.unreadCount }
        if hasEarlier != (chat.hasEarlier == true) { hasEarlier = chat.hasEarlier == true }
        if isLoadingEarlier != chat.isLoadingEarlier { isLoadingEarlier = chat.isLoadingEarlier }
        if emptyNote != currentEmptyNote { emptyNote = currentEmptyNote }
        let canSend = text == chat.draft && chat.canSend
        if self.canSend != canSend { self.canSend = canSend }
        let restriction = (ban ?? chat.restriction).map { words.sentence(of: $0, now: .now) } ?? ""
        if self.restriction != restriction { self.restriction = restriction }
    }
}
