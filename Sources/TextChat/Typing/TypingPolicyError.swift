/// Why settings of typing make no sense.
public struct TypingPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More may be added; compare with `==`, or keep a `default`.
    public struct Code: Hashable, Sendable {
        public let name: String

        /// A duration that is zero or negative.
        public static let notPositive = Code(name: "notPositive")
        /// A duration over ``TypingPolicy/longest``; a linger over ``TypingPolicy/longestLinger``; somebody shown for longer than
        /// they may be, since the minimum is over the expiry.
        public static let tooLong = Code(name: "tooLong")
        /// Others would stop showing what still goes on: the indicator would blink.
        public static let expiryTooShort = Code(name: "expiryTooShort")
        /// Less than 1.5 times the refresh; only when asked to be strict.
        public static let marginTooSmall = Code(name: "marginTooSmall")
        /// The wire form has no signal for it.
        public static let notOnTheWire = Code(name: "notOnTheWire")
        /// A count out of its range.
        public static let countOutOfRange = Code(name: "countOutOfRange")
    }

    public let code: Code
    /// The name of the setting.
    public let setting: String

    public var description: String { "\(setting): \(code.name)" }
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
