import DequeModule
import SignalingProtocol

/// The tickets of connections that are no more, for those who come back late. Bounded in time and in
/// number; the oldest go first.
struct DepartedTickets: Sendable {
    struct Departed: Hashable, Sendable {
        let ticket: ResumeTicket
        /// When its time began.
        let since: MonotonicInstant
    }

    private let limit: Int
    private let window: Duration
    /// In the order in which they expire.
    private(set) var tickets: Deque<Departed> = []

    /// - Parameters:
    ///   - limit: most tickets.
    ///   - window: how long each is good.
    init(limit: Int, window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// When the last of them expires: until then their session is needed.
    var neededUntil: MonotonicInstant? { tickets.last.map(end(of:)) }

    private func end(of departed: Departed) -> MonotonicInstant { departed.since.advanced(by: window) }

    /// Keeps a ticket. They come in the order in which their time began.
    mutating func append(_ ticket: ResumeTicket, since: MonotonicInstant) {
        guard limit > 0 else { return }
        if tickets.count >= limit { tickets.removeFirst() }
        tickets.append(Departed(ticket: ticket, since: since))
    }

    mutating func expire(upTo now: MonotonicInstant) {
        while let oldest = tickets.first, end(of: oldest) <= now { tickets.removeFirst() }
    }

    /// The ticket that this claim is good for, which is used up with it.
    mutating func redeem(_ claim: Resumption, of request: JoinRequest, now: MonotonicInstant) -> ResumeTicket? {
        guard let place = tickets.firstIndex(where: { end(of: $0) > now && $0.ticket.admits(claim, of: request) })
        else { return nil }
        return tickets.remove(at: place).ticket
    }
}
