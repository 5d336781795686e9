import SignalingCore
import SignalingProtocol

/// A session as Redis has it, in the reply of the function `open`.
package struct StoredSession {
    let generation: String
    let snapshot: KeptCommands.Snapshot?
    let entries: [CommandEntry]
    let position: LogPosition
    let time: MonotonicInstant
    let counters: [RunID: UInt64]

    /// - Returns: `nil` if the parts contradict each other: a program or a person has changed them.
    init?(_ session: SessionID, meta: RedisReply, snapshot: RedisReply, entries: RedisReply) {
        let fields = meta.fields
        guard let generation = fields["g"]?.text, let number = fields["n"]?.logNumber,
            let id = fields["id"]?.text.flatMap({ CommandID(text: $0) }),
            let time = fields["at"]?.text.flatMap({ MonotonicInstant(microseconds: $0) })
        else { return nil }
        self.generation = generation
        self.time = time
        position = LogPosition(number: number, id: id)
        var last: LogPosition?
        if let number = fields["s"]?.logNumber {
            guard let bytes = snapshot.bytes, let id = fields["si"]?.text.flatMap({ CommandID(text: $0) }) else {
                return nil
            }
            let position = LogPosition(number: number, id: id)
            self.snapshot = KeptCommands.Snapshot(position: position, bytes: bytes)
            last = position
        } else {
            self.snapshot = nil
        }
        var kept: [CommandEntry] = []
        for reply in entries.array ?? [] {
            guard let entry = CommandEntry(session, reply), entry.position.number == (last?.number ?? 0) + 1 else {
                return nil
            }
            last = entry.position
            kept.append(entry)
        }
        guard last == position else { return nil }
        self.entries = kept
        var counters: [RunID: UInt64] = [:]
        for (name, value) in fields where name.hasPrefix("c:") {
            guard let run = RunID(hexadecimal: name.dropFirst(2)), let counter = value.logNumber else { return nil }
            counters[run] = counter
        }
        self.counters = counters
    }
}

extension CommandEntry {
    /// An element of the reply to XRANGE: `[<n>-0, [at, …, id, …, cmd, …]]`.
    init?(_ session: SessionID, _ reply: RedisReply) {
        guard let number = reply[0].text?.split(separator: "-").first.flatMap({ LogNumber.read($0) }),
            let time = reply[1][1].text.flatMap({ MonotonicInstant(microseconds: $0) }),
            let id = reply[1][3].text.flatMap({ CommandID(text: $0) }), let bytes = reply[1][5].bytes
        else { return nil }
        self.init(session: session, position: LogPosition(number: number, id: id), time: time, bytes: bytes)
    }
}

extension LogPosition {
    /// `nil` if one of the replies is null, or is not understood.
    init?(number: RedisReply, id: RedisReply) {
        guard let number = number.logNumber, let id = id.text.flatMap({ CommandID(text: $0) }) else { return nil }
        self.init(number: number, id: id)
    }
}
