/// The intervals and flags of typing indicators. All policies share one engine; ``TypingSender`` and ``TypingRoster``
/// have the rules.
///
/// The initializer checks the settings, so a policy is always valid. Start from a preset and change what differs:
///
/// ```swift
/// import TextChat
///
/// var settings = TypingPolicy.standard.settings
/// settings.refresh = .seconds(3)
/// let policy = try TypingPolicy(settings)
/// ```
@dynamicMemberLookup
public struct TypingPolicy: Hashable, Sendable {
    public let settings: Settings

    /// The longest duration of any setting.
    public static let longest: Duration = .seconds(3600)

    /// The longest ``Settings/linger``.
    public static let longestLinger: Duration = .seconds(2)

    /// The minimum ratio of expiry to refresh at which one late refresh does not make the indicator blink.
    static let margin = 1.5

    /// - Parameters:
    ///   - settings: start from those of a preset.
    ///   - isStrict: also refuses an expiry below 1.5 times the refresh, which works but blinks easily.
    /// - Throws: ``TypingPolicyError`` with the first wrong setting.
    public init(_ settings: Settings, isStrict: Bool = false) throws(TypingPolicyError) {
        try settings.check(isStrict: isStrict)
        self.settings = settings
    }

    /// For presets, which a vector and a test check.
    init(preset: Settings) { settings = preset }

    public subscript<Value>(dynamicMember path: KeyPath<Settings, Value>) -> Value { settings[keyPath: path] }

    public struct Settings: Hashable, Sendable {
        /// The form in which signals are written.
        public var wireForm: TypingWireForm = .actions

        /// While the user types, begin is sent again once this has passed since the last one.
        public var refresh: Duration = .seconds(4)

        /// A key that comes too early for a refresh sends it when the interval has passed (Layer's Web SDK). False: the
        /// refresh waits for the next key, so that no begin leaves after the last key.
        public var refreshTrails = false

        /// Without a key for this long: pause. Nil: never.
        public var idleToPause: Duration? = .seconds(5)

        /// In pause for this long: finish. Nil: never.
        public var pauseToFinish: Duration? = .seconds(10)

        /// Whether a message also causes a finish: before the message, or later if ``minimumGap`` delays it. False: the
        /// message itself ends typing.
        public var finishesWhenMessageSent = false

        /// How long a begin shows another user as typing.
        public var beginExpiry: Duration = .seconds(10)

        /// How long a pause shows another user as paused.
        public var pauseExpiry: Duration = .seconds(15)

        /// How long a user stays in the typing list after they stop typing, at most 2 s. Prevents flicker when a user
        /// clears the draft and starts again. Does not apply after a message or a departure. Nil removes the user at
        /// once.
        ///
        /// It delays only the display. Choose it longer than ``minimumGap``: otherwise a finish and the next begin
        /// still blink.
        public var linger: Duration? = .milliseconds(1500)

        /// The minimum time for which a user is shown as typing, at most ``beginExpiry``. It delays only the display,
        /// does not apply after a message or a departure, and matters only if it is longer than ``linger``. Nil: no
        /// minimum.
        public var minimumShow: Duration?

        /// Whether a paused user counts as typing.
        public var pausedCountsAsTyping = false

        /// The minimum time between two typing signals of a connection. Nil: no minimum.
        public var minimumGap: Duration? = .seconds(1)

        /// In a room with more members, the user included, nothing is sent and no user is listed. At least 1. Nil: no
        /// limit.
        public var roomCap: Int? = 100

        /// Whether a user who has opted out of being seen does not see others either.
        public var isReciprocal = false

        /// How many people a snapshot names, 1 to 1000; it counts the others.
        public var typerLimit = 50

        /// The settings of ``TypingPolicy/standard``.
        public init() {}
    }
}
