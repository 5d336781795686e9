import SignalingProtocol

/// The verdict on users and moderation (M1): what follows an action in the order, and what a place in the order says of
/// lines without a seq.
extension WireJudge {
    typealias Noted = WireOrder.NotedAction
    typealias Person = WireRestrictions.Person

    mutating func judgeModeration(isSettled: Bool) {
        for order in orders { judgeOrder(order, isSettled: isSettled) }
        let places = orders.map(places(in:))
        for number in sockets.keys.sorted() {
            guard let socket = sockets[number] else { continue }
            guard let name = socket.connection else {
                judgeRefusal(of: socket)
                continue
            }
            judgeConnect(socket, name, places)
            judgeFarewell(socket, name)
        }
        for signal in moderation.onlineOnly { judge(signal, places) }
        for refusal in moderation.refusals { judge(refusal) }
    }

    // MARK: - Places

    /// What holds in an order behind each of its actions.
    private struct Places {
        var states: [(seq: Int, state: WireRestrictions)] = []

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

    private func places(in order: WireOrder) -> Places {
        var (places, state) = (Places(), WireRestrictions())
        for noted in order.actions.values.sorted(by: { $0.seq < $1.seq }) {
            state.apply(noted, to: subject(of: noted.action.target))
            places.states.append((noted.seq, state))
        }
        return places
    }

    /// Whether a restriction has certainly not ended by itself.
    private func holds(_ noted: Noted, at moment: MonotonicInstant) -> Bool {
        noted.earliestEnd == .never || noted.earliestEnd > moment.advanced(by: terms.allowedEarliness)
    }

    /// Whether an action replaces or lifts the restriction that another one began.
    private func ends(_ later: WireAction, _ noted: Noted) -> Bool {
        guard later.kind.restriction == noted.action.kind.restriction else { return false }
        if case .action(let seq) = later.target { return seq == noted.seq }
        guard let subject = subject(of: later.target) else { return true }
        return subject == self.subject(of: noted.action.target)
    }

    /// Whether the restriction may have been lifted or replaced before a moment, by an action that the place in the order
    /// does not show.
    ///
    /// - Parameter place: later actions count.
    private func mayHaveEnded(_ noted: Noted, in order: WireOrder, after place: Int, by moment: MonotonicInstant)
        -> Bool
    {
        order.actions.values.contains { $0.seq > place && $0.askedAt <= moment && ends($0.action, noted) }
            || moderation.asked.contains {
                $0.fate == .unknown && $0.session == order.session && $0.askedAt <= moment && ends($0.action, noted)
            }
    }

    /// Whom `restricted` or `unrestricted` is meant for: whom the action directly before it concerns. nil if it is not
    /// known, and for other events.
    func audience(of event: WireOrder.Event, at seq: Int, in order: WireOrder) -> WireRestrictions.Subject? {
        switch event {
        case .restricted, .unrestricted: break
        case .signal, .created, .destroyed, .erased, .moderated: return nil
        }
        guard let action = order.actions[seq - 1]?.action else { return nil }
        if case .action(let ref) = action.target { return order.actions[ref].flatMap { subject(of: $0.action.target) } }
        return subject(of: action.target)
    }

    // MARK: - The order

    /// A walk through an order: what holds, and who is in the session.
    private struct Walk {
        var state = WireRestrictions()
        var present: Set<Name> = []
        /// The connections that a ban has ended, until their departures.
        var leaving: Set<Name> = []
        var banSeq = 0
        /// The action that `restricted` or `unrestricted` must follow.
        var untold: Noted?
    }

    private mutating func judgeOrder(_ order: WireOrder, isSettled: Bool) {
        var walk = Walk()
        let unanswered = moderation.asked.filter { $0.fate == .unknown && $0.session == order.session }
        for seq in order.seqs {
            guard let event = order[seq] else {
                // No client has seen it. It may be a departure, or an action without an answer.
                (walk.leaving, walk.untold, walk.present) = ([], nil, [])
                for request in unanswered {
                    for noted in walk.state.all where ends(request.action, noted) { walk.state.remove(noted) }
                }
                continue
            }
            judgeFollower(event, at: seq, of: &walk, in: order)
            judgeEvent(event, at: seq, of: &walk, in: order)
        }
        // At the end of the order, a departure passes only if a client is left that sees it.
        if isSettled, walk.present.subtracting(walk.leaving).contains(where: seesPresence) {
            judgeLeaving(of: &walk, at: order.lastSeq)
        }
    }

