import SignalingProtocol

extension TextChatComponent {
    // MARK: Before sending

    /// Whether the draft can be sent, as far as the component knows; the delegate may still refuse it.
    public var canSend: Bool { refusal() == nil }

    /// Why the draft cannot be sent. Nil if it can, unless the delegate refuses it.
    ///
    /// The component checks in this order: blank, too long, too long as a signal, not connected, restricted, too many
    /// waiting. A ``restriction`` counts as of the last call that had a time.
    public func refusal() -> SendRefusal? {
        rules.refusal(
            of: rules.message(
                now: Self.sampleTime, localID: Self.sampleID, state: channel == nil ? .sent : .sending,
                typingN: typing.typingN),
            hasDelegate: delegate != nil)
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
        actor = isolation
        return submit(now: now, localID: localID, state: channel == nil ? .sent : .sending)
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
        await wait { $0.outcome(of: localID) } ?? knownOutcome(localID)
    }

    /// Withdraws a message that is queued and has not left. Its row has failed with ``ChatMessage/Failure/cancelled``
    /// and waits for ``retry(_:isolation:)`` or ``discard(_:)``. It holds back no other message: those behind it are
    /// sent.
    ///
    /// - Returns: whether the message was withdrawn. A message that has left cannot be recalled.
    @discardableResult
    public func cancel(_ localID: LocalID) -> Bool {
        guard let outcome = rules.cancel(localID) else { return false }
        carryOut(outcome)
        return true
    }

    /// Passes the draft to the ``delegate``, even if there is a channel, and waits for nothing: OpenTok's Send button.
    /// A message that the delegate accepts is shown as sent.
    public func submit(now: WallTime, localID: LocalID) -> SendResult {
        submit(now: now, localID: localID, state: .sent).map { .refused($0) } ?? .sent
    }

    /// Sends a failed message again, as the same row at the same index, and waits for the outcome. Any other message
    /// stays as it is. Cancelling the task does the same as for ``send(now:localID:isolation:)``.
    ///
    /// If the first attempt arrived after all, receivers recognize the second by its local ID and show one row. Bare
    /// text has no local ID, so they show two.
    public func retry(_ localID: LocalID, isolation: isolated any Actor = #isolation) async -> SendResult {
        guard rules.hasFailed(localID) else { return knownOutcome(localID) }
        if Task.isCancelled { return .refused(.cancelled) }
        guard rules.isUp || rules.outbox != nil else { return .refused(.notConnected) }
        actor = isolation
        carryOut(rules.retry(localID))
        return await delivery(of: localID)
    }

    /// Removes a failed message. Any other message stays.
    @discardableResult
    public func discard(_ localID: LocalID) -> [TimelineChange] { carryOut(rules.discard(localID)) }

    /// The failed message that holds back those behind it; see ``passFailed()``.
    public var obstacle: LocalID? { rules.queue.obstacle }

    /// Lets the messages behind failed ones pass.
    public func passFailed() {
        rules.queue.passFailed()
        proceed()
    }

    // MARK: Steps

    // Samples with the same length in a signal as the real values.
    private static let sampleID = LocalID("0000000000000000")
    private static let sampleTime = WallTime(milliseconds: 1_700_000_000_000)

    /// Shows the draft as a row, unless it is refused.
    private func submit(now: WallTime, localID: LocalID, state: ChatMessage.State) -> SendRefusal? {
        noteRestriction(now)
        var message = rules.message(now: now, localID: localID, state: state, typingN: typing.typingN)
        if let refusal = rules.refusal(of: message, hasDelegate: delegate != nil) { return refusal }
        if timeline.ownMessage(localID) != nil { return .localIDTaken }
        message.typingN = typing.typingN
        if let delegate, !delegate.onMessageReadyToSend(message) { return .byDelegate }
        rules.composer.clear()
        typing.handle(.messageSubmitted)
        message.typingN = typing.typingN
        carryOut(rules.submit(message, localID, now: now))
        return nil
    }

    /// Waits for the outcome of a message, but not behind a failed message, and withdraws it if the task is cancelled.
    private func delivery(of localID: LocalID) async -> SendResult {
        if let result = await wait({ $0.delivery(of: localID) }) { return result }
        cancel(localID)
        return knownOutcome(localID)
    }

    private func knownOutcome(_ localID: LocalID) -> SendResult { rules.outcome(of: localID) ?? .stillSending }
}
