import SignalingProtocol

/// What the lines of servers say.
extension WireRecord {
    mutating func note(_ passage: Passage) {
        let (line, number, now) = (passage.line, passage.number, passage.at)
        for (name, told) in passage.described where details[name] == nil { details[name] = told }
        if case .connected(let name, let socket, let isNewEpoch) = passage.kind {
            if isNewEpoch { begin(passage.epoch, line.text("epoch") ?? "", of: socket.session) }
            connect(name, socket, on: number, line)
        }
        if let (event, seq) = passage.placed {
            let byteCount = if case .connected = passage.kind { 0 } else { line.byteCount }
            place(event, at: seq, byteCount, in: passage.epoch, now)
        }
        if passage.isAnswer { noteAnswered(number) }
        // No copy of the socket is alive here: the append would copy the whole list.
        if let seq = passage.received?.seq, let start = sockets[number]?.start {
            sockets[number]?.received.append(Int32(clamping: seq - start))
        }
        switch passage.kind {
        case .list(let page):
            sockets[number]?.others?.append(contentsOf: page)
            sockets[number]?.listRest -= page.count
            return
        case .disconnected: return noteDisconnected(passage)
        case .signal(let signal): noteReceived(signal, passage)
        case .departure(let name): noteDeparture(of: name, passage)
        case .moderated(let action): noteModerated(action, passage)
        case .away(let name): noteAway(name, on: number, at: now)
        case .back(let name):
            if sockets[number]?.hearsAbsences == true, sockets[number]?.told.away.removeValue(forKey: name) != nil {
                sockets[number]?.told.back[name] = now
            }
        case .ack: if let request = passage.request { noteAck(of: request, passage) }
        case .error:
            if let signal = passage.request?.signal { senders[signal] = nil }
            // A server that has forgotten the answer may have carried it out (RES-9).
            if let asked = passage.request?.asked, line.number("code") != 1015 { self.asked[asked].fate = .refused }
            if let change = passage.request?.change { noteRefused(change: change, code: line.number("code")) }
            if let react = passage.request?.reaction {
                noteAnswer(toReact: react, code: line.number("code") ?? 0, passage)
            }
        case .page(let index?, let messages):
            sockets[number]?.pageRequests.remove(at: index)
            note(messages, of: passage.session, now)
        case .pageRefused(let index): sockets[number]?.pageRequests.remove(at: index)
        case .ping: if let seq = line.seq { claim(seq, on: number) }
        case .connected: return
        case .incomplete, .strangeSignal, .created, .erased, .changed, .told, .read, .restricted, .restrictions, .page,
            .other:
            break
        }
        if let rest = sockets[number]?.listRest, rest > 0 { sockets[number]?.listRest = 0 }
    }

    /// A line that passes behind the loss of its socket: the server does not know of it yet, or had sent the line before.
    /// Its client may get it, and others get the same event.
    mutating func note(behindLoss passage: Passage) {
        for (name, told) in passage.described where details[name] == nil { details[name] = told }
        if case .connected(let name, let socket, let isNewEpoch) = passage.kind {
            if isNewEpoch { begin(passage.epoch, passage.line.text("epoch") ?? "", of: socket.session) }
            if let newer = connections[name]?.socket, newer > passage.number {
                sockets[passage.number] = socket
            } else {
                connect(name, socket, on: passage.number, passage.line)
                connections[name]?.lostAt = socket.closedAt
                connections[name]?.isSilent = true
            }
        }
        if let (event, seq) = passage.placed {
            place(event, at: seq, passage.line.byteCount, in: passage.epoch, passage.at)
        }
        if passage.isAnswer { noteAnswered(passage.number) }
        if case .moderated(let action) = passage.kind { noteModerated(action, passage) }
    }

    mutating func claim(_ seq: Int, on number: SocketNumber) {
        if let claimed = sockets[number]?.claimed { sockets[number]?.claimed = max(claimed, seq) }
    }

    private mutating func noteAnswered(_ number: SocketNumber) {
        guard let count = sockets[number]?.answeredCount, count < sockets[number]?.requests.count ?? 0 else { return }
        sockets[number]?.answeredCount = count + 1
        // Keep the list short on a long socket.
        if count + 1 >= 1_024 {
            sockets[number]?.requests.removeFirst(count + 1)
            sockets[number]?.answeredCount = 0
        }
    }

    /// A line of a server's log, as a reader gets it who gets everything.
    ///
    /// - Returns: nil for a line without an event.
    mutating func read(log bytes: [UInt8], of epoch: Int32, in session: String) -> Passage? {
        guard let line = WireLine(bytes) else { return nil }
        var socket = Socket(openedAt: .never)
        (socket.session, socket.epoch, socket.connection) = (session, epoch, -1)
        var passage = Passage(line, on: -1, at: .never, socket)
        readEvent(&passage)
        return passage.placed == nil ? nil : passage
    }

