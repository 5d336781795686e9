/// Which messages of a timeline are unread: how many, and the key of the first.
struct UnreadMessages: Sendable {
    private(set) var count = 0
    private(set) var first: OrderKey?

    /// An unread message was added.
    mutating func add(_ key: OrderKey) {
        count += 1
        first = first.map { min($0, key) } ?? key
    }

    /// Marks the message as read, if it is unread.
    mutating func read(_ index: Int, in layout: inout TimelineLayout) {
        guard layout.setRead(index) else { return }
        count -= 1
        if layout.lines[index].key == first { first = next(from: index + 1, in: layout) }
    }

    /// Marks all messages up to this key as read.
    mutating func read(through last: OrderKey, in layout: inout TimelineLayout) {
        while let first, first <= last { read(layout.index(of: first), in: &layout) }
    }

    private func next(from index: Int, in layout: TimelineLayout) -> OrderKey? {
        guard count > 0 else { return nil }
        return (index..<layout.lines.count).first { layout.lines[$0].entry?.isUnread == true }
            .map { layout.lines[$0].key }
    }
}
