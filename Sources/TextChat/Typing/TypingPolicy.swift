/// The numbers and flags of typing indicators. There is one engine; whose behaviour it has is said here.
///
/// A policy always makes sense: the numbers are checked when it is made. Start from a preset, and change what differs:
///
/// ```swift
/// var settings = TypingPolicy.standard.settings
/// settings.refresh = .seconds(3)
/// let policy = try TypingPolicy(settings)
/// ```
@dynamicMemberLookup
public struct TypingPolicy: Hashable, Sendable {
    public let settings: Settings

    /// No setting may last longer.
    public static let longest: Duration = .seconds(3600)

    /// Nobody lingers longer.
    public static let longestLinger: Duration = .seconds(2)

    /// How much longer than the refresh an indicator should be shown, so that one late refresh does not make it blink.
    static let margin = 1.5

    /// - Parameters:
    ///   - settings: start from a preset's.
    ///   - isStrict: also refuses an expiry below 1.5 times the refresh, which works but blinks easily.
    /// - Throws: ``TypingPolicyError``, naming the first setting that is wrong.
    public init(_ settings: Settings, isStrict: Bool = false) throws(TypingPolicyError) {
        try settings.check(isStrict: isStrict)
        self.settings = settings
    }

    private init(preset: Settings) { settings = preset }

    public subscript<Value>(dynamicMember path: KeyPath<Settings, Value>) -> Value { settings[keyPath: path] }

    public struct Settings: Hashable, Sendable {
        /// What is written.
        public var wireForm: TypingWireForm = .actions

        /// While keys come, begin is sent again when this has passed since the last one.
        public var refresh: Duration = .seconds(4)

        /// The refresh that a key asked for too early is sent when the time has come (Layer's Web SDK); else it waits for
        /// the next key, so that no begin leaves after the last key.
        public var refreshTrails = false

        /// Without a key for this long: pause. Nil: never.
        public var idleToPause: Duration? = .seconds(5)

        /// In pause for this long: finish. Nil: never.
        public var pauseToFinish: Duration? = .seconds(10)

        /// Finish is sent when a message is; else the message itself says it.
        public var finishesWhenMessageSent = false

        /// How long another is shown as typing after a begin.
        public var beginExpiry: Duration = .seconds(10)

        /// How long another is shown as paused after a pause.
        public var pauseExpiry: Duration = .seconds(15)

        /// So long somebody who has stopped typing is still shown, at most 2 s: who deletes a text and writes another does not
        /// blink. Who has sent a message or left is not. Nil: no longer than they type.
        ///
        /// It delays only what is shown. Longer than ``minimumGap``, or a finish and a begin after it still blink.
        public var linger: Duration? = .milliseconds(1500)

        /// So long at least somebody is shown as typing, at most ``beginExpiry``; also only what is shown, and not beside a
        /// message. It matters if it is longer than ``linger``. Nil: no such rule.
        public var minimumShow: Duration?

        /// Who pauses is listed as typing.
        public var pausedCountsAsTyping = false

        /// Between any two typing signals of a connection lies at least this. Nil: no such rule.
        public var minimumGap: Duration? = .seconds(1)

        /// In a room with more members, oneself included, nothing is sent and nobody is listed. At least 1. Nil: no such rule.
        public var roomCap: Int? = 100

        /// Who has opted out of being seen does not see others either.
        public var isReciprocal = false

        /// How many people a snapshot names, 1 to 1000; the others are counted.
        public var typerLimit = 50

        /// The settings of ``TypingPolicy/standard``.
        public init() {}
    }
}

extension TypingPolicy {
    /// Ours. It lingers for 1.5 s; the others do not, as their systems' do not.
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

    /// Layer's Web SDK: everything takes 2.5 s, an indicator lasts 6 s.
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

    /// Easemob's: begin alone, again when more than 5 s have passed, shown for 10 s, and only between two.
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
