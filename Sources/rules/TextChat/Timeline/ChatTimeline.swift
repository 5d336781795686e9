import SignalingProtocol

/// The messages of one chat, and the rows that show them. A value without a channel or a clock.
///
/// - Order: messages in the session's log are ordered by seq, or by arrival without one; dates never count (CHAT-6).
///   The user's own messages that have not arrived, failed ones included, come after all others, in the order in which
///   they were written. A message that arrives moves to its index in the session's order, as the same row.
/// - Once: (sender, local ID) identifies one message, and so does a seq; texts are never compared (CHAT-5).
/// - History: pages of the session's history join by seq. They may be in any order, and may repeat what is there.
/// - Changes: of two editions the one with the greater version counts, and an erasure over all (CHG-8).
/// - Every mutating function returns the steps from the rows before to the rows after. Its cost depends on how much
///   changes, not on the length of the history.
public struct ChatTimeline: Sendable {
    /// The maximum number of messages to keep, at least 1. Above it the oldest are dropped, but never a pending one. The
    /// messages that ``TextChatComponent/loadEarlier(isolation:)`` brings are kept in addition, up to as many again.
    public let limit: Int

    /// Whether the chat is visible to the user: messages that arrive meanwhile are not unread. Becoming visible marks
    /// nothing as read.
    public var isVisible = false

    /// How many messages are kept.
    public private(set) var messageCount = 0
    /// How many messages were dropped over the limit.
    public private(set) var droppedCount = 0

    /// From this seq on the messages of the session's history are here; nil: not known.
    private(set) var floor: Seq?
    /// Whether the oldest message of the session's history is here.
    var hasBeginning = false
    /// How many messages the user has loaded in addition to the limit.
    private var earlierCount = 0

    var layout: TimelineLayout
    var localIDs = LocalIDs()
    var unread = UnreadMessages()
    var order = SessionOrder()
    var ownMessages = OwnMessages()
    /// How far the user has read, on whichever device; nil: not known. Messages of others above it are unread, except
    /// those that arrive while the chat is visible.
    var marker: Seq?

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

    /// How many kept messages of others arrived while the chat was not visible, and are not marked as read.
    public var unreadCount: Int { unread.count }

    /// How many messages the grouping has visited since the beginning; a measure of work for tests.
    public var stepCount: Int { layout.stepCount }

    /// The user's own message with this local ID, if there is one.
    public func ownMessage(_ localID: LocalID) -> ChatMessage? { message(of: rowID(of: localID)) }

    /// The row of the user's own message with this local ID.
    public func rowID(of localID: LocalID) -> TimelineRow.ID? { localIDs.ownRow(localID) }

    /// The message of the row with this ID, if there is one.
    public func message(of id: TimelineRow.ID?) -> ChatMessage? {
        index(ofRow: id).flatMap { layout.lines[$0].entry?.message }
    }

    /// Whether earlier messages may be loaded: twice the limit is the most.
    var hasRoom: Bool { messageCount - limit < limit }

    /// Whether a message of this order with at most this seq is here.
    func knows(_ seq: Seq) -> Bool { order.knows(seq, in: layout) }

    /// The least seq of all messages that are here; nil: none has one.
    var oldestSeq: Seq? { order.oldestSeq(in: layout) }

    public var firstUnreadID: TimelineRow.ID? { unread.first.map { layout.lines[layout.index(of: $0)].id } }

    // MARK: The user's own messages

    /// Adds a message that is being sent, behind all others. Nothing happens if its local ID is in use, or it has none.
    public mutating func appendPending(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        guard let localID = message.localID, rowID(of: localID) == nil else { return [] }
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
        confirm(localID, seq: seq) { _ in }
    }

    /// - Parameter note: notes what is known of the message now, such as the connection that has sent it.
    mutating func confirm(
        _ localID: LocalID, seq: Seq?, _ note: (inout ChatMessage) -> Void
    ) -> [TimelineChange] {
        guard let index = index(ofRow: rowID(of: localID)), let message = layout.lines[index].entry?.message else {
            return []
        }
        let wasPending = layout.lines[index].key.isPending
        guard wasPending || (message.seq == nil && seq != nil) else { return [] }
        confirm(at: index, seq: seq, note)
        trim()
        return finish()
    }

    mutating func confirm(at index: Int, seq: Seq?, _ note: (inout ChatMessage) -> Void) {
        var index = index
        var later: ChatMessage?
        // A page may have it already, changed so that its local ID is gone.
        if let twin = seq.flatMap({ order.index(of: $0, in: layout) }) {
            let key = layout.lines[index].key
            later = layout.lines[twin].entry?.message
            removeMessage(at: twin)
            index = layout.index(of: key)
        }
        layout.update(at: index) {
            $0.state = .sent
            $0.seq = seq
            note(&$0)
            guard let later else { return }
            $0.takeChanges(of: later)
            $0.known = later.known
        }
        let key = order.freeKey(of: seq, in: layout) ?? arrivalKey()
        layout.relocate(index, to: key)
        if seq != nil, layout.lines[layout.index(of: key)].entry?.message.isErased == false { ownMessages.add(key) }
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
        guard let index = index(ofRow: rowID(of: localID)), layout.lines[index].entry?.message.hasFailed == true else {
            return []
        }
        removeMessage(at: index)
        return finish()
    }

    // MARK: The session's messages

