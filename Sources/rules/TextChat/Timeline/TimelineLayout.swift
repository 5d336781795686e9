import SignalingProtocol

/// The rows of a ``ChatTimeline`` in their order: its messages, the day separators, gaps and unread divider between them,
/// and the beginning of the conversation.
///
/// Each change regroups the messages around it, and collects the steps from the rows before to the rows after until
/// ``finish(firstUnread:)``. The cost depends on how much changes, not on the length of the history.
struct TimelineLayout: Sendable {
    let rule: GroupingRule
    /// Nil: no day separators, and days break no group.
    let calendar: (any ChatCalendar)?

    private(set) var lines = TimelineLines()
    /// How many messages the grouping has visited; a measure of work for tests.
    private(set) var stepCount = 0

    private var keys: [TimelineRow.ID: OrderKey] = [:]
    private var divider: OrderKey?
    private var lastNumber = 0
    /// The date of a dropped message whose group continues with the oldest kept one: later groups stay as they are.
    private var headAnchor: WallTime?
    private var steps: [TimelineChange] = []
    /// The rows that the current call has touched, as they were before.
    private var touched: [TimelineRow] = []

    init(rule: GroupingRule, calendar: (any ChatCalendar)?) {
        self.rule = rule
        self.calendar = calendar
    }

    // MARK: Reading

    /// Numbers for rows, and for keys that need one.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    func key(of id: TimelineRow.ID) -> OrderKey? { keys[id] }

    /// The index of the message with this key, or the index that it would have.
    func index(of key: OrderKey) -> Int { lines.firstIndex(notBefore: key, rank: Self.messageRank) }

    private static let messageRank = TimelineLine.Content.message(.init(message: ChatMessage(text: ""))).rank

    func row(_ index: Int) -> TimelineRow {
        let line = lines[index]
        let content: TimelineRow.Content =
            switch line.content {
            case .beginning: .beginning
            case .gap: .gap
            case .day(let day): .day(day)
            case .unreadDivider: .unreadDivider
            case .message(let entry): .message(MessageRow(entry.message, entry.position, rule: rule))
            }
        return TimelineRow(id: line.id, content: content)
    }

    // MARK: Changes

    /// Adds a message, and returns the ID of its row.
    @discardableResult
    mutating func insert(_ entry: TimelineLine.Entry, at key: OrderKey) -> TimelineRow.ID {
        var entry = entry
        if let calendar, let time = rule.time(of: entry.message) { entry.day = calendar.day(of: time) }
        let id = TimelineRow.ID.message(nextNumber())
        keys[id] = key
        // Before the separators that belong to the next message.
        let index = lines.firstIndex(notBefore: key, rank: 0)
        insert(TimelineLine(id: id, key: key, content: .message(entry)), at: index)
        regroup(from: index)
        return id
    }

    /// Adds a gap behind the lines before `key`, unless one ends there already.
    mutating func insertGap(at key: OrderKey) {
        let index = lines.firstIndex(notBefore: key, rank: 0)
        if index > 0, case .gap = lines[index - 1].content { return }
        insert(TimelineLine(id: .gap(nextNumber()), key: key, content: .gap), at: index)
        regroup(from: index)
    }

    /// Whether a gap begins behind this seq.
    func hasGap(era: Int, after seq: Seq) -> Bool { gap(era, .init(from: seq, through: seq)) != nil }

    /// Removes the gaps that begin behind a seq of the stretch.
    mutating func removeGaps(era: Int, _ stretch: HistoryPlace.Stretch) {
        while let index = gap(era, stretch) {
            remove(at: index)
            regroup(from: index)
        }
    }

    /// Removes the gaps of earlier eras.
    mutating func removeGaps(before era: Int) {
        var index = lines.firstIndex(notBefore: OrderKey(era: era, seq: .min, tie: .min), rank: 0) - 1
        while index >= 0 {
            if case .gap = lines[index].content {
                remove(at: index)
                regroup(from: index)
            }
            index = min(index, lines.count) - 1
        }
    }

    private func gap(_ era: Int, _ stretch: HistoryPlace.Stretch) -> Int? {
        var index = lines.firstIndex(notBefore: OrderKey(era: era, seq: stretch.from.rawValue, tie: .min), rank: 0)
        while index < lines.count, lines[index].key.era == era {
            if let through = stretch.through, lines[index].key.seq > through.rawValue { return nil }
            if case .gap = lines[index].content { return index }
            index += 1
        }
        return nil
    }

    /// Changes a message. The row is reported as updated at the end of the call.
    mutating func update(at index: Int, _ change: (inout ChatMessage) -> Void) {
        guard case .message(var entry) = lines[index].content else { return }
        touch(index)
        change(&entry.message)
        lines[index].content = .message(entry)
    }

