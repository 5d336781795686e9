import SignalingProtocol

/// The messages of one chat, and the rows that they become. A value: it knows neither a channel nor a clock.
///
/// - Order: what the session has goes by seq, or by arrival where there is none; dates never count (CHAT-6). One's own
///   messages that are not known to have arrived, failed ones too, stand behind all others in the order in which they were
///   written. When one arrives it takes its place in the session's order, as the same row.
/// - Once: (sender, local id) is one message, and so is one seq; texts are never compared (CHAT-5).
/// - Every mutating function returns the steps from the rows before to the rows after. What it costs depends on how much
///   changes, not on how long the history is.
public struct ChatTimeline: Sendable {
    public let rule: GroupingRule
    /// Nil: no day separators, and days break no group.
    public let calendar: (any ChatCalendar)?
    /// Messages that are kept, at least 1; over it the oldest go, but never one that is pending.
    public let limit: Int

    /// Whether somebody reads along: what arrives meanwhile is not unread. Becoming visible marks nothing as read.
    public var isVisible = false

    /// Messages of others that arrived while nobody read along, and are not marked as read. Dropped ones do not count.
    public private(set) var unreadCount = 0
    /// How many messages are there.
    public private(set) var messageCount = 0
    /// How many messages have been looked at by the grouping since the beginning; a measure of work for tests.
    public private(set) var stepCount = 0

    private var lines = TimelineLines()
    private var places: [TimelineRow.ID: OrderKey] = [:]
    /// One's own, by the name that they were given.
    private var own: [LocalID: TimelineRow.ID] = [:]
    /// Others', to know a second delivery.
    private var known: [Identity: TimelineRow.ID] = [:]
    private var firstUnread: OrderKey?
    private var divider: OrderKey?

    private var era = 0
    private var lastSeq: Int64 = 0
    private var lastNumber = 0
    /// The date of the dropped message whose group the oldest one that is kept belongs to: later groups stay as they are.
    private var headAnchor: WallTime?

    public init(
        rule: GroupingRule = .standard, calendar: (any ChatCalendar)? = nil, limit: Int = 10_000
    ) {
        self.rule = rule
        self.calendar = calendar
        self.limit = max(limit, 1)
    }

    // MARK: Reading

    /// All rows, from the top. Takes time for each.
    public var rows: [TimelineRow] { (0..<lines.count).map(row) }

    /// All messages, from the top. Takes time for each.
    public var messages: [ChatMessage] { (0..<lines.count).compactMap { lines[$0].entry?.message } }

    public var rowCount: Int { lines.count }

    /// One's own message of that name; nil when it is not there.
    public func ownMessage(_ localID: LocalID) -> ChatMessage? {
        ownPlace(localID).flatMap { lines[$0].entry?.message }
    }

    /// The row of one's own message of that name.
    public func rowID(of localID: LocalID) -> TimelineRow.ID? { own[localID] }

    public var firstUnreadID: TimelineRow.ID? { firstUnread.map { lines[place(of: $0)].id } }

    // MARK: One's own messages

    /// A message that is being sent, behind all others. Nothing happens when its local id is taken, or it has none.
    public mutating func appendPending(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        guard let localID = message.localID, own[localID] == nil else { return [] }
        var message = message
        message.direction = .sent
        if message.state == .sent { message.state = .sending }
        message.seq = nil
        var batch = Batch()
        add(message, at: .pending(nextNumber()), now: now, to: &batch)
        return finish(batch)
    }

    /// The message is in the session's log, as its acknowledgement or its echo says, in whatever order these come. A `seq` that
    /// is nil tells no place: then it goes behind what is there.
    public mutating func confirm(_ localID: LocalID, seq: Seq? = nil) -> [TimelineChange] {
        guard let place = ownPlace(localID), case .message(var entry) = lines[place].content else { return [] }
        let wasPending = lines[place].key.isPending
        guard wasPending || (entry.message.seq == nil && seq != nil) else { return [] }
        var batch = Batch()
        batch.touch(row(place))
        entry.message.state = .sent
        entry.message.seq = seq
        lines[place].content = .message(entry)
        relocate(place, to: freeKey(of: seq) ?? arrivalKey(), in: &batch)
        trim(in: &batch)
        return finish(batch)
    }