    /// Whether somebody asked to ban the connection's user: its socket may then close with 4502 (MOD-3).
    func mayBeBanned(_ name: Name) -> Bool {
        let subject = person(name).subject
        func isBan(_ action: WireAction) -> Bool { action.kind == .ban && self.subject(of: action.target) == subject }
        return orders.contains { $0.actions.values.contains { isBan($0.action) } }
            || moderation.asked.contains { isBan($0.action) }
    }

    private func seesPresence(_ name: Name) -> Bool {
        connections[name].map { $0.lostAt == nil && !$0.suppressesPresence } ?? false
    }

    private mutating func judgeEvent(_ event: WireOrder.Event, at seq: Int, of walk: inout Walk, in order: WireOrder) {
        switch event {
        case .created(let name):
            walk.present.insert(name)
            if let ban = walk.state.ban(of: person(name)), holds(ban, at: order.moment(of: seq)) {
                report(.m1, .wrong, "\(id(name)) joined at \(seq), banned since \(ban.seq) (MOD-3)")
            }
        case .destroyed(let name):
            walk.present.remove(name)
            walk.leaving.remove(name)
        case .signal(let signal, let from?, _) where !walk.state.isEmpty:
            for noted in walk.state.silencing(person(from)) where holds(noted, at: order.moment(of: seq)) {
                report(
                    .m1, .wrong,
                    "signal \(signal) of \(id(from)) is at \(seq), behind the \(noted.action.kind) at \(noted.seq) (MOD-8)"
                )
            }
        case .moderated:
            guard let noted = order.actions[seq] else { return }
            let subject = subject(of: noted.action.target)
            walk.state.apply(noted, to: subject)
            if noted.action.kind == .ban, let subject {
                walk.leaving = walk.present.filter { self.person($0).subject == subject }
                walk.banSeq = seq
            }
            let isTold = noted.action.kind.restriction != .ban
            let isHeard =
                noted.action.kind.restriction == .freeze || walk.present.contains { self.person($0).subject == subject }
            walk.untold = isTold && subject != nil && isHeard ? noted : nil
        case .signal, .erased, .restricted, .unrestricted: break
        }
    }

    /// MOD-8: what belongs to an action follows it directly.
    private mutating func judgeFollower(
        _ event: WireOrder.Event, at seq: Int, of walk: inout Walk, in order: WireOrder
    ) {
        switch event {
        case .restricted(let number):
            let told = moderation.restrictions[Int(number)]
            guard let noted = order.actions[seq - 1] else {
                if order[seq - 1] != nil { report(.m1, .wrong, "`restricted` at \(seq) follows no action (MOD-8)") }
                break
            }
            let isRight =
                noted.action.kind == WireAction.Kind(rawValue: told.kind.rawValue) && noted.action.reason == told.reason
                && (noted.until == nil || noted.until == told.until)
            if !isRight { report(.m1, .wrong, "`restricted` at \(seq) differs from the action before it (MOD-5)") }
        case .unrestricted(let kind):
            guard let noted = order.actions[seq - 1] else {
                if order[seq - 1] != nil { report(.m1, .wrong, "`unrestricted` at \(seq) follows no action (MOD-8)") }
                break
            }
            if !noted.action.kind.isLift || noted.action.kind.restriction != kind {
                report(.m1, .wrong, "`unrestricted` at \(seq) differs from the action before it (MOD-5)")
            }
        case .signal, .created, .moderated:
            judgeLeaving(of: &walk, at: seq)
            if let untold = walk.untold {
                report(.m1, .missing, "nobody was told of the \(untold.action.kind) at \(untold.seq) (MOD-5)")
            }
        case .destroyed, .erased: break
        }
        walk.untold = nil
    }

    private mutating func judgeLeaving(of walk: inout Walk, at seq: Int) {
        for name in walk.leaving.sorted() {
            report(
                .m1, .missing, "\(id(name)) is banned since \(walk.banSeq), and still in the session at \(seq) (MOD-8)")
        }
        walk.leaving = []
    }

    /// A session that would end while a restriction holds sleeps instead (MOD-9).
    mutating func judgeForgottenRestrictions(of epoch: Int32, in new: String, at now: MonotonicInstant) {
        let order = orders[Int(epoch)]
        let kept = places(in: order).state(at: .max).all.first { noted in
            holds(noted, at: now) && !mayHaveEnded(noted, in: order, after: .max, by: now)
        }
        guard let kept else { return }
        report(
            .m1, .missing,
            "the session has the new epoch \(new), although the \(kept.action.kind) at \(kept.seq) holds (MOD-9)")
    }

    // MARK: - Connects

