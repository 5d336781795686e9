import SignalingProtocol

/// A text chat without a screen: the rows, the draft, what is unread, and what happens when Send is pressed (after OpenTok's
/// `OTKTextChatComponent`).
///
/// With a ``channel`` it sends by itself, one message after the other, and follows each until the session has it. Without one
/// it asks its ``delegate`` to send. What happens on the channel goes in through ``handle(_:now:)``.
///
/// It belongs to one actor or thread, whichever that is: it is not `Sendable`, and its async methods run where they are called.
public final class TextChatComponent {
    /// Where messages go; nil: the delegate sends them.
    public var channel: (any SignalChannel)? {
        didSet {
            hasEnded = false
            if channel == nil { typing.disconnected() } else { noteConnection() }
        }
    }
    public weak var delegate: (any TextChatDelegate)?

    /// How messages are written. Both forms are always read.
    public var wireForm: ChatWireForm

    public private(set) var composer: Composer
    public private(set) var timeline: ChatTimeline

    /// Who "I" am in messages; nil until ``setSenderId(_:alias:)``.
    public private(set) var senderID: String?
    public private(set) var senderAlias: String?

    /// Who types. It rests until somebody runs it; see ``ChatTyping``.
    public let typing: ChatTyping

    /// Told of everything that is no row, after the component's own state has changed.
    public var onActivity: ((ChatActivity) -> Void)?

    private var queue = SendQueue()
    private var echoes = EchoBook()
    private var updates = ChatUpdateStreams()
    /// Calls that wait for their message's turn.
    private var parked: [LocalID: CheckedContinuation<Void, Never>] = [:]
    /// `disconnected` has been heard, and no `connected` since.
    private var hasEnded = false

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

    /// What is shown, from the top. ``updateStream()`` tells how it changes.
    public var rows: [TimelineRow] { timeline.rows }
    public var messages: [ChatMessage] { timeline.messages }
    public var unreadCount: Int { timeline.unreadCount }

    /// What is being written.
    public var draft: String { composer.text }
    /// How much may still be written; see ``Composer/remaining``.
    public var remaining: Int { composer.remaining }

    /// Longest text that can be written; see ``Composer/maxLength``.
    public var maxLength: Int {
        get { composer.maxLength }
        set {
            composer.maxLength = newValue
            tellDraft()
        }
    }

    /// Whether Send would take the draft, the delegate's opinion apart.
    public var canSend: Bool { refusal() == nil }

    /// Why Send would not take the draft, the delegate's opinion apart; nil: it would.
    ///
    /// Asked in this order: blank, too long, too long as a signal, not connected, too many waiting.
    public func refusal() -> SendRefusal? {
        refusal(of: message(now: Self.sampleTime, localID: Self.sampleID, state: .sending), via: channel)
    }

    /// The failed message that holds back what was sent after it; see ``passFailed()``.
    public var obstacle: LocalID? { queue.obstacle }

    /// What changes from now on, after the rows as they are. Each stream gets everything; one that is not read ends with
    /// `overflowed` after about 1000 updates.
    public func updateStream() -> AsyncStream<ChatUpdate> {
        updates.add(first: [
            .rows(rows), .unreadCount(unreadCount), .draft(draft, remaining: remaining),
        ])
    }

    // MARK: Writing

    /// Says who "I" am: by custom one's connection id, and a name to show. What has been sent already stays as it is.
    public func setSenderId(_ id: String?, alias: String?) {
        senderID = id
        senderAlias = alias
    }

    /// The user has changed the draft to this; a text that is too long is refused whole, and nothing changes.
    @discardableResult
    public func edit(_ newText: String) -> EditResult { changeDraft(to: newText, isKey: true) }

    /// The program puts this into the draft: the same, but nobody types because of it.
    @discardableResult
    public func setDraft(_ newText: String) -> EditResult { changeDraft(to: newText, isKey: false) }

    private func changeDraft(to newText: String, isKey: Bool) -> EditResult {
        let before = draft
        let result = composer.edit(newText)
        if result.isAccepted, before != draft {
            noteConnection()
            typing.draftChanged(to: draft, isKey: isKey)
            tellDraft()
            if isKey { onActivity?(.draftEdited(draft)) }
        }
        return result
    }

