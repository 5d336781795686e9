import SignalingProtocol

/// What pages of the history, edits and erasures make of the messages that are here.
extension ChatTimeline {
    /// With a history the seqs of a former order are no others' (HIS-3).
    private var joinsOrders: Bool { floor != nil }

    /// By which seq the session knows this row's message now.
    func seq(of id: TimelineRow.ID?) -> Seq? {
        guard let id, let seq = message(of: id)?.seq, let key = layout.key(of: id) else { return nil }
        return key.era == order.era || joinsOrders ? seq : nil
    }

    /// The row of the session's message with this seq.
    func row(withSeq seq: Seq) -> TimelineRow? { find(seq) { _ in joinsOrders }.map(layout.row) }

    func index(withSeq seq: Seq) -> Int? { find(seq) { _ in joinsOrders } }

    /// The index of the message with this seq. One of a former order counts if `isThis` says so.
    private func find(_ seq: Seq, _ isThis: (ChatMessage) -> Bool) -> Int? {
        order.index(of: seq, in: layout, ofFormer: isThis)
    }

    // MARK: Pages

    mutating func merge(_ message: ChatMessage, at place: HistoryPlace) {
        guard let seq = message.seq else { return }
        var mayBeUnread = place.countsUnread
        // A new order may begin with the history of the former one (HIS-3).
        if let index = find(seq, { Self.isRepeated($0, by: message) }) {
            let line = layout.lines[index]
            if place.anew == nil || line.key.era == order.era {
                renew(index, to: message)
                layout.update(at: index) { $0.takeReactions(of: message, at: place.known) }
                return
            }
            // It joins those of the present order.
            removeMessage(at: index)
            mayBeUnread = line.entry?.isUnread ?? false
        }
        let named = index(ofRow: localIDs.row(of: message))
        if let named, message.direction == .sent, layout.lines[named].entry?.message.seq == nil {
            confirm(at: named, seq: seq) {
                $0.stamp = message.stamp
                $0.senderUser = message.senderUser
                $0.takeChanges(of: message)
                $0.known = message.known
            }
        } else if named == nil || message.version != nil, !place.isOfShown, let key = order.freeKey(of: seq, in: layout)
        {
            var message = message
            message.state = .sent
            let now = message.receivedAt ?? WallTime(milliseconds: 0)
            add(message, at: key, now: now, mayBeUnread: mayBeUnread, isKept: true)
        }
    }

    /// Whether two messages with the same seq, of two orders, are one. The text of one that has changed says nothing.
    private static func isRepeated(_ shown: ChatMessage, by message: ChatMessage) -> Bool {
        if shown.direction == .sent, message.direction == .sent { return true }
        return shown.author == message.author && (shown.hasChanged || message.hasChanged || shown.text == message.text)
    }

    /// Removes the messages of a range that the history does not have any more. Nothing is known to be missing between
    /// those of former orders, either.
    mutating func drop(_ range: HistoryPlace.Anew, unlessIn messages: [ChatMessage]) {
        if range.isLast { layout.removeGaps(before: order.era) }
        let kept = Set(messages.compactMap(\.seq))
        var index = layout.lines.message(before: layout.lines.count)
        while let present = index {
            let line = layout.lines[present]
            // What the page has of a former order has joined the present one.
            let isFormer = line.key.era < order.era
            if let seq = line.entry?.message.seq, seq > range.after, isFormer || !kept.contains(seq),
                seq <= range.through || (range.isLast && isFormer)
            {
                removeMessage(at: present)
            }
            index = layout.lines.message(before: min(present, layout.lines.count))
        }
    }

    // MARK: Edits and erasures

    /// The content of the message with this seq is that of `edition`, unless it has a later version already.
    mutating func change(_ seq: Seq, to edition: ChatMessage) -> [TimelineChange] {
        if let index = find(seq, { _ in joinsOrders }) { renew(index, to: edition) }
        return finish()
    }

    private mutating func renew(_ index: Int, to edition: ChatMessage) {
        if edition.isErased { return erase(at: index) }
        let line = layout.lines[index]
        guard let shown = line.entry?.message, !shown.isErased, let version = edition.version,
            version > shown.version ?? Seq(0)
        else { return }
        layout.update(at: index) { $0.take(edition) }
        if shown.direction == .received { localIDs.remove(shown, line.id) }
    }

    /// Removes the content of a message, or of those of a user, or all messages up to one (HIS-9). Those that are not
    /// sent yet stay.
    ///
    /// - Parameter seq: the erasure's own; nil: it is behind all messages.
    mutating func erase(_ erasure: Erasure, seq: Seq? = nil) -> [TimelineChange] {
        switch erasure {
        case .message(let seq):
            if let index = find(seq, { _ in joinsOrders }) { erase(at: index) }
        case .through(let seq):
            let last = order.key(of: seq)
            while let first = layout.lines.message(atOrAfter: 0), layout.lines[first].key <= last { dropOldest(first) }
            // What was before them is erased, too.
            if let floor, floor <= seq { hasBeginning = true }
        case .user(let user):
            // The messages of former orders are before all of this one.
            let end = OrderKey(era: order.era, seq: seq?.rawValue ?? .max, tie: 0)
            var next = layout.lines.message(atOrAfter: 0)
            while let index = next, layout.lines[index].key < end {
                if layout.lines[index].entry?.message.senderUser == user { erase(at: index) }
                next = layout.lines.message(atOrAfter: index + 1)
            }
        }
        return finish()
    }

    /// An erased message is no unread one (CHAT-14).
    private mutating func erase(at index: Int) {
        guard layout.lines[index].entry?.message.isErased == false else { return }
        layout.update(at: index) { $0.erase() }
        setRead(index)
        ownMessages.remove(layout.lines[index].key)
    }
}

extension ChatMessage {
    fileprivate var hasChanged: Bool { isErased || version != nil }

    /// Takes what another form of this message has that its first edition had not.
    mutating func takeChanges(of later: ChatMessage) {
        if later.isErased { erase() } else if later.version != nil { take(later) }
    }

    /// - Parameter seq: up to it the page knows all reactions.
    fileprivate mutating func takeReactions(of page: ChatMessage, at seq: Seq) {
        if !isErased { known.take(page.known, of: seq) }
    }
}
