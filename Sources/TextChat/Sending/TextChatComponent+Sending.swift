import SignalingProtocol

/// The sending side of a component's state.
struct SendingState {
    var queue = SendQueue()
    /// Callers that wait for the outcome of a message.
    var waiters: [LocalID: [CheckedContinuation<Void, Never>]] = [:]
    /// Wakes the task that starts the next message; nil until the first message.
    var turns: AsyncStream<Void>.Continuation?

    func finish() { turns?.finish() }
}

extension TextChatComponent {
    // MARK: Before sending

    /// Whether the draft can be sent, as far as the component knows; the delegate may still refuse it.
    public var canSend: Bool { refusal() == nil }

    /// Why the draft cannot be sent. Nil if it can, unless the delegate refuses it.
    ///
    /// The component checks in this order: blank, too long, too long as a signal, not connected, too many waiting.
    public func refusal() -> SendRefusal? {
        refusal(of: message(now: Self.sampleTime, localID: Self.sampleID, state: .sending), via: channel)
    }

    // MARK: Sending

    /// Queues the draft as a message and returns at once; nil: queued. The row is then shown, and the draft is empty.
    ///
    /// The component itself sends queued messages through the ``channel``, one at a time, in the order in which they
    /// were written, and marks each row as sent or failed. A failed message holds back those behind it, until
    /// ``retry(_:isolation:)`` sends it, ``discard(_:)`` removes it, or ``passFailed()`` lets the others pass. Without
    /// a channel the delegate sends.
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
    public func send(
        now: WallTime, localID: LocalID, isolation: isolated any Actor = #isolation
    ) async -> SendResult {
        if let refusal = enqueue(now: now, localID: localID) { return .refused(refusal) }
        return await outcome(of: localID)
    }

    /// Waits until a message of the user is sent, failed or discarded. Returns at once if it is not being sent.
    public func outcome(of localID: LocalID) async -> SendResult {
        while timeline.ownMessage(localID)?.state == .sending {
            await withCheckedContinuation { sending.waiters[localID, default: []].append($0) }
        }
        return knownOutcome(localID)
    }

    /// Passes the draft to the ``delegate``, even if there is a channel, and waits for nothing: OpenTok's Send button.
    /// A message that the delegate accepts is shown as sent.
    public func submit(now: WallTime, localID: LocalID) -> SendResult {
        show(now: now, localID: localID, through: nil).map { .refused($0) } ?? .sent
    }

    /// Sends a failed message again, as the same row at the same index, and waits for the outcome. Any other message
    /// stays as it is.
    ///
    /// If the first attempt arrived after all, receivers recognize the second by its local ID and show one row. Bare
    /// text has no local ID, so they show two.
    public func retry(_ localID: LocalID, isolation: isolated any Actor = #isolation) async -> SendResult {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return knownOutcome(localID) }
        guard isConnected else { return .refused(.notConnected) }
        tell(timeline.retry(localID))
        sending.queue.retry(localID)
        drive(on: isolation)
        return await outcome(of: localID)
    }

    /// Removes a failed message. Any other message stays.
    @discardableResult
    public func discard(_ localID: LocalID) -> [TimelineChange] {
        guard timeline.ownMessage(localID)?.hasFailed == true else { return [] }
        sending.queue.remove(localID)
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

    private var isConnected: Bool { !hasEnded && channel?.connectionID != nil }

    private func message(now: WallTime, localID: LocalID, state: ChatMessage.State) -> ChatMessage {
        ChatMessage(
            text: draft, senderID: senderID ?? channel?.connectionID?.rawValue, senderAlias: senderAlias,
            sentAt: now, receivedAt: now, localID: localID, direction: .sent, state: state,
            // Submitting may send one more typing signal, so check the length with its number.
            typingN: typing.typingN.map { $0 + 1 })
    }

    private func refusal(of message: ChatMessage, via channel: (any SignalChannel)?) -> SendRefusal? {
        if let refusal = composer.refusal { return refusal }
        guard channel != nil else { return delegate == nil ? .notConnected : nil }
        let excess = (wireForm.signal(for: message).data?.utf16.count ?? 0) - Limits.dataLength
        if excess > 0 { return .signalTooLong(excess: excess) }
        if !isConnected { return .notConnected }
        return sending.queue.isFull ? .tooManyWaiting : nil
    }

    /// Shows the draft as a row, unless it is refused.
    private func show(now: WallTime, localID: LocalID, through channel: (any SignalChannel)?) -> SendRefusal? {
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
        }
        tellDraft()
        onActivity?(.messageSubmitted(localID))
        return nil
    }

    // MARK: The queue

    /// Starts the task that sends queued messages, on the component's actor. The task does not keep the component
    /// alive, and ends with it.
    private func drive(on isolation: isolated any Actor) {
        if sending.turns == nil {
            let (turns, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            sending.turns = continuation
            Task { [weak self] in
                for await _ in turns { self?.transmitNext(on: isolation) }
            }
        }
        startNext()
    }

    /// Wakes the task, in case the next message can be sent now.
    func startNext() { sending.turns?.yield() }

    private func transmitNext(on isolation: isolated any Actor) {
        guard let channel, let localID = sending.queue.next, let message = timeline.ownMessage(localID) else { return }
        sending.queue.start(localID)
        if echoes.note(channel.connectionID) { timeline.startEra() }
        if wireForm == .bareText { echoes.expectBare(localID, text: message.text) }
        let request = wireForm.signal(for: message)
        Task {
            _ = isolation
            do throws(SignalingError) {
                let seq = try await channel.send(request)
                self.settle(localID, seq: seq)
            } catch {
                self.fail(localID, error)
            }
        }
    }

    private func fail(_ localID: LocalID, _ error: SignalingError) {
        // The echo may have arrived without the acknowledgement. Then the message is sent.
        guard timeline.ownMessage(localID)?.state == .sending else { return }
        // A refused message has no echo; one that was lost with the connection may still have one.
        if error.code != .notConnected { echoes.forget(localID) }
        sending.queue.fail(localID)
        tell(timeline.fail(localID, .error(error)))
        wakeWaiters(localID)
        startNext()
    }

    /// Handles an acknowledgement or an echo: the message is in the session's log.
    @discardableResult
    func settle(_ localID: LocalID, seq: Seq?) -> [TimelineChange] {
        let changes = tell(timeline.confirm(localID, seq: seq))
        sending.queue.remove(localID)
        wakeWaiters(localID)
        startNext()
        return changes
    }

    /// The connection has ended: messages that were not started have failed.
    func failWaiting() -> [TimelineChange] {
        sending.queue.isPaused = false
        let error = SignalingError(.notConnected, "the connection has ended")
        let failed = sending.queue.failWaiting()
        let changes = tell(failed.flatMap { timeline.fail($0, .error(error)) })
        for localID in failed { wakeWaiters(localID) }
        return changes
    }

    private func wakeWaiters(_ localID: LocalID) {
        for waiter in sending.waiters.removeValue(forKey: localID) ?? [] { waiter.resume() }
    }

    private func knownOutcome(_ localID: LocalID) -> SendResult {
        switch timeline.ownMessage(localID)?.state {
        case .sent, .sending: .sent
        case .failed(let failure): .failed(failure)
        case nil: .discarded
        }
    }
}