    // MARK: Receiving

    /// Takes what happens on the channel. All that the component has to know of it comes this way.
    ///
    /// A signal is one's own when the server's stamp names this component's connection, present or past, or the id given to
    /// ``setSenderId(_:alias:)``. What the data says about its sender changes nothing: a message that bears another's
    /// name or local id is shown as coming from whom the server says (CHAT-4).
    ///
    /// - Returns: what has changed in the rows, which ``updateStream()`` tells as well.
    @discardableResult
    public func handle(_ event: SignalChannelEvent, now: WallTime) -> [TimelineChange] {
        switch event {
        case .signal(let signal):
            return receive(signal, now: now)
        case .lost:
            return tell(timeline.noteGap())
        case .connected(let connection):
            if echoes.note(connection) { timeline.startEra() }
            hasEnded = false
            queue.isPaused = false
            typing.connected(as: connection)
            countMembers()
            onActivity?(.connected(connection))
            advance()
        case .reconnecting:
            queue.isPaused = true
            typing.reconnecting()
            onActivity?(.reconnecting)
        case .reconnected:
            queue.isPaused = false
            if let connection = channel?.connectionID { typing.connected(as: connection) }
            countMembers()
            onActivity?(.reconnected)
            advance()
        case .disconnected:
            hasEnded = true
            queue.isPaused = false
            let error = SignalingError(.notConnected, "the connection has ended")
            let changes = queue.failWaiting().flatMap { timeline.fail($0, .error(error)) }
            tell(changes)
            typing.disconnected()
            onActivity?(.disconnected)
            wakeAll()
            return changes
        case .connectionCreated(let connection):
            countMembers()
            onActivity?(.connectionCreated(connection))
        case .connectionDestroyed(let connection):
            typing.connectionDestroyed(connection.connectionId)
            countMembers()
            onActivity?(.connectionDestroyed(connection))
        }
        return []
    }

    /// Adds a message as received, whoever it says sent it, dated `now` if it has no date. Always returns true, as
    /// OpenTok's does; neither its length nor its origin is checked, and a second one with the same local id is shown too.
    @discardableResult
    public func addMessage(_ message: ChatMessage, now: WallTime) -> Bool {
        var message = message
        message.direction = .received
        message.localID = nil
        message.seq = nil
        tell(timeline.insert(message, now: now))
        return true
    }

    private func receive(_ signal: Signal, now: WallTime) -> [TimelineChange] {
        noteConnection()
        let isOwn = signal.from.map { echoes.isOwn($0.connectionId) || $0.connectionId.rawValue == senderID } ?? false
        guard var message = ChatWireForm.message(from: signal, now: now) else {
            if !isOwn { typing.receive(signal) }
            onActivity?(.otherSignal(signal))
            return []
        }
        if isOwn {
            message.direction = .sent
            let localID = message.localID ?? echoes.settleBare(message.text)
            guard let localID, timeline.ownMessage(localID) != nil else {
                // Somebody else in this program sent it as the same connection.
                return tell(timeline.insert(message, now: now))
            }
            return settle(localID, seq: message.seq)
        }
        let changes = tell(timeline.insert(message, now: now))
        if !changes.isEmpty {
            if let from = signal.from?.connectionId { typing.messageReceived(from: from, typingN: message.typingN) }
            onActivity?(.messageReceived(from: signal.from?.connectionId))
        }
        return changes
    }

    /// A channel may have been connected before it was given to the component, or come back unheard.
    private func noteConnection() {
        guard !hasEnded, let connection = channel?.connectionID else { return }
        if echoes.note(connection) { timeline.startEra() }
        let isNew = typing.noticed(connection)
        if isNew { countMembers() }
    }

    private func countMembers() { typing.memberCountChanged(to: channel?.memberCount) }

    // MARK: Sending