    public mutating func fail(_ localID: LocalID, _ failure: ChatMessage.Failure) -> [TimelineChange] {
        setState(of: localID, to: .failed(failure)) { $0 == .sending }
    }

    /// Makes a failed message `sending` again, as the same row in the same place.
    public mutating func retry(_ localID: LocalID) -> [TimelineChange] {
        setState(of: localID, to: .sending) { $0 != .sending }
    }

    /// Takes a failed message away.
    public mutating func discard(_ localID: LocalID) -> [TimelineChange] {
        guard let place = ownPlace(localID), lines[place].entry?.message.hasFailed == true else { return [] }
        var batch = Batch()
        removeMessage(at: place, in: &batch)
        return finish(batch)
    }

    // MARK: What the session has

    /// A message that is in the session's log: another's, or one's own that was not waited for. Not taken when it is there
    /// already.
    public mutating func insert(_ message: ChatMessage, now: WallTime) -> [TimelineChange] {
        if let identity = Identity(message), known[identity] != nil { return [] }
        if message.direction == .sent, let localID = message.localID, own[localID] != nil { return [] }
        var message = message
        message.state = .sent
        let free = freeKey(of: message.seq)
        if message.seq != nil, free == nil { return [] }
        let key = free ?? arrivalKey()
        var batch = Batch()
        add(message, at: key, now: now, to: &batch)
        trim(in: &batch)
        return finish(batch)
    }

    /// Marks the place where something was lost: behind all that the session had. Seq may start afresh behind it.
    public mutating func noteGap() -> [TimelineChange] {
        var batch = Batch()
        let key = arrivalKey()
        let place = lines.firstPlace(notBefore: key, rank: 0)
        startEra()
        // Two gaps with nothing between them are one.
        if place > 0, case .gap = lines[place - 1].content { return [] }
        insert(TimelineLine(id: .gap(nextNumber()), key: key, content: .gap), at: place, in: &batch)
        regroup(from: place, in: &batch)
        return finish(batch)
    }

    /// The seq of what follows need not continue that of what was before: another connection.
    public mutating func startEra() {
        era += 1
        lastSeq = 0
    }

    // MARK: Reading along

    /// Marks this message, and all before it, as read; all, when nil. What is read stays read, and nothing happens for a
    /// row that is not there.
    public mutating func markRead(upTo id: TimelineRow.ID? = nil) -> [TimelineChange] {
        guard let first = firstUnread else { return [] }
        let last: OrderKey
        if let id {
            guard let key = places[id] else { return [] }
            last = key
        } else {
            last = OrderKey(era: .max, seq: .max, tie: .max)
        }
        var place = lines.firstPlace(notBefore: first, rank: 0)
        while place < lines.count, lines[place].key <= last {
            setRead(place)
            place += 1
        }
        if last >= first { firstUnread = nextUnread(from: place) }
        return finish(Batch())
    }

    // MARK: After a restart

    /// Puts back what an earlier run of the program had, in that order, into a timeline that is new. What was being sent has
    /// failed; nothing of it is unread.
    public mutating func restore(_ messages: some Sequence<ChatMessage>, now: WallTime) -> [TimelineChange] {
        let wasVisible = isVisible
        isVisible = true
        defer { isVisible = wasVisible }
        var changes: [TimelineChange] = []
        for var message in messages {
            // Numbers of a sender that is no more.
            message.typingN = nil
            if message.isPending {
                if message.state == .sending { message.state = .failed(.interrupted) }
                changes += appendPending(message, now: now)
            } else {
                // Its seq was another epoch's for all that is known.
                message.seq = nil
                changes += insert(message, now: now)
            }
        }
        startEra()
        return changes
    }
}

// MARK: - Lines

extension ChatTimeline {
    /// What makes another's message the same as one that is there; nil for one's own, and without a local id.
    private struct Identity: Hashable {
        let senderID: String?
        let localID: LocalID

        init?(_ message: ChatMessage) {
            guard message.direction == .received, let localID = message.localID else { return nil }
            self.senderID = message.senderID
            self.localID = localID
        }
    }

    /// The steps of one call, and the rows that it has touched, as they were before.
    private struct Batch {
        var steps: [TimelineChange] = []
        var touched: [TimelineRow] = []

