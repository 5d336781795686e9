import JSONText
import SignalingCore
import SignalingProtocol

/// `costs` runs the steps of a message and of a join. scripts/check costs counts their instructions. Every step is a
/// function of its own, so that the counter finds it by its name; what it needs is made before.
enum Costs {
    static let repeats = 200

    static func run() {
        var steps = Steps()
        steps.prepare()
        steps.decodeStep()
        steps.appendStep()
        steps.encodeStep()
        steps.flushStep()
        steps.joinStep()
        print("repeats \(repeats) checksum \(steps.checksum)")
    }
}

/// What the steps work on: a session of 100 members with signals of 128 bytes.
struct Steps: ~Copyable {
    private let line = Array(
        #"{"op":"signal","id":7,"type":"bench","data":"\#(String(repeating: "x", count: 128))"}"#.utf8)
    private var parser = JSONParser(
        limits: JSONLimits(
            depth: Limits.jsonDepth, byteCount: Limits.messageByteCount, valueCount: Limits.jsonValueCount))
    private var session = SessionState(id: SessionID("1_costs"), epoch: Epoch("epoch"))
    private var outboxes: [Outbox] = []
    private let request = SignalRequest(type: "bench", data: String(repeating: "x", count: 128))
    private var effects: [SessionEffect] = []
    /// Keeps the optimizer from leaving the work out.
    private(set) var checksum = 0

    mutating func prepare() {
        for number in 0..<100 { join(number) }
        checksum += session.connectionCount
        // The first one looks up conformances in the whole program.
        decode()
        outboxes = session.connections.map {
            Outbox(owner: $0.connectionId, suppressesPresence: true, cursor: session.log.lastSeq)
        }
    }

    /// From the bytes of a line to a message.
    @inline(never)
    mutating func decodeStep() { for _ in 0..<Costs.repeats { decode() } }

    /// From a command to an event in the log.
    @inline(never)
    mutating func appendStep() {
        let sender = CommandSender.connection(SocketBinding(connection(3), SocketID(3)), RequestID(1))
        for number in 0..<Costs.repeats {
            let outcome = session.handle(
                .signal(sender, request), now: MonotonicInstant(nanoseconds: Int64(number)), effects: &effects)
            if case .signalled(let seq?) = outcome { checksum += Int(seq.rawValue) }
        }
    }

    /// From an event to the bytes that all receivers get.
    @inline(never)
    mutating func encodeStep() {
        let event = SignalEvent(seq: Seq(1_000), from: connection(3), type: request.type, data: request.data)
        for _ in 0..<Costs.repeats { checksum += EncodedLine(event, encodedSender: nil).byteCount }
    }

    /// From the log to the bytes of a flush and the cursors of 100 members; one event in each flush.
    @inline(never)
    mutating func flushStep() {
        let sender = CommandSender.connection(SocketBinding(connection(3), SocketID(3)), RequestID(1))
        for index in outboxes.indices { skipToEnd(index) }
        for number in 0..<Costs.repeats / 10 {
            let start = session.log.lastSeq
            _ = session.handle(
                .signal(sender, request), now: MonotonicInstant(nanoseconds: Int64(number)), effects: &effects)
            var batch = SharedBatch(log: session.log, after: start, onlineOnly: [])
            for index in outboxes.indices {
                if let form = batch.advance(&outboxes[index], log: session.log) {
                    checksum += batch.bytes(of: form).count
                }
            }
        }
    }

    /// From a verified token to a member of the session.
    @inline(never)
    mutating func joinStep() { for number in 1_000..<1_000 + Costs.repeats { join(number) } }

    private mutating func skipToEnd(_ index: Int) {
        outboxes[index] = Outbox(
            owner: outboxes[index].owner, suppressesPresence: true, cursor: session.log.lastSeq)
    }

    private mutating func decode() {
        line.withUnsafeBytes { bytes in
            if case .signal(let id, _)? = try? ClientMessage(line: bytes, parser: &parser) {
                checksum += Int(id.rawValue)
            }
        }
    }

    private func connection(_ number: Int) -> ConnectionID {
        ConnectionID("00000000-0000-4000-8000-\(100_000_000_000 + number)")
    }

    private mutating func join(_ number: Int) {
        let join = JoinRequest(
            connectionId: connection(number), socket: SocketID(UInt64(number)), role: .publisher,
            data: "name=\(number)", wallTime: WallTime(milliseconds: 1_700_000_000_000),
            secretHash: ResumeSecretHash(bytes: Array(repeating: UInt8(truncatingIfNeeded: number), count: 32)))
        _ = session.handle(.join(join), now: MonotonicInstant(nanoseconds: 0), effects: &effects)
        effects.removeAll(keepingCapacity: true)
    }
}
