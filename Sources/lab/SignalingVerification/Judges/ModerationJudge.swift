import SignalingProtocol

/// What a moderator or REST has decided holds from its place in the order on, and everybody concerned is told (M1,
/// section 18 of `docs/PROTOCOL.md`).
struct ModerationJudge: Judge {
    typealias Noted = WireOrder.NotedAction
    typealias Person = WireRestrictions.Person

    private static let refusalInterval = Duration.milliseconds(20)

    /// A refusal because of a restriction.
    private struct Refusal {
        var session: String
        /// Of the client, for the report.
        var client: String
        var person: Person
        var kind: WireRestriction.Kind
        /// When the request first passed, and when its answer did.
        var askedAt: MonotonicInstant
        var at: MonotonicInstant
        /// For an online-only signal: what its sender had got when it sent the signal. Its node refuses it at once, by
        /// what it knows itself, and another node may be ahead (MOD-4).
        var position: Int?
    }

    /// An online-only signal that passed to a client, or whose acknowledgement passed to its sender.
    private struct OnlineOnly {
        var signal: Int32
        var epoch: Int32
        /// What the receiver, or the sender when it sent the signal, had got before.
        var position: Int
        var at: MonotonicInstant
        var isDelivery: Bool
    }

    private var refusals: [Refusal] = []
    private var onlineOnly: [OnlineOnly] = []

    // MARK: - Lines

    mutating func hear(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let socket = record.sockets[passage.number] else { return }
        let id = socket.connection.map(record.id) ?? ""
        switch passage.kind {
        case .connected: judgeNewEpoch(passage, record, &found)
        case .signal(let signal):
            if passage.line.seq == nil {
                let position = (socket.epoch, socket.position)
                note(signal, at: position, passage.at, isDelivery: true)
            }
        case .moderated(let action):
            if let author = passage.line.member("by"), let known = action.by.flatMap({ record.details[$0] }),
                author.text("user").map({ Array($0.utf8) }) != known.user.map({ Array(record.userID($0).utf8) })
            {
                let seq = passage.placed?.seq ?? 0
                found.add(.g8, .wrong, "the author of the action at \(seq) was told with another user (MOD-6)")
            }
        case .restricted:
            if passage.line.member("by") != nil {
                found.add(.g8, .wrong, "\(id) was told who has restricted it (MOD-5)")
            }
        case .ack:
            if passage.request?.asked != nil, passage.line.seq != nil, !socket.isModerator {
                found.add(.g8, .wrong, "\(id) is no moderator, and got an ack for an action (MOD-1)")
            }
            if let signal = passage.request?.signal, passage.line.seq == nil, let sender = record.senders[signal] {
                note(signal, at: sender, passage.at, isDelivery: false)
            }
        case .error: if let request = passage.request { hearRefusal(passage, of: request, socket, record, &found) }
        default: break
        }
    }

    private mutating func note(
        _ signal: Int32, at place: (epoch: Int32, position: Int), _ now: MonotonicInstant, isDelivery: Bool
    ) {
        onlineOnly.append(
            OnlineOnly(signal: signal, epoch: place.epoch, position: place.position, at: now, isDelivery: isDelivery))
    }

    /// An error because of a restriction (MOD-3, MOD-4).
    private mutating func hearRefusal(
        _ passage: Passage, of request: WireRecord.Request, _ socket: WireRecord.Socket, _ record: WireRecord,
        _ found: inout Findings
    ) {
        let (line, now) = (passage.line, passage.at)
        guard let code = line.number("code") else { return }
        let client = socket.connection.map { record.id($0) } ?? "socket \(passage.number)"
        let restriction = line.member("restriction").flatMap { WireRestriction($0) }
        let kinds: Set<WireRestriction.Kind>
        var (askedAt, position) = (socket.askedAt, Int?.none)
        switch (request.op, code) {
        case ("connect", 1570): kinds = [.ban]
        case ("signal", 403) where socket.claims?.role != "publisheronly":
            kinds = [.mute, .freeze]
            guard let signal = request.signal else { break }
            askedAt = record.sending(signal).sentAt
            position = record.senders[signal]?.position
            // Of a repeated request, the server repeats the code and the name of the error only (RES-9). The moments
            // prove nothing: the server may read what the old socket carried after the new one has opened.
            if restriction == nil, record.sending(signal).socket != passage.number { return }
        default: return
        }
        guard let restriction, kinds.contains(restriction.kind),
            (restriction.until == nil) == (line.number("retryAfter") == nil)
        else {
            return found.add(
                .m1, .wrong, "\(client) got the error \(code) without its restriction and its end (ERR-1)")
        }
        // A client that goes on although it may not signal gets thousands of refusals. A sample says as much.
        if let last = refusals.last(where: { $0.client == client && $0.kind == restriction.kind }),
            now.duration(since: last.at) < Self.refusalInterval
        {
            return
        }
        let person = socket.connection.map { record.person($0) } ?? record.person(asking: socket)
        refusals.append(
            Refusal(
                session: socket.session, client: client, person: person, kind: restriction.kind, askedAt: askedAt,
                at: now, position: position))
    }

