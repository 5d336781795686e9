import SignalingProtocol

/// What clients and backends send, and what becomes of sockets and servers.
extension WireRecord {
    mutating func close(_ number: SocketNumber, at now: MonotonicInstant, isSilent: Bool) {
        guard let socket = sockets[number], socket.isOpen else { return }
        sockets[number]?.isOpen = false
        sockets[number]?.closedAt = now
        lose(socket, number, at: now)
        if let name = socket.connection, connections[name]?.socket == number { connections[name]?.isSilent = isSilent }
    }

    /// The connection of the socket has none from now on. A socket that was taken for lost may close later, which changes
    /// nothing: the windows have begun.
    mutating func lose(_ socket: Socket, _ number: SocketNumber, at now: MonotonicInstant) {
        guard let name = socket.connection, connections[name]?.socket == number, connections[name]?.lostAt == nil else {
            return
        }
        connections[name]?.lostAt = now
    }

    mutating func clientClosed(_ number: SocketNumber) {
        guard let socket = sockets[number], socket.isOpen else { return }
        sockets[number]?.isLeft = true
        if let name = socket.connection, connections[name]?.end == nil { connections[name]?.end = .left }
    }

    // MARK: - Lines

    mutating func clientSent(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let op = line.op, sockets[number] != nil, op != "pong" else { return }
        if op == "history" { return notePageRequest(line, on: number, at: now) }
        var request = Request(id: line.id ?? 0, op: op)
        switch op {
        case "connect": noteConnect(line, on: number, at: now)
        case "signal": request.signal = noteSignal(line, on: number, at: now)
        case "disconnect":
            // A moderator may end the connection before the server knows.
            sockets[number]?.hasAskedToLeave = true
            if let name = sockets[number]?.connection { connections[name]?.end = .left }
        default: break
        }
        guard line.id != nil else { return }
        switch op {
        case "forceDisconnect":
            request.target = line.text("connectionId").map { name($0) }
            if let target = request.target { noteForceRequest(for: target) }
        case "react": request.reaction = noteReact(line, request.id, on: number)
        case "read": request.mark = noteMark(line, on: number)
        case "change": request.change = noteChange(line, request.id, on: number)
        case "erase":
            request.erasure = erasure(line)
            if case .user(let user)? = request.erasure { noteErasure(of: user) }
            request.change = noteChange(line, request.id, on: number)
        case "moderate": request.asked = noteModerate(line, request.id, on: number, at: now)
        default: break
        }
        sockets[number]?.requests.append(request)
    }

    private mutating func noteConnect(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard var socket = sockets[number] else { return }
        socket.session = line.text("sessionId") ?? ""
        socket.askedAt = now
        socket.claims = line.text("token").flatMap { claims[$0] }
        socket.token = line.text("token").map { tokens.number(of: $0) } ?? -1
        let options = line.member("options")
        socket.suppressesPresence = options?.isTrue("connectionEventsSuppressed") ?? false
        socket.getsPages = options?.isTrue("connectionPages") ?? false
        socket.getsAbsences = options?.isTrue("connectionAwayEvents") ?? false
        socket.pageOption = options?.member("history").flatMap { option in
            line.id.map { PageRequest($0, option, askedAt: now) }
        }
        if let resume = line.member("resume") {
            let old = resume.text("connectionId").flatMap { knownName($0) }
            if let old { connections[old]?.isSought = true }
            let epoch = resume.text("epoch") ?? ""
            let order = knownEpoch(epoch, of: socket.session).map { orders[Int($0)] }
            socket.resume = Resume(
                connection: old, secret: resume.text("secret") ?? "", epoch: epoch,
                after: Int(resume.number("after") ?? 0), knownThrough: order?.lastSeq ?? 0)
        }
        sockets[number] = socket
    }

    private mutating func noteSignal(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) -> Int32? {
        guard let data = line.text("data"), let socket = sockets[number], let from = socket.connection else {
            return nil
        }
        let isOnlineOnly = line.isTrue("onlineOnly")
        let signal = add(
            data,
            Sending(
                from: from, to: target(line.text("to")), type: line.text("type"), isOnlineOnly: isOnlineOnly,
                sentAt: now, socket: number))
        if isOnlineOnly, senders[signal] == nil { senders[signal] = (socket.epoch, socket.position) }
        return signal
    }

    private mutating func target(_ id: String?) -> WireOrder.Target { id.map { .connection(name($0)) } ?? .all }

