import SignalingProtocol

extension ChatRules {
    // MARK: The user's messages

    /// The draft as a message. Its state says who sends it: the channel, or, if it is sent already, the delegate.
    ///
    /// - Parameter typingN: the number of the last typing signal. Submitting may send one more, so the length is checked
    ///   with that number.
    func message(now: WallTime, localID: LocalID, state: ChatMessage.State, typingN: Int64?) -> ChatMessage {
        var message = ChatMessage(
            text: composer.text, senderID: senderID ?? channel?.connectionId?.rawValue, senderUser: channel?.user,
            senderAlias: senderAlias, sentAt: now, receivedAt: now, localID: localID, direction: .sent, state: state,
            typingN: typingN.map { $0 + 1 }, replyTo: replySeq)
        message.stamp.form = wireForm
        return message
    }

    func refusal(of message: ChatMessage, hasDelegate: Bool) -> SendRefusal? {
        if let refusal = composer.refusal { return refusal }
        guard message.state == .sending else { return hasDelegate ? nil : .notConnected }
        let excess = (wireForm.signal(for: message).data?.utf16.count ?? 0) - Limits.dataLength
        if excess > 0 { return .signalTooLong(excess: excess) }
        // With an outbox a message may wait for a connection.
        if !isUp, outbox == nil { return .notConnected }
        if let restriction { return .restricted(restriction) }
        return queue.isFull ? .tooManyWaiting : nil
    }

    /// The message becomes a row, and waits for the channel if that sends it.
    mutating func submit(_ message: ChatMessage, _ localID: LocalID, now: WallTime) -> ChatOutcome {
        var outcome = ChatOutcome(hasNewDraft: true, activity: .messageSubmitted(localID))
        replyRow = nil
        if message.state == .sending {
            queue.append(localID)
            outbox?.contents.append(message)
            outcome.changes = timeline.appendPending(message, now: now)
        } else {
            // The delegate chooses the form, so the echo may be bare text.
            echoes.expectBare(localID, text: message.text)
            outcome.changes = timeline.insert(message, now: now)
        }
        return outcome
    }

    /// Nil: it has left already, or is none.
    mutating func cancel(_ localID: LocalID) -> ChatOutcome? {
        guard queue.withdraw(localID) else { return nil }
        outbox?.contents.set(localID, .stopped)
        return ChatOutcome(changes: timeline.fail(localID, .cancelled))
    }

    func hasFailed(_ localID: LocalID) -> Bool { timeline.ownMessage(localID)?.hasFailed == true }

    /// Of a failed message.
    mutating func retry(_ localID: LocalID) -> ChatOutcome {
        queue.retry(localID)
        outbox?.contents.set(localID, .waiting)
        return ChatOutcome(changes: timeline.retry(localID))
    }

    mutating func discard(_ localID: LocalID) -> ChatOutcome {
        guard hasFailed(localID) else { return ChatOutcome() }
        queue.remove(localID)
        outbox?.contents.remove(localID)
        echoes.forget(localID)
        return ChatOutcome(changes: timeline.discard(localID))
    }

    // MARK: The channel

    /// Whether ``startNext()`` has a message to send.
    var hasNext: Bool { channel != nil && !isReturning && queue.next != nil && (outbox == nil || isUp) }

    /// The message to send now. Store the outbox before it leaves.
    mutating func startNext() -> (localID: LocalID, request: SignalRequest)? {
        guard hasNext, let channel, let localID = queue.next, var message = timeline.ownMessage(localID) else {
            return nil
        }
        queue.start(localID)
        leaving = ChatMessage.Stamp(connection: channel.connectionId, form: wireForm)
        if let connection = channel.connectionId {
            enter(connection)
            handOver(localID, to: channel, connection)
        }
        // It was written without a connection.
        message.senderID = message.senderID ?? channel.connectionId?.rawValue
        if wireForm == .bareText { echoes.expectBare(localID, text: message.text) }
        return (localID, wireForm.signal(for: message))
    }

    /// The answer of the channel.
    mutating func sent(_ localID: LocalID, _ answer: Result<Seq?, SignalingError>) -> ChatOutcome {
        switch answer {
        case .success(let seq): return ChatOutcome(changes: settle(localID, seq: seq, leaving, user: channel?.user))
        case .failure(let error):
            // The echo may have arrived without the acknowledgement. Then the message is sent.
            guard timeline.ownMessage(localID)?.state == .sending else { return ChatOutcome() }
            // The answer is lost with the connection, or with the server's memory of it (RES-9).
            if outbox != nil, error.code == .notConnected || error.code == .illegalState {
                queue.doubt(localID)
                return ChatOutcome()
            }
            // A refused message has no echo; one that was lost with the connection may still have one.
            return fail(localID, .error(error), mayHaveEcho: error.code == .notConnected)
        }
    }

    /// It has not left, since the outbox could not be stored. The stored form says so, too.
    mutating func notSaved(_ localID: LocalID) -> ChatOutcome { fail(localID, .notSaved, mayHaveEcho: false) }

    private mutating func fail(
        _ localID: LocalID, _ failure: ChatMessage.Failure, mayHaveEcho: Bool
    ) -> ChatOutcome {
        if !mayHaveEcho { echoes.forget(localID) }
        queue.fail(localID)
        outbox?.contents.set(localID, .stopped)
        return ChatOutcome(changes: timeline.fail(localID, failure))
    }

    /// The session has the message, as its acknowledgement, its echo or the history states.
    ///
    /// - Parameters:
    ///   - stamp: how the session has got it.
    ///   - user: the user who has sent it; nil: a guest, or unknown.
    mutating func settle(
        _ localID: LocalID, seq: Seq?, _ stamp: ChatMessage.Stamp, user: UserID?
    ) -> [TimelineChange] {
        noteSettled(localID, seq: seq)
        return timeline.confirm(localID, seq: seq) {
            $0.stamp = stamp
            $0.senderUser = user ?? $0.senderUser
        }
    }

    /// The message is shown as sent.
    mutating func noteSettled(_ localID: LocalID, seq: Seq? = nil) {
        queue.remove(localID)
        outbox?.settle(localID, seq: seq)
    }

    /// The connection has ended: messages that were not started have failed. In an outbox they wait for the next one.
    mutating func failWaiting() -> [TimelineChange] {
        if outbox != nil { return [] }
        let error = SignalingError(.notConnected, "the connection has ended")
        return queue.failWaiting().flatMap { timeline.fail($0, .error(error)) }
    }

    // MARK: Outcomes

    /// The outcome of a message; nil while it is being sent.
    func outcome(of localID: LocalID) -> SendResult? {
        switch timeline.ownMessage(localID)?.state {
        case .sent: .sent
        case .sending: nil
        case .failed(let failure): .failed(failure)
        case nil: .discarded
        }
    }

    /// The same for a caller that does not wait behind a failed message.
    func delivery(of localID: LocalID) -> SendResult? {
        outcome(of: localID) ?? queue.obstacle(before: localID).map { .heldBack(by: $0) }
    }
}