    /// Returns whether the message was unread.
    mutating func setRead(_ index: Int) -> Bool {
        guard case .message(var entry) = lines[index].content, entry.isUnread else { return false }
        entry.isUnread = false
        lines[index].content = .message(entry)
        return true
    }

    /// Removes the line of a message. Call ``settle(afterRemovalAt:firstUnread:)`` next.
    mutating func removeMessage(at index: Int) {
        keys[lines[index].id] = nil
        remove(at: index)
    }

    /// Removes the separators of a removed message, or gives them to the next one, and regroups its neighbours.
    mutating func settle(afterRemovalAt index: Int, firstUnread: OrderKey?) {
        let first = lines.message(before: index).map { $0 + 1 } ?? 0
        settleDivider(firstUnread)
        if lines.message(atOrAfter: first) == nil {
            for last in stride(from: lines.count - 1, through: first, by: -1) {
                if case .day = lines[last].content { remove(at: last) }
            }
        }
        regroup(from: first)
    }

    /// Removes the gaps before the second message, and keeps the anchor of the first group: the first message is about
    /// to be dropped.
    mutating func prepareDrop(ofFirst first: Int) {
        let following = lines.message(atOrAfter: first + 1) ?? lines.count
        // A gap with nothing before it separates nothing.
        for index in stride(from: following - 1, through: 0, by: -1) {
            if case .gap = lines[index].content { remove(at: index) }
        }
        guard let oldest = lines.message(atOrAfter: 0) else { return }
        let heir = lines.message(atOrAfter: oldest + 1).flatMap { lines[$0].entry }
        headAnchor = heir.flatMap { $0.startsGroup ? nil : $0.anchor }
    }

    /// Gives a message another key, when a pending message joins those that have arrived.
    mutating func relocate(_ index: Int, to key: OrderKey) {
        var line = lines[index]
        line.key = key
        keys[line.id] = key
        let previous = index - 1 - separatorCount(before: index)
        let staysBehind = previous < 0 || lines[previous].key < key
        if staysBehind, index + 1 >= lines.count || key < lines[index + 1].key {
            lines[index] = line
            for separator in previous + 1..<index { lines[separator].key = key }
            regroup(from: index)
            return
        }
        var index = index
        for separator in stride(from: index - 1, to: previous, by: -1) {
            remove(at: separator)
            index -= 1
        }
        lines.remove(at: index)
        let target = lines.firstIndex(notBefore: key, rank: 0)
        lines.insert(line, at: target)
        if index != target { steps.append(.move(line.id, from: index, to: target)) }
        // The higher index first: its changes do not shift the other.
        regroup(from: max(target, target < index ? index + 1 : index))
        regroup(from: min(target, index))
    }

    /// Moves the divider to the first unread message, shows or hides the beginning, and returns the steps. Each changed
    /// row is reported once, with all its changes.
    mutating func finish(firstUnread: OrderKey?, hasBeginning: Bool) -> [TimelineChange] {
        settleDivider(firstUnread)
        settleBeginning(hasBeginning)
        var inserted: Set<TimelineRow.ID> = []
        for (step, change) in steps.enumerated() {
            guard case .insert(let row, let at) = change, let key = keys[row.id] else { continue }
            inserted.insert(row.id)
            steps[step] = .insert(self.row(index(of: key)), at: at)
        }
        for before in touched where !inserted.contains(before.id) {
            guard let index = keys[before.id].map(index) else { continue }
            let row = row(index)
            if row != before { steps.append(.update(row, at: index)) }
        }
        defer {
            steps = []
            touched = []
        }
        return steps
    }

    // MARK: Lines

    private mutating func touch(_ index: Int) {
        let row = row(index)
        if !touched.contains(where: { $0.id == row.id }) { touched.append(row) }
    }

    private mutating func insert(_ line: TimelineLine, at index: Int) {
        lines.insert(line, at: index)
        steps.append(.insert(row(index), at: index))
    }

    private mutating func remove(at index: Int) {
        steps.append(.remove(lines.remove(at: index).id, at: index))
    }

    /// - Parameter target: an index in the list without the line.
    private mutating func move(_ line: TimelineLine, from index: Int, to target: Int) {
        lines.remove(at: index)
        lines.insert(line, at: target)
        if index != target { steps.append(.move(line.id, from: index, to: target)) }
    }

    /// How many separators stand before this message and belong to it.
    private func separatorCount(before index: Int) -> Int {
        var count = 0
        while index - count > 0, lines[index - count - 1].key == lines[index].key { count += 1 }
        return count
    }

    // MARK: Groups and days

