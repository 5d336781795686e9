/// Why a ``TypingPolicy`` refuses its settings.
public struct TypingPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More codes may be added; compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable {
        public let name: String

        /// The duration is zero or negative.
        public static let notPositive = Code(name: "notPositive")
        /// The duration is over ``TypingPolicy/longest``, the linger over ``TypingPolicy/longestLinger``, or the
        /// minimum show over the expiry.
        public static let tooLong = Code(name: "tooLong")
        /// Receivers would stop showing a user who still types, so the indicator would blink.
        public static let expiryTooShort = Code(name: "expiryTooShort")
        /// The expiry is below 1.5 times the refresh; only with `isStrict`.
        public static let marginTooSmall = Code(name: "marginTooSmall")
        /// The wire form has no signal for the setting.
        public static let notOnTheWire = Code(name: "notOnTheWire")
        /// The count is out of its range.
        public static let countOutOfRange = Code(name: "countOutOfRange")
    }

    public let code: Code
    /// The name of the setting.
    public let setting: String

    public var description: String { "Cannot make a typing policy: \(setting) \(problem)." }

    private var problem: String {
        switch code {
        case .notPositive: "must be greater than zero"
        case .tooLong: "is too long; at most an hour, linger at most 2 s, minimumShow at most beginExpiry"
        case .expiryTooShort: "is too short: the indicator would end before the next signal arrives; make it longer"
        case .marginTooSmall: "is below 1.5 times refresh; make it longer, or do not ask for strict checks"
        case .notOnTheWire: "has no signal in this wire form; set it to nil or false, or choose the form with actions"
        case .countOutOfRange: "is out of range; roomCap is at least 1, typerLimit is 1 to 1000"
        default: "is wrong (\(code.name))"
        }
    }
}

extension TypingPolicy.Settings {
    func check(isStrict: Bool) throws(TypingPolicyError) {
        let durations: [(String, Duration?)] = [
            ("refresh", refresh), ("idleToPause", idleToPause), ("pauseToFinish", pauseToFinish),
            ("beginExpiry", beginExpiry), ("pauseExpiry", pauseExpiry), ("minimumGap", minimumGap),
            ("linger", linger), ("minimumShow", minimumShow),
        ]
        for case (let name, let duration?) in durations {
            guard duration > .zero else { throw TypingPolicyError(code: .notPositive, setting: name) }
            guard duration <= TypingPolicy.longest else { throw TypingPolicyError(code: .tooLong, setting: name) }
        }
        if let linger, linger > TypingPolicy.longestLinger {
            throw TypingPolicyError(code: .tooLong, setting: "linger")
        }
        if let minimumShow, minimumShow > beginExpiry {
            throw TypingPolicyError(code: .tooLong, setting: "minimumShow")
        }
        if let roomCap, roomCap < 1 { throw TypingPolicyError(code: .countOutOfRange, setting: "roomCap") }
        guard (1...1000).contains(typerLimit) else {
            throw TypingPolicyError(code: .countOutOfRange, setting: "typerLimit")
        }
        if wireForm == .beginOnly {
            if idleToPause != nil { throw TypingPolicyError(code: .notOnTheWire, setting: "idleToPause") }
            if pauseToFinish != nil { throw TypingPolicyError(code: .notOnTheWire, setting: "pauseToFinish") }
            if finishesWhenMessageSent {
                throw TypingPolicyError(code: .notOnTheWire, setting: "finishesWhenMessageSent")
            }
        }
        guard beginExpiry > max(refresh, idleToPause ?? .zero, minimumGap ?? .zero) else {
            throw TypingPolicyError(code: .expiryTooShort, setting: "beginExpiry")
        }
        if let pauseToFinish, pauseExpiry <= pauseToFinish {
            throw TypingPolicyError(code: .expiryTooShort, setting: "pauseExpiry")
        }
        if isStrict, beginExpiry < refresh * TypingPolicy.margin {
            throw TypingPolicyError(code: .marginTooSmall, setting: "beginExpiry")
        }
    }
}
