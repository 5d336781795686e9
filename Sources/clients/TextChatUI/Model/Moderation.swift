import SignalingClient
import SignalingProtocol
import TextChat

/// What a moderator can do with a message or its author. The user is asked before it is done.
public struct ModeratorAction: Identifiable, Hashable, Sendable {
    /// For a menu.
    public let title: String
    public let question: String
    public let explanation: String
    /// For the button that does it.
    public let confirmation: String
    public let isDestructive: Bool
    let command: Command

    public var id: String { title }

    enum Command: Hashable, Sendable {
        case erase(Erasure)
        case moderate(ModerationRequest)
        /// A user, or a guest's connection.
        case remove(UserID?, sender: String)
    }
}

/// What moderation needs of a session.
protocol ModeratedSession: Sendable {
    var capabilities: Capabilities { get }
    var hasHistory: Bool { get }
    var connections: [Connection] { get }
    func erase(_ erasure: Erasure) async throws(SignalingError)
    @discardableResult
    func moderate(_ request: ModerationRequest) async throws(SignalingError) -> Seq?
    func forceDisconnect(_ connection: ConnectionID) async throws(SignalingError)
}

extension Session: ModeratedSession {}

extension ModeratedSession {
    func carryOut(_ command: ModeratorAction.Command) async throws(SignalingError) {
        switch command {
        case .erase(let erasure): try await erase(erasure)
        case .moderate(let request): try await moderate(request)
        case .remove(let user, let sender): try await remove(connections(of: user, sender: sender))
        }
    }

    /// - Throws: `badTarget` if nobody was there any more.
    private func remove(_ connections: [Connection]) async throws(SignalingError) {
        var isRemoved = false
        var failure: SignalingError?
        for connection in connections {
            do throws(SignalingError) {
                try await forceDisconnect(connection.connectionId)
                isRemoved = true
            } catch {
                // It has left, and the user may be there on another connection.
                guard error.code == .badTarget else { throw error }
                failure = error
            }
        }
        if !isRemoved { throw failure ?? SignalingError(.badTarget, "nobody is there") }
    }

    fileprivate func connections(of user: UserID?, sender: String) -> [Connection] {
        connections.filter { user == nil ? $0.connectionId.rawValue == sender : $0.user == user }
    }
}

extension ChatWords {
    /// What a moderator can do with a message, as in the chat element. Empty for all other users, and for a message that
    /// the session does not have.
    func actions(for message: ChatMessage, of name: String, in session: any ModeratedSession) -> [ModeratorAction] {
        guard session.capabilities.forceDisconnect, let seq = message.seq else { return [] }
        var actions: [ModeratorAction] = []
        if session.hasHistory, !message.isErased {
            actions.append(delete(.message(seq), .deleteMessage, .askDelete, name))
        }
        guard message.direction == .received, !message.isFromServer, let sender = message.senderID else {
            return actions
        }
        let here = session.connections(of: message.senderUser, sender: sender)
        // A guest comes back with another connection: there is nobody to mute.
        if let user = message.senderUser {
            actions.append(mute(user, for: 600, .tenMinutes, name))
            actions.append(mute(user, for: 3600, .oneHour, name))
            actions.append(mute(user, for: nil, nil, name))
        }
        if !here.isEmpty {
            actions.append(
                action(
                    .remove, .askRemove, .explainRemove, .doRemove, name, .remove(message.senderUser, sender: sender)))
        }
        if let user = message.senderUser {
            actions.append(
                action(.ban, .askBan, .explainBan, .doBan, name, .moderate(.ban(.user(user))), isDestructive: true))
            if session.hasHistory { actions.append(delete(.user(user), .deleteAll, .askDeleteAll, name)) }
        } else if let guest = here.first {
            actions.append(
                action(
                    .ban, .askBan, .explainBanGuest, .doBan, name,
                    .moderate(.ban(.connection(guest.connectionId))), isDestructive: true))
        }
        return actions
    }

    private func delete(_ erasure: Erasure, _ title: ChatWord, _ question: ChatWord, _ name: String) -> ModeratorAction
    {
        action(title, question, .explainDelete, .doDelete, name, .erase(erasure), isDestructive: true)
    }

    private func mute(_ user: UserID, for seconds: Int?, _ time: ChatWord?, _ name: String) -> ModeratorAction {
        action(
            time == nil ? .muteForever : .mute, time == nil ? .askMuteForever : .askMute, .explainMute, .doMute, name,
            .moderate(.mute(.user(user), .init(seconds: seconds))), time: time)
    }

    private func action(
        _ title: ChatWord, _ question: ChatWord, _ explanation: ChatWord, _ confirmation: ChatWord, _ name: String,
        _ command: ModeratorAction.Command, time: ChatWord? = nil, isDestructive: Bool = false
    ) -> ModeratorAction {
        var values = ["name": Value.name(name)]
        if let time { values["time"] = .text(self(time)) }
        return ModeratorAction(
            title: self(title, values), question: self(question, values), explanation: self(explanation, values),
            confirmation: self(confirmation), isDestructive: isDestructive, command: command)
    }
}

extension ChatModel {
    /// What the user can do with a message as a moderator; empty for all other users.
    public func actions(for message: ChatMessage) -> [ModeratorAction] {
        guard isModerator, let session else { return [] }
        return words.actions(for: message, of: sender(of: message), in: session)
    }

    /// Does it. ``notice`` says if it did not work.
    @discardableResult
    public func carryOut(_ action: ModeratorAction) -> Task<Void, Never> {
        Task {
            guard let session else { return }
            do throws(SignalingError) {
                try await session.carryOut(action.command)
                notice = nil
            } catch {
                // It has ended meanwhile, or the guest has left.
                let isTooLate = error.code == .notFound || error.code == .badTarget
                notice = isTooLate ? .actionTooLate : .actionFailed
            }
        }
    }
}