    mutating func note(logged passage: Passage) {
        guard let (event, seq) = passage.placed else { return }
        for (name, told) in passage.described where details[name] == nil { details[name] = told }
        place(event, at: seq, passage.line.byteCount, in: passage.epoch, .never)
        if case .moderated(let action) = passage.kind { noteModerated(action, passage) }
    }

    // MARK: - Events

    /// An event has its place in the order, and the history of its session keeps it, or loses messages by it.
    mutating func place(
        _ event: WireOrder.Event, at seq: Int, _ byteCount: Int, in epoch: Int32, _ now: MonotonicInstant
    ) {
        guard orders.indices.contains(Int(epoch)), orders[Int(epoch)].canHave(seq) else { return }
        keep(event, at: seq, of: orders[Int(epoch)].session, now)
        orders[Int(epoch)].note(event, at: seq, byteCount: byteCount, seen: now)
        guard case .signal(let signal, _, _) = event else { return }
        sendings[Int(signal)].seq = seq
        sendings[Int(signal)].epoch = epoch
    }

    /// Whether the history of its session keeps a signal (HIS-1).
    func keeps(_ sending: Sending) -> Bool {
        sending.to == .all && !sending.isOnlineOnly && terms.history?.keeps(sending.type) == true
    }

    private mutating func keep(
        _ event: WireOrder.Event, at seq: Int, of session: String, _ now: MonotonicInstant
    ) {
        guard terms.history != nil else { return }
        switch event {
        case .signal(let signal, _, .all):
            let sending = sending(signal)
            guard keeps(sending) else { return }
            let user = sending.from.flatMap { details[$0]?.user }
            histories[session, default: WireHistory()].note(signal, of: user, at: seq)
        case .erased(let erasure): histories[session, default: WireHistory()].note(erasure, at: seq, now)
        case .changed(let number): histories[session, default: WireHistory()].note(number, changes[number], at: seq)
        case .told(let number, isOwn: false):
            histories[session, default: WireHistory()].note(reactions: number, to: tellings[number].message, at: seq)
        case .signal, .created, .destroyed, .told, .moderated, .restricted, .unrestricted: break
        }
    }

    /// An event that no client has received may be known from a page.
    mutating func note(_ messages: [Passage.Message], of session: String, _ now: MonotonicInstant) {
        for message in messages {
            if let seq = message.seq, let reacted = message.line.position("reacted"), terms.history != nil {
                let number = tellings.number(of: WireReactions(seq, in: message.line))
                histories[session, default: WireHistory()].note(reactions: number, to: seq, at: reacted)
            }
            guard let seq = message.seq, let signal = message.signal else { continue }
            keep(.signal(signal, from: nil, to: .all), at: seq, of: session, now)
        }
    }

    private mutating func noteReceived(_ signal: Int32, _ passage: Passage) {
        let number = passage.number
        if let from = passage.from, passage.line.seq.map({ $0 > sockets[number]?.replayThrough ?? 0 }) ?? true {
            connections[from]?.lastHeardAt = passage.at
        }
        if passage.line.seq == nil { sockets[number]?.onlineOnly.insert(signal) }
    }

    private mutating func noteDeparture(of name: Name, _ passage: Passage) {
        if sockets[passage.number]?.getsAbsences == true {
            sockets[passage.number]?.told.away[name] = nil
            sockets[passage.number]?.told.departed.insert(name)
        }
        switch passage.line.text("reason") {
        case "forceDisconnected": forceTargets.insert(name)
        case "networkDisconnected": orders[Int(passage.epoch)].noteNetworkLoss(of: name)
        default: break
        }
    }

    private mutating func noteAway(_ name: Name, on number: SocketNumber, at now: MonotonicInstant) {
        if sockets[number]?.hearsAbsences == true { sockets[number]?.told.away[name] = now }
    }

    private mutating func noteDisconnected(_ passage: Passage) {
        let reason = passage.line.text("reason")
        if reason == "forceDisconnected" {
            sockets[passage.number]?.forcedOutAt = passage.at
            sockets[passage.number]?.ban = passage.line.member("restriction").flatMap { WireRestriction($0) }
        }
        guard let name = passage.connection else { return }
        if reason == "forceDisconnected" { connections[name]?.end = .forceDisconnected }
        if reason != "networkDisconnected" { connections[name]?.isEndConfirmed = true }
    }

    // MARK: - Answers

    private mutating func noteAck(of request: Request, _ passage: Passage) {
        if let target = request.target { noteForced(target, at: passage.at) }
        if let asked = request.asked {
            guard let seq = passage.line.seq else { return self.asked[asked].fate = .refused }
            noteCarriedOut(asked, at: seq, in: passage.epoch, passage.at)
        }
        if let change = request.change { noteCarriedOut(change: change, at: passage.line.seq, passage) }
        if let react = request.reaction { noteAnswer(toReact: react, code: nil, passage) }
        guard let signal = request.signal, passage.connection != nil else { return }
        senders[signal] = nil
        sendings[Int(signal)].acknowledgedAt = passage.at
        guard let seq = passage.line.seq else { return }
        if keeps(sending(signal)) { histories[passage.session]?.noteAcknowledged(seq) }
        claim(seq, on: passage.number)
    }

