import SignalingProtocol

/// A walk through an order, from one event to the next: what holds, and who is in the session (MOD-8).
struct RestrictionWalk {
    private let order: WireOrder
    private let bench: RestrictionBench
    private var record: WireRecord { bench.record }
    private var state = WireRestrictions()
    private var present: Set<Passage.Name> = []
    /// The connections that a ban has ended, until their departures.
    private var leaving: Set<Passage.Name> = []
    private var banSeq = 0
    /// The action that `restricted` or `unrestricted` must follow.
    private var untold: WireOrder.NotedAction?

    static func judge(_ order: WireOrder, _ bench: RestrictionBench, isSettled: Bool, _ found: inout Findings) {
        var walk = RestrictionWalk(order: order, bench: bench)
        let unanswered = bench.record.unanswered(in: order.session)
        for seq in order.seqs {
            guard let event = order[seq] else {
                // No client has seen it. It may be a departure, or an action without an answer.
                (walk.leaving, walk.untold, walk.present) = ([], nil, [])
                for request in unanswered {
                    for noted in walk.state.all where bench.ends(request.action, noted) { walk.state.remove(noted) }
                }
                continue
            }
            walk.judgeFollower(event, at: seq, &found)
            walk.pass(event, at: seq, &found)
        }
        // At the end of the order, a departure passes only if a client is left that sees it.
        if isSettled, walk.present.subtracting(walk.leaving).contains(where: walk.seesPresence) {
            walk.judgeLeaving(at: order.lastSeq, &found)
        }
    }

    private init(order: WireOrder, bench: RestrictionBench) { (self.order, self.bench) = (order, bench) }

    private func seesPresence(_ name: Passage.Name) -> Bool {
        record.connections[name].map { $0.lostAt == nil && !$0.suppressesPresence } ?? false
    }

    private mutating func pass(_ event: WireOrder.Event, at seq: Int, _ found: inout Findings) {
        switch event {
        case .created(let name):
            present.insert(name)
            if let ban = state.ban(of: record.person(name)), bench.holds(ban, at: order.moment(of: seq)) {
                found.add(.m1, .wrong, "\(record.id(name)) joined at \(seq), banned since \(ban.seq) (MOD-3)")
            }
        case .destroyed(let name):
            present.remove(name)
            leaving.remove(name)
        case .signal(let signal, let from?, _) where !state.isEmpty:
            for noted in state.silencing(record.person(from)) where bench.holds(noted, at: order.moment(of: seq)) {
                found.add(
                    .m1, .wrong,
                    "signal \(signal) of \(record.id(from)) is at \(seq), behind the \(noted.action.kind) at "
                        + "\(noted.seq) (MOD-8)")
            }
        case .moderated: if let noted = order.actions[seq] { pass(noted, at: seq) }
        // Changes have their own judge.
        case .signal, .erased, .changed, .told, .restricted, .unrestricted: break
        }
    }

    private mutating func pass(_ noted: WireOrder.NotedAction, at seq: Int) {
        let subject = record.subject(of: noted.action.target)
        state.apply(noted, to: subject)
        let concerned = present.filter { record.person($0).subject == subject }
        if noted.action.kind == .ban, subject != nil { (leaving, banSeq) = (concerned, seq) }
        let isTold = noted.action.kind.restriction != .ban
        let isHeard = noted.action.kind.restriction == .freeze || !concerned.isEmpty
        untold = isTold && subject != nil && isHeard ? noted : nil
    }

    /// What belongs to an action follows it directly.
    private mutating func judgeFollower(_ event: WireOrder.Event, at seq: Int, _ found: inout Findings) {
        switch event {
        case .restricted(let number):
            let told = record.restrictions[number]
            judge("restricted", at: seq, &found) { noted in
                noted.action.kind.rawValue == told.kind.rawValue && noted.action.reason == told.reason
                    && (noted.until == nil || noted.until == told.until)
            }
        case .unrestricted(let kind):
            judge("unrestricted", at: seq, &found) { noted in
                noted.action.kind.isLift && noted.action.kind.restriction == kind
            }
        case .signal, .created, .changed, .told, .moderated:
            judgeLeaving(at: seq, &found)
            if let untold {
                found.add(.m1, .missing, "nobody was told of the \(untold.action.kind) at \(untold.seq) (MOD-5)")
            }
        case .destroyed, .erased: break
        }
        untold = nil
    }

    private func judge(
        _ name: String, at seq: Int, _ found: inout Findings, fits: (WireOrder.NotedAction) -> Bool
    ) {
        guard let noted = order.actions[seq - 1] else {
            // Of an event that no client has seen, nobody knows what it is.
            if order[seq - 1] != nil { found.add(.m1, .wrong, "`\(name)` at \(seq) follows no action (MOD-8)") }
            return
        }
        if !fits(noted) { found.add(.m1, .wrong, "`\(name)` at \(seq) differs from the action before it (MOD-5)") }
    }

    private mutating func judgeLeaving(at seq: Int, _ found: inout Findings) {
        for name in leaving.sorted() {
            found.add(
                .m1, .missing,
                "\(record.id(name)) is banned since \(banSeq), and still in the session at \(seq) (MOD-8)")
        }
        leaving = []
    }
}
