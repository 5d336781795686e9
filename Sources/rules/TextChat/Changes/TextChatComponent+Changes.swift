import SignalingProtocol

/// Changes of messages that the session has, and replies. Nothing of the draft changes, except which message it answers.
extension TextChatComponent {
    // MARK: Editing and deleting

    /// Whether the user may give this row's message another text, as far as is known: it is the user's own, the session
    /// permits it (CHG-3), and nothing keeps the user from writing. A guest's own are those of the present connection.
    public func canEdit(_ id: TimelineRow.ID) -> Bool { rules.refusal(of: .edit, id) == nil }

    /// Whether the user may delete this row's message, as far as is known. What moderators may erase is another matter.
    public func canDelete(_ id: TimelineRow.ID) -> Bool { rules.refusal(of: .erase, id) == nil }

    /// Gives one of the user's messages another text. Its row changes with the server's answer or the event, whichever
    /// comes first, and the call returns then.
    ///
    /// - Parameters:
    ///   - id: of a row of the timeline.
    ///   - text: the whole new text.
    ///   - now: the time of the edit, if the answer comes before the event.
    ///   - isolation: the actor of the component.
    public func editMessage(
        _ id: TimelineRow.ID, text: String, now: WallTime, isolation: isolated any Actor = #isolation
    ) async throws(ChangeError) {
        actor = isolation
        noteRestriction(now)
        let request = try rules.edit(id, text: text)
        let before = timeline.message(of: id)?.version ?? Seq(0)
        try await change(
            on: isolation, { channel throws(SignalingError) in try await channel.change(request) },
            isDone: { rules in
                guard let message = rules.timeline.message(of: id) else { return false }
                return message.version ?? Seq(0) > before && message.text == text
            },
            acknowledged: { rules, seq in
                let event = ChangeEvent(seq: seq, ref: request.ref, from: nil, change: request.change)
                return rules.edited(event, now: now)
            })
    }

    /// Deletes one of the user's messages: everybody sees that there was one. As
    /// ``editMessage(_:text:now:isolation:)``.
    public func deleteMessage(
        _ id: TimelineRow.ID, now: WallTime, isolation: isolated any Actor = #isolation
    ) async throws(ChangeError) {
        actor = isolation
        noteRestriction(now)
        let ref = try rules.delete(id)
        try await change(
            on: isolation, { channel throws(SignalingError) in try await channel.erase(message: ref) },
            isDone: { $0.timeline.message(of: id)?.isErased ?? true },
            acknowledged: { rules, seq in rules.timeline.erase(.message(ref), seq: seq) })
    }

    /// Waits until a change has been carried out: the answer to the request says so, or `isDone`, as of an event.
    private func change(
        on isolation: isolated any Actor,
        _ request: @escaping @Sendable (any SignalChannel) async throws(SignalingError) -> Seq,
        isDone: @escaping (ChatRules) -> Bool,
        acknowledged: @escaping (inout ChatRules, Seq) -> [TimelineChange]
    ) async throws(ChangeError) {
        guard let channel else { throw .notConnected }
        let end = ChangeEnd()
        Task {
            _ = isolation
            do throws(SignalingError) {
                let seq = try await request(channel)
                end.result = .success(())
                carryOut(ChatOutcome(changes: acknowledged(&rules, seq)))
            } catch {
                end.result = .failure(.refused(error))
                proceed()
            }
        }
        let result = await wait { rules in isDone(rules) ? .success(()) : end.result }
        guard let result else { throw .cancelled }
        try result.get()
    }

    // MARK: Replies

    /// Whether the draft can answer this row's message: bare text cannot, and a deleted message is not answered.
    public func canReply(to id: TimelineRow.ID) -> Bool { rules.canReply(to: id) }

    /// The draft answers this row's message; nil: none. The next message has it, and then the target is nil.
    public func reply(to id: TimelineRow.ID?) { rules.replyRow = id.flatMap { rules.canReply(to: $0) ? $0 : nil } }

    /// The row that the draft answers. Nil: none, or its message was deleted.
    public var replyTarget: TimelineRow.ID? { rules.replyTarget }

    /// What the message answers; nil: it answers none.
    public func quote(of message: ChatMessage) -> ChatQuote? { rules.quote(of: message) }

    /// Loads earlier messages until the one that this message answers is there, at most 10 pages.
    ///
    /// - Returns: its row; nil: it was not found.
    public func loadQuoted(
        _ message: ChatMessage, isolation: isolated any Actor = #isolation
    ) async -> TimelineRow.ID? {
        for _ in 0..<Self.quotePageCount {
            guard case .earlier? = quote(of: message), loadEarlier(isolation: isolation),
                await wait({ $0.history.isLoading ? nil : true }) != nil, historyError == nil
            else { break }
        }
        return quote(of: message)?.rowID
    }

    private static let quotePageCount = 10
}

/// How a change has ended, by the channel's answer. Used on the component's actor only.
final class ChangeEnd {
    var result: Result<Void, ChangeError>?
}
