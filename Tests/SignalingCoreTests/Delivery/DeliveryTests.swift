import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A session of ada, bob and eve, who joined at 1, 2 and 3.
private func threeMembers() -> SessionState {
    var session = SessionState()
    for (index, name) in ["ada", "bob", "eve"].enumerated() { session.join(name, at: Int64(index + 1)) }
    return session
}

private func outbox(_ name: String, suppressesPresence: Bool = false, at cursor: Int64 = 3) -> Outbox {
    Outbox(owner: client(name), suppressesPresence: suppressesPresence, cursor: Seq(cursor))
}

private func signal(
    _ data: String, after seq: Int64, from: String? = "ada", type: String? = "typing", to target: String? = nil
) -> OnlineOnlySignal {
    let event = SignalEvent(
        seq: nil, from: from.map { client($0) }, type: type, data: data, to: target.map { client($0) })
    return OnlineOnlySignal(
        after: Seq(seq), from: event.from, type: type, audience: target.map { .only(client($0)) } ?? .everyone,
        line: EncodedLine(event, encodedSender: nil))
}

/// A line in short: `signal 4`, `ack 2`, `created 3`, `ping 5`, `online-only begin`.
private func short(_ line: String) -> String {
    guard let message = try? decoded(line) else { return line }
    return switch message {
    case .ack(let request, _): "ack \(request)"
    case .signal(let event): event.seq.map { "signal \($0)" } ?? "online-only \(event.data ?? "")"
    case .connectionCreated(let seq, _): "created \(seq)"
    case .connectionDestroyed(let seq, _, _): "destroyed \(seq)"
    case .ping(let seq): "ping \(seq)"
    case .connectionAway(let id): "away \(id)"
    case .connectionBack(let id): "back \(id)"
    case .connected, .connections, .history, .reactions, .reacted, .reactors, .read, .change, .erased, .moderated,
        .restricted, .unrestricted, .restrictions,
        .error,
        .disconnected:
        line
    }
}

@Suite("The outbox of a connection")
struct OutboxTests {
    @Test("G1, G3: events come in the order of the log, each once")
    func order() {
        var session = threeMembers()
        for _ in 0..<3 { session.signal(from: "ada") }
        var bob = outbox("bob")
        #expect(dequeueAll(&bob, session.log).map(short) == ["signal 4", "signal 5", "signal 6"])
        #expect(bob.cursor == Seq(6))
        #expect(dequeueAll(&bob, session.log).isEmpty, "nothing is sent twice")
    }

    @Test("SIG-6: an ack follows the sender's own event, and comes before the next one")
    func ack() {
        var session = threeMembers()
        var ada = outbox("ada")
        session.signal(from: "ada")
        ada.append(EncodedLine(.ack(RequestID(1), Seq(4))), after: Seq(4))
        session.signal(from: "bob")
        session.signal(from: "ada")
        ada.append(EncodedLine(.ack(RequestID(2), Seq(6))), after: Seq(6))
        #expect(dequeueAll(&ada, session.log).map(short) == ["signal 4", "ack 1", "signal 5", "signal 6", "ack 2"])
        #expect(!ada.hasPrivateLines)
        #expect(ada.waitingByteCount == 0)
    }

    @Test(
        "SIG-6: the ack of a directed signal to another connection follows every earlier event"
    )
    func ackOfDirected() {
        var session = threeMembers()
        var ada = outbox("ada")
        session.signal(from: "bob")
        session.signal(from: "ada", to: "eve")
        ada.append(EncodedLine(.ack(RequestID(1), Seq(5))), after: Seq(5))
        session.signal(from: "bob")
        #expect(dequeueAll(&ada, session.log).map(short) == ["signal 4", "ack 1", "signal 6"])
    }

    @Test("HB-2: a ping follows every event up to its seq")
    func ping() {
        var session = threeMembers()
        var bob = outbox("bob")
        session.signal(from: "ada")
        bob.append(EncodedLine(.ping(Seq(4))), after: Seq(4))
        session.signal(from: "ada")
        #expect(dequeueAll(&bob, session.log).map(short) == ["signal 4", "ping 4", "signal 5"])
    }

