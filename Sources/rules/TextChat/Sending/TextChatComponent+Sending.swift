import SignalingProtocol

/// The sending side of a component's state.
struct SendingState {
    var queue = SendQueue()
    /// Callers that wait for the outcome of a message, by message. Each looks again when it is woken.
    var waiters: [LocalID: [Int: AsyncStream<Void>.Continuation]] = [:]
    var lastWaiter = 0
    /// The component's actor, from the first message on. Weak, because the actor may own the component.
    weak var actor: (any Actor)?
}

extension TextChatComponent {
    // MARK: Before sending

    /// Whether the draft can be sent, as far as the component knows; the delegate may still refuse it.
    public var canSend: Bool { refusal() == nil }

    /// Why the draft cannot be sent. Nil if it can, unless the delegate refuses it.
    ///
    /// The component checks in this order: blank, too long, too long as a signal, not connected, restricted, too many
    /// waiting. A ``restriction`` counts as of the last call that had a time.
    public func refusal() -> SendRefusal? {
        refusal(of: message(now: Self.sampleTime, localID: Self.sampleID, state: .sending), via: channel)
    }

    // MARK: Sending

    /// Queues the draft as a message and returns at once; nil: queued. The row is then shown, and the draft is empty.
    ///
    /// The component itself sends queued messages through the ``channel``, one at a time, in the order in which they
    /// were written, and marks each row as sent or failed. A failed message holds back those behind it
    /// (CHAT-8), until ``retry(_:isolation:)`` sends it, ``discard(_:)`` removes it, or ``passFailed()`` lets the
    /// others pass. ``cancel(_:)`` withdraws a message that has not left. Without a channel the delegate sends.
    ///
    /// - Parameters:
    ///   - now: the date of the message.
    ///   - localID: a new name for the message. The text is sent as it stands.
    ///   - isolation: the actor of the component.
    public func enqueue(
        now: WallTime, localID: LocalID, isolation: isolated any Actor = #isolation
    ) -> SendRefusal? {
        if let refusal = show(now: now, localID: localID, through: channel) { return refusal }
        drive(on: isolation)
        return nil
    }

    /// Queues the draft as ``enqueue(now:localID:isolation:)`` does, and waits for the outcome.
    ///
    /// It never waits for the user: behind a failed message it returns ``SendResult/heldBack(by:)``, and the message
    /// stays queued.
    ///
    /// Cancelling the task ends the wait at once:
    /// - before the call: the result is ``SendRefusal/cancelled``, and the draft stays;
    /// - while the message is queued: it is withdrawn, as by ``cancel(_:)``;
    /// - after it has left: the result is ``SendResult/stillSending``, and the row shows the outcome later.
    public func send(
        now: WallTime, localID: LocalID, isolation: isolated any Actor = #isolation
    ) async -> SendResult {
        if Task.isCancelled { return .refused(.cancelled) }
        if let refusal = enqueue(now: now, localID: localID) { return .refused(refusal) }
        return await delivery(of: localID)
    }

    /// Waits until a message of the user is sent, failed or discarded, also while a failed message holds it back.
    /// Returns at once if it is not being sent. Cancelling the task ends the wait and does nothing to the message.
    public func outcome(of localID: LocalID) async -> SendResult {
        while timeline.ownMessage(localID)?.state == .sending {
            guard await nextChange(of: localID) else { break }
        }
        return knownOutcome(localID)
    }

    /// Withdraws a message that is queued and has not left. Its row has failed with ``ChatMessage/Failure/cancelled``
    /// and waits for ``retry(_:isolation:)`` or ``discard(_:)``. It holds back no other message: those behind it are
    /// sent.
    ///
    /// - Returns: whether the message was withdrawn. A message that has left cannot be recalled.
    @discardableResult
    public func cancel(_ localID: LocalID) -> Bool {
        guard sending.queue.withdraw(localID) else { return false }
        stop(localID)
        tell(timeline.fail(localID, .cancelled))
        wakeWaiters(localID)
        startNext()
        return true
    }

    /// Passes the draft to the ``delegate``, even if there is a channel, and waits for nothing: OpenTok's Send button.
    /// A message that the delegate accepts is shown as sent.
    public func submit(now: WallTime, localID: LocalID) -> SendResult {
        show(now: now, localID: localID, through: nil).map { .refused($0) } ?? .sent
    }

