import SignalingProtocol

/// Judges a history by the promises of `docs/PROTOCOL.md` section 2, from what the clients recorded.
///
/// It does not rely on anything that a server reports about itself.
public struct HistoryChecker {
    let history: History
    private var found: [Violation] = []
    /// The known events of each epoch.
    private(set) var orders: [Epoch: [Seq: History.Event]] = [:]
    /// The seqs of each order, in order, once all events are known.
    private var seqs: [Epoch: [Seq]] = [:]
    /// The users of all connections.
    private(set) var users: [ConnectionID: UserID] = [:]
    /// When each online-only signal was acknowledged, by its data.
    private var acknowledgedAt: [String: MonotonicInstant] = [:]
    private var lastSeqs: [Epoch: Seq] = [:]
    private var erasures: [Epoch: [(seq: Seq, erasure: Erasure)]] = [:]
    /// The epoch and seq of each signal, by its data.
    private var positions: [String: (epoch: Epoch, seq: Seq)] = [:]
    private var sendings: [String: (client: Int, number: Int, sending: History.Sending)] = [:]
    /// The broadcasts that are kept in the log, by client, in the order of sending.
    private var broadcasts: [[(number: Int, data: String)]] = []
    private var lives: [[Life]] = []

    /// One connection of a client, from its first `connected` to its end, with all of its sockets.
    private struct Life {
        let entry: History.Entry
        let steps: Range<Int>
        /// Whether the connection was still open at the end of the history.
        var isOpen = false

        /// Broadcasts up to this seq are replayed: the server accepted them before the connection began.
        var recoveredThrough: Seq { entry.outcome == .new ? .zero : entry.replayThrough ?? .zero }
    }

    /// The violations of the promises in a history; empty when it keeps all of them.
    public static func violations(in history: History) -> [Violation] {
        var checker = HistoryChecker(history: history)
        checker.check()
        return checker.found
    }

    private init(history: History) { self.history = history }

    mutating func report(_ promise: Violation.Promise, _ kind: Violation.Kind, _ text: String) {
        found.append(Violation(promise, kind, text))
    }

    mutating func report(_ promise: Violation.Promise, _ text: String) { report(promise, .wrong, text) }

    private mutating func check() {
        lives = history.clients.indices.map { lives(of: $0) }
        for client in history.clients { users.merge(client.users) { known, _ in known } }
        noteSendings()
        noteLogs()
        for client in history.clients.indices {
            for life in lives[client] { noteReceptions(client, life) }
        }
        checkEpochs()
        checkAnswers()
        seqs = orders.mapValues { $0.keys.sorted() }
        checkSenderOrder()
        checkModeration()
        for client in history.clients.indices {
            checkOnce(client)
            for (index, life) in lives[client].enumerated() {
                let next = index + 1 < lives[client].count ? lives[client][index + 1] : nil
                checkCompleteness(client, life, next: next)
            }
            checkView(client)
            checkUsers(history.clients[client], isOpen: lives[client].last?.isOpen == true)
            checkOnlineOnly(client)
        }
        checkPresence()
    }

    // MARK: - Collecting

    private mutating func lives(of client: Int) -> [Life] {
        var result: [Life] = []
        var current: (entry: History.Entry, start: Int)?
        let steps = history.clients[client].steps
        let name = history.clients[client].name
        func close(at end: Int, isOpen: Bool) {
            if let open = current {
                result.append(Life(entry: open.entry, steps: open.start..<end, isOpen: isOpen))
            }
            current = nil
        }
        for (index, step) in steps.enumerated() {
            switch step.action {
            case .entered(let entry):
                if entry.outcome == .resumed {
                    guard let open = current else {
                        report(.g3, "\(name) resumed a connection that had ended")
                        continue
                    }
                    if open.entry.connectionId != entry.connectionId {
                        report(.g3, "\(name) resumed as \(entry.connectionId) and was \(open.entry.connectionId)")
                    }
                    if open.entry.epoch != entry.epoch { report(.g4, "\(name) resumed in another epoch") }
                    continue
                }
                if entry.outcome == .recovered, current?.entry.epoch != entry.epoch {
                    report(.g4, "\(name) recovered in another epoch")
                }
                if let missing = entry.missing {
                    // RES-16: the log still has what follows, and the client continues there.
                    if entry.outcome != .lost || missing.last != entry.seq || missing.first > missing.last {
                        report(.g4, "\(name) misses \(missing.first) to \(missing.last) as \(entry.outcome)")
                    }
                    if current?.entry.epoch != entry.epoch { report(.g4, "\(name) misses events of another epoch") }
                }
                close(at: index, isOpen: false)
                current = (entry, index)
            case .ended: close(at: index, isOpen: false)
            case .opening, .sent, .answered, .received, .created, .destroyed, .away, .back, .erased, .userJoined,
                .userLeft, .moderated, .reconnected:
                break
            }
        }
        close(at: steps.count, isOpen: true)
        return result
    }

