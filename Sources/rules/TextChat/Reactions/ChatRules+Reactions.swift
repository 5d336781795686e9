import SignalingProtocol

/// The user's reactions to messages, of any author (CHAT-15).
extension ChatRules {
    /// Why the user cannot react to this row. Nil: as far as is known, the user can.
    func refusalToReact(to id: TimelineRow.ID) -> ChangeError? {
        guard let message = timeline.message(of: id) else { return .unknown }
        if message.isErased { return .erased }
        guard isUp else { return .notConnected }
        guard timeline.seq(of: id) != nil, channel?.user != nil, channel?.changes?.contains(.react) == true else {
            return .notPermitted
        }
        return restriction.map { .restricted($0) }
    }

    mutating func toggle(
        _ key: String, _ id: TimelineRow.ID
    ) throws(ChangeError) -> (turn: ReactionRequests.Turn, isDue: Bool) {
        if let refusal = refusalToReact(to: id) { throw refusal }
        guard let ref = timeline.seq(of: id), let message = timeline.message(of: id) else { throw .unknown }
        return reacting.toggle(key, of: ref, own: message.known.own)
    }

    /// A request has its answer.
    ///
    /// - Returns: the changes of the rows, and the turn that waits.
    mutating func reacted(
        _ request: ReactRequest, hasFailed: Bool
    ) -> (changes: [TimelineChange], next: ReactionRequests.Turn?) {
        let (keys, next) = reacting.answered(request.ref, hasFailed: hasFailed)
        return (keys.map { setOwn(OwnReactions(ref: request.ref, keys: $0)) } ?? [], next)
    }

    /// An event tells what the user has chosen, perhaps on another connection.
    mutating func told(_ own: OwnReactions) -> [TimelineChange] {
        reacting.told(own)
        return setOwn(own)
    }

    private mutating func setOwn(_ own: OwnReactions) -> [TimelineChange] {
        reader.overlay(own)
        return timeline.setOwn(own)
    }
}
