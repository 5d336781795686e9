import SignalingProtocol

/// What a record says of the restrictions in force, for ``ModerationJudge``.
struct RestrictionBench {
    typealias Noted = WireOrder.NotedAction

    let record: WireRecord

    /// What holds in an order behind each of its actions.
    struct Places {
        fileprivate var states: [(seq: Int, state: WireRestrictions)] = []

        /// What holds behind the event at a seq.
        func state(at seq: Int) -> WireRestrictions {
            var (low, high) = (0, states.count)
            while low < high {
                let middle = (low + high) / 2
                if states[middle].seq <= seq { low = middle + 1 } else { high = middle }
            }
            return low > 0 ? states[low - 1].state : WireRestrictions()
        }
    }

    func places(in order: WireOrder) -> Places {
        var (places, state) = (Places(), WireRestrictions())
        for noted in order.actions.values.sorted(by: { $0.seq < $1.seq }) {
            state.apply(noted, to: record.subject(of: noted.action.target))
            places.states.append((noted.seq, state))
        }
        return places
    }

    /// Whether a restriction has certainly not ended by itself.
    func holds(_ noted: Noted, at moment: MonotonicInstant) -> Bool {
        noted.earliestEnd == .never || noted.earliestEnd > moment.advanced(by: record.terms.allowedEarliness)
    }

    /// A restriction may hold at this moment, as far as its own end says.
    func mayHold(_ noted: Noted, at moment: MonotonicInstant) -> Bool {
        noted.latestEnd == .never || noted.latestEnd.advanced(by: record.terms.allowedEarliness) >= moment
    }

    /// Whether an action replaces or lifts the restriction that another one began.
    func ends(_ later: WireAction, _ noted: Noted) -> Bool {
        guard later.kind.restriction == noted.action.kind.restriction else { return false }
        if case .action(let seq) = later.target { return seq == noted.seq }
        guard let subject = record.subject(of: later.target) else { return true }
        return subject == record.subject(of: noted.action.target)
    }

    /// Whether the restriction may have been lifted or replaced before a moment, by an action that the place in the order
    /// does not show.
    ///
    /// - Parameter place: later actions count.
    func mayHaveEnded(_ noted: Noted, in order: WireOrder, after place: Int, by moment: MonotonicInstant) -> Bool {
        order.actions.values.contains { $0.seq > place && $0.askedAt <= moment && ends($0.action, noted) }
            || record.unanswered(in: order.session).contains { $0.askedAt <= moment && ends($0.action, noted) }
    }

    /// A ban that had been carried out before a client asked, and held when the client got its answer.
    func ban(
        of person: WireRestrictions.Person, from askedAt: MonotonicInstant, to answeredAt: MonotonicInstant,
        in order: WireOrder
    ) -> Noted? {
        guard person.subject != nil else { return nil }
        return order.actions.values.filter { noted in
            noted.action.kind == .ban && noted.seenAt < askedAt
                && record.subject(of: noted.action.target) == person.subject && holds(noted, at: answeredAt)
                && !mayHaveEnded(noted, in: order, after: noted.seq, by: answeredAt)
        }
        .max { $0.seq < $1.seq }
    }

    /// How long after its acknowledgement each ban had its effect: when the last signal of the banned user passed.
    var banDelays: [Duration] {
        record.orders.flatMap { order in
            order.actions.values.filter { $0.action.kind == .ban }.sorted { $0.seq < $1.seq }.compactMap { ban in
                guard let acknowledgedAt = ban.acknowledgedAt, let subject = record.subject(of: ban.action.target)
                else { return nil }
                let heard = record.connections.filter { name, connection in
                    connection.joinSeq < ban.seq && record.order(connection.epoch)?.session == order.session
                        && record.person(name).subject == subject
                }
                let last = heard.values.compactMap(\.lastHeardAt).max() ?? .unknown
                return last > acknowledgedAt ? last.duration(since: acknowledgedAt) : .zero
            }
        }
    }
}