        mutating func touch(_ row: TimelineRow) {
            if !touched.contains(where: { $0.id == row.id }) { touched.append(row) }
        }
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Nil when there is no seq, or its place is taken.
    private mutating func freeKey(of seq: Seq?) -> OrderKey? {
        guard let seq else { return nil }
        let key = OrderKey(era: era, seq: seq.rawValue, tie: 0)
        let place = place(of: key)
        if place < lines.count, lines[place].key == key { return nil }
        lastSeq = max(lastSeq, seq.rawValue)
        return key
    }

    private mutating func arrivalKey() -> OrderKey { OrderKey(era: era, seq: lastSeq, tie: nextNumber()) }

    private static let messageRank = TimelineLine.Content.message(.init(message: ChatMessage(text: ""))).rank

    private func place(of key: OrderKey) -> Int { lines.firstPlace(notBefore: key, rank: Self.messageRank) }

    private func ownPlace(_ localID: LocalID) -> Int? { own[localID].flatMap { places[$0] }.map(place) }

    private func row(_ place: Int) -> TimelineRow {
        let line = lines[place]
        let content: TimelineRow.Content =
            switch line.content {
            case .gap: .gap
            case .day(let day): .day(day)
            case .unreadDivider: .unreadDivider
            case .message(let entry): .message(MessageRow(entry.message, entry.position, rule: rule))
            }
        return TimelineRow(id: line.id, content: content)
    }

    private mutating func insert(_ line: TimelineLine, at place: Int, in batch: inout Batch) {
        lines.insert(line, at: place)
        batch.steps.append(.insert(row(place), at: place))
    }

    private mutating func remove(at place: Int, in batch: inout Batch) {
        batch.steps.append(.remove(lines.remove(at: place).id, at: place))
    }

    /// - Parameter target: counts without the line.
    private mutating func move(_ line: TimelineLine, from place: Int, to target: Int, in batch: inout Batch) {
        lines.remove(at: place)
        lines.insert(line, at: target)
        if place != target { batch.steps.append(.move(line.id, from: place, to: target)) }
    }

    private mutating func add(_ message: ChatMessage, at key: OrderKey, now: WallTime, to batch: inout Batch) {
        var message = message
        message.receivedAt = message.receivedAt ?? now
        message.sentAt = message.sentAt ?? now
        var entry = TimelineLine.Entry(message: message)
        if let calendar, let time = rule.time(of: message) { entry.day = calendar.day(of: time) }
        entry.isUnread = message.direction == .received && !isVisible
        let id = TimelineRow.ID.message(nextNumber())
        places[id] = key
        if message.direction == .sent, let localID = message.localID { own[localID] = id }
        if let identity = Identity(message) { known[identity] = id }
        if entry.isUnread {
            unreadCount += 1
            firstUnread = firstUnread.map { min($0, key) } ?? key
        }
        messageCount += 1
        // Behind all that stands before the next message and is not its own.
        let place = lines.firstPlace(notBefore: key, rank: 0)
        insert(TimelineLine(id: id, key: key, content: .message(entry)), at: place, in: &batch)
        regroup(from: place, in: &batch)
    }

    /// Drops the oldest while there are too many.
    private mutating func trim(in batch: inout Batch) {
        while messageCount > limit, let first = lines.message(atOrAfter: 0), !lines[first].key.isPending {
            // A gap with nothing before it separates nothing.
            let following = lines.message(atOrAfter: first + 1) ?? lines.count
            for place in stride(from: following - 1, through: 0, by: -1) {
                if case .gap = lines[place].content { remove(at: place, in: &batch) }
            }
            guard let oldest = lines.message(atOrAfter: 0) else { return }
            let heir = lines.message(atOrAfter: oldest + 1).flatMap { lines[$0].entry }
            headAnchor = heir.flatMap { $0.startsGroup ? nil : $0.anchor }
            removeMessage(at: oldest, in: &batch)
        }
    }

