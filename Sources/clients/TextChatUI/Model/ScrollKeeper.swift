import TextChat

/// Where the list of a chat stands, and where it has to go. It follows its end until the user scrolls up.
struct ScrollKeeper: Equatable {
    /// Whether the user sees the newest message, and each new one as it comes.
    private(set) var followsEnd = true
    /// The first row that is visible.
    private var top: TimelineRow.ID?
    private var isEndVisible = true
    private var hasMovedUp = false
    /// The list has gone to the unread messages: next time it goes to the end.
    private var isAtUnread = false

    /// The end of the list comes into view, or leaves it.
    mutating func noteEnd(isVisible: Bool) {
        isEndVisible = isVisible
        settle()
    }

    /// Another row is the first that is visible.
    mutating func noteTop(_ id: TimelineRow.ID?, in rows: [TimelineRow]) {
        guard let id, let index = rows.firstIndex(where: { $0.id == id }) else { return }
        let former = top.flatMap { top in rows.firstIndex { $0.id == top } }
        top = id
        guard let former, former != index else { return }
        hasMovedUp = index < former
        settle()
    }

    /// Rows that are new push the end out of view, and no user has scrolled then.
    private mutating func settle() {
        if isEndVisible { isAtUnread = false }
        if isEndVisible { followsEnd = true } else if hasMovedUp { followsEnd = false }
    }

    /// The rows have changed.
    ///
    /// - Returns: where the list has to go; nil: it stays.
    mutating func change(from old: [TimelineRow], to new: [TimelineRow]) -> ChatModel.ScrollTarget? {
        let known = Set(old.map(\.id))
        guard let firstNew = new.firstIndex(where: { !known.contains($0.id) }) else { return nil }
        // The user's own message that is not sent yet stands behind all others.
        if let last = new.last(where: { $0.message != nil }), !known.contains(last.id),
            let message = last.message?.message, message.direction == .sent, message.state != .sent
        {
            followsEnd = true
        }
        hasMovedUp = false
        if followsEnd { return .end }
        // Rows in front of those that the user reads.
        guard let top, let index = new.firstIndex(where: { $0.id == top }), firstNew < index else { return nil }
        return .row(top)
    }

    /// The user wants to see the new messages: first where they begin, then their end.
    mutating func goToNew(in rows: [TimelineRow]) -> ChatModel.ScrollTarget {
        if !isAtUnread, rows.contains(where: { $0.id == .unreadDivider }) {
            isAtUnread = true
            return .row(.unreadDivider)
        }
        isAtUnread = false
        followsEnd = true
        hasMovedUp = false
        return .end
    }
}
