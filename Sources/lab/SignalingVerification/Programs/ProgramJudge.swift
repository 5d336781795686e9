import SignalingProtocol

/// Each program saw what its wire carried: every event once, at its place, and nothing less without notice.
///
/// The judges of the wire have judged what it carried.
struct ProgramJudge {
    /// One connection of a program, from its first `connected` to its end, with all of its sockets.
    struct Life {
        let entry: ProgramRecord.Entry
        let name: WireOrder.Name
        let epoch: Int32
        var seqs: Set<Int> = []
        var created: Set<WireOrder.Name> = []
        var destroyed: Set<WireOrder.Name> = []
        var last = 0
        /// The program has everything up to this seq.
        var through: Int

        var start: Int { Int(entry.seq.rawValue) }
        /// Only broadcasts are replayed up to this seq: the server accepted them before the connection began.
        var recoveredThrough: Int { entry.outcome == .new ? 0 : entry.replayThrough.map { Int($0.rawValue) } ?? 0 }
    }

    let program: ProgramRecord
    let record: WireRecord
    private(set) var found = Findings()
    /// Still open at the end of the record.
    private(set) var life: Life?
    private(set) var epochs: Set<Epoch> = []
    private var received: Set<String> = []
    private var lastSent: WireRecord.Sending?
    private(set) var view = ProgramView()
    private var users: UserView
    private var onlineOnly: OnlineOnlyOrder

    /// The violations in what the programs of one session saw.
    ///
    /// - Parameter epochLimit: one more than the number of times that the server lost the session; nil: unlimited.
    static func violations(
        in programs: [ProgramRecord], _ record: WireRecord, isSettled: Bool, epochLimit: Int?
    ) -> [Violation] {
        let onlineOnly = OnlineOnlyOrder(programs, record)
        var judges = programs.map { ProgramJudge($0, record, onlineOnly) }
        for index in judges.indices { judges[index].walk(isSettled: isSettled) }
        let open = judges.compactMap(\.life)
        for index in judges.indices where isSettled { judges[index].judgeView(among: open) }
        var found = judges.flatMap(\.found.violations)
        // A new epoch begins only when the server has lost the session (RES-15).
        let count = judges.reduce(into: Set<Epoch>()) { $0.formUnion($1.epochs) }.count
        if let epochLimit, count > epochLimit {
            let text = "the session had \(count) epochs, and at most \(epochLimit) are possible"
            found.append(Violation(.g4, .missing, text))
        }
        return found
    }

    private init(_ program: ProgramRecord, _ record: WireRecord, _ onlineOnly: OnlineOnlyOrder) {
        (self.program, self.record, self.onlineOnly) = (program, record, onlineOnly)
        users = UserView(users: program.users)
    }

    private mutating func report(_ promise: Violation.Promise, _ kind: Violation.Kind, _ text: String) {
        found.add(promise, kind, "\(program.name) \(text)")
    }

    private mutating func report(_ promise: Violation.Promise, _ text: String) { report(promise, .wrong, text) }

    private mutating func walk(isSettled: Bool) {
        for step in program.steps {
            if !program.suppressesPresence {
                let own = life?.entry
                for fault in view.note(step.action, own) { report(.g7, fault) }
                if let fault = users.note(step.action) { report(.g7, "\(fault) (USR-3)") }
            }
            pass(step.action)
        }
        if let life { judgeCompleteness(of: life, isOpen: true, isSettled: isSettled) }
    }

    private mutating func pass(_ action: ProgramRecord.Action) {
        switch action {
        case .entered(let entry): enter(entry)
        case .ended: end(before: nil)
        case .sent(let data): judgeOrderOfSending(data)
        case .answered(let data, let answer): judge(answer, to: data)
        case .received(let reception): judge(reception)
        case .created(let id, let seq):
            guard let name = record.knownName(id.rawValue) else {
                return report(.g8, "heard of \(id), which nobody is")
            }
            life?.created.insert(name)
            if name == life?.name { report(.g7, "received its own creation") }
            if let seq { take(.created(name), at: seq) }
        case .destroyed(let id, let seq):
            guard let name = record.knownName(id.rawValue) else {
                return report(.g8, "heard of \(id), which nobody is")
            }
            life?.destroyed.insert(name)
            if let seq { take(.destroyed(name), at: seq) }
        case .moderated(let event, let seq):
            guard let number = record.knownAction(event) else {
                return report(.g1, "heard of the action \(event.action.name) at \(seq), and there is none")
            }
            let until = life.flatMap { record.order($0.epoch)?.actions[Int(seq.rawValue)]?.until }
            if event.until?.milliseconds != until { report(.g1, "heard of another end of the action at \(seq)") }
            take(.moderated(number), at: seq)
        case .changed(let event):
            guard let number = record.knownChange(event) else {
                return report(.g1, "heard of a change of \(event.ref) at \(event.seq), and there is none")
            }
            take(.changed(number), at: event.seq)
        case .away, .back, .erased, .userJoined, .userLeft, .reconnected: break
        }
    }

