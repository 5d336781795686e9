import SignalingProtocol

/// The reactions to the messages that are here. One that is not shown, or was erased, has none.
extension ChatTimeline {
    /// The server has told the counts of a message.
    mutating func tell(_ event: ReactionsEvent) -> [TimelineChange] {
        react(to: event.ref) { $0.tell(event.counts, event.seq) }
    }

    /// The user has these reactions to a message.
    mutating func setOwn(_ own: OwnReactions) -> [TimelineChange] { react(to: own.ref) { $0.own = own.keys } }

    /// The user's reactions to all messages are gone.
    mutating func forgetOwn() -> [TimelineChange] {
        for index in 0..<layout.lines.count where layout.lines[index].entry?.message.known.own.isEmpty == false {
            layout.update(at: index) { $0.known.own = [] }
        }
        return finish()
    }

    private mutating func react(
        to ref: Seq, _ change: (inout KnownReactions) -> Void
    ) -> [TimelineChange] {
        if let index = index(withSeq: ref), layout.lines[index].entry?.message.isErased == false {
            layout.update(at: index) { change(&$0.known) }
        }
        return finish()
    }
}
