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
        didSet {
            endedConnection = nil
            // What the former channel reported says nothing of this one.
            isReconnecting = false
            sending.queue.isPaused = false
            reader.disconnected()
            namedConnection = nil
            stopInquiry()
            if channel == nil {
                typing.handle(.disconnected)
            } else {
                noteConnection()
                startNext()
            }
        }
    }
    public weak var delegate: (any TextChatDelegate)?

    /// The form in which messages are written. Both forms are always read.
    public var wireForm: ChatWireForm

    public internal(set) var composer: Composer
    public internal(set) var timeline: ChatTimeline

    /// The sender ID of the user's own messages; nil until ``setSenderId(_:alias:)``.
    public private(set) var senderID: String?
    public private(set) var senderAlias: String?

    /// The names of the senders, for the rows (CHAT-4). The component notes who is here, and who has written.
    public internal(set) var names = NameBook()

    /// Typing: which others type, and the signals about this user. It rests until it has a clock; see ``ChatTyping``.
    public let typing: ChatTyping

    /// Called after the component's state has changed, with the event. ``updateStream()`` has the changes of the rows.
    public var onActivity: ((ChatActivity) -> Void)?

    /// What keeps the user from writing, as of the last call that had a time; nil: nothing. Show it at the field, which
    /// is read-only meanwhile. ``ChatActivity/restrictionChanged`` tells when it changes; see ``advance(to:)``.
    public internal(set) var restriction: Restriction?

    var reader = HistoryReader()
    /// What ``ChatActivity/historyChanged`` has told last.
    var toldHistory = HistoryState()
    var sending = SendingState()
    var echoes = EchoBook()
    var outbox: OutboxState?
    /// `disconnected` was handled, and the channel has no other connection since.
    var hasEnded: Bool { endedConnection.map { $0 == channel?.connectionId } ?? false }
    /// The connection that was over at the last `disconnected`. The channel may name it for a while.
    private var endedConnection: ConnectionID?
    /// `reconnecting` was handled, and no event since that settles it.
    private var isReconnecting = false
    /// The own connection whose peers are in the names.
    private var namedConnection: ConnectionID?
    private var updates = ChatUpdateStreams()
    private var lastUnreadCount = 0

    public init(
        composer: Composer = Composer(), timeline: ChatTimeline = ChatTimeline(), wireForm: ChatWireForm = .json,
        typing: TypingPolicy = .standard
    ) {
        self.typing = ChatTyping(policy: typing)
        self.composer = composer
        self.timeline = timeline
        self.wireForm = wireForm
    }

    deinit { updates.finish() }

    // MARK: Reading

    /// The rows, from the top. ``updateStream()`` reports how they change.
    public var rows: [TimelineRow] { timeline.rows }
    public var messages: [ChatMessage] { timeline.messages }
    public var unreadCount: Int { timeline.unreadCount }

    /// The text that the user is writing.
    public var draft: String { composer.text }
    /// How much more text fits; see ``Composer/remaining``.
    public var remaining: Int { composer.remaining }

    /// The longest text that can be written; see ``Composer/maxLength``.
    public var maxLength: Int {
        get { composer.maxLength }
        set {
            composer.maxLength = newValue
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
        senderID = id
        senderAlias = alias
    }

    /// Handles an edit of the draft by the user. If the text is too long, it is refused as a whole, and nothing
    /// changes.
    @discardableResult
    public func edit(_ newText: String) -> EditResult { changeDraft(to: newText, input: TypingInput.draftEdited) }

    /// Changes the draft for the program, as ``edit(_:)`` does. The user does not count as typing.
    @discardableResult
    public func setDraft(_ newText: String) -> EditResult { changeDraft(to: newText, input: TypingInput.draftSet) }

    private func changeDraft(to newText: String, input: (String) -> TypingInput) -> EditResult {
        let before = draft
        let result = composer.edit(newText)
        guard result.isAccepted, before != draft else { return result }
        noteConnection()
        let change = input(draft)
        typing.handle(change)
        tellDraft()
        if case .draftEdited(let text) = change { onActivity?(.draftEdited(text)) }
        return result
    }

    // MARK: Receiving

    /// Handles an event of the channel, the component's only source of information about it.
    ///
    /// A signal or a message of the history is the user's own if the server's stamp names the channel's user, this
    /// component's connection, present or past, or the ID given to ``setSenderId(_:alias:)``. The sender in the data does
    /// not count: a message with another's name or local ID is shown as coming from the sender that the server names
    /// (CHAT-4). The actor of
    /// the component, in `isolation`, waits for pages of the history.
    ///
    /// - Returns: the changes of the rows, which ``updateStream()`` reports as well.
    @discardableResult
    public func handle(
        _ event: SignalChannelEvent, now: WallTime, isolation: isolated (any Actor)? = #isolation
    ) -> [TimelineChange] {
        if let isolation { sending.actor = isolation }
        noteRestriction(now)
        switch event {
        case .signal(let signal):
            return receive(signal, now: now)
        case .lost:
            return tell(timeline.noteGap(after: reader.lost()))
        case .history(let page):
            return merge(reader.answerToConnect(page, knows: timeline.knows))
        case .erased(let erasure, let seq):
            reader.erased(erasure, seq: seq)
            let changes = tell(timeline.erase(erasure, seq: seq))
            onActivity?(.erased(erasure))
            return changes
        case .connected(let connection):
            enter(connection)
            endedConnection = nil
            isReconnecting = false
            sending.queue.isPaused = false
            typing.handle(.connected(connection, user: echoes.user))
            countMembers()
            onActivity?(.connected(connection))
            stopInquiry()
            inquire()
            startNext()
        case .reconnecting:
            isReconnecting = true
            sending.queue.isPaused = true
            reader.reconnecting()
            stopInquiry()
            typing.handle(.reconnecting)
            onActivity?(.reconnecting)
        case .reconnected:
            isReconnecting = false
            sending.queue.isPaused = false
            // Without a channel it is the connection that the program has reported.
            if let connection = channel?.connectionId ?? reader.connection {
                enter(connection)
                typing.handle(.connected(connection, user: echoes.user))
            }
            reader.reconnected()
            countMembers()
            onActivity?(.reconnected)
            renewClaim()
            inquire()
            startNext()
        case .disconnected:
            endedConnection = reader.connection ?? channel?.connectionId
            isReconnecting = false
            reader.disconnected()
            namedConnection = nil
            stopInquiry()
            let changes = failWaiting()
            typing.handle(.disconnected)
            onActivity?(.disconnected)
            return changes
        case .restrictionsChanged: break
        case .connectionCreated(let connection):
            names.note(connection)
            countMembers()
            onActivity?(.connectionCreated(connection))
        case .connectionDestroyed(let connection):
            names.noteDeparture(connection.connectionId)
            typing.handle(.connectionDestroyed(connection.connectionId))
            countMembers()
            onActivity?(.connectionDestroyed(connection))
            inquire()
        }
        readOn()
        return []
    }

    /// Adds a message as received, whatever sender it names, dated `now` if it has no date. Always returns true, as
    /// OpenTok's does: neither length nor origin is checked, and a second message with the same local ID is shown, too.
    @discardableResult
    public func addMessage(_ message: ChatMessage, now: WallTime) -> Bool {
        var message = message
        message.direction = .received
        message.localID = nil
        message.seq = nil
        names.note(message)
        tell(timeline.insert(message, now: now))
        return true
    }

    private func receive(_ signal: Signal, now: WallTime) -> [TimelineChange] {
        noteConnection()
        let isOwn = isOwn(signal.from)
        if let seq = signal.seq { reader.received(seq) }
        guard var message = ChatWireForm.message(from: signal, now: now) else {
            if let from = signal.from { names.note(sender: from) }
            if !isOwn { typing.receive(signal) }
            onActivity?(.otherSignal(signal))
            return []
        }
        names.note(message)
        if isOwn {
            message.direction = .sent
            let localID = message.localID ?? (isEcho(signal.from) ? echoes.settleBare(message.text) : nil)
            guard let localID, timeline.ownMessage(localID) != nil else {
                // The user's other tab sent it, or another part of this program as the same connection.
                return tell(timeline.insert(message, now: now))
            }
            return settle(localID, seq: message.seq)
        }
        let changes = tell(timeline.insert(message, now: now))
        if !changes.isEmpty {
            if let from = signal.from?.connectionId {
                typing.handle(.messageReceived(from: from, typingN: message.typingN))
            }
            onActivity?(.messageReceived(from: signal.from?.connectionId))
        }
        return changes
    }

    /// Handles a connection that the channel had before the component, or whose event is still to come.
    func noteConnection() {
        guard !hasEnded, let connection = channel?.connectionId else { return }
        if !isReconnecting || connection != reader.connection { enter(connection) }
        readOn()
        inquire()
        startNext()
        guard !isReconnecting, typing.connection != connection else { return }
        typing.handle(.connected(connection, user: echoes.user))
        countMembers()
    }

    /// The channel has this connection now.
    func enter(_ connection: ConnectionID) {
        echoes.note(connection, of: channel?.user)
        let isNewOrder = reader.enter(
            connection, hasHistory: channel?.hasHistory ?? false, epoch: channel?.epoch)
        if isNewOrder { timeline.startEra() }
        guard connection != namedConnection else { return }
        namedConnection = connection
        names.enter(channel?.connections ?? [])
    }

    func isOwn(_ sender: Connection?) -> Bool { sender.map { echoes.isOwn($0) } ?? false || isEcho(sender) }

    /// Whether this component sent it, and not another tab of the user: bare text has no other name (CHAT-5).
    private func isEcho(_ sender: Connection?) -> Bool {
        sender.map { echoes.isOwn($0.connectionId) || $0.connectionId.rawValue == senderID } ?? false
    }

    private func countMembers() {
        if let count = channel?.memberCount { typing.handle(.memberCount(count)) }
    }

    // MARK: Unread messages

    /// Whether the chat is visible to the user. Messages that arrive meanwhile are not unread. When it becomes
    /// invisible, the user has finished typing. Default false.
    public var isVisible: Bool {
        get { timeline.isVisible }
        set {
            if timeline.isVisible, !newValue { typing.leave() }
            timeline.isVisible = newValue
        }
    }

    /// Marks this message and all before it as read; nil: all. A message stays read.
    @discardableResult
    public func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] { tell(timeline.markRead(upTo: id)) }

    @discardableResult
    func tell(_ changes: [TimelineChange]) -> [TimelineChange] {
        if !changes.isEmpty { updates.yield(.changes(changes)) }
        if lastUnreadCount != unreadCount {
            lastUnreadCount = unreadCount
            updates.yield(.unreadCount(unreadCount))
        }
        tellHistory()
        return changes
    }

    func tellDraft() { updates.yield(.draft(draft, remaining: remaining)) }

    // MARK: After a restart

    /// The user's own connections, the newest last: save them with the messages, and restore them.
    public var ownConnectionIDs: [ConnectionID] { echoes.ownConnections }

    /// Restores the messages and the draft of an earlier run into a new component. A message that was being sent has
    /// failed; it waits for ``retry(_:isolation:)`` or ``discard(_:)`` and holds back nothing. A draft that is now too
    /// long is kept, and cannot be sent. By the `ownConnectionIDs` the component recognizes the user's own messages in the
    /// history.
    public func restore(
        messages: [ChatMessage], draft: String, ownConnectionIDs: [ConnectionID] = [], now: WallTime
    ) {
        for connection in ownConnectionIDs { echoes.note(connection) }
        for message in messages { names.note(message) }
        composer.restore(draft)
        let changes = timeline.restore(messages, now: now)
        for message in timeline.messages where message.isPending {
            if let localID = message.localID { sending.queue.appendPassedOver(localID) }
        }
        tell(changes)
        typing.handle(.draftSet(draft))
        tellDraft()
    }
}
