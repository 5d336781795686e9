import SignalingProtocol

/// How long signed permissions live.
public enum TokenLifetime {
    /// What a token lives when nothing else is asked for, and what a T1 token without `expire_time` lives from its
    /// `create_time` (OpenTok).
    public static let standard = Duration.seconds(24 * 60 * 60)

    /// The longest that is issued (OpenTok). What others have signed for longer is accepted.
    public static let longest = Duration.seconds(30 * 24 * 60 * 60)

    /// What a backend's credentials live (OpenTok's Python SDK; OpenTok permits five minutes).
    public static let request = Duration.seconds(3 * 60)

    /// By how much two clocks may differ (`docs/PROTOCOL.md`, TOK-4).
    public static let clockSkew = Duration.seconds(30)

    /// Throws unless now lies between the two, give or take ``clockSkew``; an expiry that does not matter is passed over.
    static func check(
        issued: WallTime?, notBefore: WallTime? = nil, expiry: WallTime, now: WallTime, allowsExpired: Bool = false
    ) throws(TokenError) {
        let skew = clockSkew.wholeMilliseconds
        guard allowsExpired || !isOver(expiry, now: now) else { throw .expired }
        for start in [issued, notBefore] {
            if let start, start.milliseconds - skew > now.milliseconds { throw .notYetValid }
        }
    }

    /// Whether a token of that expiry is past it by more than ``clockSkew``.
    static func isOver(_ expiry: WallTime, now: WallTime) -> Bool {
        now.milliseconds >= expiry.milliseconds + clockSkew.wholeMilliseconds
    }
}

extension WallTime {
    /// The moment a token names in seconds since 1970, whole or not; nil beyond what is certainly no date.
    ///
    /// Within the bounds nothing that is added to it later can overflow.
    init?(tokenSeconds seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        self.init(milliseconds: Int64((seconds * 1000).rounded(.down)))
    }

    /// Seconds since 1970, rounded down.
    var wholeSeconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
