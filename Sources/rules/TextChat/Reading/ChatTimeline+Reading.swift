import SignalingProtocol

/// What read markers make of the messages that are here (CHAT-16).
extension ChatTimeline {
    /// The user has read all messages up to this seq, perhaps on another device. A marker never falls.
    mutating func setMarker(_ seq: Seq) -> [TimelineChange] {
        marker = max(marker ?? seq, seq)
        unread.read(through: order.key(of: seq), in: &layout)
        return finish()
    }

    /// Whether a message of another user is unread that is added now.
    ///
    /// - Parameters:
    ///   - mayBe: without a marker, whether the user has not seen it.
    ///   - isKept: it comes from the history.
    func isUnread(_ message: ChatMessage, mayBe: Bool, isKept: Bool) -> Bool {
        guard message.direction == .received, !message.isErased else { return false }
        guard let marker, let seq = message.seq else { return mayBe && !isVisible }
        return seq > marker && (isKept || !isVisible)
    }

    /// The newest message up to this row, nil: of all, if messages of others are new up to there.
    func newSeq(upTo id: TimelineRow.ID?) -> Seq? {
        let read = order.key(of: marker ?? Seq(0))
        var newest: Seq?
        var index = id.map { self.index(ofRow: $0) } ?? layout.lines.count - 1
        while let present = index, present >= 0, layout.lines[present].key > read {
            if let message = layout.lines[present].entry?.message, let seq = message.seq {
                newest = newest ?? seq
                if message.direction == .received { return newest }
            }
            index = present - 1
        }
        return nil
    }

    /// Whether all messages above the marker are here.
    var reachesMarker: Bool {
        hasBeginning || floor.map { $0.rawValue - 1 <= (marker ?? Seq(0)).rawValue } ?? false
    }

    /// The row of the user's last message up to this seq.
    func lastOwn(through seq: Seq) -> TimelineRow.ID? {
        ownMessages.last(through: order.key(of: seq)).map { layout.lines[layout.index(of: $0)].id }
    }
}