    private mutating func noteSendings() {
        for (client, record) in history.clients.enumerated() {
            broadcasts.append([])
            var number = 0
            for step in record.steps {
                if case .answered(let data, .acknowledged(nil)) = step.action { acknowledgedAt[data] = step.at }
                guard case .sent(let sending) = step.action else { continue }
                sendings[sending.data] = (client, number, sending)
                if sending.to == nil, !sending.isOnlineOnly { broadcasts[client].append((number, sending.data)) }
                number += 1
            }
        }
    }

    private mutating func noteLogs() {
        for (epoch, records) in history.logs {
            orders[epoch] = [:]
            for record in records { note(record.event, at: record.seq, of: epoch, .g1, by: "the log") }
        }
    }

    /// Every client sees the same event at the same seq, and a signal has one seq.
    private mutating func note(
        _ event: History.Event, at seq: Seq, of epoch: Epoch, _ promise: Violation.Promise, by observer: String
    ) {
        if let known = orders[epoch]?[seq] {
            if known != event { report(promise, "\(seq) is \(known), and for \(observer) it is \(event)") }
            return
        }
        if history.logs[epoch] != nil, observer != "the log" {
            report(promise, "\(observer) has \(event) at \(seq), which is not in the log")
        }
        orders[epoch, default: [:]][seq] = event
        lastSeqs[epoch] = max(lastSeqs[epoch] ?? .zero, seq)
        if case .erased(let erasure) = event { erasures[epoch, default: []].append((seq, erasure)) }
        guard case .signal(_, let data, _) = event else { return }
        if let other = positions[data] {
            report(.g3, .duplicate, "\(data) is in the log twice: \(other.seq) and \(seq)")
        } else {
            positions[data] = (epoch, seq)
        }
    }

    private mutating func noteReceptions(_ client: Int, _ life: Life) {
        let record = history.clients[client]
        var last = Seq.zero
        let own = life.entry.connectionId
        func advance(_ seq: Seq) {
            if seq <= last { report(.g1, .reordered, "\(record.name) got \(seq) after \(last)") }
            if seq <= life.entry.seq {
                report(.g1, "\(record.name) got \(seq), from before it connected (\(life.entry.seq))")
            }
            last = seq
        }
        for step in record.steps[life.steps] {
            switch step.action {
            case .received(let reception):
                guard let sent = sendings[reception.data] else {
                    report(.g8, "\(record.name) got \(reception.data), which no client sent")
                    continue
                }
                if !isSender(reception.from, of: sent.client) {
                    report(
                        .g8,
                        "\(reception.data) of \(history.clients[sent.client].name) came from \(reception.from?.rawValue ?? "the server")"
                    )
                }
                if let to = sent.sending.to, to != own {
                    report(.g8, "\(record.name) got \(reception.data), which was addressed to \(to)")
                }
                if (reception.seq == nil) != sent.sending.isOnlineOnly {
                    report(
                        .g6,
                        "\(reception.data) came to \(record.name) \(reception.seq == nil ? "without" : "with") a seq")
                }
                guard let seq = reception.seq else { continue }
                advance(seq)
                note(
                    .signal(from: reception.from, data: reception.data, to: sent.sending.to), at: seq,
                    of: life.entry.epoch, .g1, by: record.name)
            case .created(let id, let seq?):
                advance(seq)
                if id == own { report(.g7, "\(record.name) received its own creation") }
                note(.created(id), at: seq, of: life.entry.epoch, .g1, by: record.name)
            case .destroyed(let id, let seq?):
                advance(seq)
                note(.destroyed(id), at: seq, of: life.entry.epoch, .g1, by: record.name)
            // A log knows better where it is.
            case .erased(let erasure):
                if history.logs[life.entry.epoch] == nil {
                    erasures[life.entry.epoch, default: []].append((.greatest, erasure))
                }
            case .moderated(let event, let seq):
                advance(seq)
                note(.moderated(event), at: seq, of: life.entry.epoch, .g1, by: record.name)
            case .created(_, nil), .destroyed(_, nil), .opening, .entered, .sent, .answered, .away,
                .back, .userJoined, .userLeft, .reconnected, .ended:
                break
            }
        }
    }

