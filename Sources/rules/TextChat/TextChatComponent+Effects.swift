import SignalingProtocol

/// The tasks that wait for an outcome. Each looks, and returns whether it waits on.
struct Waiters {
    var all: [Int: (ChatRules) -> Bool] = [:]
    var lastNumber = 0
}

/// How a ``TextChatComponent`` carries out what its ``ChatRules`` say. It alone calls the channel, typing, the storage and
/// the program.
extension TextChatComponent {
    /// Carries out an outcome, and what is due then.
    ///
    /// - Returns: the changes of the rows.
    @discardableResult
    func carryOut(_ outcome: ChatOutcome) -> [TimelineChange] {
        perform(outcome)
        let read = tell(rules.settleReading())
        proceed()
        return outcome.changes + read
    }

    private func perform(_ outcome: ChatOutcome) {
        saveOutbox()
        for input in outcome.typing { typing.handle(input) }
        if let signal = outcome.heard { typing.receive(signal) }
        tell(outcome.changes)
        if outcome.hasNewDraft { tellDraft() }
        if let activity = outcome.activity { onActivity?(activity) }
    }

    /// The next message, the next page, the next question, and tasks that need not wait any more.
    func proceed() {
        if let actor {
            if rules.hasNext { enter(actor) { $0.sendNext(on: $1) } }
            if let errand = rules.nextPage() {
                enter(actor) { $0.read(errand.request, on: $1) { $0.answered(errand, $1) } }
            }
            follow(rules.inquire())
            if typing.isRunning, let seq = rules.nextMarker(typing.now) {
                enter(actor) { $0.send(marker: seq, on: $1) }
            }
        }
        typing.reminder = actor == nil ? nil : rules.markerDeadline
        tellHistory()
        wakeWaiters()
    }

    func noteRestriction(_ now: WallTime) {
        if let outcome = rules.noteRestriction(now) { perform(outcome) }
    }

    /// Stores the outbox if it has changed.
    ///
    /// - Returns: whether it is stored.
    @discardableResult
    private func saveOutbox() -> Bool {
        guard let storage, let bytes = rules.outbox?.unsaved() else { return outboxError == nil }
        let before = outboxError
        do {
            try storage.write(bytes)
            outboxError = nil
        } catch {
            outboxError = "\(error)"
        }
        if before != outboxError { onActivity?(.outboxChanged) }
        return outboxError == nil
    }

    // MARK: The channel

    /// The caller is on the component's actor already, but cannot name it.
    private func enter(
        _ actor: some Actor, _ work: (TextChatComponent, isolated any Actor) -> Void
    ) {
        nonisolated(unsafe) let (component, work) = (self, work)
        actor.assumeIsolated { actor in work(component, actor) }
    }

    /// Sends the next message a moment later, if it can be sent then.
    private func sendNext(on isolation: isolated any Actor) {
        Task { [weak self] in
            _ = isolation
            guard let self, let channel, let (localID, request) = rules.startNext() else { return }
            guard saveOutbox() else {
                carryOut(rules.notSaved(localID))
                return
            }
            do throws(SignalingError) {
                let seq = try await channel.send(request)
                carryOut(rules.sent(localID, .success(seq)))
            } catch {
                carryOut(rules.sent(localID, .failure(error)))
            }
        }
    }

    /// Reads a page of the history, without keeping the component alive.
    private func read(
        _ request: HistoryRequest, on isolation: isolated any Actor,
        _ answered: @escaping (TextChatComponent, Result<HistoryPage, SignalingError>) -> Void
    ) {
        guard let channel else { return }
        Task { [weak self] in
            _ = isolation
            let answer: Result<HistoryPage, SignalingError>
            do throws(SignalingError) {
                answer = .success(try await channel.history(request))
            } catch {
                answer = .failure(error)
            }
            if let self { answered(self, answer) }
        }
    }

    private func send(marker: Seq, on isolation: isolated any Actor) {
        guard let channel else { return }
        Task { [weak self] in
            _ = isolation
            try? await channel.markRead(through: marker)
            self?.rules.markers.answered(marker)
            self?.proceed()
        }
    }

    /// A page has come, or cannot come.
    func answered(_ errand: HistoryReader.Errand, _ answer: Result<HistoryPage, SignalingError>) {
        carryOut(rules.answered(errand, answer))
    }

    /// The next step of the search for messages of unknown fate.
    private func follow(_ step: OutboxInquiry.Step?) {
        switch step {
        case .read(let request):
            guard let actor, let inquiry = rules.outbox?.inquiry else { return }
            enter(actor) { $0.read(request, on: $1) { $0.follow($0.rules.answered(inquiry, $1)) } }
        case .done(let verdicts): carryOut(rules.decide(verdicts))
        case nil: break
        }
    }

    // MARK: Waiting

    /// Waits until the question has an answer. Nil: the task was cancelled meanwhile.
    func wait<Answer: Sendable>(_ question: @escaping (ChatRules) -> Answer?) async -> Answer? {
        if let result = question(rules) { return result }
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        waiters.lastNumber += 1
        let number = waiters.lastNumber
        waiters.all[number] = { rules in
            guard let result = question(rules) else { return true }
            answer.yield(result)
            return false
        }
        defer { waiters.all[number] = nil }
        for await result in answers { return result }
        return nil
    }

    private func wakeWaiters() {
        // In the order in which they began to wait.
        for number in waiters.all.keys.sorted() where waiters.all[number]?(rules) == false { waiters.all[number] = nil }
    }

    // MARK: The program

    @discardableResult
    func tell(_ changes: [TimelineChange]) -> [TimelineChange] {
        if !changes.isEmpty { updates.yield(.changes(changes)) }
        if toldUnreadCount != unreadCount {
            toldUnreadCount = unreadCount
            updates.yield(.unreadCount(unreadCount))
        }
        return changes
    }

    func tellDraft() { updates.yield(.draft(draft, remaining: remaining)) }

    private func tellHistory() {
        guard rules.history != toldHistory else { return }
        toldHistory = rules.history
        onActivity?(.historyChanged)
    }
}
