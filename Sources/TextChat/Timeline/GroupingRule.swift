import SignalingProtocol

/// When a message belongs to the group of the one before it, and which message of a group shows name and time.
///
/// Senders without an id never group. A message dated before its predecessor counts as close to it.
public struct GroupingRule: Hashable, Sendable {
    /// A message this long after the one before it, or longer, starts a new group.
    public var window: Duration
    /// So does a message this long after the first of its group, so that a long monologue is not one group. Nil: no end.
    public var span: Duration?
    /// Whose clock these are measured by.
    public var clock: Clock
    /// Whether the next day, by the timeline's calendar, starts a new group.
    public var breaksAtDay: Bool
    /// Whether a failed message stands alone.
    public var breaksAtFailure: Bool
    /// Whether one's own messages have one sender, although their connection ids differ after a reconnect, and never group with others'.
    public var tellsSides: Bool
    /// Which message of a group shows the time.
    public var timePlace: Edge
    /// Whether one's own groups show a name, too.
    public var showsOwnName: Bool

    public enum Clock: String, CaseIterable, Sendable {
        /// ``ChatMessage/receivedAt``: others' clocks, wrong by a year, change nothing.
        case arrival
        /// ``ChatMessage/sentAt``.
        case sender
    }

    public enum Edge: String, CaseIterable, Sendable { case first, last }

    public init(
        window: Duration, span: Duration?, clock: Clock, breaksAtDay: Bool, breaksAtFailure: Bool, tellsSides: Bool,
        timePlace: Edge, showsOwnName: Bool
    ) {
        self.window = window
        self.span = span
        self.clock = clock
        self.breaksAtDay = breaksAtDay
        self.breaksAtFailure = breaksAtFailure
        self.tellsSides = tellsSides
        self.timePlace = timePlace
        self.showsOwnName = showsOwnName
    }

    /// Less than 120 s after the one before and less than 10 min after the group's first, same side, sender and day; a failed
    /// message stands alone; the name on others' first, the time on the last.
    public static let standard = GroupingRule(
        window: .seconds(120), span: .seconds(600), clock: .arrival, breaksAtDay: true, breaksAtFailure: true,
        tellsSides: true, timePlace: .last, showsOwnName: false)

    /// OpenTok's text chat of 2015 (CHAT-7): less than 120 s after the one before by the senders' clocks, and the same sender
    /// id; nothing else counts. Name and time on the first.
    public static let openTok = GroupingRule(
        window: .seconds(120), span: nil, clock: .sender, breaksAtDay: false, breaksAtFailure: false,
        tellsSides: false, timePlace: .first, showsOwnName: true)

    /// The moment that counts for grouping, and for the day.
    func time(of message: ChatMessage) -> WallTime? {
        switch clock {
        case .arrival: message.receivedAt ?? message.sentAt
        case .sender: message.sentAt ?? message.receivedAt
        }
    }

    /// Whether `next` belongs to the group of `previous`, whose first message is dated `anchor`. Days and gaps apart.
    func continues(_ previous: ChatMessage, anchor: WallTime?, with next: ChatMessage) -> Bool {
        guard isSameSender(previous, next), let earlier = time(of: previous), let later = time(of: next) else {
            return false
        }
        if breaksAtFailure, previous.hasFailed || next.hasFailed { return false }
        if let span, let anchor, !Self.isLess(later, than: span, after: anchor) { return false }
        return Self.isLess(later, than: window, after: earlier)
    }

    private func isSameSender(_ previous: ChatMessage, _ next: ChatMessage) -> Bool {
        if tellsSides {
            guard previous.direction == next.direction else { return false }
            if next.direction == .sent { return true }
        }
        return next.senderID != nil && previous.senderID == next.senderID
    }

    /// Dates come from others' clocks and may lie anywhere: a difference that overflows is huge, one way or the other.
    private static func isLess(_ later: WallTime, than limit: Duration, after earlier: WallTime) -> Bool {
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? later < earlier : difference < limit.wholeMilliseconds
    }
}
