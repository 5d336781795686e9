import SignalingProtocol

/// What is drawn for one line of the list.
public enum ChatRow: Equatable, Sendable {
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
}

/// How messages become rows: a function of the messages alone, in the order of their arrival.
///
/// The rule is that of OpenTok's text chat of 2015: a message less than 120 s after the one just before it, from the same
/// sender, is short; before any other, except the first, goes a divider. One more divider closes a list that is not
/// empty. What follows from it is meant: exactly 120 s start a new group; a message dated before its predecessor is
/// within the time; senders without an id never group; only the message just before counts, so a long run of quick
/// messages is one group; whether one's own or another's is not compared.
public enum MessageGrouping {
    /// A message this long after the one before it starts a new group.
    public static let window = Duration.seconds(120)

    public static func rows(of messages: some Sequence<ChatMessage>) -> [ChatRow] {
        var rows: [ChatRow] = []
        var previous: ChatMessage?
        for message in messages {
            let isShort = previous.map { continues($0, with: message) } ?? false
            if previous != nil, !isShort { rows.append(.divider) }
            switch (message.direction, isShort) {
            case (.sent, false): rows.append(.sent(message))
            case (.sent, true): rows.append(.sentShort(message))
            case (.received, false): rows.append(.received(message))
            case (.received, true): rows.append(.receivedShort(message))
            }
            previous = message
        }
        if previous != nil { rows.append(.divider) }
        return rows
    }

    /// Whether the second message belongs to the group of the first.
    private static func continues(_ first: ChatMessage, with second: ChatMessage) -> Bool {
        guard let sender = first.senderID, sender == second.senderID, let earlier = first.sentAt,
            let later = second.sentAt
        else { return false }
        // Dates come from others' clocks and may lie anywhere: a difference that overflows is huge, one way or the other.
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? later < earlier : difference < window.wholeMilliseconds
    }
}