    /// A request for an action was answered with its seq.
    mutating func noteCarriedOut(_ asked: Int, at seq: Int, in epoch: Int32, _ now: MonotonicInstant) {
        guard order(epoch)?.canHave(seq) == true else { return }
        resolve(asked, at: seq, in: epoch, now)
        noteAction(self.asked[asked].action, at: seq, in: epoch, now) { $0.acknowledgedAt = now }
    }

    private mutating func noteAction(
        _ action: WireAction, at seq: Int, in epoch: Int32, _ now: MonotonicInstant,
        _ change: (inout WireOrder.NotedAction) -> Void
    ) {
        orders[Int(epoch)].noteAction(
            at: seq, WireOrder.NotedAction(seq: seq, action: action, seenAt: now), change)
    }

    /// A request was carried out at a seq.
    private mutating func resolve(_ asked: Int, at seq: Int, in epoch: Int32, _ now: MonotonicInstant) {
        self.asked[asked].fate = .carriedOut
        let request = self.asked[asked]
        noteAction(request.action, at: seq, in: epoch, now) { action in
            action.askedAt = request.askedAt
            guard let seconds = request.seconds else { return }
            // The session counts from its own command, which may come later than the clock that `until` is told by.
            action.latestCount = action.seenAt.advanced(by: .seconds(seconds))
            if action.until == nil { action.earliestEnd = request.askedAt.advanced(by: .seconds(seconds)) }
        }
    }

    private mutating func noteModerated(_ action: WireAction, _ passage: Passage) {
        guard let seq = passage.line.seq else { return }
        if orders[Int(passage.epoch)].actions[seq]?.askedAt ?? .unknown == .unknown,
            let asked = asked.lastIndex(where: {
                $0.fate == .unknown && $0.session == passage.session && $0.action == action
            })
        {
            resolve(asked, at: seq, in: passage.epoch, passage.at)
        }
        let until = passage.line.number("until")
        let end = end(until)
        noteAction(action, at: seq, in: passage.epoch, passage.at) { action in
            action.until = until
            (action.earliestEnd, action.told) = (end ?? action.seenAt, end ?? .never)
        }
    }

    /// When a restriction ends by itself: nil for a moment that is not known.
    private func end(_ until: Int64?) -> MonotonicInstant? {
        guard let until else { return .never }
        return terms.wallTimeAtZero.map { MonotonicInstant(nanoseconds: (until - $0.milliseconds) * 1_000_000) }
    }

    // MARK: - connected

    private mutating func begin(_ epoch: Int32, _ text: String, of session: String) {
        epochNumbers["\(session) \(text)"] = epoch
        orders.append(WireOrder(session: session))
        // A session whose history was empty has ended: its seqs begin anew.
        if histories[session]?.isEmpty == true {
            histories[session] = nil
            for index in askedReactions.indices where askedReactions[index].session == session {
                askedReactions[index].fate = .refused
            }
        }
        currentEpochs[session] = epoch
    }

    private mutating func connect(_ name: Name, _ socket: Socket, on number: SocketNumber, _ line: WireLine) {
        let now = socket.connectedAt ?? .unknown
        sockets[number] = socket
        if let old = replaced(by: socket) { connections[old]?.end = .replaced }
        let known = socket.outcome == "resumed" ? connections[name] : nil
        let joinSeq = known?.joinSeq ?? max(socket.start, socket.replayThrough)
        connections[name] = Connection(
            session: socket.session, epoch: socket.epoch, joinSeq: joinSeq,
            socket: number, suppressesPresence: socket.suppressesPresence, getsAbsences: socket.getsAbsences,
            secret: line.member("resume")?.text("secret") ?? "", token: known?.token ?? socket.token,
            isModerator: socket.isModerator, lastHeardAt: known?.lastHeardAt)
        if socket.isLeft { connections[name]?.end = .left }
        // Without a loss on the wire, the server has noticed it first: by the missing heartbeats of a silent client.
        if known != nil { connections[name]?.lastAbsence = Absence(lostAt: known?.lostAt ?? now, backAt: now) }
        for id in line.texts("away") ?? [] { noteAway(self.name(id), on: number, at: now) }
    }

    /// The connection that gives way to the new one of the socket (RES-12): its client has proved that it is the same.
    func replaced(by socket: Socket) -> Name? {
        guard socket.outcome == "recovered" || socket.outcome == "lost", let resume = socket.resume,
            let old = resume.connection, let connection = connections[old], connection.end == nil,
            resume.secret == connection.secret
        else { return nil }
        return old
    }
}