    /// Regroups the messages from this index on, until nothing changes any more.
    mutating func regroup(from index: Int) {
        var next = lines.message(atOrAfter: index)
        let first = lines.message(before: index) ?? 0
        var last = first
        // The message at the index, and the one behind it, which has a new neighbour.
        var dueCount = 2
        while let message = next {
            stepCount += 1
            let message = settleDay(before: message)
            let hasChanged = settleStart(of: message)
            last = message
            dueCount -= 1
            if dueCount <= 0, !hasChanged { break }
            next = lines.message(atOrAfter: message + 1)
        }
        guard var index = lines.message(atOrAfter: first) else { return }
        while true {
            let following = lines.message(atOrAfter: index + 1)
            settlePosition(of: index, next: following)
            guard let following, following <= last else { break }
            index = following
        }
    }

    /// Inserts a separator before the message if its day begins with it, and removes others. Returns the message's new
    /// index.
    private mutating func settleDay(before message: Int) -> Int {
        guard let day = lines[message].entry?.day else { return message }
        let previous = lines.message(before: message)
        let begins = previous.flatMap { lines[$0].entry?.day } != day
        let key = lines[message].key
        var message = message
        var isThere = false
        // What stands before a gap was the separator of a message that is gone.
        var isBeforeGap = false
        for index in stride(from: message - 1, to: previous ?? -1, by: -1) {
            if case .gap = lines[index].content { isBeforeGap = true }
            guard case .day(let other) = lines[index].content else { continue }
            if begins, !isThere, !isBeforeGap, other == day {
                lines[index].key = key
                isThere = true
            } else {
                remove(at: index)
                message -= 1
            }
        }
        guard begins, !isThere else { return message }
        // The day may have begun with the next message before.
        let following = lines.message(atOrAfter: message + 1) ?? lines.count
        if let separator = (message + 1..<following).first(where: { isSeparator($0, of: day) }) {
            var line = lines[separator]
            line.key = key
            move(line, from: separator, to: separatorIndex(before: message))
            return message + 1
        }
        let line = TimelineLine(id: .day(nextNumber()), key: key, content: .day(day))
        insert(line, at: separatorIndex(before: message))
        return message + 1
    }

    private func isSeparator(_ index: Int, of day: LocalDay) -> Bool {
        if case .day(day) = lines[index].content { true } else { false }
    }

    private func separatorIndex(before message: Int) -> Int {
        if message > 0, case .unreadDivider = lines[message - 1].content { message - 1 } else { message }
    }

    /// Returns whether the messages behind may have to be regrouped.
    private mutating func settleStart(of index: Int) -> Bool {
        guard case .message(var entry) = lines[index].content else { return false }
        let previous = lines.message(before: index)
        let before = previous.flatMap { lines[$0].entry }
        let isApart =
            before.map { rule.breaksAtDay && $0.day != entry.day } ?? true
            || ((previous ?? -1) + 1..<index).contains { if case .gap = lines[$0].content { true } else { false } }
        let continues = before.map { rule.continues($0.message, anchor: $0.anchor, with: entry.message) } ?? false
        let startsGroup = isApart || !continues
        let anchor = startsGroup ? (before == nil ? headAnchor : nil) ?? rule.time(of: entry.message) : before?.anchor
        guard startsGroup != entry.startsGroup || anchor != entry.anchor else { return false }
        entry.startsGroup = startsGroup
        entry.anchor = anchor
        lines[index].content = .message(entry)
        return true
    }

    private mutating func settlePosition(of index: Int, next: Int?) {
        guard case .message(var entry) = lines[index].content else { return }
        let endsGroup = next.flatMap { lines[$0].entry?.startsGroup } ?? true
        let position = GroupPosition(isFirst: entry.startsGroup, isLast: endsGroup)
        guard position != entry.position else { return }
        touch(index)
        entry.position = position
        lines[index].content = .message(entry)
    }

    // MARK: The beginning and the unread divider

    private mutating func settleBeginning(_ isWanted: Bool) {
        let isThere = lines.count > 0 && lines[0].key == .beginning
        if isWanted, !isThere { insert(TimelineLine(id: .beginning, key: .beginning, content: .beginning), at: 0) }
        if !isWanted, isThere { remove(at: 0) }
    }

    private mutating func settleDivider(_ firstUnread: OrderKey?) {
        guard divider != firstUnread else { return }
        let rank = TimelineLine.Content.unreadDivider.rank
        let current = divider.map { lines.firstIndex(notBefore: $0, rank: rank) }
        defer { divider = firstUnread }
        guard let firstUnread else {
            if let current { remove(at: current) }
            return
        }
        let line = TimelineLine(id: .unreadDivider, key: firstUnread, content: .unreadDivider)
        let target = lines.firstIndex(notBefore: firstUnread, rank: rank)
        if let current {
            move(line, from: current, to: current < target ? target - 1 : target)
        } else {
            insert(line, at: target)
        }
    }
}