    /// Adds a message that is in the session's log: another's, or the user's own that was not pending. Does nothing if
    /// it is there already.
    public mutating func insert(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        if localIDs.row(of: message) != nil { return [] }
        var message = message
        message.state = .sent
        let free = order.freeKey(of: message.seq, in: layout)
        if message.seq != nil, free == nil { return [] }
        add(message, at: free ?? arrivalKey(), now: now)
        trim()
        return finish()
    }

    /// Adds a gap behind the messages that have arrived: something was lost. After it the seq may start anew. With
    /// `after` the order goes on, and the gap is behind that seq.
    public mutating func noteGap(after seq: Seq? = nil) -> [TimelineChange] {
        if let seq {
            addGap(after: seq)
        } else {
            let key = arrivalKey()
            startEra()
            layout.insertGap(at: key)
        }
        return finish()
    }

    mutating func addGap(after seq: Seq) {
        guard !layout.hasGap(era: order.era, after: seq) else { return }
        layout.insertGap(at: OrderKey(era: order.era, seq: seq.rawValue, tie: layout.nextNumber()))
    }

    /// Starts a new connection: the seq of later messages need not continue that of earlier ones.
    public mutating func startEra() {
        order.startEra()
        floor = nil
        hasBeginning = false
    }

    // MARK: The session's history

    /// Adds the messages of a page, oldest first, where ``HistoryReader`` says that it belongs. Each message is shown
    /// once: one that is here already stays, and takes the page's word that it was edited or erased.
    mutating func merge(_ messages: [ChatMessage], at place: HistoryPlace) -> [TimelineChange] {
        let before = messageCount
        for message in messages { merge(message, at: place) }
        if let anew = place.anew { drop(anew, unlessIn: messages) }
        if let closes = place.closes { layout.removeGaps(era: order.era, closes) }
        if let gap = place.gapAt { addGap(after: gap) }
        if let seq = place.floor { floor = min(floor ?? seq, seq) }
        if place.isBeginning { hasBeginning = true }
        if place.isEarlier { earlierCount = min(earlierCount + messageCount - before, limit) }
        trim()
        return finish()
    }

    // MARK: Unread messages

    /// Marks this message and all before it as read; nil: all. A message stays read. Nothing happens if there is no
    /// such row.
    public mutating func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] {
        var last = OrderKey(era: .max, seq: .max, tie: .max)
        if let id {
            guard let key = layout.key(of: id) else { return [] }
            last = key
        }
        unread.read(through: last, in: &layout)
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
                message.known = KnownReactions()
                changes += insert(message, now: now)
            }
        }
        startEra()
        return changes
    }
}

extension ChatTimeline {
    func index(ofRow id: TimelineRow.ID?) -> Int? { id.flatMap { layout.key(of: $0) }.map { layout.index(of: $0) } }

    private mutating func arrivalKey() -> OrderKey { order.arrivalKey(layout.nextNumber()) }

    mutating func add(
        _ message: ChatMessage, at key: OrderKey, now: WallTime, mayBeUnread: Bool = true, isKept: Bool = false
    ) {
        var message = message
        message.receivedAt = message.receivedAt ?? now
        message.sentAt = message.sentAt ?? now
        var entry = TimelineLine.Entry(message: message)
        entry.isUnread = isUnread(message, mayBe: mayBeUnread, isKept: isKept)
        let id = layout.insert(entry, at: key)
        localIDs.add(message, id)
        if entry.isUnread { unread.add(key) }
        if message.direction == .sent, message.seq != nil, !message.isErased { ownMessages.add(key) }
        messageCount += 1
    }

    /// Drops the oldest messages beyond the limit.
    private mutating func trim() {
        while messageCount - limit > earlierCount, let first = layout.lines.message(atOrAfter: 0),
            !layout.lines[first].key.isPending
        {
            let line = layout.lines[first]
            dropOldest(first)
            droppedCount += 1
            guard line.key.era == order.era, let seq = line.entry?.message.seq, floor != nil || hasBeginning else {
                continue
            }
            // The history still has it.
            hasBeginning = false
            floor = Seq(seq.rawValue + 1)
        }
    }

    mutating func dropOldest(_ first: Int) {
        layout.prepareDrop(ofFirst: first)
        if let oldest = layout.lines.message(atOrAfter: 0) { removeMessage(at: oldest) }
    }

    mutating func removeMessage(at index: Int) {
        setRead(index)
        let line = layout.lines[index]
        guard let message = line.entry?.message else { return }
        localIDs.remove(message, line.id)
        ownMessages.remove(line.key)
        messageCount -= 1
        layout.removeMessage(at: index)
        layout.settle(afterRemovalAt: index, firstUnread: unread.first)
    }

    private mutating func setState(
        of localID: LocalID, to state: ChatMessage.State, if applies: (ChatMessage.State) -> Bool
    ) -> [TimelineChange] {
        guard let index = index(ofRow: rowID(of: localID)), let message = layout.lines[index].entry?.message,
            message.isPending, applies(message.state)
        else { return [] }
        layout.update(at: index) { $0.state = state }
        layout.regroup(from: index)
        return finish()
    }

    mutating func setRead(_ index: Int) { unread.read(index, in: &layout) }

    mutating func finish() -> [TimelineChange] {
        layout.finish(firstUnread: unread.first, hasBeginning: hasBeginning && messageCount > 0)
    }
}
