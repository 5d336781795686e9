/// What a node wants of a session's channel, and what Redis has confirmed.
///
/// hiredis mixes up a subscription that follows the end of an earlier one before Redis has confirmed that end. So one
/// command at a time is on its way.
struct ChannelSubscription {
    enum Phase {
        /// Next: `subscribing`.
        case none
        /// SUBSCRIBE is on its way. Next: `subscribed`.
        case subscribing
        /// Next: `unsubscribing`.
        case subscribed
        /// UNSUBSCRIBE is on its way. Next: `none`.
        case unsubscribing
    }
    enum Action: Equatable { case subscribe, unsubscribe }

    private(set) var phase = Phase.none
    private(set) var isWanted = false

    mutating func want(_ wanted: Bool) -> Action? {
        isWanted = wanted
        return act()
    }

    mutating func confirmed(_ isSubscribed: Bool) -> Action? {
        phase = isSubscribed ? .subscribed : .none
        return act()
    }

    private mutating func act() -> Action? {
        switch (phase, isWanted) {
        case (.none, true):
            phase = .subscribing
            return .subscribe
        case (.subscribed, false):
            phase = .unsubscribing
            return .unsubscribe
        case (.none, false), (.subscribed, true), (.subscribing, _), (.unsubscribing, _): return nil
        }
    }
}