    // MARK: - Lives

    private mutating func enter(_ entry: ProgramRecord.Entry) {
        epochs.insert(entry.epoch)
        let before = life?.entry
        if entry.outcome == .resumed {
            guard let before else { return report(.g3, "resumed a connection that had ended") }
            if before.connectionId != entry.connectionId {
                report(.g3, "resumed as \(entry.connectionId) and was \(before.connectionId)")
            }
            if before.epoch != entry.epoch { report(.g4, "resumed in another epoch") }
            return
        }
        if entry.outcome == .recovered, before?.epoch != entry.epoch { report(.g4, "recovered in another epoch") }
        if let missing = entry.missing {
            // RES-16: the log still has what follows, and the client continues there.
            if entry.outcome != .lost || missing.last != entry.seq || missing.first > missing.last {
                report(.g4, "misses \(missing.first) to \(missing.last) as \(entry.outcome)")
            }
            if before?.epoch != entry.epoch { report(.g4, "misses events of another epoch") }
        }
        end(before: entry)
        guard let name = record.knownName(entry.connectionId.rawValue), let connection = record.connections[name],
            let epoch = record.knownEpoch(entry.epoch.rawValue, of: connection.session)
        else {
            return report(.g8, "is connected as \(entry.connectionId) in \(entry.epoch), which no server has said")
        }
        life = Life(entry: entry, name: name, epoch: epoch, through: Int(entry.seq.rawValue))
        onlineOnly.begin()
    }

    private mutating func end(before next: ProgramRecord.Entry?) {
        // A recovered connection continues at the seq that the one before it had reached, and a lost one may tell from
        // which seq on events are missing (RES-16).
        let position = next.flatMap { next in
            next.outcome == .recovered ? next.seq.rawValue : next.missing.map { $0.first.rawValue - 1 }
        }
        if let life { judgeCompleteness(of: life, isOpen: false, continuedAfter: position.map { Int($0) }) }
        life = nil
    }

    /// G3, G4: nothing is missing without notice.
    ///
    /// A connection that was cut before its replay arrived is judged only up to the events that it had received. The rest
    /// is due to the connection after it.
    private mutating func judgeCompleteness(
        of life: Life, isOpen: Bool, isSettled: Bool = false, continuedAfter position: Int? = nil
    ) {
        guard let order = record.order(life.epoch) else { return }
        let end = isOpen && isSettled ? order.lastSeq : life.through
        let start = max(life.start, order.base)
        let through = min(max(end, position ?? 0), order.lastSeq)
        guard start < through else { return }
        for seq in (start + 1)...through where !life.seqs.contains(seq) {
            guard let event = order[seq], seq <= end || event.isBroadcast, isMeant(event, at: seq, for: life),
                !record.isErased(event, at: seq, in: order)
            else { continue }
            let what = "\(record.text(event)) at \(seq) as \(life.entry.connectionId)"
            report(isOpen ? .g3 : .g4, .missing, "misses \(what), without notice")
        }
    }

    private func isMeant(_ event: WireOrder.Event, at seq: Int, for life: Life) -> Bool {
        let isLater = seq > life.recoveredThrough
        return switch event {
        case .signal(_, _, let to): to == .all || (to == .connection(life.name) && isLater)
        case .created(let name):
            !program.suppressesPresence && name != life.name && isLater && !life.created.contains(name)
        case .destroyed(let name):
            !program.suppressesPresence && name != life.name && isLater && !life.destroyed.contains(name)
        case .changed: true
        // A record does not say at which seq the program heard of an erasure, who moderates, and what users think.
        case .erased, .told, .moderated, .restricted, .unrestricted: false
        }
    }

