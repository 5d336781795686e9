import SignalingProtocol

/// The messages of one chat, and the rows that show them. A value without a channel or a clock.
///
/// - Order: messages in the session's log are ordered by seq, or by arrival without one; dates never count (CHAT-6).
///   The user's own messages that have not arrived, failed ones included, come after all others, in the order in which
///   they were written. A message that arrives moves to its index in the session's order, as the same row.
/// - Once: (sender, local ID) identifies one message, and so does a seq; texts are never compared (CHAT-5).
/// - Every mutating function returns the steps from the rows before to the rows after. Its cost depends on how much
///   changes, not on the length of the history.
public struct ChatTimeline: Sendable {
    /// The maximum number of messages to keep, at least 1. Above it the oldest are dropped, but never a pending one.
    public let limit: Int

    /// Whether the chat is visible to the user: messages that arrive meanwhile are not unread. Becoming visible marks
    /// nothing as read.
    public var isVisible = false

    /// How many kept messages of others arrived while the chat was not visible, and are not marked as read.
    public private(set) var unreadCount = 0
    /// How many messages are kept.
    public private(set) var messageCount = 0

    private var layout: TimelineLayout
    /// The rows of the user's own messages.
    private var own: [LocalID: TimelineRow.ID] = [:]
    /// The rows of others' messages, to recognize a second delivery.
    private var known: [Identity: TimelineRow.ID] = [:]
    private var firstUnread: OrderKey?
    private var era = 0
    private var lastSeq: Int64 = 0

    /// Without a calendar there are no day separators, and days break no group.
    public init(
        rule: GroupingRule = .standard, calendar: (any ChatCalendar)? = nil, limit: Int = 10_000
    ) {
        layout = TimelineLayout(rule: rule, calendar: calendar)
        self.limit = max(limit, 1)
    }

    // MARK: Reading

    public var rule: GroupingRule { layout.rule }
    public var calendar: (any ChatCalendar)? { layout.calendar }

    /// All rows, from the top. Takes time proportional to their number.
    public var rows: [TimelineRow] { (0..<layout.lines.count).map(layout.row) }

    /// All messages, from the top. Takes time proportional to their number.
    public var messages: [ChatMessage] { (0..<layout.lines.count).compactMap { layout.lines[$0].entry?.message } }

    public var rowCount: Int { layout.lines.count }

    /// How many messages the grouping has visited since the beginning; a measure of work for tests.
    public var stepCount: Int { layout.stepCount }

    /// The user's own message with this local ID, if there is one.
    public func ownMessage(_ localID: LocalID) -> ChatMessage? {
        ownIndex(localID).flatMap { layout.lines[$0].entry?.message }
    }

    /// The row of the user's own message with this local ID.
    public func rowID(of localID: LocalID) -> TimelineRow.ID? { own[localID] }

    public var firstUnreadID: TimelineRow.ID? { firstUnread.map { layout.lines[layout.index(of: $0)].id } }

    // MARK: The user's own messages

    /// Adds a message that is being sent, behind all others. Nothing happens if its local ID is in use, or it has none.
    public mutating func appendPending(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        guard let localID = message.localID, own[localID] == nil else { return [] }
        var message = message
        message.direction = .sent
        if message.state == .sent { message.state = .sending }
        message.seq = nil
        add(message, at: .pending(layout.nextNumber()), now: now)
        return finish()
    }

    /// Confirms that the session has the message, by its acknowledgement or its echo, in any order. Without a `seq` the
    /// message goes behind those that have arrived.
    public mutating func confirm(_ localID: LocalID, seq: Seq? = nil) -> [TimelineChange] {
        guard let index = ownIndex(localID), let message = layout.lines[index].entry?.message else { return [] }
        let wasPending = layout.lines[index].key.isPending
        guard wasPending || (message.seq == nil && seq != nil) else { return [] }
        layout.update(at: index) {
            $0.state = .sent
            $0.seq = seq
        }
        layout.relocate(index, to: freeKey(of: seq) ?? arrivalKey())
        trim()
        return finish()
    }

    public mutating func fail(_ localID: LocalID, _ failure: ChatMessage.Failure) -> [TimelineChange] {
        setState(of: localID, to: .failed(failure)) { $0 == .sending }
    }

    /// A failed message is being sent again, as the same row at the same index.
    public mutating func retry(_ localID: LocalID) -> [TimelineChange] {
        setState(of: localID, to: .sending) { $0 != .sending }
    }

    /// Removes a failed message.
    public mutating func discard(_ localID: LocalID) -> [TimelineChange] {
        guard let index = ownIndex(localID), layout.lines[index].entry?.message.hasFailed == true else { return [] }
        removeMessage(at: index)
        return finish()
    }

    // MARK: The session's messages

    /// Adds a message that is in the session's log: another's, or the user's own that was not pending. Does nothing if
    /// it is there already.
    public mutating func insert(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        if let identity = Identity(message), known[identity] != nil { return [] }
        if message.direction == .sent, let localID = message.localID, own[localID] != nil { return [] }
        var message = message
        message.state = .sent
        let free = freeKey(of: message.seq)
        if message.seq != nil, free == nil { return [] }
        add(message, at: free ?? arrivalKey(), now: now)
        trim()
        return finish()
    }

