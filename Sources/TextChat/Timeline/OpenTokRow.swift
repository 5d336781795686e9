/// One line of the list as OpenTok's text chat of 2015 draws it (CHAT-7).
public enum OpenTokRow: Equatable, Sendable {
    /// One's own message with name and time.
    case sent(ChatMessage)
    /// One's own message that belongs to the one before it: text only.
    case sentShort(ChatMessage)
    /// Another's message with name and time.
    case received(ChatMessage)
    /// Another's message that belongs to the one before it: text only.
    case receivedShort(ChatMessage)
    /// A line between two groups, and one at the end.
    case divider

    /// The row's message; nil for a divider.
    public var message: ChatMessage? {
        switch self {
        case .sent(let message), .sentShort(let message), .received(let message), .receivedShort(let message): message
        case .divider: nil
        }
    }

    /// A timeline's messages in that look, grouped as the timeline has grouped them (``GroupingRule/openTok``, to be like
    /// OpenTok's). Days, gaps and what is unread are not in it.
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
