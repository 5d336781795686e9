extension TypingPolicy {
    // The vector typing/33-presets.json checks that this table and JavaScript's are equal.

    /// Signalbox's own preset. It lingers for 1.5 s. The other presets do not linger, like the systems that they
    /// follow.
    public static let standard = TypingPolicy(preset: Settings())

    /// LayerKit's: pause after 10 s, finish after another 10. Its refresh is not documented; 5 s is our choice.
    public static let layer = preset {
        $0.refresh = .seconds(5)
        $0.idleToPause = .seconds(10)
        $0.pauseToFinish = .seconds(10)
        $0.finishesWhenMessageSent = true
        $0.beginExpiry = .seconds(15)
        $0.linger = nil
        $0.minimumGap = nil
        $0.roomCap = nil
    }

    /// Layer's Web SDK: every interval is 2.5 s, and an indicator lasts 6 s.
    public static let layerWeb = preset {
        $0.refresh = .milliseconds(2500)
        $0.refreshTrails = true
        $0.idleToPause = .milliseconds(2500)
        $0.pauseToFinish = .milliseconds(2500)
        $0.beginExpiry = .seconds(6)
        $0.pauseExpiry = .seconds(6)
        $0.linger = nil
        $0.minimumGap = nil
        $0.roomCap = nil
    }

    /// Easemob's: begin alone, again after more than 5 s, shown for 10 s, and only in rooms of two.
    public static let easemob = preset {
        $0.wireForm = .beginOnly
        $0.refresh = .milliseconds(5001)
        $0.idleToPause = nil
        $0.pauseToFinish = nil
        $0.pauseExpiry = .seconds(10)
        $0.linger = nil
        $0.minimumGap = nil
        $0.roomCap = 2
    }

    private static func preset(_ change: (inout Settings) -> Void) -> TypingPolicy {
        var settings = Settings()
        change(&settings)
        return TypingPolicy(preset: settings)
    }
}
