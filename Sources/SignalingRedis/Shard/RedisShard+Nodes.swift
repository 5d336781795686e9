import SignalingCore
import SignalingProtocol

/// The life and death of nodes (LOG-32).
extension RedisShard {
    func receivedFromNodes(_ message: String) {
        let words = message.split(separator: " ")
        guard words.count >= 2, let run = RunID(hexadecimal: words[1]) else { return }
        switch words[0] {
        case "alive": if run == owner.run { noteBeat() }
        case "lost":
            if run == owner.run { return owner.wasDeclaredLost() }
            guard words.count == 3, let time = MonotonicInstant(microseconds: words[2]) else { return }
            _ = registry.lose(run, at: time)
            declareLost(run)
        default: return
        }
    }

    func declareLosses(_ now: MonotonicInstant) {
        for run in registry.overdue(now: now) where run != owner.run { declareLost(run) }
    }

    func followUp(_ news: [RunID]) {
        for run in news where run != owner.run { declareLost(run) }
    }

    /// Declares a run lost, or learns that it is. One node gets its sessions.
    ///
    /// - Parameter isCertain: another Redis knows that the run is lost.
    func declareLost(_ run: RunID, isCertain: Bool = false) {
        let arguments = caller + [run.hexadecimal, isCertain ? "1" : "0"]
        link?.send(RedisCommand(.declareLost, arguments)) { [weak self] reply in
            guard let self, reply[0].text == "lost",
                let time = reply[1].text.flatMap({ MonotonicInstant(microseconds: $0) })
            else { return }
            _ = registry.lose(run, at: time)
            let orphans = (reply[2].array ?? []).compactMap { $0.text.map { SessionID(rawValue: $0) } }
            owner.lost(run, at: time, orphans: orphans)
        }
        link?.flush()
    }

    /// The runs that the opened session names, before the engine hears of it.
    func noteLosses(_ nodes: RedisReply, namedBy stored: StoredSession) {
        let values = nodes.fields
        for run in stored.counters.keys where run != owner.run {
            guard let value = values[run.hexadecimal]?.text else {
                registry.suspect(run)
                continue
            }
            if value.hasPrefix("a") { continue }
            let time = MonotonicInstant(microseconds: value) ?? owner.logTime(at: loop.now())
            if registry.lose(run, at: time) { declareLost(run) }
        }
    }

    /// Tells the other nodes that this run stops.
    func sayGoodbye(_ done: @escaping () -> Void) {
        guard isServing, let link else { return done() }
        link.send(RedisCommand(.goodbye, [database, owner.run.hexadecimal])) { _ in done() }
        link.flush()
    }
}
