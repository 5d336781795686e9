import SignalingProtocol

/// The messages of one chat, and the rows that show them. A value without a channel or a clock.
///
/// - Order: messages in the session's log are ordered by seq, or by arrival without one; dates never count (CHAT-6).
///   The user's own messages that have not arrived, failed ones included, come after all others, in the order in which
///   they were written. A message that arrives moves to its index in the session's order, as the same row.
/// - Once: (sender, local ID) identifies one message, and so does a seq; texts are never compared (CHAT-5).
/// - History: pages of the session's history join by seq. They may be in any order, and may repeat what is there.
/// - Every mutating function returns the steps from the rows before to the rows after. Its cost depends on how much
///   changes, not on the length of the history.
public struct ChatTimeline: Sendable {
    /// The maximum number of messages to keep, at least 1. Above it the oldest are dropped, but never a pending one. The
    /// messages that ``TextChatComponent/loadEarlier(isolation:)`` brings are kept in addition, up to as many again.
    public let limit: Int

    /// Whether the chat is visible to the user: messages that arrive meanwhile are not unread. Becoming visible marks
    /// nothing as read.
    public var isVisible = false

    /// How many kept messages of others arrived while the chat was not visible, and are not marked as read.
    public private(set) var unreadCount = 0
    /// How many messages are kept.
    public private(set) var messageCount = 0
    /// How many messages were dropped over the limit.
    public private(set) var droppedCount = 0

    /// From this seq on the messages of the session's history are here; nil: not known.
    private(set) var floor: Seq?
    /// Whether the oldest message of the session's history is here.
    private(set) var hasBeginning = false
    /// How many messages the user has loaded in addition to the limit.
    private var earlierCount = 0

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

    /// Whether earlier messages may be loaded: twice the limit is the most.
    var hasRoom: Bool { messageCount - limit < limit }

