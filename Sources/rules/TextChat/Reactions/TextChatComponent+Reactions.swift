import SignalingProtocol

/// A user, as a list of reactions or of readers names it.
public struct ChatUser: Hashable, Sendable {
    public let user: UserID
    /// The name that the server vouches for; nil: it is not known, or there is none.
    public let name: String?
}

/// Which users have read the user's last message that some other user has read (CHAT-16).
public struct ChatReceipt: Hashable, Sendable {
    /// The message's row.
    public let id: TimelineRow.ID
    /// Those who have read the most come first.
    public let users: [ChatUser]
}

/// Who has chosen a reaction.
public struct ChatReactors: Hashable, Sendable {
    public let key: String
    /// All users who have, more than the server names perhaps.
    public let count: Int
    public let users: [ChatUser]
}

/// Reactions: to messages of anybody, by users and not by guests. ``ChatMessage/reactions`` has those to a message.
extension TextChatComponent {
    /// Whether the user may react to this row's message, as far as is known.
    public func canReact(to id: TimelineRow.ID) -> Bool { rules.refusalToReact(to: id) == nil }

    /// Adds a reaction of the user to this row's message, or takes it back. One request for a message is on its way at a
    /// time: of the toggles meanwhile only the newest set is sent. The row changes with the server's answer, when the
    /// call returns.
    ///
    /// - Parameters:
    ///   - id: of a row of the timeline.
    ///   - key: such as one emoji.
    ///   - now: for a restriction.
    ///   - isolation: the actor of the component.
    public func toggleReaction(
        _ id: TimelineRow.ID, key: String, now: WallTime, isolation: isolated any Actor = #isolation
    ) async throws(ChangeError) {
        actor = isolation
        noteRestriction(now)
        let (turn, isDue) = try rules.toggle(key, id)
        let end = reactionEnds[turn.number] ?? ChangeEnd()
        reactionEnds[turn.number] = end
        if isDue, let channel { send(turn, for: id, channel, on: isolation) }
        guard let result = await wait({ _ in end.result }) else { throw .cancelled }
        try result.get()
    }

    private func send(
        _ turn: ReactionRequests.Turn, for id: TimelineRow.ID, _ channel: any SignalChannel,
        on isolation: isolated any Actor
    ) {
        Task {
            _ = isolation
            var failure: ChangeError?
            do throws(SignalingError) { try await channel.react(turn.request) } catch { failure = .refused(error) }
            let (changes, next) = rules.reacted(turn.request, hasFailed: failure != nil)
            end(turn, failure)
            if let next {
                failure = failure ?? rules.refusalToReact(to: id)
                if failure != nil || Set(next.request.keys) == Set(turn.request.keys) {
                    end(next, failure)
                } else {
                    rules.reacting.start(next)
                    send(next, for: id, channel, on: isolation)
                }
            }
            carryOut(ChatOutcome(changes: changes))
        }
    }

    private func end(_ turn: ReactionRequests.Turn, _ failure: ChangeError?) {
        reactionEnds.removeValue(forKey: turn.number)?.result = failure.map { .failure($0) } ?? .success(())
    }

    /// Who has reacted to this row's message.
    ///
    /// - Parameters:
    ///   - id: of the row.
    ///   - key: nil: with any key.
    ///   - isolation: the actor of the component.
    public func reactors(
        of id: TimelineRow.ID, key: String? = nil, isolation: isolated any Actor = #isolation
    ) async throws(ChangeError) -> [ChatReactors] {
        guard let message = timeline.message(of: id) else { throw .unknown }
        if message.isErased { throw .erased }
        guard let channel, rules.isUp else { throw .notConnected }
        guard let ref = timeline.seq(of: id) else { throw .notPermitted }
        do throws(SignalingError) {
            let found = try await channel.reactors(ReactorsRequest(ref, key: key))
            return found.map {
                ChatReactors(key: $0.key, count: $0.count, users: names.named($0.users))
            }
        } catch {
            throw .refused(error)
        }
    }
}