    @Test("SIG-4, SIG-8: a directed signal reaches its target alone; the others see a gap")
    func directed() {
        var session = threeMembers()
        session.signal(from: "ada", data: "a")
        session.signal(from: "ada", data: "b", to: "eve")
        session.signal(from: "ada", data: "c")
        var (ada, bob, eve) = (outbox("ada"), outbox("bob"), outbox("eve"))
        #expect(dequeueAll(&ada, session.log).map(short) == ["signal 4", "signal 6"])
        #expect(dequeueAll(&bob, session.log).map(short) == ["signal 4", "signal 6"])
        #expect(dequeueAll(&eve, session.log).map(short) == ["signal 4", "signal 5", "signal 6"])
        #expect(bob.cursor == Seq(6))
    }

    @Test("PRES-1: a connection gets presence of others, never its own")
    func ownPresence() {
        var session = threeMembers()
        session.join("zoe", at: 9)
        session.leave("zoe")
        session.leave("bob")
        var (bob, eve) = (outbox("bob"), outbox("eve"))
        // A cursor from before its own join: even then a connection does not get its own event.
        var early = outbox("eve", at: 0)
        #expect(dequeueAll(&eve, session.log).map(short) == ["created 4", "destroyed 5", "destroyed 6"])
        #expect(dequeueAll(&bob, session.log).map(short) == ["created 4", "destroyed 5"])
        #expect(
            dequeueAll(&early, session.log).map(short)
                == ["created 1", "created 2", "created 4", "destroyed 5", "destroyed 6"])
    }

    @Test("CON-4, SIG-9: a client that suppresses connection events gets none, and each signal carries its sender")
    func suppressed() {
        var session = threeMembers()
        session.join("zoe", at: 9)
        session.signal(from: "ada", data: "x")
        session.signal(from: nil, data: "y")
        session.signal(from: "bob", data: "z", to: "eve")
        session.leave("zoe")
        var eve = outbox("eve", suppressesPresence: true)
        #expect(
            dequeueAll(&eve, session.log) == [
                #"{"ev":"signal","seq":5,"from":"ada","#
                    + #""connection":{"connectionId":"ada","creationTime":1,"data":"name=ada"},"type":"chat","data":"x"}"#,
                #"{"ev":"signal","seq":6,"from":null,"type":"chat","data":"y"}"#,
                #"{"ev":"signal","seq":7,"from":"bob","#
                    + #""connection":{"connectionId":"bob","creationTime":2,"data":"name=bob"},"#
                    + #""type":"chat","data":"z","to":"eve"}"#,
            ])
        #expect(eve.cursor == session.log.lastSeq)
    }

    @Test(
        "G5: dequeuing stops at the byte limit and continues there, whatever the limit",
        arguments: [0, 1, 50, 100, 333])
    func byteLimit(_ limit: Int) {
        var session = threeMembers()
        var bob = outbox("bob")
        for number in 0..<20 {
            session.signal(
                from: "ada", data: String(repeating: "x", count: number * 7), to: number % 3 == 0 ? "eve" : nil)
            if number % 4 == 0 { bob.append(EncodedLine(.ping(session.log.lastSeq)), after: session.log.lastSeq) }
        }
        var whole = bob
        let expected = dequeueAll(&whole, session.log)
        var pieces: [String] = []
        for _ in 0..<100 {
            var bytes: [UInt8] = []
            let progress = bob.dequeue(from: session.log, onlineOnly: [], byteLimit: limit, into: &bytes)
            pieces += lines(bytes)
            if progress == .complete { break }
            #expect(progress == .partial)
            #expect(!bytes.isEmpty, "an empty batch would never end")
            // The batch was under the limit before its last event; a ping may follow that event.
            var piece = lines(bytes)
            while piece.last?.contains("ping") == true { piece.removeLast() }
            #expect(piece.dropLast().joined(separator: "\n").utf8.count < max(1, limit))
        }
        #expect(pieces == expected)
        #expect(bob.cursor == session.log.lastSeq)
        #expect(!bob.hasPrivateLines)
    }

    @Test("WIRE-3: dequeued bytes are appended to the buffer's contents without a newline before them")
    func headroom() {
        var session = threeMembers()
        session.signal(from: "ada", data: "x")
        var bob = outbox("bob")
        var bytes = Array("head".utf8)
        _ = bob.dequeue(from: session.log, onlineOnly: [], byteLimit: .max, into: &bytes)
        #expect(text(bytes) == #"head{"ev":"signal","seq":4,"from":"ada","type":"chat","data":"x"}"#)
    }

    @Test("G4: on an overrun only the private lines are dequeued")
    func overrun() {
        var session = SessionState(logEventCount: 3)
        session.join("ada")
        session.join("bob")
        var bob = outbox("bob", at: 2)
        for _ in 0..<3 { session.signal(from: "ada") }
        var still = bob
        #expect(dequeueAll(&still, session.log).map(short) == ["signal 3", "signal 4", "signal 5"])
        session.signal(from: "ada")
        bob.append(EncodedLine(.ping(Seq(6))), after: Seq(6))
        var bytes: [UInt8] = []
        #expect(bob.dequeue(from: session.log, onlineOnly: [], byteLimit: .max, into: &bytes) == .overrun)
        #expect(bytes.isEmpty)
        #expect(bob.cursor == Seq(2))
        bob.dequeuePrivateLines(into: &bytes)
        #expect(lines(bytes).map(short) == ["ping 6"])
        #expect(bob.waitingByteCount == 0)
    }

    @Test("G5, WIRE-13: the waiting bytes are the connection's private lines and the signals that they acknowledge")
    func waitingBytes() {
        var session = threeMembers()
        var bob = outbox("bob")
        session.signal(from: "bob", data: String(repeating: "x", count: 8000))
        session.signal(from: "ada", data: "not bob's own")
        let (signal, ack) = (session.log.entry(Seq(4)), EncodedLine(.ack(RequestID(1), Seq(4))))
        #expect(signal.map { (8000..<8200).contains($0.line.byteCount) } == true)
        bob.append(ack, after: Seq(4), signalByteCount: signal?.line.byteCount ?? 0)
        let ping = EncodedLine(.ping(Seq(5)))
        bob.append(ping, after: Seq(5))
        #expect(bob.waitingByteCount == ack.byteCount + (signal?.line.byteCount ?? 0) + ping.byteCount)
        var bytes: [UInt8] = []
        #expect(bob.dequeue(from: session.log, onlineOnly: [], byteLimit: 1, into: &bytes) == .partial)
        #expect(bob.waitingByteCount == ping.byteCount)
        #expect(bob.dequeue(from: session.log, onlineOnly: [], byteLimit: .max, into: &bytes) == .complete)
        #expect(bob.waitingByteCount == 0)
    }

    @Test("SIG-10: an online-only signal comes between the events before and after it")
    func onlineOnlyOrder() {
        var session = threeMembers()
        for _ in 0..<3 { session.signal(from: "ada") }
        let waiting = [signal("a", after: 3), signal("b", after: 4), signal("c", after: 6)]
        var bob = outbox("bob")
        #expect(
            dequeueAll(&bob, session.log, onlineOnly: waiting).map(short)
                == ["online-only a", "signal 4", "online-only b", "signal 5", "signal 6", "online-only c"])
    }

    @Test("SIG-10: a connection does not get an online-only signal from before its cursor")
    func onlineOnlyBeforeJoining() {
        let session = threeMembers()
        var eve = outbox("eve")
        let waiting = [signal("before", after: 2), signal("after", after: 3)]
        #expect(dequeueAll(&eve, session.log, onlineOnly: waiting).map(short) == ["online-only after"])
    }

    @Test("SIG-10: a directed online-only signal reaches its target alone")
    func onlineOnlyDirected() {
        let session = threeMembers()
        let waiting = [signal("x", after: 3, to: "eve"), signal("y", after: 3, to: "bob")]
        var (bob, eve) = (outbox("bob"), outbox("eve"))
        #expect(dequeueAll(&bob, session.log, onlineOnly: waiting).map(short) == ["online-only y"])
        #expect(dequeueAll(&eve, session.log, onlineOnly: waiting).map(short) == ["online-only x"])
    }
}

