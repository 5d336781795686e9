import DequeModule
import SignalingProtocol

/// The resume tickets of connections that are no longer in the session, for clients that come back late.
///
/// Bounded in time and in number (G5): the oldest tickets go first.
struct RetainedTickets: Sendable {
    struct Entry: Hashable, Sendable {
        let ticket: ResumeTicket
        /// The start of the ticket's time window.
        let since: MonotonicInstant
    }

    private(set) var limit: Int
    private var window: Duration
    /// In the order in which they expire.
    private(set) var tickets: Deque<Entry> = []

    /// - Parameters:
    ///   - limit: most tickets.
    ///   - window: how long each ticket is valid.
    init(limit: Int, window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Replaces the bounds. Drops the oldest tickets over the new limit.
    mutating func change(limit: Int, window: Duration) {
        self.limit = limit
        self.window = window
        if tickets.count > limit { tickets.removeFirst(tickets.count - limit) }
    }

    /// When the last ticket expires; `nil` without tickets. The session is needed until then.
    var neededUntil: MonotonicInstant? { tickets.last.map(end(of:)) }

    private func end(of entry: Entry) -> MonotonicInstant { entry.since.advanced(by: window) }

    /// Adds a ticket. It is the newest, unless its connection ended early (RES-12).
    mutating func append(_ ticket: ResumeTicket, since: MonotonicInstant) {
        guard limit > 0 else { return }
        if tickets.count >= limit { tickets.removeFirst() }
        var index = tickets.endIndex
        while index > tickets.startIndex, tickets[index - 1].since > since { index -= 1 }
        tickets.insert(Entry(ticket: ticket, since: since), at: index)
    }

    /// Replaces the tickets by those that were kept, in their order.
    mutating func restore(_ kept: Deque<Entry>) { tickets = kept }

    /// Removes the tickets that have expired.
    mutating func expire(upTo now: MonotonicInstant) {
        while let oldest = tickets.first, end(of: oldest) <= now { tickets.removeFirst() }
    }

    /// The valid ticket that admits this claim; `nil` without one.
    func first(admitting claim: Resumption, of request: JoinRequest, now: MonotonicInstant) -> ResumeTicket? {
        tickets.first { end(of: $0) > now && $0.ticket.admits(claim, of: request) }?.ticket
    }

    /// Removes the ticket of a connection whose client has come back.
    mutating func remove(_ connection: ConnectionID) {
        tickets.removeAll { $0.ticket.connectionId == connection }
    }
}
