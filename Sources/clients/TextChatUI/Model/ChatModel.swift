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
    public internal(set) var status = ChatStatus.connecting
    /// What the user has to know of the connection, as a text; nil: nothing.
    public var statusSentence: String? { words.sentence(of: status, server: server) }
    /// The reader's day now: the name of a day separator depends on it.
    public internal(set) var today: LocalDay
    /// Who types, as a sentence; empty when nobody does.
    public private(set) var typing = ""
    public private(set) var hasEarlier = false
    public private(set) var isLoadingEarlier = false
    /// The ``NameBook/revision`` of the names: a view that shows names depends on it.
    public private(set) var nameRevision = 0
    /// What it means that there are no messages; nil: there are some, or nobody knows yet.
    public private(set) var emptyNote: ChatWord?
    /// What the user must know about the draft or the outbox; nil: nothing.
    public internal(set) var notice: ChatWord?
    /// Whether the draft has a text to send, and the user may send it.
    public private(set) var canSend = false
    /// Why the user cannot write, or was banned, and until when, as a text; empty when nothing is in the way. The field
    /// is read-only meanwhile, and keeps its text.
    public private(set) var restriction = ""
    /// Whether the user may moderate, so that ``actions(for:)`` has some.
    public private(set) var isModerator = false
    /// The text of the button that leads to new messages which the user does not see; nil: there are none.
    public private(set) var newMessages: String?
    /// Where the list has to go, once for each change of this value.
    public internal(set) var scrollRequest: Numbered<ScrollTarget>?
    /// The message that the user is editing; nil: none.
    public internal(set) var edit: MessageEdit?
    /// The row that the draft answers; nil: none.
    public private(set) var replyTarget: TimelineRow.ID?
    /// Who has read what the user has written; nil: nobody, or the session does not tell.
    public private(set) var receipt: ReadReceipt?
    /// What VoiceOver has to say, once for each change of this value.
    public private(set) var announcement: Numbered<String>?
    @ObservationIgnored var ban: Restriction?
    private var text = ""

    /// The chat itself, for everything that this model leaves out. Use it on the main actor.
    @ObservationIgnored public let chat: TextChatComponent
    /// The texts and dates of the chat.
    @ObservationIgnored public let words: ChatWords
    var server = ""
    @ObservationIgnored var plan = ConnectPlan()
    @ObservationIgnored let pause = ConnectPause()
    @ObservationIgnored let days: DayClock
    @ObservationIgnored var dayTask: Task<Void, Never>?
    @ObservationIgnored var readTask: Task<Void, Never>?
    @ObservationIgnored var presence = Presence()
    @ObservationIgnored var session: (any ModeratedSession)?

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

    /// A chat without a connection: the component asks its delegate to send.
    package convenience init(ofDelegate chat: TextChatComponent) {
        self.init(chat)
        plan.connected()
        show(plan.status)
    }

    deinit {
        dayTask?.cancel()
        readTask?.cancel()
    }

    /// The name to show over a message (CHAT-4).
    public func sender(of message: ChatMessage) -> String {
        // A view that asks is drawn again when a name turns out to be another's.
        _ = nameRevision
        return words.sender(of: message, in: chat.names)
    }

    /// The author of a message, for an avatar and a line over the message.
    public func person(of message: ChatMessage) -> ChatPerson {
        let name = sender(of: message)
        return ChatPerson(
            name: name, id: message.senderUser?.rawValue ?? message.senderID ?? name,
            isGuest: message.direction == .received && chat.names.isGuest(message),
            number: message.direction == .received ? chat.names.number(of: message) : nil)
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

    func handle(_ event: SignalChannelEvent) {
        switch event {
        case .connected, .reconnected: plan.connected()
        case .reconnecting: plan.reconnecting()
        case .signal, .history, .changed, .reactions, .reacted, .read, .erased, .connectionCreated,
            .connectionDestroyed, .restrictionsChanged, .lost, .disconnected:
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

    func show(_ status: ChatStatus) { if self.status != status { self.status = status } }

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

    private func show(_ newRows: [TimelineRow]) {
        let target = presence.scroll.change(from: rows, to: newRows)
        let text = words.announcement(from: rows, to: newRows, in: chat.names)
        rows = newRows
        if let target { scrollRequest = scrollRequest.next(target) }
        if let text, presence.isVisible, !presence.isInBackground { announcement = announcement.next(text) }
        noteReading()
    }

    private func show(_ snapshot: TypingSnapshot) {
        let phrase = TypingPhrase(of: snapshot, names: chat.names) { [words] in words(.guestNamed, ["name": .text($0)])
        }
        typing = words.sentence(of: phrase)
    }

    /// A session without a history may have had messages before (HIS-8).
    private var currentEmptyNote: ChatWord? {
        guard chat.rows.isEmpty, status == .connected, let channel = chat.channel else { return nil }
        if !channel.hasHistory { return .fromNowOn }
        return chat.hasEarlier == false ? .noMessages : nil
    }

    /// Copies what has changed: a view redraws for each assignment.
    func refresh() {
        // The computer may have slept over midnight.
        noteDay(.now)
        if nameRevision != chat.names.revision { nameRevision = chat.names.revision }
        let newRows = chat.rows
        if rows != newRows { show(newRows) }
        if unreadCount != chat.unreadCount { unreadCount = chat.unreadCount }
        if hasEarlier != (chat.hasEarlier == true) { hasEarlier = chat.hasEarlier == true }
        if isLoadingEarlier != chat.isLoadingEarlier { isLoadingEarlier = chat.isLoadingEarlier }
        let newMessages =
            unreadCount > 0 && !presence.scroll.followsEnd ? words(.newMessages, count: unreadCount) : nil
        if self.newMessages != newMessages { self.newMessages = newMessages }
        let isModerator = session?.capabilities.forceDisconnect ?? false
        if self.isModerator != isModerator { self.isModerator = isModerator }
        if emptyNote != currentEmptyNote { emptyNote = currentEmptyNote }
        if replyTarget != chat.replyTarget { replyTarget = chat.replyTarget }
        let receipt = currentReceipt
        if self.receipt != receipt { self.receipt = receipt }
        noteEdit()
        noteUnread()
        let canSend = text == chat.draft && chat.canSend
        if self.canSend != canSend { self.canSend = canSend }
        let restriction = (ban ?? chat.restriction).map { words.sentence(of: $0, now: .now) } ?? ""
        if self.restriction != restriction { self.restriction = restriction }
    }
}