    // MARK: - Events

    /// The program is told an event, at its place in the order of all (G1).
    private mutating func take(_ event: WireOrder.Event, at seq: Seq) {
        // No copy of the life is alive below: the insertion would copy the whole set.
        guard let (epoch, start, last) = life.map({ ($0.epoch, $0.start, $0.last) }) else { return }
        let seq = Int(seq.rawValue)
        if seq <= last { report(.g1, .reordered, "got \(seq) after \(last)") }
        if seq <= start { report(.g1, "got \(seq), from before it connected (\(start))") }
        let known = record.order(epoch)?[seq]
        if known != event {
            report(.g1, "got \(record.text(event)) at \(seq), where \(known.map(record.text) ?? "nothing") is")
        }
        life?.seqs.insert(seq)
        life?.last = seq
        if let through = life?.through, through < seq { life?.through = seq }
    }

    private mutating func judge(_ reception: ProgramRecord.Reception) {
        let data = reception.data
        guard let signal = record.signals[data] else { return report(.g8, "got \(data), which no client sent") }
        let sending = record.sending(signal)
        let from = reception.from.flatMap { record.knownName($0.rawValue) }
        if from != sending.from {
            let sender = sending.from.map(record.id) ?? "the server"
            report(.g8, "got \(data) of \(sender) from \(reception.from?.rawValue ?? "the server")")
        }
        if let life, case .connection(let target) = sending.to, target != life.name {
            report(.g8, "got \(data), which was addressed to \(record.id(target))")
        }
        if (reception.seq == nil) != sending.isOnlineOnly {
            report(.g6, "got \(data) \(reception.seq == nil ? "without" : "with") a seq")
        }
        if let life {
            for fault in onlineOnly.note(signal, life, record) {
                report(.g6, .reordered, "got \(data) \(fault) (SIG-10)")
            }
        }
        if !received.insert(data).inserted {
            report(reception.seq == nil ? .g6 : .g3, .duplicate, "got \(data) twice")
        }
        if let seq = reception.seq { take(.signal(signal, from: from, to: sending.to), at: seq) }
    }

    // MARK: - Answers

    private mutating func judge(_ answer: ProgramRecord.Answer, to data: String) {
        guard let signal = record.signals[data] else { return }
        let sending = record.sending(signal)
        switch answer {
        case .unknown: break
        case .refused:
            if sending.seq >= 0 { report(.g2, "was refused \(data), which is in the order at \(sending.seq)") }
        case .acknowledged(nil):
            if !sending.isOnlineOnly { report(.g2, "got no seq with the ack of \(data)") }
        case .acknowledged(let seq?):
            let seq = Int(seq.rawValue)
            // A backend is not told of its session's events.
            guard let life else { return }
            if sending.seq != seq { report(.g2, "got the ack of \(data) at \(seq), which is at \(sending.seq)") }
            self.life?.through = max(life.through, seq)
            let isForItself = sending.to == .all || sending.to == .connection(life.name)
            let event = WireOrder.Event.signal(signal, from: life.name, to: sending.to)
            if isForItself, !received.contains(data), !record.mayBeErased(event, at: seq, in: life.epoch) {
                report(.g2, "got the ack of \(data) before it arrived (SIG-6)")
            }
        }
    }

    /// Within an epoch, the signals of one sender keep the order in which it sent them (G1).
    private mutating func judgeOrderOfSending(_ data: String) {
        guard let sending = record.signals[data].map(record.sending), sending.seq >= 0 else { return }
        if let lastSent, lastSent.epoch == sending.epoch, sending.seq <= lastSent.seq {
            report(.g1, .reordered, "sent \(data), which is at \(sending.seq), after the signal at \(lastSent.seq)")
        }
        lastSent = sending
    }

    // MARK: - The end

    private mutating func judgeView(among open: [Life]) {
        guard !program.suppressesPresence, let life else { return }
        let here = Set(open.filter { $0.epoch == life.epoch && $0.name != life.name }.map(\.entry.connectionId))
        if view.connections != here {
            report(.g7, "sees \(view.connections.sorted()), and \(here.sorted()) are connected")
        }
        if let fault = users.difference { report(.g7, "\(fault) (USR-3)") }
    }
}
