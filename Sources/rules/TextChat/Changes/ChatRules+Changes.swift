import SignalingProtocol

/// What the user may change of a chat's messages, and which message the draft answers (CHAT-12 to CHAT-14).
extension ChatRules {
    // MARK: Events

    /// A message has other data now (CHAT-13). Nothing happens where it is not shown, or has a later edition.
    mutating func edited(_ event: ChangeEvent, now: WallTime) -> [TimelineChange] {
        guard case .edit(let data, _) = event.change, var message = timeline.row(withSeq: event.ref)?.message?.message
        else { return [] }
        let edition = ChatWireForm.edition(of: message, data: data, .init(seq: event.seq, time: now))
        let changes = timeline.change(event.ref, to: edition)
        guard !changes.isEmpty else { return [] }
        message.take(edition)
        names.note(message)
        return changes
    }

    // MARK: The user's changes

    /// Why the user cannot change this row in this way. Nil: as far as is known, the user can.
    func refusal(of kind: ChangeKind, _ id: TimelineRow.ID) -> ChangeError? {
        guard let message = timeline.message(of: id) else { return .unknown }
        if message.isErased { return .erased }
        guard isAuthor(of: message) else { return .notOwn }
        guard timeline.seq(of: id) != nil, channel?.changes?.contains(kind) == true else { return .notPermitted }
        guard isUp else { return .notConnected }
        return restriction.map { .restricted($0) }
    }

    /// Whether the present connection may change this message (CHG-5).
    private func isAuthor(of message: ChatMessage) -> Bool {
        guard message.direction == .sent else { return false }
        if let user = channel?.user, message.senderUser == user { return true }
        return message.stamp.connection.map { $0 == channel?.connectionId } ?? true
    }

    /// The request that gives the message this text.
    func edit(_ id: TimelineRow.ID, text: String) throws(ChangeError) -> ChangeRequest {
        if let refusal = refusal(of: .edit, id) { throw refusal }
        switch composer.refusal(of: text) {
        case .blank: throw .blank
        case .tooLong(let excess): throw .tooLong(excess: excess)
        default: break
        }
        guard var message = timeline.message(of: id), let seq = timeline.seq(of: id) else { throw .unknown }
        let before = message.text
        message.text = text
        // The typing that it ended is long over.
        message.typingN = nil
        let data = message.stamp.form.signal(for: message).data
        let excess = (data?.utf16.count ?? 0) - Limits.dataLength
        if excess > 0 { throw .signalTooLong(excess: excess) }
        if before == text { throw .unchanged }
        return ChangeRequest(seq, .edit(data: data, isJSON: false))
    }

    /// The seq of the message to erase.
    func delete(_ id: TimelineRow.ID) throws(ChangeError) -> Seq {
        if let refusal = refusal(of: .erase, id) { throw refusal }
        guard let seq = timeline.seq(of: id) else { throw .unknown }
        return seq
    }

    // MARK: Replies

    /// Bare text cannot answer.
    func canReply(to id: TimelineRow.ID) -> Bool {
        wireForm == .json && timeline.seq(of: id) != nil && timeline.message(of: id)?.isErased == false
    }

    /// The row that the draft answers.
    var replyTarget: TimelineRow.ID? { replyRow.flatMap { canReply(to: $0) ? $0 : nil } }

    var replySeq: Seq? { timeline.seq(of: replyTarget) }

    func quote(of message: ChatMessage) -> ChatQuote? {
        guard let seq = message.replyTo else { return nil }
        guard let row = timeline.row(withSeq: seq), let quoted = row.message?.message,
            // Without a history the seq of a former order may be another message's now, which came later.
            timeline.floor != nil
                || quoted.receivedAt.map({ quoted in message.receivedAt.map { quoted <= $0 } ?? true })
                    ?? true
        else { return .earlier(seq) }
        return quoted.isErased ? .deleted(row.id) : .shown(row.id, quoted)
    }
}
