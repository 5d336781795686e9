import CommandSupport
import SignalingProtocol
import TextChat
import TextChatRunning

/// The commands that change a message, or answer one.
@MainActor
extension TextChatComponent {
    /// Carries out `/edit`, `/delete` and `/react`.
    ///
    /// - Returns: what the user has to know; nil: the row shows it.
    func change(_ entry: ChatEntry) async -> String? {
        do throws(ChangeError) {
            switch entry {
            case .edit(""): return "give the new text: /edit TEXT"
            case .edit(let text): try await editMessage(try last(where: canEdit), text: text, now: .now)
            case .delete: try await deleteMessage(try last(where: canDelete), now: .now)
            case .react(_, ""): return "give the reaction: /react 👍, or /react 2 👍"
            case .react(let number, let key):
                let rows = rows.filter { $0.message != nil }
                guard (1...max(rows.count, 1)).contains(number), !rows.isEmpty else {
                    return "there is no such message"
                }
                try await toggleReaction(
                    rows[rows.count - number].id, key: ChatReaction.key(of: key), now: .now)
            case .message, .help, .who, .reply, .unknown: break
            }
            return nil
        } catch {
            if case .react = entry, error == .erased { return "that message was deleted" }
            return error.reason
        }
    }

    /// The user's last message of those that can be changed. One that was not sent is none.
    private func last(where isChangeable: (TimelineRow.ID) -> Bool) throws(ChangeError) -> TimelineRow.ID {
        guard
            let row = rows.last(where: { row in
                row.message.map { $0.message.direction == .sent && !$0.message.isErased } ?? false
            })
        else { throw .unknown }
        // The refusal of the last message says why there is none.
        return rows.last { isChangeable($0.id) }?.id ?? row.id
    }

    /// The draft answers the last message of another user.
    ///
    /// - Returns: what the user has to know; nil: send the draft.
    func replyToLast(_ text: String) -> String? {
        if text.isEmpty { return "give the answer: /reply TEXT" }
        let row = rows.last { row in
            row.message.map { $0.message.direction == .received } ?? false && canReply(to: row.id)
        }
        guard let row else { return "there is no message of another user to answer" }
        reply(to: row.id)
        return nil
    }
}

extension ChangeError {
    /// For the user.
    var reason: String {
        switch self {
        case .unknown, .erased, .notOwn: "there is no message of yours that can be changed"
        case .notPermitted: "this session does not permit it"
        case .notConnected: "not changed: not connected"
        case .restricted(let restriction): "not changed: \(RestrictionText.text(restriction))"
        case .blank: "not changed: the text is empty; /delete deletes the message"
        case .tooLong, .signalTooLong: "not changed: the text is too long"
        case .unchanged: "your last message has this text already"
        case .refused(let error):
            "not changed: \(error.restriction.map { RestrictionText.text($0) } ?? Printable.text(error.message))"
        case .cancelled: "cancelled"
        }
    }
}
