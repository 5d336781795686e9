import SignalingProtocol
import TextChat
import TextChatFoundation

extension ChatModel {
    /// Whether the chat is on the screen.
    public var isVisible: Bool {
        get { presence.isVisible }
        set { change { $0.isVisible = newValue } }
    }

    /// Whether the app is in the background. Nothing counts as read meanwhile.
    public var isInBackground: Bool {
        get { presence.isInBackground }
        set { change { $0.isInBackground = newValue } }
    }

    /// What the user sees of the chat.
    struct Presence: Equatable {
        var isVisible = false
        var isInBackground = false
        var scroll = ScrollKeeper()

        /// Messages that arrive meanwhile are read.
        var isReading: Bool { isVisible && !isInBackground && scroll.followsEnd }
    }

    private func change(_ change: (inout Presence) -> Void) {
        change(&presence)
        noteReading()
        refresh()
    }

    /// So long the divider shows where the unread messages begin.
    private static let readingTime = Duration.seconds(4)

    func noteReading() {
        guard chat.isVisible != presence.isReading else { return }
        chat.isVisible = presence.isReading
        readTask?.cancel()
        readTask = nil
        dayTask?.cancel()
        dayTask = nil
        guard presence.isReading else { return }
        readLater()
        dayTask = Task { [weak self] in
            while !Task.isCancelled, let wait = self?.noteDay(.now) { try? await Task.sleep(for: wait) }
        }
    }

    /// A page may bring unread messages while the user looks at the chat: a read marker says so.
    func noteUnread() { if presence.isReading, readTask == nil, chat.unreadCount > 0 { readLater() } }

    private func readLater() {
        readTask = Task { [weak self] in
            try? await Task.sleep(for: Self.readingTime)
            if !Task.isCancelled { self?.markRead() }
        }
    }

    private func markRead() {
        readTask = nil
        chat.markRead()
        refresh()
    }

    // MARK: The list

    /// Where a list has to go.
    public enum ScrollTarget: Hashable, Sendable {
        case end
        /// To the upper edge.
        case row(TimelineRow.ID)
    }

    /// The end of the list comes into view, or leaves it. A list without a view is always at its end.
    public func noteEnd(isVisible: Bool) { change { $0.scroll.noteEnd(isVisible: isVisible) } }

    /// Another row is the first that is visible.
    public func noteTop(_ row: TimelineRow.ID?) { change { $0.scroll.noteTop(row, in: rows) } }

    /// Shows where the new messages begin, and the next time their end.
    public func goToNewMessages() {
        var target = ScrollTarget.end
        change { target = $0.scroll.goToNew(in: rows) }
        scrollRequest = scrollRequest.next(target)
    }

    // MARK: Days

    /// Names the days anew if another one has begun.
    ///
    /// - Returns: when to look again.
    @discardableResult
    func noteDay(_ now: WallTime) -> Duration {
        let day = days.day(at: now)
        if today != day { today = day }
        return days.wait(at: now)
    }
}

/// A value that is given again and again: each time with another number.
public struct Numbered<Value: Hashable & Sendable>: Hashable, Sendable {
    public let value: Value
    private let number: Int

    init(_ value: Value, number: Int) {
        self.value = value
        self.number = number
    }
}

extension Optional {
    func next<Value>(_ value: Value) -> Numbered<Value> where Wrapped == Numbered<Value> {
        Numbered(value, number: map(\.following) ?? 0)
    }
}

extension Numbered { fileprivate var following: Int { number + 1 } }