    private mutating func judgeConnect(_ socket: Socket, _ name: Name, _ places: [Places]) {
        guard let connectedAt = socket.connectedAt, orders.indices.contains(Int(socket.epoch)) else { return }
        let order = orders[Int(socket.epoch)]
        let person = person(name)
        let place = max(socket.start, socket.replayThrough)
        let state = places[Int(socket.epoch)].state(at: place)
        judgeRestrictions(of: socket, name, person, state, in: order)
        if socket.outcome == "resumed", let ban = state.ban(of: person), holds(ban, at: connectedAt) {
            return report(
                .m1, .wrong, "\(id(name)) was resumed behind \(place), banned since \(ban.seq) (MOD-3)")
        }
        if let ban = ban(of: person, from: socket.askedAt, to: connectedAt, in: order) {
            report(
                .m1, .wrong,
                "\(id(name)) asked after the ban at \(ban.seq), and got the outcome \(socket.outcome) (MOD-3)")
        }
    }

    /// A ban that had been carried out before a client asked, and held when the client got its answer.
    private func ban(
        of person: Person, from askedAt: MonotonicInstant, to answeredAt: MonotonicInstant, in order: WireOrder
    ) -> Noted? {
        guard person.subject != nil else { return nil }
        return order.actions.values.filter { noted in
            noted.action.kind == .ban && noted.seenAt < askedAt && subject(of: noted.action.target) == person.subject
                && holds(noted, at: answeredAt) && !mayHaveEnded(noted, in: order, after: noted.seq, by: answeredAt)
        }
        .max { $0.seq < $1.seq }
    }

    /// MOD-3: a banned client that would come back gets 1570, and not what a force-disconnected one gets (RES-10).
    private mutating func judgeRefusal(of socket: Socket) {
        guard let forcedOutAt = socket.forcedOutAt, let resume = socket.resume,
            let epoch = knownEpoch(resume.epoch, of: socket.session), isKept(epoch),
            let ban = ban(of: person(of: socket), from: socket.askedAt, to: forcedOutAt, in: orders[Int(epoch)])
        else { return }
        report(
            .m1, .wrong, "a client banned since \(ban.seq) asked to come back, and got `disconnected` (MOD-3)")
    }

    /// MOD-5: `connected` tells what holds for the client.
    private mutating func judgeRestrictions(
        of socket: Socket, _ name: Name, _ person: Person, _ state: WireRestrictions, in order: WireOrder
    ) {
        guard let connectedAt = socket.connectedAt else { return }
        let unanswered = moderation.asked.contains { $0.fate == .unknown && $0.session == order.session }
        let due = [state.restriction(.mute, of: person), state.freeze(for: person)].compactMap(\.self)
        for noted in due where holds(noted, at: connectedAt) && !unanswered {
            let isTold = socket.restrictions.contains { told in
                told.kind == noted.action.kind.restriction && told.reason == noted.action.reason
                    && (noted.until == nil || told.until == noted.until)
            }
            if isTold { continue }
            report(
                .m1, .missing,
                "\(id(name)) was not told in `connected` of the \(noted.action.kind) at \(noted.seq) (MOD-5)")
        }
        for told in socket.restrictions where !unanswered {
            // A freeze does not bind a moderator, who is told of it or not.
            if told.kind == .freeze, person.isModerator { continue }
            let isTrue = due.contains { noted in
                noted.action.kind.restriction == told.kind && mayHold(noted, at: socket.askedAt)
            }
            if !isTrue {
                report(.m1, .wrong, "\(id(name)) was told in `connected` of a \(told.kind) that does not hold (MOD-5)")
            }
        }
    }

    /// A client that a ban has ended is told of it, and no other one is (MOD-3).
    private mutating func judgeFarewell(_ socket: Socket, _ name: Name) {
        guard socket.forcedOutAt != nil, orders.indices.contains(Int(socket.epoch)) else { return }
        let order = orders[Int(socket.epoch)]
        let subject = person(name).subject
        let isBanned = order.actions.values.contains {
            $0.action.kind == .ban && self.subject(of: $0.action.target) == subject
        }
        let isUnanswered = moderation.asked.contains {
            $0.fate == .unknown && $0.session == order.session && $0.action.kind == .ban
        }
        if socket.ban != nil, !isBanned, !isUnanswered {
            report(.m1, .wrong, "\(id(name)) was told of a ban, and nobody has banned it (MOD-3)")
        } else if socket.ban?.kind != .ban, isBanned, !forceRequests.contains(name) {
            report(.m1, .missing, "\(id(name)) was banned, and its `disconnected` does not name the ban (MOD-3)")
        }
    }

