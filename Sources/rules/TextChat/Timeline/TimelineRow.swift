/// One row of a chat's list. Its ID stays while its content and its index change, and no two rows share one.
public struct TimelineRow: Identifiable, Equatable, Sendable {
    public let id: ID
    public var content: Content

    public init(id: ID, content: Content) {
        self.id = id
        self.content = content
    }

    public enum ID: Hashable, Sendable {
        case message(Int)
        case day(Int)
        case unreadDivider
        case gap(Int)
        case beginning
    }

    public enum Content: Equatable, Sendable {
        case message(MessageRow)
        /// Stands before the first message of its day.
        case day(LocalDay)
        /// Stands before the first unread message.
        case unreadDivider
        /// Something was lost here (G4).
        case gap
        /// Stands before all messages, when the oldest message of the session's history is shown.
        case beginning
    }

    /// The row's message; nil for the other kinds.
    public var message: MessageRow? { if case .message(let row) = content { row } else { nil } }
}

/// A message as it is drawn.
public struct MessageRow: Equatable, Sendable {
    public var message: ChatMessage
    public var position: GroupPosition
    public var showsSender: Bool
    public var showsTime: Bool

    init(_ message: ChatMessage, _ position: GroupPosition, rule: GroupingRule) {
        self.message = message
        self.position = position
        showsSender = position.isFirst && (rule.showsOwnName || message.direction == .received)
        showsTime = rule.timePosition == .first ? position.isFirst : position.isLast
    }
}

/// The position of a message in its group.
public enum GroupPosition: String, CaseIterable, Sendable {
    case first, middle, last, single

    init(isFirst: Bool, isLast: Bool) {
        self = isFirst ? (isLast ? .single : .first) : (isLast ? .last : .middle)
    }

    public var isFirst: Bool { self == .first || self == .single }
    public var isLast: Bool { self == .last || self == .single }
}
