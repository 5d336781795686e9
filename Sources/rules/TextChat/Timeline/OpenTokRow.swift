/// A row of the list in the look of OpenTok's text chat of 2015 (CHAT-7).
public enum OpenTokRow: Equatable, Sendable {
    /// The user's own message with name and time.
    case sent(ChatMessage)
    /// The user's own message in the group of the one before: text only.
    case sentShort(ChatMessage)
    /// Another's message with name and time.
    case received(ChatMessage)
    /// Another's message in the group of the one before: text only.
    case receivedShort(ChatMessage)
    /// A line after each group.
    case divider

    /// The row's message; nil for a divider.
    public var message: ChatMessage? {
        switch self {
        case .sent(let message), .sentShort(let message), .received(let message), .receivedShort(let message): message
        case .divider: nil
        }
    }

    /// The messages of a timeline in that look, in the timeline's groups; use ``GroupingRule/openTok`` to group as
    /// OpenTok does. Days, gaps and the unread divider are left out.
    public static func rows(of timeline: some Sequence<TimelineRow>) -> [OpenTokRow] {
        var rows: [OpenTokRow] = []
        for case let row? in timeline.lazy.map(\.message) {
            if row.position.isFirst, !rows.isEmpty { rows.append(.divider) }
            switch (row.message.direction, row.position.isFirst) {
            case (.sent, true): rows.append(.sent(row.message))
            case (.sent, false): rows.append(.sentShort(row.message))
            case (.received, true): rows.append(.received(row.message))
            case (.received, false): rows.append(.receivedShort(row.message))
            }
        }
        if !rows.isEmpty { rows.append(.divider) }
        return rows
    }
}