@Suite("Pending online-only signals")
struct PendingOnlineOnlyTests {
    @Test("G6, SIG-10: of one sender, type and target only the newest signal is pending, at the end of the queue")
    func newestWins() {
        var pending = PendingOnlineOnly()
        pending.append(signal("old", after: 3))
        pending.append(signal("other sender", after: 3, from: "bob"))
        pending.append(signal("other type", after: 3, type: "cursor"))
        pending.append(signal("no type", after: 3, type: nil))
        pending.append(signal("other target", after: 3, to: "eve"))
        pending.append(signal("server", after: 3, from: nil))
        pending.append(signal("new", after: 5))
        #expect(
            pending.signals.map { short(text($0.line.bytes)) } == [
                "online-only other sender", "online-only other type", "online-only no type",
                "online-only other target", "online-only server", "online-only new",
            ])
        #expect(
            zip(pending.signals, pending.signals.dropFirst()).allSatisfy { $0.after <= $1.after })
        #expect(pending.droppedCount == 0, "a replaced signal is not dropped")
    }

    @Test("G5: a full queue drops and counts signals of new senders, and still replaces pending ones")
    func full() {
        var pending = PendingOnlineOnly()
        for number in 0..<PendingOnlineOnly.limit { pending.append(signal("1", after: 3, from: "\(number)")) }
        pending.append(signal("1", after: 3, from: "late"))
        #expect(pending.signals.count == PendingOnlineOnly.limit)
        #expect(pending.droppedCount == 1)
        pending.append(signal("2", after: 4, from: "0"))
        #expect(pending.signals.count == PendingOnlineOnly.limit)
        #expect(pending.signals.last?.from == client("0"))
        #expect(pending.droppedCount == 1)
        pending.removeAll()
        #expect(pending.isEmpty)
    }

    @Test("G5: the queue is bounded in bytes, and replacing or removing signals frees them")
    func bytes() {
        var pending = PendingOnlineOnly()
        let large = String(repeating: "x", count: 8192)
        while pending.droppedCount == 0 {
            pending.append(signal(large, after: 3, from: "\(pending.signals.count)"))
        }
        let count = pending.signals.count
        #expect(pending.signals.map(\.line.byteCount).reduce(0, +) <= PendingOnlineOnly.byteLimit)
        #expect(count >= PendingOnlineOnly.byteLimit / (8192 + 256))
        pending.append(signal("small", after: 4, from: "0"))
        pending.append(signal(large.dropLast(500) + "", after: 4, from: "late"))
        #expect(pending.signals.count == count + 1)
        pending.removeAll()
        pending.append(signal(large, after: 5))
        #expect(pending.signals.count == 1)
    }
}