    // MARK: - Online-only signals and refusals

    private mutating func judge(_ signal: ModerationNotes.OnlineOnly, _ places: [Places]) {
        guard orders.indices.contains(Int(signal.epoch)), let from = sendings[Int(signal.signal)].from else { return }
        let order = orders[Int(signal.epoch)]
        if order.actions.isEmpty { return }
        let state = places[Int(signal.epoch)].state(at: signal.position)
        for noted in state.silencing(person(from))
        where holds(noted, at: signal.at) && !mayHaveEnded(noted, in: order, after: signal.position, by: signal.at) {
            let what = signal.isDelivery ? "came to a client" : "was acknowledged to its sender"
            report(
                .m1, .wrong,
                "online-only signal \(signal.signal) of \(id(from)) \(what) that had got the events up to "
                    + "\(signal.position), behind the \(noted.action.kind) at \(noted.seq) (MOD-4)")
        }
    }

    /// A restriction may hold at this moment, as far as its own end says.
    private func mayHold(_ noted: Noted, at moment: MonotonicInstant) -> Bool {
        noted.latestEnd == .never || noted.latestEnd.advanced(by: terms.allowedEarliness) >= moment
    }

    /// A refusal names a restriction that held at some moment between the request and its answer.
    private mutating func judge(_ refusal: ModerationNotes.Refusal) {
        let isUnanswered = moderation.asked.contains {
            $0.fate == .unknown && $0.session == refusal.session && $0.action.kind.restriction == refusal.kind
        }
        if isUnanswered { return }
        let held = orders.contains { order in
            order.session == refusal.session
                && order.actions.values.contains { mayExplain($0, refusal, in: order) }
        }
        if held { return }
        report(
            .m1, .wrong,
            "\(refusal.client) asked at \(milliseconds(refusal.askedAt)), was refused at \(milliseconds(refusal.at)) "
                + "because of a \(refusal.kind), and none held meanwhile (MOD-2). \(latest(refusal))")
    }

    /// The last actions that concern restrictions of this kind, for the report.
    private func latest(_ refusal: ModerationNotes.Refusal) -> String {
        let actions = orders.filter { $0.session == refusal.session }.flatMap(\.actions.values)
            .filter { $0.action.kind.restriction == refusal.kind && $0.seenAt <= refusal.at }
            .sorted { $0.seq < $1.seq }.suffix(4)
        let shown = actions.map { noted in
            let asked = noted.askedAt == .unknown ? "" : "asked at \(milliseconds(noted.askedAt)), "
            return "\(noted.action.kind) at seq \(noted.seq) (\(asked)seen at \(milliseconds(noted.seenAt)))"
        }
        return shown.isEmpty ? "No such action was seen." : "The last actions: \(shown.joined(separator: ", "))."
    }

    private func milliseconds(_ moment: MonotonicInstant) -> String { "\(moment.nanoseconds / 1_000_000) ms" }

    private func mayExplain(_ noted: Noted, _ refusal: ModerationNotes.Refusal, in order: WireOrder) -> Bool {
        guard !noted.action.kind.isLift, noted.action.kind.restriction == refusal.kind,
            noted.askedAt <= refusal.at, mayHold(noted, at: refusal.askedAt)
        else { return false }
        let subject = subject(of: noted.action.target)
        let isConcerned =
            subject == nil || subject == .session || refusal.person.subject == nil || subject == refusal.person.subject
        guard isConcerned else { return false }
        return !order.actions.values.contains {
            $0.seq > noted.seq && $0.seq <= refusal.position ?? .max && $0.seenAt < refusal.askedAt
                && ends($0.action, noted)
        }
    }

    // MARK: - The effect

    /// How long after its acknowledgement each ban had its effect: when the last signal of the banned user passed.
    public var banDelays: [Duration] {
        orders.flatMap { order in
            order.actions.values.filter { $0.action.kind == .ban }.sorted { $0.seq < $1.seq }.compactMap { ban in
                guard let acknowledgedAt = ban.acknowledgedAt, let subject = subject(of: ban.action.target) else {
                    return nil
                }
                let heard = connections.filter { name, connection in
                    connection.joinSeq < ban.seq && orders.indices.contains(Int(connection.epoch))
                        && orders[Int(connection.epoch)].session == order.session && person(name).subject == subject
                }
                let last = heard.values.compactMap(\.lastHeardAt).max() ?? .unknown
                return last > acknowledgedAt ? last.duration(since: acknowledgedAt) : .zero
            }
        }
    }
}
