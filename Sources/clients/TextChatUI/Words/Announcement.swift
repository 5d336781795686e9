import TextChat

extension ChatWords {
    /// What VoiceOver says of messages that have come; nil: nothing. Earlier messages, those of the first page and the
    /// user's own are not said.
    func announcement(from old: [TimelineRow], to new: [TimelineRow], in names: NameBook) -> String? {
        // The user's own messages that are not sent yet stay behind those that come.
        let known = Set(old.lazy.filter { $0.message?.message.state == .sent }.map(\.id))
        guard let last = new.lastIndex(where: { known.contains($0.id) }) else { return nil }
        let messages = new[(last + 1)...].compactMap { $0.message?.message }.filter { $0.direction == .received }
        guard let first = messages.first else { return nil }
        return messages.count == 1 ? spoken(first, in: names) : self(.newMessages, count: messages.count)
    }
}
