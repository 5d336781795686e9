import DequeModule
import SignalingProtocol

/// The tickets of connections that are no more, for those who come back late. Bounded in time and in
/// number; the oldest go first.
struct DepartedTickets: Sendable {
    private struct Departed: Sendable {
        let ticket: ResumeTicket
        let until: MonotonicInstant
    }

    private let limit: Int
    private var tickets: Deque<Departed> = []

    init(limit: Int) { self.limit = limit }

    /// When the last of them expires: until then their session is needed.
    var neededUntil: MonotonicInstant? { tickets.last?.until }

    /// Keeps a ticket. They come in the order in which they expire, since the window is the same for all.
    mutating func append(_ ticket: ResumeTicket, until: MonotonicInstant) {
        guard limit > 0 else { return }
        if tickets.count >= limit { tickets.removeFirst() }
        tickets.append(Departed(ticket: ticket, until: until))
    }

    mutating func expire(upTo now: MonotonicInstant) {
        while let oldest = tickets.first, oldest.until <= now { tickets.removeFirst() }
    }

    /// The ticket that this claim is good for, which is used up with it.
    mutating func redeem(_ claim: Resumption, of request: JoinRequest, now: MonotonicInstant) -> ResumeTicket? {
        guard let place = tickets.firstIndex(where: { $0.until > now && $0.ticket.admits(claim, of: request) }) else {
            return nil
        }
        return tickets.remove(at: place).ticket
    }
}
