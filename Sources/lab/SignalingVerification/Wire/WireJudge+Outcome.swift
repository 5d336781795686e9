import SignalingProtocol

/// Whether the server chose the right outcome of a `connected` (RES-2).
extension WireJudge {
    mutating func judge(
        _ outcome: String, seq: Int, _ name: Name, _ socket: Socket, at now: MonotonicInstant
    ) {
        guard let resume = socket.resume else {
            if outcome != "new" { report(.g4, .wrong, "a connect without resume got the outcome \(outcome)") }
            if connections[name] != nil { report(.g7, .wrong, "the new connection \(id(name)) has a used id") }
            return
        }
        switch outcome {
        case "resumed": judgeResumed(name, seq: seq, resume, at: now)
        case "recovered", "lost":
            if let old = resume.connection, let connection = connections[old] {
                judgeReplacement(outcome, of: old, connection, resume, at: now)
            }
            if connections[name] != nil { report(.g7, .wrong, "the new connection \(id(name)) has a used id") }
        default: report(.g4, .wrong, "a connect that would resume got the outcome \(outcome)")
        }
    }

    /// RES-16: the range of what is missing begins after the position of the client, and ends where the replay begins.
    mutating func judge(_ missing: WireLine, seq: Int, _ socket: Socket) {
        guard let resume = socket.resume, let old = resume.connection, let connection = connections[old] else { return }
        let first = max(resume.after, connection.joinSeq) + 1
        if let told = missing.number("first"), told > first {
            report(.g4, .missing, "\(id(old)) misses events from \(first) on, and was told from \(told) on (RES-16)")
        }
        if let last = missing.number("last"), last != seq {
            report(.g4, .wrong, "\(id(old)) was told to miss events up to \(last), and its socket starts after \(seq)")
        }
    }

    private mutating func judgeResumed(_ name: Name, seq: Int, _ resume: Resume, at now: MonotonicInstant) {
        guard name == resume.connection, let connection = connections[name] else {
            return report(.g3, .wrong, "a resume got the connection \(id(name)), which is another one")
        }
        // A turn of the server may resume a connection and then end it for REST, whose answer passes at once.
        let mayBeEarlier = connection.forcedAt.map { now.duration(since: $0) <= terms.tolerance } ?? false
        if let end = connection.end, !mayBeEarlier {
            report(.g7, .wrong, "\(id(name)) was resumed after its end (\(end))")
        }
        if let lostAt = connection.lostAt {
            let elapsed = now.duration(since: lostAt)
            if elapsed > terms.resumeWindow + terms.heartbeat * 2 + terms.tolerance {
                report(.g7, .wrong, "\(id(name)) was resumed \(elapsed) after its loss: the server never gave it up")
            }
        }
        if seq > max(resume.after, connection.joinSeq) {
            report(.g4, .missing, "\(id(name)) resumed after \(resume.after), and the server went on after \(seq)")
        } else if seq < resume.after {
            report(.g3, .duplicate, "\(id(name)) resumed after \(resume.after), and the server repeats from \(seq)")
        }
    }

    /// A client gets a new connection only if it must.
    private mutating func judgeReplacement(
        _ outcome: String, of old: Name, _ connection: Connection, _ resume: Resume, at now: MonotonicInstant
    ) {
        guard connection.end == nil, resume.secret == connection.secret else { return }
        connections[old]?.end = .replaced
        guard knownEpoch(resume.epoch, of: connection.session) == connection.epoch, isKept(connection.epoch),
            logStillHas(resume, of: connection)
        else { return }
        let elapsed = connection.lostAt.map { now.duration(since: $0) } ?? .zero
        let retention = max(terms.resumeWindow, terms.recoveryWindow)
        guard elapsed + (terms.earliness ?? terms.heartbeat * 2 + terms.tolerance) < retention else { return }
        // A connection whose own replay was cut off can only be recovered again (RES-4).
        let isResumable = resume.after >= connection.joinSeq
        if isResumable, elapsed < terms.resumeWindow - terms.allowedEarliness {
            report(.g4, .wrong, "\(id(old)) came back after \(elapsed) and could resume, and got \(outcome)")
        } else if outcome == "lost", elapsed < terms.recoveryWindow - terms.allowedEarliness {
            report(.g4, .wrong, "\(id(old)) came back after \(elapsed) and could be recovered, and got lost")
        }
    }

    /// Whether the log certainly has everything after the client's position: well within its bounds.
    private func logStillHas(_ resume: Resume, of connection: Connection) -> Bool {
        let order = orders[Int(connection.epoch)]
        return resume.after <= order.lastSeq && order.lastSeq - resume.after < terms.logEventCount * 3 / 4
            && order.byteCount(after: resume.after) < terms.logByteCount / 2
    }
}