    /// Sends the draft, through the ``channel`` if there is one, and waits until it is known what became of it. The message
    /// is shown, and the draft is empty, before the first wait.
    ///
    /// Messages go one at a time, in the order in which they were written. One that fails holds back those behind it, until
    /// ``retry(_:)`` brings it through, ``discard(_:)`` takes it away, or ``passFailed()`` lets them go before it.
    /// `localID` is the message's name, new for each message. Text is sent as it stands.
    public func send(now: WallTime, localID: LocalID) async -> SendResult {
        if let refusal = startSending(now: now, localID: localID) { return .refused(refusal) }
        return await finishSending(localID)
    }

    /// The first part of ``send(now:localID:)``, which does not wait: when it returns nil, the message is shown and the draft
    /// is empty. ``finishSending(_:)`` has to follow.
    public func startSending(now: WallTime, localID: LocalID) -> SendRefusal? {
        show(now: now, localID: localID, through: channel)
    }

    /// The second part: waits for the message's turn, sends it, and tells what became of it.
    public func finishSending(_ localID: LocalID) async -> SendResult {
        channel == nil ? outcome(localID) : await deliver(localID)
    }

    /// Gives the draft to the ``delegate`` to send, whether there is a channel or not, and waits for nothing: OpenTok's Send
    /// button. What the delegate has agreed to is shown as sent.
    public func submit(now: WallTime, localID: LocalID) -> SendResult {
        show(now: now, localID: localID, through: nil).map { .refused($0) } ?? .sent
    }