    private func isSender(_ from: ConnectionID?, of client: Int) -> Bool {
        guard let from else { return lives[client].isEmpty }
        return lives[client].contains { $0.entry.connectionId == from }
    }

    /// A new epoch begins only when the server has lost the session (RES-15).
    private mutating func checkEpochs() {
        guard let limit = history.epochLimit else { return }
        let count = Set(lives.flatMap { $0 }.map(\.entry.epoch)).count
        if count > limit { report(.g4, .missing, "the session had \(count) epochs, and at most \(limit) are possible") }
    }

    // MARK: - G2, G3: answers

    private mutating func checkAnswers() {
        for (client, record) in history.clients.enumerated() {
            var life: Life?
            var received: Set<String> = []
            var remaining = lives[client][...]
            for (index, step) in record.steps.enumerated() {
                if let next = remaining.first, next.steps.lowerBound == index {
                    life = next
                    remaining.removeFirst()
                }
                switch step.action {
                case .received(let reception): received.insert(reception.data)
                case .answered(let data, .refused):
                    if let position = positions[data] {
                        report(.g2, "\(data) was refused, and is in the log at \(position.seq)")
                    }
                case .answered(let data, .acknowledged(let seq)):
                    guard let sending = sendings[data]?.sending else { continue }
                    guard let seq else {
                        if !sending.isOnlineOnly { report(.g2, "\(data) was acknowledged without a seq") }
                        continue
                    }
                    guard let life else { continue }
                    let isForItself = sending.to == nil || sending.to == life.entry.connectionId
                    let event = History.Event.signal(from: life.entry.connectionId, data: data, to: sending.to)
                    note(event, at: seq, of: life.entry.epoch, .g2, by: record.name)
                    if isForItself, !received.contains(data), !isErased(event, at: seq, of: life.entry.epoch) {
                        report(.g2, "\(data) was acknowledged to \(record.name) before it arrived (SIG-6)")
                    }
                case .answered(_, .unknown), .opening, .entered, .sent, .created, .destroyed, .away, .back, .erased,
                    .userJoined, .userLeft, .moderated, .reconnected, .ended:
                    break
                }
            }
        }
    }

    /// Within an epoch, the signals of one sender keep the order in which it sent them.
    private mutating func checkSenderOrder() {
        for record in history.clients {
            var last: (epoch: Epoch, seq: Seq)?
            for step in record.steps {
                guard case .sent(let sending) = step.action, let position = positions[sending.data] else { continue }
                if let last, last.epoch == position.epoch, position.seq <= last.seq {
                    report(
                        .g1, .reordered,
                        "\(sending.data) is at \(position.seq), before what \(record.name) had sent earlier")
                }
                last = position
            }
        }
    }

    private mutating func checkOnce(_ client: Int) {
        var seen: Set<String> = []
        for step in history.clients[client].steps {
            guard case .received(let reception) = step.action else { continue }
            if !seen.insert(reception.data).inserted {
                report(
                    reception.seq == nil ? .g6 : .g3, .duplicate,
                    "\(history.clients[client].name) got \(reception.data) twice")
            }
        }
    }

    // MARK: - G3, G4: nothing is missing without notice

