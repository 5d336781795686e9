import SignalingProtocol

/// The order of lines. Messages in the session's log are ordered by seq, and a message without one comes after those
/// that arrived before it. Pending messages come after all of these, in the order in which they were written.
struct OrderKey: Hashable, Comparable {
    /// Increases when seq starts anew: with a new connection, or after a loss.
    var era: Int
    var seq: Int64
    /// Orders lines without a seq that came after the same seq; 0 for the message with that seq.
    var tie: Int

    /// Before all others.
    static let beginning = OrderKey(era: .min, seq: 0, tie: 0)

    static func pending(_ number: Int) -> OrderKey { OrderKey(era: .max, seq: 0, tie: number) }

    var isPending: Bool { era == .max }

    static func < (left: OrderKey, right: OrderKey) -> Bool {
        (left.era, left.seq, left.tie) < (right.era, right.seq, right.tie)
    }
}

/// A row with the timeline's own data.
struct TimelineLine {
    let id: TimelineRow.ID
    var key: OrderKey
    var content: Content

    enum Content {
        case beginning
        case gap
        // A day and the divider have the key of the message behind them.
        case day(LocalDay)
        case unreadDivider
        case message(Entry)

        /// The order of lines with the same key.
        var rank: Int {
            switch self {
            case .beginning, .gap: 0
            case .day: 1
            case .unreadDivider: 2
            case .message: 3
            }
        }
    }

    struct Entry {
        var message: ChatMessage
        var day: LocalDay?
        var isUnread = false
        /// False: the message belongs to the group of the one before.
        var startsGroup = true
        /// The date of the first message of its group.
        var anchor: WallTime?
        var position = GroupPosition.single
    }

    var entry: Entry? { if case .message(let entry) = content { entry } else { nil } }
}

/// Lines in the order of their keys. A change near either end takes constant time on average, a search logarithmic
/// time.
struct TimelineLines {
    /// Lines removed at the front stay before `start` until it is worth moving the rest.
    private var storage: [TimelineLine] = []
    private var start = 0

    /// In place of the lines before `start`.
    private static let unused = TimelineLine(id: .unreadDivider, key: .pending(0), content: .unreadDivider)

    var count: Int { storage.count - start }

    subscript(_ index: Int) -> TimelineLine {
        get { storage[start + index] }
        set { storage[start + index] = newValue }
    }

    mutating func insert(_ line: TimelineLine, at index: Int) {
        guard index < count / 2 else { return storage.insert(line, at: start + index) }
        if start == 0 {
            // A page of earlier messages comes in front: the rest moves once, and not for each of them.
            start = max(count, 32)
            storage.insert(contentsOf: repeatElement(Self.unused, count: start), at: 0)
        }
        start -= 1
        for moved in start..<start + index { storage[moved] = storage[moved + 1] }
        storage[start + index] = line
    }

    @discardableResult
    mutating func remove(at index: Int) -> TimelineLine {
        guard index < count / 2 else { return storage.remove(at: start + index) }
        let line = storage[start + index]
        for moved in stride(from: start + index, to: start, by: -1) { storage[moved] = storage[moved - 1] }
        // Frees the text of the removed line.
        storage[start] = Self.unused
        start += 1
        if start > storage.count / 2, start > 32 {
            storage.removeFirst(start)
            start = 0
        }
        return line
    }

    /// The first index whose line does not come before this key and rank.
    func firstIndex(notBefore key: OrderKey, rank: Int) -> Int {
        var (low, high) = (start, storage.count)
        while low < high {
            let middle = (low + high) / 2
            let line = storage[middle]
            if line.key < key || (line.key == key && line.content.rank < rank) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low - start
    }

    /// The index of the nearest message before this one. At most three other lines stand between two messages.
    func message(before index: Int) -> Int? {
        var index = index - 1
        while index >= 0, self[index].entry == nil { index -= 1 }
        return index < 0 ? nil : index
    }

    func message(atOrAfter index: Int) -> Int? {
        var index = index
        while index < count, self[index].entry == nil { index += 1 }
        return index < count ? index : nil
    }
}
