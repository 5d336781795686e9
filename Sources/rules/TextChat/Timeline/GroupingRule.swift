import SignalingProtocol

/// Which messages form a group, and which message of a group shows name and time.
///
/// Messages of senders without an ID never group. A message dated before its predecessor counts as close to it.
public struct GroupingRule: Hashable, Sendable {
    /// A message starts a new group if it is at least this much younger than the one before.
    public var window: Duration
    /// A message also starts a new group if it is at least this much younger than the first of the group, so that a
    /// long monologue is not one group. Nil: no limit.
    public var span: Duration?
    /// The clock that measures these.
    public var clock: Clock
    /// Whether a new day, by the timeline's calendar, starts a new group.
    public var breaksAtDay: Bool
    /// Whether a failed message stands alone.
    public var breaksAtFailure: Bool
    /// Whether the user's own messages count as one sender's, although their connection IDs differ after a reconnect,
    /// and never group with others'.
    public var separatesOwnMessages: Bool
    /// Which message of a group shows the time.
    public var timePosition: Edge
    /// Whether the user's own groups show a name.
    public var showsOwnName: Bool

    public enum Clock: String, CaseIterable, Sendable {
        /// ``ChatMessage/receivedAt``: wrong clocks of others change nothing.
        case arrival
        /// ``ChatMessage/sentAt``.
        case sender
    }

    public enum Edge: String, CaseIterable, Sendable { case first, last }

    public init(
        window: Duration, span: Duration?, clock: Clock, breaksAtDay: Bool, breaksAtFailure: Bool,
        separatesOwnMessages: Bool, timePosition: Edge, showsOwnName: Bool
    ) {
        self.window = window
        self.span = span
        self.clock = clock
        self.breaksAtDay = breaksAtDay
        self.breaksAtFailure = breaksAtFailure
        self.separatesOwnMessages = separatesOwnMessages
        self.timePosition = timePosition
        self.showsOwnName = showsOwnName
    }

    /// A message groups if it is less than 120 s younger than the one before and less than 10 min younger than the
    /// group's first, with the same side, author and day. A failed message stands alone. Others' groups show the name
    /// on the first message; the last shows the time.
    public static let standard = GroupingRule(
        window: .seconds(120), span: .seconds(600), clock: .arrival, breaksAtDay: true, breaksAtFailure: true,
        separatesOwnMessages: true, timePosition: .last, showsOwnName: false)

    /// OpenTok's text chat of 2015 (CHAT-7): a message groups if it is less than 120 s younger than the one before by
    /// the senders' clocks, with the same author. The first message shows name and time.
    public static let openTok = GroupingRule(
        window: .seconds(120), span: nil, clock: .sender, breaksAtDay: false, breaksAtFailure: false,
        separatesOwnMessages: false, timePosition: .first, showsOwnName: true)

    /// The date of a message for grouping and for its day.
    func time(of message: ChatMessage) -> WallTime? {
        switch clock {
        case .arrival: message.receivedAt ?? message.sentAt
        case .sender: message.sentAt ?? message.receivedAt
        }
    }

    /// Whether `next` continues the group of `previous`, whose first message is dated `anchor`, apart from days and
    /// gaps.
    func continues(_ previous: ChatMessage, anchor: WallTime?, with next: ChatMessage) -> Bool {
        guard isSameSender(previous, next), let earlier = time(of: previous), let later = time(of: next) else {
            return false
        }
        if breaksAtFailure, previous.hasFailed || next.hasFailed { return false }
        if let span, let anchor, !Self.isLess(later, than: span, after: anchor) { return false }
        return Self.isLess(later, than: window, after: earlier)
    }

    private func isSameSender(_ previous: ChatMessage, _ next: ChatMessage) -> Bool {
        if separatesOwnMessages {
            guard previous.direction == next.direction else { return false }
            if next.direction == .sent { return true }
        }
        return next.author != nil && previous.author == next.author
    }

    /// Dates come from other clocks and may have any value. A difference that overflows is beyond every limit.
    private static func isLess(_ later: WallTime, than limit: Duration, after earlier: WallTime) -> Bool {
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? later < earlier : difference < limit.wholeMilliseconds
    }
}
