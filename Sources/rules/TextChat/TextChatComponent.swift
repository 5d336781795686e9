import SignalingProtocol

/// A text chat without a screen: the rows, the draft, what is unread, and the sending of messages (after OpenTok's
/// `OTKTextChatComponent`).
///
/// With a ``channel`` the component itself sends, one message at a time, and follows each until the session has it.
/// Without one it asks its ``delegate`` to send. Pass the events of the channel to ``handle(_:now:isolation:)``.
///
/// It is not `Sendable` and belongs to one actor: it sends on the actor on which you call
/// ``enqueue(now:localID:isolation:)``, ``send(now:localID:isolation:)`` or ``retry(_:isolation:)``, and does not keep
/// that actor alive. From then on call it on that actor only: a call from elsewhere stops the program. Without a
/// channel it may belong to a thread instead.
///
/// If the channel's session keeps a history, the component reads the newest page once it is connected, what it has missed
/// after an absence, and with ``loadEarlier(isolation:)`` what was before. It waits for pages on the actor on which you
/// call ``handle(_:now:isolation:)``.
public final class TextChatComponent {
    /// The channel that sends messages; nil: the delegate sends them. After a change, messages that still wait are sent
    /// through the next channel.
    public var channel: (any SignalChannel)? {
        get { rules.channel }
        set { carryOut(rules.setChannel(newValue)) }
    }
    public weak var delegate: (any TextChatDelegate)?

    /// The form in which messages are written. Both forms are always read.
    public var wireForm: ChatWireForm {
        get { rules.wireForm }
        set { rules.wireForm = newValue }
    }

    /// The sender ID of the user's own messages; nil until ``setSenderId(_:alias:)``.
    public var senderID: String? { rules.senderID }
    public var senderAlias: String? { rules.senderAlias }

    /// Typing: which others type, and the signals about this user. It rests until it has a clock; see ``ChatTyping``.
    public let typing: ChatTyping

    /// Called after the component's state has changed, with the event. ``updateStream()`` has the changes of the rows.
    public var onActivity: ((ChatActivity) -> Void)?

    /// Why the outbox could not be stored; nil after a success, and without an outbox. Messages are then shown and kept
    /// in memory only, and none is sent: without its mark in the outbox it could be sent twice.
    public internal(set) var outboxError: String?

    var rules: ChatRules
    var storage: (any OutboxStorage)?
    /// The component's actor, as soon as a call has named it. Weak, because the actor may own the component.
    weak var actor: (any Actor)?
    var waiters = Waiters()
    /// By the requests that toggled reactions wait for.
    var reactionEnds: [Int: ChangeEnd] = [:]
    var updates = ChatUpdateStreams()
    /// What the updates and ``onActivity`` have told last.
    var toldHistory = HistoryState()
    var toldUnreadCount = 0

    public init(
        composer: Composer = Composer(), timeline: ChatTimeline = ChatTimeline(), wireForm: ChatWireForm = .json,
        typing: TypingPolicy = .standard
    ) {
        self.typing = ChatTyping(policy: typing)
        rules = ChatRules(composer: composer, timeline: timeline, wireForm: wireForm)
        self.typing.onReminder = { [weak self] in self?.proceed() }
    }

    deinit { updates.finish() }

    // MARK: Reading

    public var composer: Composer { rules.composer }
    public var timeline: ChatTimeline { rules.timeline }
    /// The names of the senders, for the rows (CHAT-4). The component notes who is here, and who has written.
    public var names: NameBook { rules.names }

    /// The rows, from the top. ``updateStream()`` reports how they change.
    public var rows: [TimelineRow] { timeline.rows }
    public var messages: [ChatMessage] { timeline.messages }
    /// How many messages are unread. With read markers these are the messages of others above the user's own, which
    /// the user's other devices move, too; as far as they are not loaded, at most 100 of them count.
    public var unreadCount: Int { rules.unreadCount }

    /// The text that the user is writing.
    public var draft: String { composer.text }
    /// How much more text fits; see ``Composer/remaining``.
    public var remaining: Int { composer.remaining }

    /// The longest text that can be written; see ``Composer/maxLength``.
    public var maxLength: Int {
        get { composer.maxLength }
        set {
            rules.composer.maxLength = newValue
            tellDraft()
        }
    }

    /// The present rows, unread count and draft, then each change. Each stream gets every update. A stream that is not
    /// read ends with `overflowed` after about 1000 updates; every stream ends with the component.
    public func updateStream() -> AsyncStream<ChatUpdate> {
        updates.add(first: [
            .rows(rows), .unreadCount(unreadCount), .draft(draft, remaining: remaining),
        ])
    }

    // MARK: Writing

    /// Sets the sender of the user's own messages: usually the connection ID, and a name to show. Messages that were
    /// sent stay as they are.
    public func setSenderId(_ id: String?, alias: String?) {
        (rules.senderID, rules.senderAlias) = (id, alias)
    }

    /// Handles an edit of the draft by the user. If the text is too long, it is refused as a whole, and nothing
    /// changes.
    @discardableResult
    public func edit(_ newText: String) -> EditResult { changeDraft(to: newText, isByUser: true) }

    /// Changes the draft for the program, as ``edit(_:)`` does. The user does not count as typing.
    @discardableResult
    public func setDraft(_ newText: String) -> EditResult { changeDraft(to: newText, isByUser: false) }

    private func changeDraft(to newText: String, isByUser: Bool) -> EditResult {
        let before = draft
        let result = rules.composer.edit(newText)
        guard result.isAccepted, before != draft else { return result }
        carryOut(
            ChatOutcome(
                typing: rules.note() + [isByUser ? .draftEdited(draft) : .draftSet(draft)], hasNewDraft: true,
                activity: isByUser ? .draftEdited(draft) : nil))
        return result
    }

