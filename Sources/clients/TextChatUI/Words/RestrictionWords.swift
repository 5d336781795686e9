import SignalingProtocol

extension ChatWords {
    /// Why the user cannot write, or cannot be in the chat, until when, and the moderator's reason if there is one (MOD-2).
    ///
    /// - Parameter now: an end of the same day is shown without its date.
    public func sentence(of restriction: Restriction, now: WallTime) -> String {
        let (held, until) = Self.words(for: restriction.kind)
        let sentence =
            restriction.until.map { self(until, ["time": .text(moment($0, now: now))]) } ?? self(held)
        guard let reason = restriction.reason, !reason.isEmpty else { return sentence }
        return self(.withReason, ["sentence": .text(sentence), "reason": .name(reason)])
    }

    private static func words(for kind: Restriction.Kind) -> (ChatWord, until: ChatWord) {
        switch kind {
        case .mute: (.muted, .mutedUntil)
        case .ban: (.banned, .bannedUntil)
        case .freeze: (.frozen, .frozenUntil)
        }
    }
}