    private mutating func checkCompleteness(_ client: Int, _ life: Life, next: Life?) {
        let record = history.clients[client]
        let epoch = life.entry.epoch
        var seen: Set<Seq> = []
        // A connection that was cut before its replay arrived is checked only up to the events that it had received.
        // The rest is due to the connection after it.
        var through = life.entry.seq
        for step in record.steps[life.steps] {
            switch step.action {
            case .received(let reception): if let seq = reception.seq { seen.insert(seq) }
            case .created(_, let seq?), .destroyed(_, let seq?): seen.insert(seq)
            case .answered(_, .acknowledged(let seq?)): through = max(through, seq)
            // A socket may be cut before a replay is complete, so `entered` does not raise the seq that is due.
            case .moderated(_, let seq): seen.insert(seq)
            case .opening, .entered, .sent, .answered, .created, .destroyed, .away, .back, .erased, .userJoined,
                .userLeft, .reconnected, .ended:
                break
            }
        }
        through = max(through, seen.max() ?? .zero)
        let end = life.isOpen && history.isSettled ? max(through, lastSeqs[epoch] ?? .zero) : through
        // A recovered connection continues at the seq that the one before it had reached, and a lost one may tell from
        // which seq on events are missing (RES-16).
        let recoversFrom = next.flatMap { next in
            next.entry.outcome == .recovered
                ? next.entry.seq : next.entry.missing.map { Seq($0.first.rawValue - 1) }
        }
        for seq in (seqs[epoch] ?? []).after(life.entry.seq) where !seen.contains(seq) {
            if seq > max(end, recoversFrom ?? .zero) { break }
            guard let event = orders[epoch]?[seq] else { continue }
            let isDue = seq <= end || (recoversFrom.map { seq <= $0 } ?? false && event.isBroadcast)
            guard isDue, !isErased(event, at: seq, of: epoch), isMeant(event, at: seq, for: life, record) else {
                continue
            }
            report(
                life.isOpen ? .g3 : .g4, .missing,
                "\(record.name) misses \(event) at \(seq) as \(life.entry.connectionId), without notice")
        }
    }

    private func isMeant(_ event: History.Event, at seq: Seq, for life: Life, _ record: History.Client) -> Bool {
        switch event {
        // A record does not say at which seq the client heard of an erasure, and who moderates. The judge of the wire
        // knows.
        case .erased, .moderated, .restricted, .unrestricted: return false
        case .signal(_, _, let to): return to == nil || (to == life.entry.connectionId && seq > life.recoveredThrough)
        case .created(let id), .destroyed(let id):
            return !record.suppressesPresence && id != life.entry.connectionId && seq > life.recoveredThrough
        }
    }

    /// What is erased is no longer due (HIS-9).
    private func isErased(_ event: History.Event, at seq: Seq, of epoch: Epoch) -> Bool {
        guard event.isBroadcast, let erasures = erasures[epoch] else { return false }
        let sender: ConnectionID? = if case .signal(let from, _, _) = event { from } else { nil }
        return erasures.contains { $0.seq > seq && $0.erasure.covers(seq, of: sender.flatMap { users[$0] }) }
    }

    // MARK: - G6

    private mutating func checkOnlineOnly(_ client: Int) {
        let record = history.clients[client]
        /// The number of the latest signal received from one sender: by type, and among the logged ones.
        struct Last { var ofType: [String: Int] = [:]; var ordered = -1; var judgedBroadcasts = 0 }
        var lasts: [Int: Last] = [:]
        var openedAt: MonotonicInstant?
        var seen: Set<String> = []
        var life: History.Entry?
        for step in record.steps {
            switch step.action {
            case .opening: openedAt = step.at
            case .entered(let entry):
                if entry.outcome != .resumed {
                    life = entry
                    for sender in lasts.keys { lasts[sender]?.judgedBroadcasts = 0 }
                }
            case .received(let reception):
                guard let sent = sendings[reception.data] else { continue }
                defer { seen.insert(reception.data) }
                var last = lasts[sent.client] ?? Last()
                defer { lasts[sent.client] = last }
                guard sent.sending.isOnlineOnly else {
                    last.ordered = max(last.ordered, sent.number)
                    continue
                }
                let key = "\(sent.sending.type ?? "") to \(sent.sending.to?.rawValue ?? "all")"
                if let before = last.ofType[key], before >= sent.number {
                    report(.g6, .reordered, "\(record.name) got \(reception.data) after a newer one")
                }
                last.ofType[key] = sent.number
                if last.ordered > sent.number {
                    report(
                        .g6, .reordered,
                        "\(record.name) got \(reception.data) after a signal that was sent later (SIG-10)")
                }
                if let acknowledged = acknowledgedAt[reception.data], let openedAt, openedAt > acknowledged {
                    report(
                        .g6, "\(record.name) got \(reception.data), which was acknowledged before it opened its socket")
                }
                if let life {
                    checkEarlierBroadcasts(
                        reception.data, sent.client, sent.number, record.name, life, seen, &last.judgedBroadcasts)
                }
            case .sent, .answered, .created, .destroyed, .away, .back, .erased, .userJoined, .userLeft, .moderated,
                .reconnected, .ended:
                break
            }
        }
    }

