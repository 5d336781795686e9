import DequeModule
import SignalingCore
import SignalingProtocol

/// The archive in one Redis: its link, and what was asked of it. Events and the present moment go in, effects come out.
///
/// Reads fail when Redis is away. A write is repeated until Redis surely has it: Redis writes its data to the disk once a
/// second, so a reply alone is no proof. The proof is that the same process still runs ten seconds later. Every write may
/// be repeated, since the functions are idempotent. A write may have several calls, each of which follows the reply to
/// the one before. If another process answers meanwhile, the first calls may be forgotten, and all are repeated.
package struct ArchiveState {
    private enum Link {
        /// Next: `connecting`, `closed`.
        case away(retryAt: MonotonicInstant)
        /// Next: `ready`, `away`, `closed`.
        case connecting(since: MonotonicInstant)
        /// `isTrusted`: this Redis forgets nothing, so its replies are proofs. Next: `loading`, `away`, `closed`.
        case ready(isTrusted: Bool)
        /// Redis loads the library of functions. Next: `ready`, `away`, `closed`.
        case loading(isTrusted: Bool)
        /// The last state.
        case closed
    }

    private enum Phase {
        /// Next: `sent`.
        case waiting(until: MonotonicInstant)
        /// Next: `waiting`, `stored`.
        case sent
        /// Redis has all of it, in one process. Next: `waiting`.
        case stored
    }

    /// What was asked: one read, or the calls of one write in their order.
    private struct Item {
        let calls: [ArchiveCall]
        let askedAt: MonotonicInstant
        var phase: Phase
        /// The calls that the process has carried out.
        private var doneCount = 0
        /// The present call is done up to this seq.
        private var doneThrough: Seq?
        /// The process that has answered; `nil` before the first answer.
        private(set) var process: String?

        init(_ calls: [ArchiveCall], askedAt now: MonotonicInstant) {
            (self.calls, askedAt, phase) = (calls, now, .waiting(until: now))
        }

        var isWrite: Bool { calls[0].isWrite }
        /// The present call. There is one unless ``isDone``.
        var call: ArchiveCall {
            let call = calls[min(doneCount, calls.count - 1)]
            return doneThrough.map { call.rest(after: $0) } ?? call
        }
        var isDone: Bool { doneCount == calls.count }

        /// The process has carried out the present call, or the part up to a seq.
        mutating func noteStored(in process: String, next: Seq?) {
            guard self.process == nil || self.process == process else {
                beginAgain()
                return
            }
            self.process = process
            doneThrough = next
            if next == nil { doneCount += 1 }
        }

        /// The process may have forgotten everything.
        mutating func beginAgain() { (doneCount, doneThrough, process) = (0, nil, nil) }
    }

    /// What an answer is about.
    package enum Subject {
        case item(UInt64)
        /// Everything up to this number of ``stored``.
        case proof(through: UInt64)
        case library
    }

    package enum Effect {
        case connect
        case disconnect
        case send(Subject, ArchiveCall)
        case answer(UInt64, Result<ArchiveAnswer, ArchiveFault>)
        /// Why nothing can be written; `nil` when it can again.
        case note(CommandLogFault?)
        /// Redis had no room, and has removed so many old messages of the largest histories (HIS-2).
        case trimmed(Int)
    }

    /// The address, without its password.
    package let redis: String
    private let times: LogTimes
    private var link = Link.away(retryAt: MonotonicInstant(nanoseconds: .min))
    private var attemptCount = 0
    private var random: NameGenerator
    private var items: [UInt64: Item] = [:]
    private var lastNumber: UInt64 = 0
    /// What was asked and is to be sent, in order.
    private var unsent: Deque<UInt64> = []
    /// The reads in the order of their questions; some are answered.
    private var reads: Deque<UInt64> = []
    /// What is stored and not proved, with the moment of the reply, in order.
    private var stored: Deque<(number: UInt64, at: MonotonicInstant, count: UInt64)> = []
    private var storedCount: UInt64 = 0
    private var isProving = false
    /// The calls without an answer, and since when the oldest of them waits.
    private var unansweredCount = 0
    private var waitingSince: MonotonicInstant?
    /// Why nothing can be written; `nil` while it can.
    package private(set) var fault: CommandLogFault?
    private var effects: [Effect] = []

    /// - Parameters:
    ///   - redis: the address, without its password.
    ///   - seed: random. It spreads the attempts of several nodes to connect.
    package init(redis: String, times: LogTimes, seed: UInt64) {
        self.redis = redis
        self.times = times
        random = NameGenerator(seed: seed)
    }

    package mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    /// - Parameter calls: one read, or at least one write.
    /// - Returns: the number of the answer.
    package mutating func ask(_ calls: [ArchiveCall], now: MonotonicInstant) -> UInt64 {
        lastNumber += 1
        let item = Item(calls, askedAt: now)
        items[lastNumber] = item
        unsent.append(lastNumber)
        if !item.isWrite { reads.append(lastNumber) }
        send(now)
        return lastNumber
    }

    // MARK: - The link

    private mutating func connect(_ now: MonotonicInstant) {
        link = .connecting(since: now)
        effects.append(.connect)
    }

    package mutating func linkReady(forgetsNothing: Bool, now: MonotonicInstant) {
        guard case .connecting = link else { return }
        link = .ready(isTrusted: forgetsNothing)
        attemptCount = 0
        // Without it an archive that nobody writes to would seem ill for ever. A write that fails tells of it again.
        tell(nil)
        send(now)
    }

    package mutating func linkLost(_ fault: CommandLogFault, now: MonotonicInstant) {
        if case .closed = link { return }
        tell(fault)
        link = .away(retryAt: now.advanced(by: times.pause(afterAttempts: attemptCount, &random)))
        attemptCount += 1
        (unansweredCount, waitingSince, isProving) = (0, nil, false)
        for (number, item) in items.sorted(by: { $0.key < $1.key }) {
            if case .sent = item.phase { sendAgain(number, at: now) }
        }
    }

    private mutating func lose(_ fault: CommandLogFault, _ now: MonotonicInstant) {
        effects.append(.disconnect)
        linkLost(fault, now: now)
    }

    package mutating func close() {
        switch link {
        case .connecting, .ready, .loading: effects.append(.disconnect)
        case .away, .closed: break
        }
        link = .closed
    }

    private mutating func tell(_ new: CommandLogFault?) {
        if new?.code == fault?.code { return }
        fault = new
        effects.append(.note(new))
    }

    // MARK: - Sending

    private mutating func send(_ now: MonotonicInstant) {
        guard case .ready = link else { return }
        for _ in 0..<unsent.count {
            guard let number = unsent.popFirst(), let item = items[number] else { continue }
            guard case .waiting(let moment) = item.phase, moment <= now else {
                unsent.append(number)
                continue
            }
            items[number]?.phase = .sent
            send(.item(number), item.call, now)
        }
    }

    private mutating func send(_ subject: Subject, _ call: ArchiveCall, _ now: MonotonicInstant) {
        if unansweredCount == 0 { waitingSince = now }
        unansweredCount += 1
        effects.append(.send(subject, call))
    }

    private mutating func sendAgain(_ number: UInt64, at moment: MonotonicInstant) {
        items[number]?.phase = .waiting(until: moment)
        unsent.append(number)
    }

    // MARK: - Answers

    package mutating func answered(_ subject: Subject, _ answer: ArchiveAnswer, now: MonotonicInstant) {
        unansweredCount -= 1
        waitingSince = unansweredCount > 0 ? now : nil
        switch subject {
        case .library: libraryLoaded(answer, now)
        case .proof(let count): proved(through: count, answer, now)
        case .item(let number): answered(number, answer, now)
        }
    }

    private mutating func answered(_ number: UInt64, _ answer: ArchiveAnswer, _ now: MonotonicInstant) {
        guard let item = items[number] else { return }
        switch answer {
        case .stored(let process, let next, let trimmedCount):
            tell(nil)
            if trimmedCount > 0 { effects.append(.trimmed(trimmedCount)) }
            items[number]?.noteStored(in: process, next: next)
            guard items[number]?.isDone == true else {
                sendAgain(number, at: now)
                return send(now)
            }
            guard case .ready(isTrusted: false) = link else { return finish(number, .success(answer)) }
            items[number]?.phase = .stored
            storedCount += 1
            stored.append((number, now, storedCount))
        case .page, .end, .sleepers, .process, .libraryLoaded: finish(number, .success(answer))
        case .failed(.functionMissing):
            sendAgain(number, at: now)
            loadLibrary(now)
        case .failed(let failure):
            let fault = CommandLogFault(failure, from: redis)
            if !item.isWrite { return finish(number, .failure(ArchiveFault("\(fault)"))) }
            tell(fault)
            sendAgain(number, at: now.advanced(by: times.archiveRetry))
        case .notUnderstood: lose(.nonsense("an answer that is not understood", from: redis), now)
        }
    }

    private mutating func finish(_ number: UInt64, _ result: Result<ArchiveAnswer, ArchiveFault>) {
        if items.removeValue(forKey: number) != nil { effects.append(.answer(number, result)) }
    }

    private mutating func loadLibrary(_ now: MonotonicInstant) {
        guard case .ready(let isTrusted) = link else { return }
        link = .loading(isTrusted: isTrusted)
        send(.library, .loadLibrary, now)
    }

    private mutating func libraryLoaded(_ answer: ArchiveAnswer, _ now: MonotonicInstant) {
        guard case .loading(let isTrusted) = link else { return }
        switch answer {
        case .libraryLoaded:
            link = .ready(isTrusted: isTrusted)
            send(now)
        case .failed(let failure): lose(CommandLogFault(failure, from: redis), now)
        case .stored, .page, .end, .sleepers, .process, .notUnderstood:
            lose(.nonsense("an answer that is not understood", from: redis), now)
        }
    }

    // MARK: - Proofs

    private mutating func prove(_ now: MonotonicInstant) {
        guard case .ready = link, !isProving else { return }
        let due = stored.prefix { now.duration(since: $0.at) >= times.archiveProof }
        guard let last = due.last else { return }
        isProving = true
        send(.proof(through: last.count), .process, now)
    }

    private mutating func proved(through count: UInt64, _ answer: ArchiveAnswer, _ now: MonotonicInstant) {
        isProving = false
        switch answer {
        case .process(let process):
            while let first = stored.first, first.count <= count {
                stored.removeFirst()
                if items[first.number]?.process == process {
                    finish(first.number, .success(.stored(process: process)))
                } else {
                    // Redis was restarted, or is another one: it may have forgotten.
                    items[first.number]?.beginAgain()
                    sendAgain(first.number, at: now)
                }
            }
            send(now)
        case .failed(.functionMissing): loadLibrary(now)
        case .failed(let failure): tell(CommandLogFault(failure, from: redis))
        case .stored, .page, .end, .sleepers, .libraryLoaded, .notUnderstood:
            lose(.nonsense("an answer that is not understood", from: redis), now)
        }
    }

    // MARK: - Time

    /// Called every ``LogTimes/tick``.
    package mutating func tick(now: MonotonicInstant) {
        switch link {
        case .closed: break
        case .away(let retryAt): if retryAt <= now { connect(now) }
        case .connecting(let since): if now.duration(since: since) >= times.connecting { lose(silence, now) }
        case .ready, .loading:
            if let waitingSince, now.duration(since: waitingSince) >= times.silence { lose(silence, now) }
        }
        prove(now)
        send(now)
        while let number = reads.first,
            items[number].map({ now.duration(since: $0.askedAt) >= times.connecting }) ?? true
        {
            reads.removeFirst()
            finish(number, .failure(ArchiveFault("\(fault ?? silence)")))
        }
    }

    private var silence: CommandLogFault { CommandLogFault(.silent, "\(redis) does not answer.") }
}

/// The archives of a list of addresses: a session's history is in the Redis that has its log.
package enum ArchivePlace {
    package static func shard(of session: SessionID, count: Int) -> Int { JumpHash.bucket(of: session, count: count) }
}
