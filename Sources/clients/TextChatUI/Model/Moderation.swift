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
        case remove([ConnectionID])
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
        case .remove(let connections): for connection in connections { try await forceDisconnect(connection) }
        }
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
        let here = session.connections.filter {
            message.senderUser.map { [user = $0.user] in user == $0 } ?? ($0.connectionId.rawValue == sender)
        }
        // A guest comes back with another connection: there is nobody to mute.
        if let user = message.senderUser {
            actions.append(mute(user, for: 600, .tenMinutes, name))
            actions.append(mute(user, for: 3600, .oneHour, name))
            actions.append(mute(user, for: nil, nil, name))
        }
        if !here.isEmpty {
            actions.append(
                action(.remove, .askRemove, .explainRemove, .doRemove, name, .remove(here.map(\.connectionId))))
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
                notice = error.code == .notFound ? .actionTooLate : .actionFailed
            }
        }
    }
}