    /// Whether a message of this order with at most this seq is here.
    func knows(_ seq: Seq) -> Bool {
        var index = layout.lines.firstIndex(notBefore: OrderKey(era: era, seq: 0, tie: 0), rank: 0)
        let last = OrderKey(era: era, seq: seq.rawValue, tie: 0)
        while index < layout.lines.count, layout.lines[index].key <= last {
            // One without a seq is an own message that has not come back yet.
            if layout.lines[index].entry?.message.seq != nil { return true }
            index += 1
        }
        return false
    }

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
        confirm(at: index, seq: seq)
        trim()
        return finish()
    }

    private mutating func confirm(at index: Int, seq: Seq?) {
        layout.update(at: index) {
            $0.state = .sent
            $0.seq = seq
        }
        layout.relocate(index, to: freeKey(of: seq) ?? arrivalKey())
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

    private mutating func addGap(after seq: Seq) {
        guard !layout.hasGap(era: era, after: seq) else { return }
        layout.insertGap(at: OrderKey(era: era, seq: seq.rawValue, tie: layout.nextNumber()))
    }

    /// Starts a new connection: the seq of later messages need not continue that of earlier ones.
    public mutating func startEra() {
        era += 1
        lastSeq = 0
        floor = nil
        hasBeginning = false
    }

    // MARK: The session's history

    /// Adds the messages of a page, oldest first. Each message is shown once: one that is here already stays, and takes
    /// the page's word that it was erased.
    mutating func merge(_ messages: [ChatMessage], at place: HistoryPlace) -> [TimelineChange] {
        let before = messageCount
        for message in messages { merge(message, countsUnread: place.countsUnread) }
        if let closes = place.closes { layout.removeGaps(era: era, closes) }
        if let gap = place.gapAt { addGap(after: gap) }
        if let seq = place.floor { floor = min(floor ?? seq, seq) }
        if place.isBeginning { hasBeginning = true }
        if place.isEarlier { earlierCount = min(earlierCount + messageCount - before, limit) }
        trim()
        return finish()
    }

    private mutating func merge(_ message: ChatMessage, countsUnread: Bool) {
        if let index = index(ofRepeated: message) {
            if message.isErased { erase(at: index) }
            return
        }
        if let identity = Identity(message), known[identity] != nil { return }
        if message.direction == .sent, let localID = message.localID, let index = ownIndex(localID) {
            if layout.lines[index].entry?.message.seq == nil { confirm(at: index, seq: message.seq) }
        } else if let seq = message.seq, let key = freeKey(of: seq) {
            var message = message
            message.state = .sent
            add(message, at: key, now: message.receivedAt ?? WallTime(milliseconds: 0), mayBeUnread: countsUnread)
        }
    }

    /// In so many former orders a page's messages may be, too.
    private static let repeatedEraCount = 4

    /// The index of the message with the seq of this one. A new order may begin with the history of the former one
    /// (HIS-3), so one with the same seq and sender of a former order is the same.
    private func index(ofRepeated message: ChatMessage) -> Int? {
        guard let seq = message.seq else { return nil }
        for candidate in stride(from: era, through: max(era - Self.repeatedEraCount, 0), by: -1) {
            guard let index = index(of: OrderKey(era: candidate, seq: seq.rawValue, tie: 0)),
                let shown = layout.lines[index].entry?.message
            else { continue }
            if candidate == era || Self.isRepeated(shown, by: message) { return index }
        }
        return nil
    }

    private static func isRepeated(_ shown: ChatMessage, by message: ChatMessage) -> Bool {
        if shown.direction == .sent, message.direction == .sent { return true }
        return shown.author == message.author
            && (shown.isErased || message.isErased || shown.text == message.text)
    }

    /// The index of the message with this key; nil if there is none.
    private func index(of key: OrderKey) -> Int? {
        let index = layout.index(of: key)
        return index < layout.lines.count && layout.lines[index].key == key ? index : nil
    }

    /// Removes the content of a message, or of those of a user, or all messages up to one (HIS-9). Those that are not
    /// sent yet stay.
    ///
    /// - Parameter seq: the erasure's own; nil: it is behind all messages.
    mutating func erase(_ erasure: Erasure, seq: Seq? = nil) -> [TimelineChange] {
        switch erasure {
        case .message(let seq):
            if let index = index(of: OrderKey(era: era, seq: seq.rawValue, tie: 0)) { erase(at: index) }
        case .through(let seq):
            let last = OrderKey(era: era, seq: seq.rawValue, tie: 0)
            while let first = layout.lines.message(atOrAfter: 0), layout.lines[first].key <= last { dropOldest(first) }
            // What was before them is erased, too.
            if let floor, floor <= seq { hasBeginning = true }
        case .user(let user):
            // The messages of former orders are before all of this one.
            let end = OrderKey(era: era, seq: seq?.rawValue ?? .max, tie: 0)
            var next = layout.lines.message(atOrAfter: 0)
            while let index = next, layout.lines[index].key < end {
                if layout.lines[index].entry?.message.senderUser == user { erase(at: index) }
                next = layout.lines.message(atOrAfter: index + 1)
            }
        }
        return finish()
    }

    private mutating func erase(at index: Int) {
        if layout.lines[index].entry?.message.isErased == false { layout.update(at: index) { $0.erase() } }
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
        guard index(of: key) == nil else { return nil }
        lastSeq = max(lastSeq, seq.rawValue)
        return key
    }

    private mutating func arrivalKey() -> OrderKey { OrderKey(era: era, seq: lastSeq, tie: layout.nextNumber()) }

    private mutating func add(
        _ message: ChatMessage, at key: OrderKey, now: WallTime, mayBeUnread: Bool = true
    ) {
        var message = message
        message.receivedAt = message.receivedAt ?? now
        message.sentAt = message.sentAt ?? now
        var entry = TimelineLine.Entry(message: message)
        entry.isUnread = mayBeUnread && message.direction == .received && !isVisible
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
        while messageCount - limit > earlierCount, let first = layout.lines.message(atOrAfter: 0),
            !layout.lines[first].key.isPending
        {
            let line = layout.lines[first]
            dropOldest(first)
            droppedCount += 1
            guard line.key.era == era, let seq = line.entry?.message.seq, floor != nil || hasBeginning else { continue }
            // The history still has it.
            hasBeginning = false
            floor = Seq(seq.rawValue + 1)
        }
    }

    private mutating func dropOldest(_ first: Int) {
        layout.prepareDrop(ofFirst: first)
        if let oldest = layout.lines.message(atOrAfter: 0) { removeMessage(at: oldest) }
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

    private mutating func finish() -> [TimelineChange] {
        layout.finish(firstUnread: firstUnread, hasBeginning: hasBeginning && messageCount > 0)
    }
}