    /// Sends a failed message again, as the same row at the same index, and waits for the outcome. Any other message
    /// stays as it is. Cancelling the task does the same as for ``send(now:localID:isolation:)``.
    ///
    /// If the first attempt arrived after all, receivers recognize the second by its local ID and show one row. Bare
    /// text has no local ID, so they show two.
    public func retry(_ localID: LocalID, isolation: isolated any Actor = #isolation) async -> SendResult {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return knownOutcome(localID) }
        if Task.isCancelled { return .refused(.cancelled) }
        guard isConnected || outbox != nil else { return .refused(.notConnected) }
        tell(timeline.retry(localID))
        sending.queue.retry(localID)
        resume(localID)
        drive(on: isolation)
        return await delivery(of: localID)
    }

    /// Removes a failed message. Any other message stays.
    @discardableResult
    public func discard(_ localID: LocalID) -> [TimelineChange] {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return [] }
        sending.queue.remove(localID)
        release(localID, seq: nil)
        echoes.forget(localID)
        let changes = tell(timeline.discard(localID))
        startNext()
        return changes
    }

    /// The failed message that holds back those behind it; see ``passFailed()``.
    public var obstacle: LocalID? { sending.queue.obstacle }

    /// Lets the messages behind failed ones pass.
    public func passFailed() {
        sending.queue.passFailed()
        startNext()
    }

    // MARK: Rows

    // Samples with the same length in a signal as the real values.
    private static let sampleID = LocalID("0000000000000000")
    private static let sampleTime = WallTime(milliseconds: 1_700_000_000_000)

    var isConnected: Bool { !hasEnded && channel?.connectionId != nil }

    private func message(now: WallTime, localID: LocalID, state: ChatMessage.State) -> ChatMessage {
        ChatMessage(
            text: draft, senderID: senderID ?? channel?.connectionId?.rawValue, senderUser: channel?.user,
            senderAlias: senderAlias, sentAt: now, receivedAt: now, localID: localID, direction: .sent, state: state,
            // Submitting may send one more typing signal, so check the length with its number.
            typingN: typing.typingN.map { $0 + 1 })
    }

    private func refusal(of message: ChatMessage, via channel: (any SignalChannel)?) -> SendRefusal? {
        if let refusal = composer.refusal { return refusal }
        guard channel != nil else { return delegate == nil ? .notConnected : nil }
        let excess = (wireForm.signal(for: message).data?.utf16.count ?? 0) - Limits.dataLength
        if excess > 0 { return .signalTooLong(excess: excess) }
        // With an outbox a message may wait for a connection.
        if !isConnected, outbox == nil { return .notConnected }
        if let restriction { return .restricted(restriction) }
        return sending.queue.isFull ? .tooManyWaiting : nil
    }

    /// Shows the draft as a row, unless it is refused.
    private func show(now: WallTime, localID: LocalID, through channel: (any SignalChannel)?) -> SendRefusal? {
        noteRestriction(now)
        var message = message(now: now, localID: localID, state: channel == nil ? .sent : .sending)
        if let refusal = refusal(of: message, via: channel) { return refusal }
        if timeline.ownMessage(localID) != nil { return .localIDTaken }
        message.typingN = typing.typingN
        if let delegate, !delegate.onMessageReadyToSend(message) { return .byDelegate }
        composer.clear()
        typing.handle(.messageSubmitted)
        message.typingN = typing.typingN
        if channel == nil {
            // The delegate chooses the form, so the echo may be bare text.
            echoes.expectBare(localID, text: message.text)
            tell(timeline.insert(message, now: now))
        } else {
            sending.queue.append(localID)
            tell(timeline.appendPending(message, now: now))
            keep(message)
        }
        tellDraft()
        onActivity?(.messageSubmitted(localID))
        return nil
    }

    // MARK: The queue

    /// From now on the component sends queued messages by itself, on this actor.
    private func drive(on isolation: isolated any Actor) {
        sending.actor = isolation
        startNext()
    }

    /// Sends the next message a moment later, if it can be sent now.
    func startNext() {
        guard sending.queue.next != nil, let actor = sending.actor else { return }
        enter(actor)
    }

    /// The caller is on the component's actor already, but cannot name it.
    private func enter(_ actor: some Actor) {
        nonisolated(unsafe) let component = self
        actor.assumeIsolated { actor in component.scheduleTransmission(isolation: actor) }
    }

    private func scheduleTransmission(isolation: isolated any Actor) {
        Task { [weak self] in self?.transmitNext(on: isolation) }
    }

    private func transmitNext(on isolation: isolated any Actor) {
        guard let channel, let localID = sending.queue.next, var message = timeline.ownMessage(localID) else { return }
        if outbox != nil, !isConnected { return }
        sending.queue.start(localID)
        if let connection = channel.connectionId { enter(connection) }
        guard handOver(localID, to: channel) else { return fail(localID, .notSaved) }
        // It was written without a connection.
        message.senderID = message.senderID ?? channel.connectionId?.rawValue
        if wireForm == .bareText { echoes.expectBare(localID, text: message.text) }
        let request = wireForm.signal(for: message)
        Task {
            _ = isolation
            do throws(SignalingError) {
                let seq = try await channel.send(request)
                self.settle(localID, seq: seq)
            } catch {
                self.sendFailed(localID, error)
            }
        }
    }

    private func sendFailed(_ localID: LocalID, _ error: SignalingError) {
        // The echo may have arrived without the acknowledgement. Then the message is sent.
        guard timeline.ownMessage(localID)?.state == .sending else { return }
        // The answer is lost with the connection, or with the server's memory of it (RES-9).
        if outbox != nil, error.code == .notConnected || error.code == .illegalState { return doubt(localID) }
        // A refused message has no echo; one that was lost with the connection may still have one.
        if error.code != .notConnected { echoes.forget(localID) }
        fail(localID, .error(error))
    }

    private func fail(_ localID: LocalID, _ failure: ChatMessage.Failure) {
        sending.queue.fail(localID)
        stop(localID)
        tell(timeline.fail(localID, failure))
        // It holds back those behind it now, so their callers look again, too.
        for waiting in sending.waiters.keys { wakeWaiters(waiting) }
        startNext()
    }

    /// Handles an acknowledgement or an echo: the message is in the session's log.
    @discardableResult
    func settle(_ localID: LocalID, seq: Seq?) -> [TimelineChange] {
        let changes = tell(timeline.confirm(localID, seq: seq))
        noteSettled(localID, seq: seq)
        startNext()
        return changes
    }

    /// The message is shown as sent.
    func noteSettled(_ localID: LocalID, seq: Seq? = nil) {
        sending.queue.remove(localID)
        release(localID, seq: seq)
        wakeWaiters(localID)
    }

    /// The connection has ended: messages that were not started have failed.
    func failWaiting() -> [TimelineChange] {
        sending.queue.isPaused = false
        // In an outbox they wait for the next connection.
        if outbox != nil { return [] }
        let error = SignalingError(.notConnected, "the connection has ended")
        let failed = sending.queue.failWaiting()
        let changes = tell(failed.flatMap { timeline.fail($0, .error(error)) })
        for localID in failed { wakeWaiters(localID) }
        return changes
    }

    // MARK: Waiting

    /// Waits for the outcome of a message, but not behind a failed message, and withdraws it if the task is cancelled.
    private func delivery(of localID: LocalID) async -> SendResult {
        while timeline.ownMessage(localID)?.state == .sending {
            if let obstacle = sending.queue.obstacle(before: localID) { return .heldBack(by: obstacle) }
            guard await nextChange(of: localID) else {
                cancel(localID)
                break
            }
        }
        return knownOutcome(localID)
    }

    /// Waits until the message may have changed. False if the task was cancelled meanwhile.
    private func nextChange(of localID: LocalID) async -> Bool {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        sending.lastWaiter += 1
        let number = sending.lastWaiter
        sending.waiters[localID, default: [:]][number] = continuation
        for await _ in changes { return true }
        sending.waiters[localID]?[number] = nil
        if sending.waiters[localID]?.isEmpty == true { sending.waiters[localID] = nil }
        return false
    }

    func wakeWaiters(_ localID: LocalID) {
        guard let waiters = sending.waiters.removeValue(forKey: localID) else { return }
        for waiter in waiters.values { waiter.yield() }
    }

    private func knownOutcome(_ localID: LocalID) -> SendResult {
        switch timeline.ownMessage(localID)?.state {
        case .sent: .sent
        case .sending: .stillSending
        case .failed(let failure): .failed(failure)
        case nil: .discarded
        }
    }
}
