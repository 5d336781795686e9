import SignalingProtocol

/// What has changed since a page was asked for: the page may be older. An edit counts where it is later than the message's
/// own, and an erasure over all (CHG-8).
struct PageOverlay {
    private enum Change {
        case edit(ref: Seq, data: String?, isJSON: Bool, HistoryMessage.Edit)
        case erasure(Erasure, seq: Seq?)
        case reactions(ReactionsEvent)
    }

    private var changes: [Change] = []
    /// The user's own reactions.
    private var own: [OwnReactions] = []

    var count: Int { changes.count + own.count }

    /// - Parameter now: stands for the time of the edit.
    mutating func note(_ event: ChangeEvent, now: WallTime) {
        guard case .edit(let data, let isJSON) = event.change else { return }
        changes.append(
            .edit(ref: event.ref, data: data, isJSON: isJSON, HistoryMessage.Edit(seq: event.seq, time: now)))
    }

    mutating func note(_ erasure: Erasure, seq: Seq?) { changes.append(.erasure(erasure, seq: seq)) }

    mutating func note(_ event: ReactionsEvent) { changes.append(.reactions(event)) }

    mutating func note(_ own: OwnReactions) { self.own.append(own) }

    /// The page as it is now.
    func applied(to page: HistoryPage) -> HistoryPage {
        var page = page
        page.messages = changes.reduce(page.messages) { kept, change in
            kept.compactMap { Self.applied(change, to: $0) }
        }
        page.mine = page.mine.filter { mine in !own.contains { $0.ref == mine.ref } } + own
        return page
    }

    private static func applied(_ change: Change, to message: HistoryMessage) -> HistoryMessage? {
        var message = message
        switch change {
        case .edit(message.seq, let data, let isJSON, let edit):
            guard case .signal(let type, _, _) = message.content, edit.seq > message.edit?.seq ?? Seq(0) else { break }
            message.content = .signal(type: type, data: data, isJSON: isJSON)
            message.edit = edit
        case .edit: break
        case .erasure(let erasure, let seq) where erasure.covers(message.seq, of: message.from?.user):
            if case .through = erasure { return nil }
            // What a user has written since stays.
            if case .user = erasure, let seq, message.seq >= seq { break }
            message.content = .erased
            message.edit = nil
            message.reactions = nil
        case .erasure: break
        case .reactions(let event):
            guard event.ref == message.seq, event.seq > message.reactions?.seq ?? Seq(0) else { break }
            if message.content != .erased { message.reactions = .init(event.counts, seq: event.seq) }
        }
        return message
    }
}