    /// Sends a failed message again, as the same row in the same place. Does nothing for any other.
    ///
    /// If the first attempt did arrive after all, receivers know the second by its local id and show it once; of bare text
    /// they cannot.
    public func retry(_ localID: LocalID) async -> SendResult {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return outcome(localID) }
        guard isConnected else { return .refused(.notConnected) }
        tell(timeline.retry(localID))
        queue.retry(localID)
        return await deliver(localID)
    }

    /// Takes a failed message away. Does nothing for any other.
    @discardableResult
    public func discard(_ localID: LocalID) -> [TimelineChange] {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return [] }
        queue.remove(localID)
        echoes.forget(localID)
        let changes = tell(timeline.discard(localID))
        advance()
        return changes
    }

    /// Lets what waits behind failed messages go before them.
    public func passFailed() {
        queue.passFailed()
        advance()
    }

    // As long in a signal as those that will be sent.
    private static let sampleID = LocalID("0000000000000000")
    private static let sampleTime = WallTime(milliseconds: 1_700_000_000_000)

    private var isConnected: Bool { !hasEnded && channel?.connectionID != nil }

    private func message(now: WallTime, localID: LocalID, state: ChatMessage.State) -> ChatMessage {
        ChatMessage(
            text: draft, senderID: senderID ?? channel?.connectionID?.rawValue, senderAlias: senderAlias,
            sentAt: now, receivedAt: now, localID: localID, direction: .sent, state: state,
            // What a signal about its end may take, for the length that is asked before.
            typingN: typing.typingN.map { $0 + 1 })
    }

    private func refusal(of message: ChatMessage, via channel: (any SignalChannel)?) -> SendRefusal? {
        if let refusal = composer.refusal { return refusal }
        guard channel != nil else { return delegate == nil ? .notConnected : nil }
        let excess = (wireForm.signal(for: message).data?.utf16.count ?? 0) - Limits.dataLength
        if excess > 0 { return .signalTooLong(excess: excess) }
        if !isConnected { return .notConnected }
        return queue.isFull ? .tooManyWaiting : nil
    }

    /// The part of sending that does not wait: the draft becomes a row, unless somebody refuses it.
    private func show(now: WallTime, localID: LocalID, through channel: (any SignalChannel)?) -> SendRefusal? {
        var message = message(now: now, localID: localID, state: channel == nil ? .sent : .sending)
        if let refusal = refusal(of: message, via: channel) { return refusal }
        if timeline.ownMessage(localID) != nil { return .localIDTaken }
        message.typingN = typing.typingN
        if let delegate, !delegate.onMessageReadyToSend(message) { return .byDelegate }
        composer.clear()
        typing.messageSubmitted()
        message.typingN = typing.typingN
        if channel == nil {
            // How the delegate sends it is its own affair: what comes back may be bare text.
            echoes.expectBare(localID, text: message.text)
            tell(timeline.insert(message, now: now))
        } else {
            queue.append(localID)
            tell(timeline.appendPending(message, now: now))
        }
        tellDraft()
        onActivity?(.messageSubmitted(localID))
        return nil
    }

    /// Waits for the message's turn, sends it, and gives the turn to the next.
    private func deliver(_ localID: LocalID) async -> SendResult {
        while true {
            switch queue.turn(of: localID) {
            case .now: return await transmit(localID)
            case .later: await withCheckedContinuation { parked[localID] = $0 }
            case .never: return outcome(localID)
            }
        }
    }

    private func transmit(_ localID: LocalID) async -> SendResult {
        guard let channel, let message = timeline.ownMessage(localID) else {
            queue.remove(localID)
            advance()
            return .discarded
        }
        queue.start(localID)
        if echoes.note(channel.connectionID) { timeline.startEra() }
        if wireForm == .bareText { echoes.expectBare(localID, text: message.text) }
        do throws(SignalingError) {
            let seq = try await channel.send(wireForm.signal(for: message))
            settle(localID, seq: seq)
        } catch {
            // The echo may have come although the answer did not: then it was sent.
            guard timeline.ownMessage(localID)?.state == .sending else { return outcome(localID) }
            // After a refusal no echo comes; after a lost connection it still may.
            if !error.isRetryable { echoes.forget(localID) }
            queue.fail(localID)
            tell(timeline.fail(localID, .error(error)))
            advance()
        }
        return outcome(localID)
    }

    /// The session has the message, as its acknowledgement or its echo says.
    @discardableResult
    private func settle(_ localID: LocalID, seq: Seq?) -> [TimelineChange] {
        let changes = tell(timeline.confirm(localID, seq: seq))
        queue.remove(localID)
        advance()
        // Who still waits for its turn has nothing to wait for any more.
        parked.removeValue(forKey: localID)?.resume()
        return changes
    }

    private func outcome(_ localID: LocalID) -> SendResult {
        switch timeline.ownMessage(localID)?.state {
        case .sent, .sending: .sent
        case .failed(let failure): .failed(failure)
        case nil: .discarded
        }
    }

    private func advance() {
        if let next = queue.next { parked.removeValue(forKey: next)?.resume() }
    }

    private func wakeAll() {
        let waiting = parked.values
        parked = [:]
        for continuation in waiting { continuation.resume() }
    }

    // MARK: What is unread

    /// Says whether somebody reads along; what arrives meanwhile is not unread. Who turns away has finished typing.
    public var isVisible: Bool {
        get { timeline.isVisible }
        set {
            if timeline.isVisible, !newValue { typing.leave() }
            timeline.isVisible = newValue
        }
    }

    /// Marks this message, and all before it, as read; all, when nil. What is read stays read.
    @discardableResult
    public func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] { tell(timeline.markRead(upTo: id)) }

    private var toldUnreadCount = 0

    @discardableResult
    private func tell(_ changes: [TimelineChange]) -> [TimelineChange] {
        if !changes.isEmpty { updates.yield(.changes(changes)) }
        if toldUnreadCount != unreadCount {
            toldUnreadCount = unreadCount
            updates.yield(.unreadCount(unreadCount))
        }
        return changes
    }

    private func tellDraft() { updates.yield(.draft(draft, remaining: remaining)) }

    // MARK: After a restart

    /// Puts back what an earlier run had, into a component that is new. What was being sent has failed, and waits for
    /// ``retry(_:)`` or ``discard(_:)``; it holds back nothing. A draft that is too long by now is kept, and not sent.
    public func restore(messages: [ChatMessage], draft: String, now: WallTime) {
        composer.restore(draft)
        let changes = timeline.restore(messages, now: now)
        for message in timeline.messages where message.isPending {
            if let localID = message.localID { queue.appendPassedOver(localID) }
        }
        tell(changes)
        typing.draftChanged(to: draft, isKey: false)
        tellDraft()
    }
}
