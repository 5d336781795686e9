import SignalingCore
import SignalingProtocol

extension ShardAnswer {
    /// - Parameter replies: one for each command of the call.
    package init(to call: ShardCall, _ replies: [RedisReply]) {
        let reply = replies.last ?? .null
        switch call {
        case .hello(let caller, _): self = .greeted(caller.run, Greeting(reply))
        case .loadLibrary: self = .libraryLoaded(reply.failure)
        case .goodbye(let run): self = .saidGoodbye(run)
        case .declareLost(_, let run, _): self = .declaredLost(run, Loss(reply))
        case .open(_, let follow, _): self = .opened(follow, Opening(follow.session, reply))
        case .restore(_, let follow, _): self = .verified(follow, Verification(reply))
        case .append(let caller, let follow, let appendix):
            self = .appended(follow, Appending(reply, by: caller.run, freesMemory: appendix.freesMemory))
        case .keep(_, let follow, _, _, _): self = .kept(follow, Keeping(reply))
        case .sleep:
            switch reply[0].text {
            // A node has woken it, or Redis does not know whether this is its end.
            case "asleep", "awake", "unvouched": self = .slept(nil)
            default: self = .slept(ShardRefusal(reply))
            }
        case .forget(let follow, _, let number):
            self = .forgot(follow, through: number, reply.failure.map { .failed($0) })
        case .remove, .close, .relay: self = .done
        case .delete(let follow): self = .deleted(follow, reply.failure.map { .failed($0) })
        case .repair(let follow, _): self = .repaired(follow, Repair(reply))
        case .compare(let follow): self = .compared(follow, Reading(reply))
        case .catchUp(let follow): self = .caughtUp(follow, Reading(reply))
        case .fill(let follow, let first, _):
            self = .filled(follow, from: first, Filling(follow.session, replies.first ?? .null, reply))
        }
    }
}

extension ShardAnswer.Greeting {
    fileprivate init(_ reply: RedisReply) {
        if let failure = reply.failure {
            self = .failed(failure)
        } else if reply[0].text == "list" {
            self = .otherList
        } else if reply[0].text == "ok", let time = reply[1].time,
            let restoring = Duration(microseconds: reply[2].logNumber), let mine = reply[3].text
        {
            self = .ok(
                time: time, restoring: restoring, period: reply[5].text, isLost: !mine.hasPrefix("a"),
                NodeRegistry.Listed.list(reply[4]))
        } else {
            self = .notUnderstood
        }
    }
}

extension ShardAnswer.Loss {
    /// `nil` if the run is not lost.
    fileprivate init?(_ reply: RedisReply) {
        guard reply[0].text == "lost", let time = reply[1].time else { return nil }
        self.time = time
        orphans = (reply[2].array ?? []).compactMap { $0.text.map { SessionID(rawValue: $0) } }
    }
}

extension ShardAnswer.Opening {
    fileprivate init(_ session: SessionID, _ reply: RedisReply) {
        switch reply[0].text {
        case "none": self = .none(reply[1].time)
        case "found":
            if let stored = StoredSession(session, meta: reply[3], snapshot: reply[4], entries: reply[5]) {
                self = .found(reply[1].time, NodeMarks(reply[2]), stored)
            } else {
                let fields = reply[3].fields
                self = .damaged(
                    fields["g"]?.text.map { generation in
                        StoredEnd(
                            generation: generation, number: fields["n"]?.text ?? "", id: fields["id"]?.text ?? "")
                    })
            }
        default: self = .refused(ShardRefusal(reply))
        }
    }
}

extension ShardAnswer.Verification {
    fileprivate init(_ reply: RedisReply) {
        switch reply[0].text {
        case "fine": self = .fine(reply[1].logNumber)
        case "wanted": self = .wanted(LogPosition(number: reply[1], id: reply[2]))
        case "gone": self = .gone
        default: self = .refused(ShardRefusal(reply))
        }
    }
}

