import SignalingProtocol

/// What a moderator has taken from the user or the session, as far as it keeps the user from writing (MOD-4, MOD-5). The
/// draft stays meanwhile, and no typing is sent.
extension TextChatComponent {
    /// Handles the end of a ``restriction``, which comes without an event. `runTyping` of `TextChatFoundation` calls it
    /// in time. Without that, call it at ``nextRestrictionCheck(after:)``.
    public func advance(to now: WallTime) { noteRestriction(now) }

    /// When to call ``advance(to:)``; nil: the restriction holds until it is lifted, or there is none.
    public func nextRestrictionCheck(after now: WallTime) -> WallTime? {
        // This machine's clock may be ahead of the server's, which says when the restriction ends.
        restriction?.until.map { max($0, WallTime(milliseconds: now.milliseconds + 1000)) }
    }

    /// The channel knows what holds; the component asks it at each call that has a time.
    func noteRestriction(_ now: WallTime) {
        let present = hasEnded ? nil : channel?.restriction(at: now)
        guard present != restriction else { return }
        restriction = present
        typing.handle(.restricted(present != nil))
        onActivity?(.restrictionChanged)
    }
}
