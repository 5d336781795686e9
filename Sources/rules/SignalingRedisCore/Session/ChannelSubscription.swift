/// What a node wants of a session's channel, and what Redis has confirmed.
///
/// One command at a time is on its way, so each confirmation has one meaning.
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

    /// Whether Redis is to confirm this.
    func awaits(_ isSubscribed: Bool) -> Bool { phase == (isSubscribed ? .subscribing : .unsubscribing) }

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
