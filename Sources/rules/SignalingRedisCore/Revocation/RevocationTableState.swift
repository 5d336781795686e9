import SignalingCore
import SignalingProtocol

/// What all nodes know of revocations (TOK-10), as one node sees it: its link to Redis, and its copy. Events and the
/// present moment go in, effects come out.
///
/// A message on the nodes' channel says that something has changed; a look every few seconds finds what such a message
/// would have said that was lost. The copy stays while Redis is away. If Redis has forgotten, each node puts back what it
/// knows before it reads again.
package struct RevocationTableState {
    private enum Service {
        /// Next: `restoring`.
        case reading
        /// Redis has forgotten, and gets back what this node knows: so many answers are missing. Next: `reading`.
        case restoring(process: String, answersLeft: Int)
    }

    /// What an answer is about.
    package enum Subject: Equatable {
        case index
        case rows(project: String)
        case restoring
        case change(UInt64)
    }

    package enum Effect: Equatable {
        case connect
        case disconnect
        /// `libraryLoaded` follows.
        case loadLibrary
        case send(Subject, RevocationCall)
        /// ``rows`` have changed.
        case changed
        case answer(UInt64, Result<Outcome, Failure>)
        /// The copy is complete for the first time.
        case opened
        /// Why Redis cannot be read; `nil` when it can again.
        case note(CommandLogFault?)
    }

    /// What became of a change.
    package enum Outcome: Equatable {
        case raised(Int64)
        case full
        case removed(Bool)
    }

    package enum Failure: Error, Equatable {
        /// Redis was not asked, or has refused.
        case notKept
        /// Redis was asked, and the answer is missing.
        case undecided
    }

    /// The rows of one call that puts them back.
    private static let restoredRowCount = 500

    /// The rows of each project.
    package private(set) var rows: [String: [String: Int64]] = [:]
    private var changeCounts: [String: Int64] = [:]
    /// The process of Redis that has the rows; `nil` before the first index.
    private var process: String?
    private var isOpen = false
    private var readingProjects: Set<String> = []
    private var isAskingForIndex = false
    /// Whether something has changed since the index was asked for.
    private var mustAskAgain = false
    private var changes: [UInt64: RevocationCall] = [:]
    private var lastNumber: UInt64 = 0

    private let times: LogTimes
    private let limit: Int
    private var courier: RedisCourier<Service>
    private var random: NameGenerator
    private var nextCheck = MonotonicInstant(nanoseconds: .min)
    private var effects: [Effect] = []

    /// - Parameters:
    ///   - redis: the address, without its password.
    ///   - limit: the most rows of a project.
    ///   - seed: random. It spreads the attempts of several nodes to connect.
    package init(redis: String, limit: Int, times: LogTimes, seed: UInt64) {
        courier = RedisCourier(redis: redis)
        self.limit = limit
        self.times = times
        random = NameGenerator(seed: seed)
    }

    package mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: - Changes

    /// Adds a row, or raises its number. `answer` follows.
    ///
    /// - Returns: the number of the answer.
    package mutating func raise(_ row: RevocationCall.Row, of project: String, now: MonotonicInstant) -> UInt64 {
        change(.raise(project: project, rows: [row], limit: limit), now)
    }

    /// The same for the removal of a row.
    package mutating func remove(_ subject: String, of project: String, now: MonotonicInstant) -> UInt64 {
        change(.remove(project: project, subject: subject), now)
    }

    private mutating func change(_ call: RevocationCall, _ now: MonotonicInstant) -> UInt64 {
        lastNumber += 1
        guard isOpen, isReading else {
            effects.append(.answer(lastNumber, .failure(.notKept)))
            return lastNumber
        }
        changes[lastNumber] = call
        send(.change(lastNumber), call, now)
        return lastNumber
    }

    // MARK: - The link

    private var isReading: Bool { if case .reading = courier.service { true } else { false } }

    package mutating func linkReady(now: MonotonicInstant) {
        if courier.begin(.reading) { askForIndex(now) }
    }

    package mutating func linkLost(_ fault: CommandLogFault, now: MonotonicInstant) {
        guard courier.lost(now: now, times, &random) else { return }
        tell(fault)
        (isAskingForIndex, mustAskAgain, readingProjects) = (false, false, [])
        failChanges()
    }

    private mutating func failChanges() {
        for number in changes.keys.sorted() { effects.append(.answer(number, .failure(.undecided))) }
        changes = [:]
    }

    /// The answer to an effect `loadLibrary`.
    package mutating func libraryLoaded(_ failure: RedisFailure?, now: MonotonicInstant) {
        courier.noteAnswer(now: now)
        if let failure { return carryOut(.giveUp(CommandLogFault(failure, from: courier.redis)), now) }
        guard courier.libraryLoaded() else { return }
        courier.change(to: .reading)
        askForIndex(now)
        for (number, call) in changes.sorted(by: { $0.key < $1.key }) { send(.change(number), call, now) }
    }

    package mutating func close() {
        if courier.close() { effects.append(.disconnect) }
        failChanges()
    }

    private mutating func carryOut(_ step: RedisCourier<Service>.Step?, _ now: MonotonicInstant) {
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

    /// Another node has changed something.
    package mutating func heardNews(now: MonotonicInstant) { askForIndex(now) }

    // MARK: - Asking

    private mutating func send(_ subject: Subject, _ call: RevocationCall, _ now: MonotonicInstant) {
        courier.noteCall(now: now)
        effects.append(.send(subject, call))
    }

    private mutating func askForIndex(_ now: MonotonicInstant) {
        guard isReading else { return }
        nextCheck = now.advanced(by: times.check)
        guard !isAskingForIndex else {
            mustAskAgain = true
            return
        }
        isAskingForIndex = true
        mustAskAgain = false
        send(.index, .index, now)
    }

    // MARK: - Answers

    package mutating func answered(_ subject: Subject, _ answer: RevocationAnswer, now: MonotonicInstant) {
        courier.noteAnswer(now: now)
        switch (subject, answer) {
        case (_, .notUnderstood): carryOut(courier.misunderstood(), now)
        case (_, .failed(let failure)): failed(subject, failure, now)
        case (.index, .index(let process, let counts)): indexRead(process, counts, now)
        case (.rows(let project), .rows(let rows, let count)): rowsRead(rows, count, of: project, now)
        case (.restoring, .raised), (.restoring, .full): restored(now)
        case (.change(let number), .raised(let value)): changed(number, value)
        case (.change(let number), .full): finish(number, .success(.full))
        case (.change(let number), .removed(let isRemoved)): removed(number, isRemoved)
        case (.index, _), (.rows, _), (.restoring, _), (.change, _):
            carryOut(courier.misunderstood("an answer to another question"), now)
        }
    }

    private mutating func failed(_ subject: Subject, _ failure: RedisFailure, _ now: MonotonicInstant) {
        switch subject {
        case .index: isAskingForIndex = false
        case .rows(let project): readingProjects.remove(project)
        case .restoring: courier.change(to: .reading)
        case .change: break
        }
        if failure == .functionMissing { return carryOut(courier.libraryMissing(now: now), now) }
        switch subject {
        case .change(let number): finish(number, .failure(.notKept))
        // The next look repeats it.
        case .index, .rows, .restoring: tell(CommandLogFault(failure, from: courier.redis))
        }
    }

    private mutating func indexRead(_ process: String, _ counts: [String: Int64], _ now: MonotonicInstant) {
        isAskingForIndex = false
        let forgotten = rows.filter { !$0.value.isEmpty && counts[$0.key] == nil }
        if let known = self.process, known != process || !forgotten.isEmpty { return restore(process, now) }
        self.process = process
        for (project, count) in counts.sorted(by: { $0.key < $1.key }) where changeCounts[project] != count {
            if readingProjects.insert(project).inserted { send(.rows(project: project), .rows(project: project), now) }
        }
        settle(now)
    }

    private mutating func rowsRead(
        _ new: [String: Int64], _ count: Int64, of project: String, _ now: MonotonicInstant
    ) {
        readingProjects.remove(project)
        // Redis was emptied after the index had been read. The next index says so, and the rows are put back.
        if count == 0, rows[project] != nil { return askForIndex(now) }
        changeCounts[project] = count
        if rows[project] ?? [:] != new {
            rows[project] = new.isEmpty ? nil : new
            effects.append(.changed)
        }
        settle(now)
    }

    private mutating func settle(_ now: MonotonicInstant) {
        guard readingProjects.isEmpty, !isAskingForIndex else { return }
        courier.noteUse()
        tell(nil)
        if !isOpen {
            isOpen = true
            effects.append(.opened)
        }
        if mustAskAgain { askForIndex(now) }
    }

    private mutating func changed(_ number: UInt64, _ value: Int64) {
        if case .raise(let project, let changed, _)? = changes[number], let row = changed.first,
            rows[project]?[row.subject] != value
        {
            rows[project, default: [:]][row.subject] = value
            effects.append(.changed)
        }
        finish(number, .success(.raised(value)))
    }

    private mutating func removed(_ number: UInt64, _ isRemoved: Bool) {
        if case .remove(let project, let subject)? = changes[number],
            rows[project]?.removeValue(forKey: subject) != nil
        {
            if rows[project]?.isEmpty == true { rows[project] = nil }
            effects.append(.changed)
        }
        finish(number, .success(.removed(isRemoved)))
    }

    private mutating func finish(_ number: UInt64, _ result: Result<Outcome, Failure>) {
        if changes.removeValue(forKey: number) != nil { effects.append(.answer(number, result)) }
    }

    // MARK: - Putting back

    /// Redis was restarted, emptied or replaced, and may have forgotten. A revocation that was taken back in its last
    /// second may return; one that holds is never lost.
    private mutating func restore(_ process: String, _ now: MonotonicInstant) {
        var calls: [RevocationCall] = []
        for (project, rows) in rows.sorted(by: { $0.key < $1.key }) {
            let all = rows.sorted { $0.key < $1.key }.map { RevocationCall.Row($0.key, $0.value) }
            for start in stride(from: 0, to: all.count, by: Self.restoredRowCount) {
                let part = Array(all[start..<min(start + Self.restoredRowCount, all.count)])
                calls.append(.raise(project: project, rows: part, limit: limit))
            }
        }
        courier.change(to: .restoring(process: process, answersLeft: calls.count + 1))
        for call in calls { send(.restoring, call, now) }
        restored(now)
    }

    private mutating func restored(_ now: MonotonicInstant) {
        guard case .restoring(let process, let answersLeft) = courier.service else { return }
        if answersLeft > 1 {
            return courier.change(to: .restoring(process: process, answersLeft: answersLeft - 1))
        }
        self.process = process
        changeCounts = [:]
        courier.change(to: .reading)
        askForIndex(now)
    }

    // MARK: - Time

    /// Called every ``LogTimes/tick``.
    package mutating func tick(now: MonotonicInstant) {
        carryOut(courier.tick(now: now, times), now)
        if now >= nextCheck { askForIndex(now) }
    }
}