    private mutating func removeMessage(at place: Int, in batch: inout Batch) {
        setRead(place)
        let line = lines[place]
        guard let message = line.entry?.message else { return }
        places[line.id] = nil
        if message.direction == .sent, let localID = message.localID { own[localID] = nil }
        if let identity = Identity(message) { known[identity] = nil }
        messageCount -= 1
        remove(at: place, in: &batch)
        let previous = lines.message(before: place)
        if firstUnread == line.key { firstUnread = nextUnread(from: place) }
        settleDivider(in: &batch)
        // What stood before it alone goes, or passes to the next.
        var place = place
        while place > 0, case .day = lines[place - 1].content, lines.message(atOrAfter: place) == nil {
            place -= 1
            remove(at: place, in: &batch)
        }
        regroup(from: previous.map { $0 + 1 } ?? 0, in: &batch)
    }

    /// Gives a pending message its place among those that have arrived.
    private mutating func relocate(_ place: Int, to key: OrderKey, in batch: inout Batch) {
        var line = lines[place]
        line.key = key
        places[line.id] = key
        let previous = place - 1 - decorationCount(before: place)
        let staysBehind = previous < 0 || lines[previous].key < key
        if staysBehind, place + 1 >= lines.count || key < lines[place + 1].key {
            lines[place] = line
            for decoration in previous + 1..<place { lines[decoration].key = key }
            regroup(from: place, in: &batch)
            return
        }
        var place = place
        for decoration in stride(from: place - 1, to: previous, by: -1) {
            remove(at: decoration, in: &batch)
            place -= 1
        }
        lines.remove(at: place)
        let target = lines.firstPlace(notBefore: key, rank: 0)
        lines.insert(line, at: target)
        if place != target { batch.steps.append(.move(line.id, from: place, to: target)) }
        // The lower place first: what happens there moves nothing above it.
        regroup(from: max(target, target < place ? place + 1 : place), in: &batch)
        regroup(from: min(target, place), in: &batch)
    }

    /// How many lines stand before this message and belong to it.
    private func decorationCount(before place: Int) -> Int {
        var count = 0
        while place - count > 0, lines[place - count - 1].key == lines[place].key { count += 1 }
        return count
    }

    private mutating func setState(
        of localID: LocalID, to state: ChatMessage.State, if applies: (ChatMessage.State) -> Bool
    ) -> [TimelineChange] {
        guard let place = ownPlace(localID), case .message(var entry) = lines[place].content,
            entry.message.isPending, applies(entry.message.state)
        else { return [] }
        var batch = Batch()
        batch.touch(row(place))
        entry.message.state = state
        lines[place].content = .message(entry)
        regroup(from: place, in: &batch)
        return finish(batch)
    }

    private mutating func setRead(_ place: Int) {
        guard case .message(var entry) = lines[place].content, entry.isUnread else { return }
        entry.isUnread = false
        lines[place].content = .message(entry)
        unreadCount -= 1
    }

    private func nextUnread(from place: Int) -> OrderKey? {
        guard unreadCount > 0 else { return nil }
        return (place..<lines.count).first { lines[$0].entry?.isUnread == true }.map { lines[$0].key }
    }
}

// MARK: - Groups, days and the divider

extension ChatTimeline {
    /// Brings groups and day separators in order from this place on, until nothing changes any more.
    private mutating func regroup(from place: Int, in batch: inout Batch) {
        var next = lines.message(atOrAfter: place)
        let first = lines.message(before: place) ?? 0
        var last = first
        // The message at the place, and the one behind it, which has got another neighbour.
        var dueCount = 2
        while let message = next {
            stepCount += 1
            let message = settleDay(before: message, in: &batch)
            let hasChanged = settleStart(of: message)
            last = message
            dueCount -= 1
            if dueCount <= 0, !hasChanged { break }
            next = lines.message(atOrAfter: message + 1)
        }
        guard var place = lines.message(atOrAfter: first) else { return }
        while true {
            let following = lines.message(atOrAfter: place + 1)
            settlePosition(of: place, next: following, in: &batch)
            guard let following, following <= last else { break }
            place = following
        }
    }