    // MARK: Receiving

    /// Handles an event of the channel, the component's only source of information about it.
    ///
    /// A signal or a message of the history is the user's own if the server's stamp names the channel's user, this
    /// component's connection, present or past, or the ID given to ``setSenderId(_:alias:)``. The sender in the data does
    /// not count: a message with another's name or local ID is shown as coming from the sender that the server names
    /// (CHAT-4). The actor of the component, in `isolation`, waits for pages of the history.
    ///
    /// - Returns: the changes of the rows, which ``updateStream()`` reports as well.
    @discardableResult
    public func handle(
        _ event: SignalChannelEvent, now: WallTime, isolation: isolated (any Actor)? = #isolation
    ) -> [TimelineChange] {
        if let isolation { actor = isolation }
        noteRestriction(now)
        return carryOut(rules.handle(event, now: now))
    }

    /// Adds a message as received, whatever sender it names, dated `now` if it has no date. Always returns true, as
    /// OpenTok's does: neither length nor origin is checked, and a second message with the same local ID is shown, too.
    @discardableResult
    public func addMessage(_ message: ChatMessage, now: WallTime) -> Bool {
        var message = message
        message.direction = .received
        message.localID = nil
        message.seq = nil
        rules.names.note(message)
        carryOut(ChatOutcome(changes: rules.timeline.insert(message, now: now)))
        return true
    }

    // MARK: The history

    /// Whether the history has messages before those that are shown, and the chat has room for them. Nil: not known, as
    /// without a history.
    public var hasEarlier: Bool? { rules.history.hasEarlier }

    public var isLoadingEarlier: Bool { rules.history.isLoading }

    /// Why the history could not be read; nil after a success.
    public var historyError: SignalingError? { rules.history.error }

    /// Loads one more page before the oldest message. Two calls at once are one. ``ChatActivity/historyChanged`` tells
    /// when it has come, or why not (``historyError``); then you may call it again.
    ///
    /// - Returns: whether a page will come.
    @discardableResult
    public func loadEarlier(isolation: isolated (any Actor)? = #isolation) -> Bool {
        if let isolation { actor = isolation }
        guard hasEarlier != false, rules.reader.loadEarlier() else { return false }
        proceed()
        return true
    }

    /// Reads the history of a channel that was connected already when the component got it: call it once after you have
    /// set the ``channel``. After that, ``handle(_:now:isolation:)`` reads what is due.
    public func readHistory(isolation: isolated (any Actor)? = #isolation) {
        if let isolation { actor = isolation }
        carryOut(ChatOutcome(typing: rules.note()))
    }

    // MARK: Restrictions

    /// What keeps the user from writing, as of the last call that had a time; nil: nothing (MOD-4, MOD-5). Show it at the
    /// field, which is read-only meanwhile: the draft stays, and no typing is sent.
    /// ``ChatActivity/restrictionChanged`` tells when it changes; see ``advance(to:)``.
    public var restriction: Restriction? { rules.restriction }

    /// Handles the end of a ``restriction``, which comes without an event. `runTyping` of `TextChatFoundation` calls it
    /// in time. Without that, call it at ``nextRestrictionCheck(after:)``.
    public func advance(to now: WallTime) { noteRestriction(now) }

    /// When to call ``advance(to:)``; nil: the restriction holds until it is lifted, or there is none.
    public func nextRestrictionCheck(after now: WallTime) -> WallTime? {
        // This machine's clock may be ahead of the server's, which says when the restriction ends.
        restriction?.until.map { max($0, WallTime(milliseconds: now.milliseconds + 1000)) }
    }

    // MARK: Unread messages

    /// Whether the chat is visible to the user. Messages that arrive meanwhile are not unread. When it becomes
    /// invisible, the user has finished typing. Default false.
    public var isVisible: Bool {
        get { timeline.isVisible }
        set {
            if isVisible, !newValue { typing.leave() }
            rules.timeline.isVisible = newValue
        }
    }

    /// Marks this message and all before it as read; nil: all. A message stays read.
    ///
    /// If the session has read markers, the user's other devices learn of it, and perhaps the other users. Markers need
    /// the clock of ``typing``. They are sent at most once a second, and once more after a connect that has missed one.
    @discardableResult
    public func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] {
        carryOut(ChatOutcome(changes: rules.markRead(upTo: id)))
    }

    /// Who has read the user's last message that some other user has read; nil: nobody, or the session does not tell. A
    /// change is reported as an update of its row.
    public var receipt: ChatReceipt? {
        rules.receipt.map { ChatReceipt(id: $0.id, users: names.named($0.users)) }
    }

    // MARK: After a restart

    /// The user's own connections, the newest last: save them with the messages, and restore them.
    public var ownConnectionIDs: [ConnectionID] { rules.echoes.ownConnections }

    /// Restores the messages and the draft of an earlier run into a new component. A message that was being sent has
    /// failed; it waits for ``retry(_:isolation:)`` or ``discard(_:)`` and holds back nothing. A draft that is now too
    /// long is kept, and cannot be sent. By the `ownConnectionIDs` the component recognizes the user's own messages in the
    /// history.
    public func restore(
        messages: [ChatMessage], draft: String, ownConnectionIDs: [ConnectionID] = [], now: WallTime
    ) {
        carryOut(rules.restore(messages, draft: draft, ownConnectionIDs: ownConnectionIDs, now: now))
    }
}