@Suite("The shared batch")
struct SharedBatchTests {
    @Test("a broadcast to 1,000 members is encoded once, and all share the same buffer")
    func once() {
        var session = SessionState(connectionCount: 1_000)
        for number in 0..<1_000 { session.join("m\(number)") }
        let start = session.log.lastSeq
        session.signal(from: "m0", data: "hello")
        #expect(session.log.lastSeq == start.next, "the log encodes each event once")
        var batch = SharedBatch(log: session.log, after: start, onlineOnly: [])
        var buffers: [[UInt8]] = []
        for number in 0..<1_000 {
            var member = Outbox(owner: client("m\(number)"), suppressesPresence: number % 2 == 1, cursor: start)
            if let bytes = batch.bytes(for: &member, log: session.log) { buffers.append(bytes) }
            #expect(member.cursor == session.log.lastSeq)
        }
        #expect(buffers.count == 1_000)
        // All buffers stay alive, so equal addresses mean the same buffer. There are two forms (SIG-9).
        let addresses = Set(buffers.map { $0.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } })
        #expect(addresses.count == 2)
    }

    @Test("a shared batch has the bytes that each member would get alone")
    func same() {
        var session = threeMembers()
        session.signal(from: "ada", data: "x")
        session.join("zoe", at: 9)
        let waiting = [signal("begin", after: 4)]
        for suppressesPresence in [false, true] {
            var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: waiting)
            var (shared, alone) = (
                outbox("bob", suppressesPresence: suppressesPresence),
                outbox("bob", suppressesPresence: suppressesPresence)
            )
            #expect(
                batch.bytes(for: &shared, log: session.log).map(lines)
                    == dequeueAll(&alone, session.log, onlineOnly: waiting))
            #expect(shared.cursor == alone.cursor)
        }
    }

    @Test("SIG-6: an acknowledgement behind the last event follows the shared batch, and an earlier one does not")
    func answered() {
        var session = threeMembers()
        session.signal(from: "ada", data: "x")
        session.signal(from: "bob", data: "y")
        for suppressesPresence in [false, true] {
            for seq in [Seq(4), Seq(5)] {
                var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
                var (shared, alone) = (
                    outbox("ada", suppressesPresence: suppressesPresence),
                    outbox("ada", suppressesPresence: suppressesPresence)
                )
                for id in 1...2 as ClosedRange<Int64> {
                    shared.append(EncodedLine(.ack(RequestID(id), seq)), after: seq, signalByteCount: 9)
                    alone.append(EncodedLine(.ack(RequestID(id), seq)), after: seq, signalByteCount: 9)
                }
                var other = shared
                let typing = [signal("begin", after: 5)]
                var withTyping = SharedBatch(log: session.log, after: Seq(3), onlineOnly: typing)
                #expect(withTyping.bytes(for: &other, log: session.log) == nil, "it comes behind the answers")
                let bytes = batch.bytes(for: &shared, log: session.log)
                #expect((bytes == nil) == (seq == Seq(4)))
                if let bytes { #expect(lines(bytes) == dequeueAll(&alone, session.log)) }
                #expect(shared.waitingByteCount > 0 ? bytes == nil : !shared.hasPrivateLines)
            }
        }
    }

    @Test("G2: an outbox that is behind, or has an answer to send, is not served")
    func served() {
        var bob = outbox("bob", at: 4)
        #expect(bob.isServed(through: Seq(4), absences: 0))
        #expect(!bob.isServed(through: Seq(5), absences: 0))
        bob.append(EncodedLine(.ping(Seq(4))), after: Seq(4))
        #expect(!bob.isServed(through: Seq(4), absences: 0))
    }

    @Test("a member that is behind, ahead, or has private lines before the end gets no shared batch")
    func notShared() {
        var session = threeMembers()
        session.signal(from: "ada")
        var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
        var (behind, ahead, busy) = (outbox("bob", at: 2), outbox("bob", at: 4), outbox("bob"))
        busy.append(EncodedLine(.ping(Seq(3))), after: Seq(3))
        #expect(batch.bytes(for: &behind, log: session.log) == nil)
        #expect(batch.bytes(for: &ahead, log: session.log) == nil)
        #expect(batch.bytes(for: &busy, log: session.log) == nil)
        #expect([behind.cursor, ahead.cursor, busy.cursor] == [Seq(2), Seq(4), Seq(3)])
    }

    @Test("SIG-4: the target of a directed signal gets no shared batch, and the others get one without the signal")
    func directed() {
        var session = threeMembers()
        session.signal(from: "ada", to: "eve")
        session.signal(from: "ada")
        for waiting in [[], [signal("x", after: 5, to: "bob")]] {
            var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: waiting)
            var (ada, bob, eve) = (outbox("ada"), outbox("bob"), outbox("eve"))
            #expect(batch.bytes(for: &ada, log: session.log).map { lines($0).map(short) } == ["signal 5"])
            #expect((batch.bytes(for: &bob, log: session.log) == nil) == !waiting.isEmpty)
            #expect(batch.bytes(for: &eve, log: session.log) == nil)
        }
    }

    @Test("PRES-1: a connection that leaves in this flush does not get its own event")
    func ownLeaving() {
        var session = threeMembers()
        session.leave("bob")
        var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
        var (ada, bob) = (outbox("ada"), outbox("bob"))
        #expect(batch.bytes(for: &ada, log: session.log).map { lines($0).map(short) } == ["destroyed 4"])
        #expect(batch.bytes(for: &bob, log: session.log) == nil)
        #expect(dequeueAll(&bob, session.log).isEmpty)
    }

    @Test("G3: a batch is void once the log has grown, so nothing is sent twice or left out")
    func grown() {
        var session = threeMembers()
        session.signal(from: "ada")
        var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
        var (ada, bob, eve) = (outbox("ada"), outbox("bob"), outbox("eve", suppressesPresence: true))
        #expect(batch.bytes(for: &ada, log: session.log) != nil)
        session.signal(from: "ada", to: "bob")
        #expect(batch.bytes(for: &bob, log: session.log) == nil)
        #expect(batch.bytes(for: &eve, log: session.log) == nil)
    }

    @Test("a batch may be empty, and moves the cursor all the same")
    func empty() {
        var session = threeMembers()
        session.signal(from: "ada", to: "eve")
        var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
        var bob = outbox("bob")
        #expect(batch.bytes(for: &bob, log: session.log) == [])
        #expect(bob.cursor == Seq(4))
    }

    @Test("G4: a batch is void after an overrun")
    func overrun() {
        var session = SessionState(logEventCount: 2)
        session.join("ada")
        for _ in 0..<3 { session.signal(from: "ada") }
        var batch = SharedBatch(log: session.log, after: Seq(1), onlineOnly: [])
        var ada = outbox("ada", at: 1)
        #expect(batch.bytes(for: &ada, log: session.log) == nil)
        #expect(ada.cursor == Seq(1))
    }
}