    /// A session that would end while a restriction holds sleeps instead (MOD-9).
    private func judgeNewEpoch(_ passage: Passage, _ record: WireRecord, _ found: inout Findings) {
        guard let epoch = record.epochEnded(by: passage), !record.isNeeded(epoch),
            record.histories[passage.session]?.isEmpty != false
        else { return }
        let order = record.orders[Int(epoch)]
        let bench = RestrictionBench(record: record)
        let kept = bench.places(in: order).state(at: .max).all.first { noted in
            bench.holds(noted, at: passage.at) && !bench.mayHaveEnded(noted, in: order, after: .max, by: passage.at)
        }
        guard let kept else { return }
        found.add(
            .m1, .missing,
            "the session has the new epoch \(passage.line.text("epoch") ?? ""), although the \(kept.action.kind) at "
                + "\(kept.seq) holds (MOD-9)")
    }

    // MARK: - The verdict

    func conclude(_ record: WireRecord, at now: MonotonicInstant, isSettled: Bool, _ found: inout Findings) {
        let bench = RestrictionBench(record: record)
        for order in record.orders { RestrictionWalk.judge(order, bench, isSettled: isSettled, &found) }
        let places = record.orders.map { bench.places(in: $0) }
        for (_, socket) in record.socketsInOrder {
            guard let name = socket.connection else {
                judgeRefusedConnect(of: socket, bench, &found)
                continue
            }
            judgeConnect(socket, name, places[Int(socket.epoch)], bench, &found)
            judgeFarewell(socket, name, record, &found)
        }
        for signal in onlineOnly { judge(signal, places, bench, &found) }
        for refusal in refusals { judge(refusal, bench, &found) }
    }

    private func judgeConnect(
        _ socket: WireRecord.Socket, _ name: Passage.Name, _ places: RestrictionBench.Places,
        _ bench: RestrictionBench, _ found: inout Findings
    ) {
        guard let connectedAt = socket.connectedAt else { return }
        let record = bench.record
        let order = record.orders[Int(socket.epoch)]
        let (id, person) = (record.id(name), record.person(name))
        let place = max(socket.start, socket.replayThrough)
        let state = places.state(at: place)
        judgeRestrictions(of: socket, id, person, state, bench, &found)
        if socket.outcome == "resumed", let ban = state.ban(of: person), bench.holds(ban, at: connectedAt) {
            return found.add(.m1, .wrong, "\(id) was resumed behind \(place), banned since \(ban.seq) (MOD-3)")
        }
        if let ban = bench.ban(of: person, from: socket.askedAt, to: connectedAt, in: order) {
            found.add(
                .m1, .wrong,
                "\(id) asked after the ban at \(ban.seq), and got the outcome \(socket.outcome) (MOD-3)")
        }
    }

    /// MOD-3: a banned client that would come back gets 1570, and not what a force-disconnected one gets (RES-10).
    private func judgeRefusedConnect(
        of socket: WireRecord.Socket, _ bench: RestrictionBench, _ found: inout Findings
    ) {
        let record = bench.record
        guard let forcedOutAt = socket.forcedOutAt, let resume = socket.resume,
            let epoch = record.knownEpoch(resume.epoch, of: socket.session), record.isKept(epoch),
            let ban = bench.ban(
                of: record.person(asking: socket), from: socket.askedAt, to: forcedOutAt,
                in: record.orders[Int(epoch)])
        else { return }
        found.add(
            .m1, .wrong, "a client banned since \(ban.seq) asked to come back, and got `disconnected` (MOD-3)")
    }

    /// MOD-5: `connected` tells what holds for the client.
    private func judgeRestrictions(
        of socket: WireRecord.Socket, _ id: String, _ person: Person, _ state: WireRestrictions,
        _ bench: RestrictionBench, _ found: inout Findings
    ) {
        guard let connectedAt = socket.connectedAt, bench.record.unanswered(in: socket.session).isEmpty else { return }
        let due = [state.restriction(.mute, of: person), state.freeze(for: person)].compactMap(\.self)
        for noted in due where bench.holds(noted, at: connectedAt) {
            let isTold = socket.restrictions.contains { told in
                told.kind == noted.action.kind.restriction && told.reason == noted.action.reason
                    && (noted.until == nil || told.until == noted.until)
            }
            if isTold { continue }
            found.add(
                .m1, .missing,
                "\(id) was not told in `connected` of the \(noted.action.kind) at \(noted.seq) (MOD-5)")
        }
        for told in socket.restrictions {
            // A freeze does not bind a moderator, who is told of it or not.
            if told.kind == .freeze, person.isModerator { continue }
            let isTrue = due.contains { noted in
                noted.action.kind.restriction == told.kind && bench.mayHold(noted, at: socket.askedAt)
            }
            if !isTrue {
                found.add(.m1, .wrong, "\(id) was told in `connected` of a \(told.kind) that does not hold (MOD-5)")
            }
        }
    }