extension ShardAnswer.Appending {
    fileprivate init(_ reply: RedisReply, by run: RunID, freesMemory: Bool) {
        switch reply[0].text {
        case "ok":
            guard let generation = reply[1].text, let first = reply[2].logNumber, let counter = reply[3].logNumber,
                let count = reply[4].logNumber, count <= OwnCommands.callCommandCount, let time = reply[5].time
            else {
                self = .refused(.notUnderstood)
                return
            }
            let position = LogPosition(number: first, id: CommandID(run: run, counter: counter))
            self = .ok(generation: generation, first: position, count: count, time, freesMemory: freesMemory)
        case "repeated": self = .repeated(generation: reply[1].text ?? "")
        case "gone": self = .gone
        case "gap": self = .gap(last: reply[1].logNumber)
        case "unvouched": self = .unvouched
        default: self = .refused(ShardRefusal(reply))
        }
    }
}

extension ShardAnswer.Keeping {
    fileprivate init(_ reply: RedisReply) {
        switch reply[0].text {
        case "kept", "older": self = .kept
        case "gone": self = .gone
        case "unvouched": self = .unvouched
        default: self = .refused(ShardRefusal(reply))
        }
    }
}

extension ShardAnswer.Repair {
    fileprivate init(_ reply: RedisReply) {
        switch reply[0].text {
        case "sound": self = .sound
        case "removed": self = .removed
        default: self = .refused(ShardRefusal(reply))
        }
    }
}

extension ShardAnswer.Reading {
    fileprivate init(_ reply: RedisReply) {
        if reply.array == nil {
            self = .refused(ShardRefusal(reply))
        } else {
            self = .mark(StoredMark(reply))
        }
    }
}

extension ShardAnswer.Filling {
    fileprivate init(_ session: SessionID, _ range: RedisReply, _ mark: RedisReply) {
        guard let entries = range.array else {
            self = .refused(ShardRefusal(range))
            return
        }
        switch ShardAnswer.Reading(mark) {
        case .mark(let mark): self = .entries(entries.compactMap { CommandEntry(session, $0) }, mark)
        case .refused(let refusal): self = .refused(refusal)
        }
    }
}

extension ShardRefusal {
    fileprivate init(_ reply: RedisReply) {
        if let failure = reply.failure {
            self = .failed(failure)
            return
        }
        switch reply[0].text {
        case "unknown", "lost", "restoring": self = .greetAgain
        default: self = .notUnderstood
        }
    }
}

extension NodeMarks {
    fileprivate init(_ reply: RedisReply) {
        var marks: [RunID: Mark] = [:]
        for (name, value) in reply.fields {
            guard let run = RunID(hexadecimal: name), let value = value.text else { continue }
            marks[run] = value.hasPrefix("a") ? .alive : .lost(MonotonicInstant(microseconds: value))
        }
        self.init(marks: marks)
    }
}

extension StoredMark {
    fileprivate init(_ reply: RedisReply) {
        self.init(
            generation: reply[0].text, number: reply[1].logNumber, id: reply[2].text.flatMap { CommandID(text: $0) })
    }
}

extension NodeRegistry.Listed {
    /// The list in the reply of the function `hello`: run, value, sign of life, sessions.
    fileprivate static func list(_ reply: RedisReply) -> [NodeRegistry.Listed] {
        let array = reply.array ?? []
        return stride(from: 0, to: array.count - 3, by: 4).compactMap { index in
            guard let run = array[index].text.flatMap({ RunID(hexadecimal: $0) }), let value = array[index + 1].text
            else { return nil }
            return NodeRegistry.Listed(
                run: run, lostAt: value.hasPrefix("a") ? nil : MonotonicInstant(microseconds: value),
                hasSignOfLife: array[index + 2].number == 1, hasSessions: array[index + 3].number == 1)
        }
    }
}

extension RedisReply {
    /// A time of the log.
    fileprivate var time: MonotonicInstant? { text.flatMap { MonotonicInstant(microseconds: $0) } }
}
