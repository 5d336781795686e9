import SignalingProtocol

/// How long tokens and credentials are valid.
public enum TokenLifetime {
    /// The default lifetime of a token, and the lifetime of a token that does not state its expiry, counted from its
    /// time of issue (OpenTok; TOK-2, TOK-3, TOK-7).
    public static let standard = Duration.seconds(24 * 60 * 60)

    /// The longest lifetime that this package issues (OpenTok). Tokens from elsewhere may live longer.
    public static let longest = Duration.seconds(30 * 24 * 60 * 60)

    /// The lifetime of a backend's credentials (OpenTok's Python SDK; OpenTok permits five minutes).
    public static let request = Duration.seconds(3 * 60)

    /// The lifetime of an application's credentials that do not state their expiry, counted from `iat` (Vonage's
    /// documentation of its JWTs).
    public static let undatedRequest = Duration.seconds(15 * 60)

    /// How far two clocks may differ (TOK-4).
    public static let clockSkew = Duration.seconds(30)

    /// Returns the stated expiry, or else the end of ``standard`` after the time of issue: OpenTok's SDKs for Ruby and
    /// PHP state an expiry only on request. Throws `undated` without both.
    static func expiry(stated: WallTime?, issued: WallTime?) throws(TokenError) -> WallTime {
        if let stated { return stated }
        guard let issued else { throw .undated }
        return WallTime(milliseconds: issued.milliseconds + standard.wholeMilliseconds)
    }

    /// Throws `expired` or `notYetValid` unless `now` is within the token's time, give or take ``clockSkew``.
    ///
    /// - Parameter dates: those that count.
    static func check(
        issued: WallTime?, notBefore: WallTime? = nil, expiry: WallTime, now: WallTime,
        checking dates: TokenDates = .all
    ) throws(TokenError) {
        let skew = clockSkew.wholeMilliseconds
        guard !dates.contains(.end) || !isOver(expiry, now: now) else { throw .expired }
        guard dates.contains(.start) else { return }
        for start in [issued, notBefore] {
            if let start, start.milliseconds - skew > now.milliseconds { throw .notYetValid }
        }
    }

    /// Whether the expiry is past by ``clockSkew`` or more.
    static func isOver(_ expiry: WallTime, now: WallTime) -> Bool {
        now.milliseconds >= expiry.milliseconds + clockSkew.wholeMilliseconds
    }
}

/// The dates of a token that the server compares with its clock.
public struct TokenDates: OptionSet, Sendable {
    public let rawValue: Int

    /// When it was issued, and the moment before which it is not valid.
    public static let start = TokenDates(rawValue: 1)
    /// When it expires.
    public static let end = TokenDates(rawValue: 2)
    public static let all: TokenDates = [.start, .end]

    public init(rawValue: Int) { self.rawValue = rawValue }
}

extension WallTime {
    /// The moment that a token names in seconds since 1970, whole or fractional; `nil` for a number that cannot be a
    /// date.
    ///
    /// The bound also keeps later additions from overflowing.
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