    /// A client that a ban has ended is told of it, and no other one is (MOD-3).
    private func judgeFarewell(
        _ socket: WireRecord.Socket, _ name: Passage.Name, _ record: WireRecord, _ found: inout Findings
    ) {
        guard socket.forcedOutAt != nil else { return }
        let (id, subject) = (record.id(name), record.person(name).subject)
        let isBanned = record.orders[Int(socket.epoch)].actions.values.contains {
            $0.action.kind == .ban && record.subject(of: $0.action.target) == subject
        }
        let isUnanswered = record.unanswered(in: socket.session).contains { $0.action.kind == .ban }
        if socket.ban != nil, !isBanned, !isUnanswered {
            found.add(.m1, .wrong, "\(id) was told of a ban, and nobody has banned it (MOD-3)")
        } else if socket.ban?.kind != .ban, isBanned, !record.forceRequests.contains(name) {
            found.add(.m1, .missing, "\(id) was banned, and its `disconnected` does not name the ban (MOD-3)")
        }
    }

    private func judge(
        _ signal: OnlineOnly, _ places: [RestrictionBench.Places], _ bench: RestrictionBench, _ found: inout Findings
    ) {
        let record = bench.record
        guard record.orders.indices.contains(Int(signal.epoch)), let from = record.sending(signal.signal).from,
            !record.orders[Int(signal.epoch)].actions.isEmpty
        else { return }
        let order = record.orders[Int(signal.epoch)]
        let state = places[Int(signal.epoch)].state(at: signal.position)
        for noted in state.silencing(record.person(from))
        where bench.holds(noted, at: signal.at)
            && !bench.mayHaveEnded(noted, in: order, after: signal.position, by: signal.at)
        {
            let what = signal.isDelivery ? "came to a client" : "was acknowledged to its sender"
            found.add(
                .m1, .wrong,
                "online-only signal \(signal.signal) of \(record.id(from)) \(what) that had got the events up to "
                    + "\(signal.position), behind the \(noted.action.kind) at \(noted.seq) (MOD-4)")
        }
    }

    /// A refusal names a restriction that held at some moment between the request and its answer.
    private func judge(_ refusal: Refusal, _ bench: RestrictionBench, _ found: inout Findings) {
        let orders = bench.record.orders.filter { $0.session == refusal.session }
        let isUnanswered = bench.record.unanswered(in: refusal.session).contains {
            $0.action.kind.restriction == refusal.kind
        }
        let isExplained = orders.contains { order in
            order.actions.values.contains { mayExplain($0, refusal, in: order, bench) }
        }
        if isUnanswered || isExplained { return }
        // The last actions that concern restrictions of this kind.
        func text(_ moment: MonotonicInstant) -> String { "\(moment.nanoseconds / 1_000_000) ms" }
        let actions = orders.flatMap(\.actions.values)
            .filter { $0.action.kind.restriction == refusal.kind && $0.seenAt <= refusal.at }
            .sorted { $0.seq < $1.seq }.suffix(4)
        let shown = actions.map { noted in
            let asked = noted.askedAt == .unknown ? "" : "asked at \(text(noted.askedAt)), "
            return "\(noted.action.kind) at seq \(noted.seq) (\(asked)seen at \(text(noted.seenAt)))"
        }
        found.add(
            .m1, .wrong,
            "\(refusal.client) asked at \(text(refusal.askedAt)), was refused at \(text(refusal.at)) because of a "
                + "\(refusal.kind), and none held meanwhile (MOD-2). "
                + (shown.isEmpty
                    ? "No such action was seen." : "The last actions: \(shown.joined(separator: ", "))."))
    }

    private func mayExplain(
        _ noted: Noted, _ refusal: Refusal, in order: WireOrder, _ bench: RestrictionBench
    ) -> Bool {
        guard !noted.action.kind.isLift, noted.action.kind.restriction == refusal.kind,
            noted.askedAt <= refusal.at, bench.mayHold(noted, at: refusal.askedAt)
        else { return false }
        let subject = bench.record.subject(of: noted.action.target)
        let isConcerned =
            subject == nil || subject == .session || refusal.person.subject == nil || subject == refusal.person.subject
        guard isConcerned else { return false }
        return !order.actions.values.contains {
            $0.seq > noted.seq && $0.seq <= refusal.position ?? .max && $0.seenAt < refusal.askedAt
                && bench.ends($0.action, noted)
        }
    }
}
