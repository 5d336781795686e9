import SignalingProtocol

/// What ``ChatActivity/historyChanged`` tells.
struct HistoryState: Equatable {
    var hasEarlier: Bool?
    var isLoading = false
    var error: SignalingError?
}

extension ChatRules {
    var history: HistoryState {
        HistoryState(
            hasEarlier: reader.hasRead ? !timeline.hasBeginning && timeline.hasRoom : nil,
            isLoading: reader.isLoadingEarlier, error: reader.error)
    }

    /// The page to read now.
    mutating func nextPage() -> HistoryReader.Errand? { channel == nil ? nil : reader.next(timeline) }

    /// The answer to an errand of ``nextPage()``. It may come too late.
    mutating func answered(
        _ errand: HistoryReader.Errand, _ answer: Result<HistoryPage, SignalingError>
    ) -> ChatOutcome {
        switch answer {
        case .success(let page):
            return reader.answer(errand, page, timeline).map { merge($0) } ?? ChatOutcome()
        case .failure(let error):
            guard reader.fail(errand, error), let gap = reader.unreadGap else { return ChatOutcome() }
            return ChatOutcome(changes: timeline.noteGap(after: gap))
        }
    }

    /// A page ends no typing, reports no message as received, and does not count as unread, unless it brings what an
    /// absence has missed (CHAT-9, CHAT-10).
    mutating func merge(_ place: HistoryPlace) -> ChatOutcome {
        var arrived: [LocalID] = []
        let messages = place.messages.compactMap { kept -> ChatMessage? in
            guard var message = ChatWireForm.message(from: kept) else { return nil }
            names.note(message)
            message.known = KnownReactions(kept.reactions, own: place.mine[kept.seq] ?? [])
            guard isOwn(kept.from) else { return message }
            message.direction = .sent
            if let localID = message.localID, timeline.ownMessage(localID)?.isPending == true {
                arrived.append(localID)
            }
            return message
        }
        let changes = timeline.merge(messages, at: place)
        for localID in arrived { noteSettled(localID) }
        return ChatOutcome(changes: changes, activity: .historyRead(changes))
    }
}
