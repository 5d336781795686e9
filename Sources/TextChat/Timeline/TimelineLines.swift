import SignalingProtocol

/// Where a line belongs. Messages in the session's log go by seq, those without one behind what had come before them; what
/// is pending comes after all of these, in the order in which it was written.
struct OrderKey: Hashable, Comparable {
    /// Grows when seq starts afresh: with a new connection, or after a loss.
    var era: Int
    var seq: Int64
    /// Orders what came after the same seq without one of its own; 0 for the message that has the seq.
    var tie: Int

    static func pending(_ number: Int) -> OrderKey { OrderKey(era: .max, seq: 0, tie: number) }

    var isPending: Bool { era == .max }

    static func < (left: OrderKey, right: OrderKey) -> Bool {
        (left.era, left.seq, left.tie) < (right.era, right.seq, right.tie)
    }
}

/// A row with what the timeline has to know of it.
struct TimelineLine {
    let id: TimelineRow.ID
    var key: OrderKey
    var content: Content

    enum Content {
        case gap
        // The two that stand before a message have its key.
        case day(LocalDay)
        case unreadDivider
        case message(Entry)

        /// The order of lines with the same key.
        var rank: Int {
            switch self {
            case .gap: 0
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
        /// False: it belongs to the group of the message before it.
        var startsGroup = true
        /// The date of its group's first.
        var anchor: WallTime?
        var position = GroupPosition.single
    }

    var entry: Entry? { if case .message(let entry) = content { entry } else { nil } }
}

/// Lines in the order of their keys. Changes near either end take constant time on average; finding takes logarithmic time.
struct TimelineLines {
    /// What has been removed at the front stays before `start` until it is worth moving the rest.
    private var storage: [TimelineLine] = []
    private var start = 0

    var count: Int { storage.count - start }

    subscript(_ place: Int) -> TimelineLine {
        get { storage[start + place] }
        set { storage[start + place] = newValue }
    }

    mutating func insert(_ line: TimelineLine, at place: Int) {
        guard start > 0, place < count / 2 else { return storage.insert(line, at: start + place) }
        start -= 1
        for moved in start..<start + place { storage[moved] = storage[moved + 1] }
        storage[start + place] = line
    }

    @discardableResult
    mutating func remove(at place: Int) -> TimelineLine {
        guard place < count / 2 else { return storage.remove(at: start + place) }
        let line = storage[start + place]
        for moved in stride(from: start + place, to: start, by: -1) { storage[moved] = storage[moved - 1] }
        // A text that nobody will see any more need not stay in memory.
        storage[start] = TimelineLine(id: .unreadDivider, key: .pending(0), content: .unreadDivider)
        start += 1
        if start > storage.count / 2, start > 32 {
            storage.removeFirst(start)
            start = 0
        }
        return line
    }

    /// The first place whose line does not come before this key and rank.
    func firstPlace(notBefore key: OrderKey, rank: Int) -> Int {
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

    /// The nearest message before this place. At most three other lines stand between two messages.
    func message(before place: Int) -> Int? {
        var place = place - 1
        while place >= 0, self[place].entry == nil { place -= 1 }
        return place < 0 ? nil : place
    }

    func message(atOrAfter place: Int) -> Int? {
        var place = place
        while place < count, self[place].entry == nil { place += 1 }
        return place < count ? place : nil
    }
}
