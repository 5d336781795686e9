import DequeModule
import SignalingCore
import SignalingProtocol

/// The archive in one Redis: its link, and what was asked of it. Events and the present moment go in, effects come out.
///
/// Reads fail when Redis is away. A write is repeated until Redis surely has it: Redis writes its data to the disk once a
/// second, so a reply alone is no proof. The proof is that the same process still runs ten seconds later. Every write may
/// be repeated, since the functions are idempotent. A write may have several calls, each of which follows the reply to
/// the one before. If another process answers meanwhile, the first calls may be forgotten, and all are repeated.
///
/// A feed has the entries of a session in the order of its writes (FEED-1). So a write that announces something follows
/// the reply to the one before. After a loss of the link, the first question is which process is there: what it has not
/// is written before anything that is new.
package struct ArchiveState {
    /// What says that Redis surely has a write.
    private enum Evidence {
        /// This Redis forgets nothing.
        case reply
        case proof
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
        /// The session in whose order it is written; `nil` if it announces nothing.
        var announcingSession: SessionID? {
            if case .announce(_, let session, _)? = calls.last { session } else { nil }
        }
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
        /// Which process is there after a loss of the link.
        case verification
    }

    package enum Effect {
        case connect
        case disconnect
        /// `libraryLoaded` follows.
        case loadLibrary
        case send(Subject, ArchiveCall)
        case answer(UInt64, Result<ArchiveAnswer, ArchiveFault>)
        /// Why nothing can be written; `nil` when it can again.
        case note(CommandLogFault?)
        /// Redis had no room, and has removed so many old messages of the largest histories (HIS-2).
        case trimmed(Int)
        /// Redis has entries of this session in a feed. It may still forget them.
        case announced(SessionID)
    }

    private let times: LogTimes
    private var courier: RedisCourier<Evidence>
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
    /// The writes that announce something and are not stored, in their order.
    private var announcing: [SessionID: [UInt64]] = [:]
    /// Whether nothing is sent before the answer to a verification.
    private var mustVerify = false
    private var isVerifying = false
    private var effects: [Effect] = []

    /// - Parameters:
    ///   - redis: the address, without its password.
    ///   - seed: random. It spreads the attempts of several nodes to connect.
    package init(redis: String, times: LogTimes, seed: UInt64) {
        courier = RedisCourier(redis: redis)
        self.times = times
        random = NameGenerator(seed: seed)
    }

    /// The address, without its password.
    package var redis: String { courier.redis }
    /// Why nothing can be written; `nil` while it can.
    package var fault: CommandLogFault? { courier.fault }

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
        if let session = item.announcingSession { announcing[session, default: []].append(lastNumber) }
        send(now)
        return lastNumber
    }

    // MARK: - The link

    package mutating func linkReady(forgetsNothing: Bool, now: MonotonicInstant) {
        guard courier.begin(forgetsNothing ? .reply : .proof) else { return }
        // Without it an archive that nobody writes to would seem ill for ever. A write that fails tells of it again.
        tell(nil)
        mustVerify = stored.contains { items[$0.number]?.announcingSession != nil }
        send(now)
    }

    package mutating func linkLost(_ fault: CommandLogFault, now: MonotonicInstant) {
        guard courier.lost(now: now, times, &random) else { return }
        tell(fault)
        (isProving, isVerifying) = (false, false)
        for (number, item) in items.sorted(by: { $0.key < $1.key }) {
            if case .sent = item.phase { sendAgain(number, at: now) }
        }
    }

    /// The answer to an effect `loadLibrary`.
    package mutating func libraryLoaded(_ failure: RedisFailure?, now: MonotonicInstant) {
        courier.noteAnswer(now: now)
        if let failure { return carryOut(.giveUp(CommandLogFault(failure, from: redis)), now) }
        if courier.libraryLoaded() { send(now) }
    }

    package mutating func close() {
        if courier.close() { effects.append(.disconnect) }
    }

    private mutating func carryOut(_ step: RedisCourier<Evidence>.Step?, _ now: MonotonicInstant) {
        switch step {
        case nil: break
        case .connect: effects.append(.connect)
        case .loadLibrary: effects.append(.loadLibrary)
        case .giveUp(let fault):
            effects.append(.disconnect)
            linkLost(fault, now: now)
        }
    }

    private mutating func tell(_ new: CommandLogFault?) {
        if courier.tell(new) { effects.append(.note(new)) }
    }

    // MARK: - Sending

    private mutating func send(_ now: MonotonicInstant) {
        guard courier.service != nil else { return }
        if mustVerify {
            if !isVerifying { send(.verification, .process, now) }
            isVerifying = true
            return
        }
        for _ in 0..<unsent.count {
            guard let number = unsent.popFirst(), let item = items[number] else { continue }
            let isNext = item.announcingSession.map { announcing[$0]?.first == number } ?? true
            guard isNext, case .waiting(let moment) = item.phase, moment <= now else {
                unsent.append(number)
                continue
            }
            items[number]?.phase = .sent
            send(.item(number), item.call, now)
        }
    }

    private mutating func send(_ subject: Subject, _ call: ArchiveCall, _ now: MonotonicInstant) {
        courier.noteCall(now: now)
        effects.append(.send(subject, call))
    }

    private mutating func noteStored(_ number: UInt64, _ now: MonotonicInstant) {
        guard let session = items[number]?.announcingSession else { return }
        announcing[session]?.removeAll { $0 == number }
        if announcing[session]?.isEmpty == true { announcing[session] = nil } else { send(now) }
    }

    /// Redis may have forgotten a write that was stored.
    private mutating func storeAgain(_ number: UInt64, _ now: MonotonicInstant) {
        items[number]?.beginAgain()
        if let session = items[number]?.announcingSession {
            announcing[session] = ((announcing[session] ?? []) + [number]).sorted()
        }
        sendAgain(number, at: now)
    }

    private mutating func sendAgain(_ number: UInt64, at moment: MonotonicInstant) {
        items[number]?.phase = .waiting(until: moment)
        unsent.append(number)
    }

    // MARK: - Answers

    package mutating func answered(_ subject: Subject, _ answer: ArchiveAnswer, now: MonotonicInstant) {
        courier.noteAnswer(now: now)
        switch subject {
        case .proof(let count): proved(through: count, answer, now)
        case .verification: verified(answer, now)
        case .item(let number): answered(number, answer, now)
        }
    }

    private mutating func answered(_ number: UInt64, _ answer: ArchiveAnswer, _ now: MonotonicInstant) {
        guard let item = items[number] else { return }
        switch answer {
        case .stored(let process, let next, let trimmedCount):
            courier.noteUse()
            tell(nil)
            if trimmedCount > 0 { effects.append(.trimmed(trimmedCount)) }
            if case .announce(_, let session, _) = item.call { effects.append(.announced(session)) }
            items[number]?.noteStored(in: process, next: next)
            guard items[number]?.isDone == true else {
                sendAgain(number, at: now)
                return send(now)
            }
            noteStored(number, now)
            switch courier.phase {
            case .ready(.reply), .loading(.reply): return finish(number, .success(answer))
            case .ready(.proof), .loading(.proof), .away, .connecting, .closed: break
            }
            items[number]?.phase = .stored
            storedCount += 1
            stored.append((number, now, storedCount))
        case .page, .end, .sleepers, .feed, .cursor, .claim, .process:
            courier.noteUse()
            finish(number, .success(answer))
        case .failed(.functionMissing):
            sendAgain(number, at: now)
            carryOut(courier.libraryMissing(now: now), now)
        case .failed(let failure):
            let fault = CommandLogFault(failure, from: redis)
            if !item.isWrite { return finish(number, .failure(ArchiveFault("\(fault)"))) }
            tell(fault)
            sendAgain(number, at: now.advanced(by: times.archiveRetry))
        case .notUnderstood: carryOut(courier.misunderstood(), now)
        }
    }

    private mutating func finish(_ number: UInt64, _ result: Result<ArchiveAnswer, ArchiveFault>) {
        if items.removeValue(forKey: number) != nil { effects.append(.answer(number, result)) }
    }

    // MARK: - Proofs

    private mutating func prove(_ now: MonotonicInstant) {
        guard courier.service != nil, !isProving else { return }
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
                    storeAgain(first.number, now)
                }
            }
            send(now)
        case .failed(.functionMissing): carryOut(courier.libraryMissing(now: now), now)
        case .failed(let failure): tell(CommandLogFault(failure, from: redis))
        case .stored, .page, .end, .sleepers, .feed, .cursor, .claim, .notUnderstood:
            carryOut(courier.misunderstood(), now)
        }
    }

    private mutating func verified(_ answer: ArchiveAnswer, _ now: MonotonicInstant) {
        isVerifying = false
        switch answer {
        case .process(let process):
            mustVerify = false
            let lost = stored.map(\.number).filter { items[$0]?.process != process }
            stored.removeAll { items[$0.number]?.process != process }
            for number in lost { storeAgain(number, now) }
            send(now)
        case .failed(.functionMissing): carryOut(courier.libraryMissing(now: now), now)
        case .failed(let failure): tell(CommandLogFault(failure, from: redis))
        case .stored, .page, .end, .sleepers, .feed, .cursor, .claim, .notUnderstood:
            carryOut(courier.misunderstood(), now)
        }
    }

    // MARK: - Time

    /// Called every ``LogTimes/tick``.
    package mutating func tick(now: MonotonicInstant) {
        carryOut(courier.tick(now: now, times), now)
        prove(now)
        send(now)
        while let number = reads.first,
            items[number].map({ now.duration(since: $0.askedAt) >= times.connecting }) ?? true
        {
            reads.removeFirst()
            finish(number, .failure(ArchiveFault("\(fault ?? courier.silence)")))
        }
    }
}