    /// SIG-10: an online-only signal arrives after the events that were in the log before it.
    ///
    /// - Parameter judgedCount: how many broadcasts of the sender an earlier call has judged for this connection.
    private mutating func checkEarlierBroadcasts(
        _ data: String, _ sender: Int, _ number: Int, _ name: String, _ life: History.Entry, _ seen: Set<String>,
        _ judgedCount: inout Int
    ) {
        let sent = broadcasts[sender]
        while judgedCount < sent.count, sent[judgedCount].number < number {
            let earlier = sent[judgedCount].data
            judgedCount += 1
            guard let position = positions[earlier], position.epoch == life.epoch, position.seq > life.seq,
                !seen.contains(earlier),
                orders[position.epoch]?[position.seq].map({ !isErased($0, at: position.seq, of: life.epoch) }) ?? true
            else { continue }
            report(.g6, .reordered, "\(name) got \(data) before \(earlier), which the log has before it (SIG-10)")
        }
    }

    // MARK: - G7

    /// From the application's view: each connection is created once and destroyed once, and sends only in between.
    private mutating func checkView(_ client: Int) {
        let record = history.clients[client]
        if record.suppressesPresence { return }
        var view: Set<ConnectionID> = []
        var absences = AbsenceView()
        var life: History.Entry?
        for step in record.steps {
            if let fault = absences.note(step.action, in: view, by: record.name) { report(.g7, fault) }
            switch step.action {
            case .entered(let entry):
                if entry.outcome == .new, let others = entry.others { view = Set(others) }
                if entry.outcome != .resumed { life = entry }
            case .created(let id, _):
                if !view.insert(id).inserted { report(.g7, "\(record.name) received the creation of \(id) twice") }
            case .destroyed(let id, _):
                if view.remove(id) == nil {
                    report(.g7, "\(record.name) received the destruction of \(id), which was not in its list")
                }
            case .received(let reception):
                guard let from = reception.from, let life, from != life.connectionId, let seq = reception.seq,
                    seq > life.replayThrough ?? .zero, !view.contains(from)
                else { continue }
                report(.g7, "\(record.name) got \(reception.data) from \(from), which is not in its list")
            case .ended:
                view = []
                life = nil
            case .opening, .sent, .answered, .away, .back, .erased, .userJoined, .userLeft, .moderated, .reconnected:
                break
            }
        }
        guard history.isSettled, let last = lives[client].last, last.isOpen else { return }
        let here = Set(
            lives.flatMap { $0 }.filter { $0.isOpen && $0.entry.epoch == last.entry.epoch }.map(\.entry.connectionId)
        )
        .subtracting([last.entry.connectionId])
        if view != here { report(.g7, "\(record.name) sees \(view.sorted()), and \(here.sorted()) are connected") }
    }

    /// In the log: each connection is created once and destroyed once, and nothing comes from it after that (PRES-3).
    private mutating func checkPresence() {
        for (epoch, order) in orders {
            var came: Set<ConnectionID> = []
            var left: Set<ConnectionID> = []
            for (seq, event) in order.sorted(by: { $0.key < $1.key }) {
                switch event {
                case .created(let id):
                    if !came.insert(id).inserted { report(.g7, "\(id) was created twice, the second time at \(seq)") }
                case .destroyed(let id):
                    if !left.insert(id).inserted { report(.g7, "\(id) was destroyed twice, the second time at \(seq)") }
                case .signal(let from?, let data, _):
                    if left.contains(from) {
                        report(.g7, "\(data) at \(seq) is from \(from), which was destroyed before (PRES-3)")
                    }
                case .signal(nil, _, _), .erased, .moderated, .restricted, .unrestricted: break
                }
            }
            guard history.isSettled, history.logs[epoch] != nil else { continue }
            let open = Set(lives.flatMap { $0 }.filter { $0.isOpen }.map(\.entry.connectionId))
            for life in lives.flatMap({ $0 }) where life.entry.epoch == epoch {
                let id = life.entry.connectionId
                if !came.contains(id) { report(.g7, "no client received the creation of \(id)") }
                if open.contains(id), left.contains(id) {
                    report(.g7, "\(id) is connected, and others received its destruction")
                }
            }
        }
    }
}

extension History.Event {
    fileprivate var isBroadcast: Bool {
        switch self {
        case .signal(_, _, let to): to == nil
        case .erased: true
        case .created, .destroyed, .moderated, .restricted, .unrestricted: false
        }
    }
}

extension [Seq] {
    /// Those of a sorted list that are greater.
    fileprivate func after(_ seq: Seq) -> ArraySlice<Seq> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= seq { low = middle + 1 } else { high = middle }
        }
        return self[low...]
    }
}
