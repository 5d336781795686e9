/// What keeps one client from signalling, as the server has told it (MOD-5). A restriction ends without a further event
/// (MOD-2), so each question names the moment.
///
/// The browser library has the same rules in `web-test-client/client/own-restrictions.js`.
public struct OwnRestrictions: Hashable, Sendable {
    private struct Held: Hashable, Sendable {
        let restriction: Restriction
        /// `nil` until it is lifted.
        let endsAt: WallTime?
    }

    private var held: [Restriction.Kind: Held] = [:]
    private var isModerator = false

    /// Nothing holds.
    public init() {}

    /// The client is in the session, and this holds.
    ///
    /// - Parameter isModerator: a freeze does not keep a moderator from signalling.
    public init(_ restrictions: [Restriction], isModerator: Bool) {
        self.isModerator = isModerator
        for restriction in restrictions { restrict(restriction) }
    }

    /// A restriction holds from now on, in place of an older one of its kind.
    public mutating func restrict(_ restriction: Restriction) {
        if isModerator, restriction.kind == .freeze { return }
        held[restriction.kind] = Held(restriction: restriction, endsAt: restriction.until)
    }

    public mutating func lift(_ kind: Restriction.Kind) { held[kind] = nil }

    /// The server has refused a request because of this restriction (ERR-1).
    ///
    /// - Parameter retryAfter: how much longer it holds. It counts more than ``Restriction/until``: the client's clock
    ///   may be wrong.
    public mutating func refused(by restriction: Restriction, retryAfter: Duration?, now: WallTime) {
        var endsAt = restriction.until
        if let retryAfter {
            let (moment, overflow) = now.milliseconds.addingReportingOverflow(retryAfter.wholeMilliseconds)
            endsAt = WallTime(milliseconds: overflow ? .max : moment)
        }
        held[restriction.kind] = Held(restriction: restriction, endsAt: endsAt)
    }

    /// What holds at a moment, the one that holds longest first.
    public func holding(at now: WallTime) -> [Restriction] {
        Restriction.Kind.allCases.compactMap { held[$0] }.filter { $0.endsAt.map { $0 > now } ?? true }
            .sorted { left, right in
                guard let end = right.endsAt else { return false }
                return left.endsAt.map { $0 > end } ?? true
            }
            .map(\.restriction)
    }

    /// When ``holding(at:)`` changes next by the clock; `nil`: not before the next event.
    public func nextEnd(after now: WallTime) -> WallTime? {
        held.values.compactMap(\.endsAt).filter { $0 > now }.min()
    }
}