    /// Adds a gap behind the messages that have arrived: something was lost. After it the seq may start anew.
    public mutating func noteGap() -> [TimelineChange] {
        let key = arrivalKey()
        startEra()
        layout.insertGap(at: key)
        return finish()
    }

    /// Starts a new connection: the seq of later messages need not continue that of earlier ones.
    public mutating func startEra() {
        era += 1
        lastSeq = 0
    }

    // MARK: Unread messages

    /// Marks this message and all before it as read; nil: all. A message stays read. Nothing happens if there is no
    /// such row.
    public mutating func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] {
        guard let first = firstUnread else { return [] }
        var last = OrderKey(era: .max, seq: .max, tie: .max)
        if let id {
            guard let key = layout.key(of: id) else { return [] }
            last = key
        }
        var index = layout.lines.firstIndex(notBefore: first, rank: 0)
        while index < layout.lines.count, layout.lines[index].key <= last {
            setRead(index)
            index += 1
        }
        if last >= first { firstUnread = nextUnread(from: index) }
        return finish()
    }

    // MARK: After a restart

    /// Restores the messages of an earlier run, in that order, into a new timeline. A message that was being sent has
    /// failed. None of them is unread.
    public mutating func restore(_ messages: some Sequence<ChatMessage>, now: WallTime) -> [TimelineChange] {
        let wasVisible = isVisible
        isVisible = true
        defer { isVisible = wasVisible }
        var changes: [TimelineChange] = []
        for var message in messages {
            // The number belongs to a sender that is gone.
            message.typingN = nil
            if message.isPending {
                if message.state == .sending { message.state = .failed(.interrupted) }
                changes += appendPending(message, now: now)
            } else {
                // Its seq may be of another epoch.
                message.seq = nil
                changes += insert(message, now: now)
            }
        }
        startEra()
        return changes
    }
}

extension ChatTimeline {
    /// Identifies another's message; nil for the user's own, and without a local ID.
    private struct Identity: Hashable {
        let senderID: String?
        let localID: LocalID

        init?(_ message: ChatMessage) {
            guard message.direction == .received, let localID = message.localID else { return nil }
            self.senderID = message.senderID
            self.localID = localID
        }
    }

    private func ownIndex(_ localID: LocalID) -> Int? {
        guard let id = own[localID], let key = layout.key(of: id) else { return nil }
        return layout.index(of: key)
    }

    /// Nil if there is no seq, or another message has it.
    private mutating func freeKey(of seq: Seq?) -> OrderKey? {
        guard let seq else { return nil }
        let key = OrderKey(era: era, seq: seq.rawValue, tie: 0)
        let index = layout.index(of: key)
        if index < layout.lines.count, layout.lines[index].key == key { return nil }
        lastSeq = max(lastSeq, seq.rawValue)
        return key
    }

    private mutating func arrivalKey() -> OrderKey { OrderKey(era: era, seq: lastSeq, tie: layout.nextNumber()) }

    private mutating func add(_ message: ChatMessage, at key: OrderKey, now: WallTime) {
        var message = message
        message.receivedAt = message.receivedAt ?? now
        message.sentAt = message.sentAt ?? now
        var entry = TimelineLine.Entry(message: message)
        entry.isUnread = message.direction == .received && !isVisible
        let id = layout.insert(entry, at: key)
        if message.direction == .sent, let localID = message.localID { own[localID] = id }
        if let identity = Identity(message) { known[identity] = id }
        if entry.isUnread {
            unreadCount += 1
            firstUnread = firstUnread.map { min($0, key) } ?? key
        }
        messageCount += 1
    }

    /// Drops the oldest messages beyond the limit.
    private mutating func trim() {
        while messageCount > limit, let first = layout.lines.message(atOrAfter: 0), !layout.lines[first].key.isPending {
            layout.prepareDrop(ofFirst: first)
            guard let oldest = layout.lines.message(atOrAfter: 0) else { return }
            removeMessage(at: oldest)
        }
    }

    private mutating func removeMessage(at index: Int) {
        setRead(index)
        let line = layout.lines[index]
        guard let message = line.entry?.message else { return }
        if message.direction == .sent, let localID = message.localID { own[localID] = nil }
        if let identity = Identity(message) { known[identity] = nil }
        messageCount -= 1
        layout.removeMessage(at: index)
        if firstUnread == line.key { firstUnread = nextUnread(from: index) }
        layout.settle(afterRemovalAt: index, firstUnread: firstUnread)
    }

    private mutating func setState(
        of localID: LocalID, to state: ChatMessage.State, if applies: (ChatMessage.State) -> Bool
    ) -> [TimelineChange] {
        guard let index = ownIndex(localID), let message = layout.lines[index].entry?.message,
            message.isPending, applies(message.state)
        else { return [] }
        layout.update(at: index) { $0.state = state }
        layout.regroup(from: index)
        return finish()
    }

    private mutating func setRead(_ index: Int) {
        if layout.setRead(index) { unreadCount -= 1 }
    }

    private func nextUnread(from index: Int) -> OrderKey? {
        guard unreadCount > 0 else { return nil }
        return (index..<layout.lines.count).first { layout.lines[$0].entry?.isUnread == true }
            .map { layout.lines[$0].key }
    }

    private mutating func finish() -> [TimelineChange] { layout.finish(firstUnread: firstUnread) }
}