    /// Sees to it that a separator stands before the message if its day begins with it. Returns the message's new place.
    private mutating func settleDay(before message: Int, in batch: inout Batch) -> Int {
        guard let day = lines[message].entry?.day else { return message }
        let previous = lines.message(before: message)
        let begins = previous.flatMap { lines[$0].entry?.day } != day
        let key = lines[message].key
        var message = message
        var isThere = false
        for place in stride(from: message - 1, to: previous ?? -1, by: -1) {
            guard case .day(let other) = lines[place].content else { continue }
            if begins, !isThere, other == day {
                lines[place].key = key
                isThere = true
            } else {
                remove(at: place, in: &batch)
                message -= 1
            }
        }
        guard begins, !isThere else { return message }
        // The day may have begun with the next message until now.
        let following = lines.message(atOrAfter: message + 1) ?? lines.count
        if let separator = (message + 1..<following).first(where: { isSeparator($0, of: day) }) {
            var line = lines[separator]
            line.key = key
            move(line, from: separator, to: separatorPlace(before: message), in: &batch)
            return message + 1
        }
        return insertSeparator(day, before: message, in: &batch)
    }

    private func isSeparator(_ place: Int, of day: LocalDay) -> Bool {
        if case .day(day) = lines[place].content { true } else { false }
    }

    private func separatorPlace(before message: Int) -> Int {
        if message > 0, case .unreadDivider = lines[message - 1].content { message - 1 } else { message }
    }

    private mutating func insertSeparator(_ day: LocalDay, before message: Int, in batch: inout Batch) -> Int {
        let line = TimelineLine(id: .day(nextNumber()), key: lines[message].key, content: .day(day))
        insert(line, at: separatorPlace(before: message), in: &batch)
        return message + 1
    }

    /// Returns whether what follows may have to be grouped anew.
    private mutating func settleStart(of place: Int) -> Bool {
        guard case .message(var entry) = lines[place].content else { return false }
        let previous = lines.message(before: place)
        let before = previous.flatMap { lines[$0].entry }
        let isApart =
            before.map { rule.breaksAtDay && $0.day != entry.day } ?? true
            || ((previous ?? -1) + 1..<place).contains { if case .gap = lines[$0].content { true } else { false } }
        let continues = before.map { rule.continues($0.message, anchor: $0.anchor, with: entry.message) } ?? false
        let startsGroup = isApart || !continues
        let anchor = startsGroup ? (before == nil ? headAnchor : nil) ?? rule.time(of: entry.message) : before?.anchor
        guard startsGroup != entry.startsGroup || anchor != entry.anchor else { return false }
        entry.startsGroup = startsGroup
        entry.anchor = anchor
        lines[place].content = .message(entry)
        return true
    }

    private mutating func settlePosition(of place: Int, next: Int?, in batch: inout Batch) {
        guard case .message(var entry) = lines[place].content else { return }
        let endsGroup = next.flatMap { lines[$0].entry?.startsGroup } ?? true
        let position = GroupPosition(isFirst: entry.startsGroup, isLast: endsGroup)
        guard position != entry.position else { return }
        batch.touch(row(place))
        entry.position = position
        lines[place].content = .message(entry)
    }

    /// Puts the divider where it belongs, and tells each row that has changed once, with all that has changed in it.
    private mutating func finish(_ batch: Batch) -> [TimelineChange] {
        var batch = batch
        settleDivider(in: &batch)
        var inserted: Set<TimelineRow.ID> = []
        for (step, change) in batch.steps.enumerated() {
            guard case .insert(let row, let at) = change, let key = places[row.id] else { continue }
            inserted.insert(row.id)
            batch.steps[step] = .insert(self.row(place(of: key)), at: at)
        }
        for before in batch.touched where !inserted.contains(before.id) {
            guard let place = places[before.id].map(place) else { continue }
            let row = row(place)
            if row != before { batch.steps.append(.update(row, at: place)) }
        }
        return batch.steps
    }

    private mutating func settleDivider(in batch: inout Batch) {
        guard divider != firstUnread else { return }
        let rank = TimelineLine.Content.unreadDivider.rank
        let current = divider.map { lines.firstPlace(notBefore: $0, rank: rank) }
        defer { divider = firstUnread }
        guard let firstUnread else {
            if let current { remove(at: current, in: &batch) }
            return
        }
        let line = TimelineLine(id: .unreadDivider, key: firstUnread, content: .unreadDivider)
        let target = lines.firstPlace(notBefore: firstUnread, rank: rank)
        if let current {
            move(line, from: current, to: current < target ? target - 1 : target, in: &batch)
        } else {
            insert(line, at: target, in: &batch)
        }
    }
}
