import SignalingCore
import SignalingProtocol

/// The life and death of nodes (LOG-32).
extension ShardState {
    mutating func received(_ message: NodesMessage, _ desk: inout LogDesk) {
        switch message {
        case .alive(let run): if run == desk.run { beatHeardAt = desk.now }
        case .lost(let run, let time):
            if run == desk.run { return desk.isDeclaredLost = true }
            _ = registry.lose(run, at: time)
            declareLost(run, &desk)
        }
    }

    /// Declares a run lost, or learns that it is. One node gets its sessions.
    ///
    /// - Parameter isCertain: another Redis knows that the run is lost.
    mutating func declareLost(_ run: RunID, isCertain: Bool = false, _ desk: inout LogDesk) {
        link.send(.declareLost(link.caller(desk), run, isCertain: isCertain), &desk)
    }

    mutating func declaredLost(_ run: RunID, _ loss: ShardAnswer.Loss?, _ desk: inout LogDesk) {
        guard let loss else { return }
        _ = registry.lose(run, at: loss.time)
        desk.losses.append((run, loss.time, loss.orphans))
    }

    /// The runs that a session names, before the engine hears of it.
    mutating func noteLosses(_ nodes: NodeMarks, namedBy stored: StoredSession, _ desk: inout LogDesk) {
        for run in stored.counters.keys.sorted(by: { $0.rawValue < $1.rawValue }) where run != desk.run {
            switch nodes.marks[run] {
            case nil: registry.suspect(run)
            case .alive: continue
            case .lost(let time): if registry.lose(run, at: time ?? desk.logTime) { declareLost(run, &desk) }
            }
        }
    }

    /// Tells the other nodes that this run stops.
    ///
    /// - Returns: whether an answer will come.
    mutating func sayGoodbye(_ desk: inout LogDesk) -> Bool {
        guard link.isServing else { return false }
        link.send(.goodbye(desk.run), &desk)
        return true
    }

    // MARK: - Answers

    mutating func answered(_ answer: ShardAnswer, _ desk: inout LogDesk) {
        guard link.isReady else { return }
        link.courier.noteAnswer(now: desk.now)
        switch answer {
        case .greeted(let run, let greeting): greeted(run, greeting, &desk)
        case .libraryLoaded(let failure): libraryLoaded(failure, &desk)
        case .declaredLost(let run, let loss): declaredLost(run, loss, &desk)
        case .opened(let follow, let opening):
            if case .found(_, let nodes, let stored) = opening, slots[follow.session]?.session?.follow == follow {
                noteLosses(nodes, namedBy: stored, &desk)
            }
            step(follow, &desk) { $0.opened(opening, &$1, &$2) }
        case .verified(let follow, let verification): step(follow, &desk) { $0.verified(verification, &$1, &$2) }
        case .appended(let follow, let appending): step(follow, &desk) { $0.appended(appending, &$1, &$2) }
        case .kept(let follow, let keeping): step(follow, &desk) { $0.kept(keeping, &$1, &$2) }
        case .forgot(let follow, let number, let refusal):
            step(follow, &desk) { $0.forgot(through: number, refusal, &$1, &$2) }
        case .slept(let refusal): slept(refusal, &desk)
        case .deleted(let follow, let refusal): step(follow, &desk) { $0.deleted(refusal, &$1, &$2) }
        case .repaired(let follow, let repair):
            // The message that the session is removed may overtake this answer.
            if case .removed = repair { desk.effects.append(.note(.sessionDamaged(follow.session))) }
            step(follow, &desk) { $0.repaired(repair, &$1, &$2) }
        case .compared(let follow, let reading): step(follow, &desk) { $0.compared(reading, &$1, &$2) }
        case .caughtUp(let follow, let reading): step(follow, &desk) { $0.caughtUp(reading, &$1, &$2) }
        case .filled(let follow, let first, let filling):
            step(follow, &desk) { $0.filled(from: first, filling, &$1, &$2) }
        case .saidGoodbye, .done: return
        }
    }
}

/// A message on the channel of the nodes.
package enum NodesMessage: Equatable {
    case alive(RunID)
    case lost(RunID, at: MonotonicInstant)

    /// `nil` if the text is not a message.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count >= 2, let run = RunID(hexadecimal: words[1]) else { return nil }
        switch words[0] {
        case "alive": self = .alive(run)
        case "lost":
            guard words.count == 3, let time = MonotonicInstant(microseconds: words[2]) else { return nil }
            self = .lost(run, at: time)
        default: return nil
        }
    }
}