    private mutating func add(_ data: String, _ sending: Sending) -> Int32 {
        // A request that is repeated after a resume is the same signal (RES-9).
        if let number = signals[data] { return number }
        let number = Int32(sendings.count)
        signals[data] = number
        sendings.append(sending)
        return number
    }

    private mutating func noteMark(_ line: WireLine, on number: SocketNumber) -> Int? {
        guard let through = line.position("through"), let socket = sockets[number],
            let user = user(of: socket.connection)
        else { return nil }
        marks[user] = max(marks[user] ?? 0, through)
        return min(through, socket.position)
    }

    private mutating func noteErasure(of user: User) {
        if userErasures[user] == nil { userErasures[user] = reactionSteps }
    }

    private mutating func notePageRequest(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) {
        guard let id = line.id, let socket = sockets[number] else { return }
        var request = PageRequest(id, line, askedAt: now)
        // What any client knows to be in the session is in it for every node (H1).
        request.boundary = max(socket.position, histories[socket.session]?.acknowledgedThrough ?? 0)
        sockets[number]?.pageRequests.append(request)
    }

    /// - Returns: the number of the action that is asked for.
    private mutating func noteModerate(
        _ line: WireLine, _ id: Int64, on number: SocketNumber, at now: MonotonicInstant
    ) -> Int? {
        guard let socket = sockets[number], let author = socket.connection, let action = action(line, by: author)
        else { return nil }
        let request = AskedAction.Key(connection: author, id: id)
        if let known = askedNumbers[request] { return known }
        askedNumbers[request] = asked.count
        return ask(action, line.number("seconds"), in: socket.session, at: now)
    }

    private mutating func ask(
        _ action: WireAction, _ seconds: Int64?, in session: String, at now: MonotonicInstant
    ) -> Int {
        asked.append(AskedAction(session: session, action: action, seconds: seconds, askedAt: now))
        if action.erasesMessages, case .user(let user)? = subject(of: action.target) {
            noteErasure(of: user)
            histories[session, default: WireHistory()].noteByREST(.user(user))
        }
        return asked.count - 1
    }

    mutating func noteForceRequest(for target: Name) {
        forceTargets.insert(target)
        forceRequests.insert(target)
    }

    mutating func noteForced(_ target: Name, at now: MonotonicInstant) {
        forceRequests.insert(target)
        connections[target]?.end = .forceDisconnected
        connections[target]?.forcedAt = now
        connections[target]?.isEndConfirmed = true
    }

    // MARK: - Backends

    mutating func sentByREST(data: String, type: String?, to: String?) {
        _ = add(data, Sending(from: nil, to: target(to), type: type, isOnlineOnly: false, sentAt: .never))
    }

    mutating func acknowledgedByREST(data: String, in session: String, at now: MonotonicInstant) {
        guard let signal = signals[data], let epoch = currentEpochs[session] else { return }
        sendings[Int(signal)].acknowledgedAt = now
        sendings[Int(signal)].restEpoch = epoch
    }

    mutating func asksByREST(_ body: WireLine, in session: String, at now: MonotonicInstant) -> Int? {
        action(body, by: nil).map { ask($0, body.number("seconds"), in: session, at: now) }
    }

    mutating func mayBeErasedByREST(_ erasure: Erasure, in session: String) {
        let erasure: WireOrder.Erasure =
            switch erasure {
            case .message(let seq): .message(Int(seq.rawValue))
            case .through(let seq): .through(Int(seq.rawValue))
            case .user(let user): .user(self.user(user.rawValue))
            }
        if case .user(let user) = erasure { noteErasure(of: user) }
        histories[session, default: WireHistory()].noteByREST(erasure)
    }

    // MARK: - Servers

    mutating func serverStarted(at now: MonotonicInstant) {
        startedAt = now
        // What was in a file that was removed is gone.
        if historyRemovedAt != nil { changeHistories { $0.losesEverything() } }
        historyRemovedAt = nil
    }

    mutating func serverLostSessions() {
        retiredEpochs.formUnion(currentEpochs.values)
        currentEpochs = [:]
        // What is in memory is gone with the sessions. A stored history is not, and its seqs go on to name it (HIS-3).
        if !terms.isDurable { histories = [:] }
        (askedReactions, reactNumbers, knowsReactions) = ([], [:], knowsReactions && !terms.isDurable)
        for number in sockets.keys {
            for index in sockets[number]?.requests.indices ?? 0..<0 { sockets[number]?.requests[index].reaction = nil }
        }
    }

    mutating func changeHistories(_ change: (inout WireHistory) -> Void) {
        for session in histories.keys { change(&histories[session, default: WireHistory()]) }
    }
}
