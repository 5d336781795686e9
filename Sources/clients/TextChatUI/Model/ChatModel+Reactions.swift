import SignalingProtocol
import TextChat
import TextChatFoundation

/// Who has read the user's last message that somebody has read.
public struct ReadReceipt: Equatable, Sendable {
    /// Of the message.
    public let row: TimelineRow.ID
    /// “Seen” in a chat of two, else “Seen by” and the names.
    public let text: String
}

extension ChatModel {
    // MARK: Reactions

    /// The reactions that a menu offers.
    public static let reactionKeys = ["👍", "❤️", "😂", "😮", "😢", "🙏"]

    /// Whether the user may react to this row's message, as far as is known.
    public func canReact(to row: TimelineRow.ID) -> Bool { chat.canReact(to: row) }

    /// Adds a reaction to a message, or takes it back. ``notice`` says if it did not work.
    @discardableResult
    public func toggleReaction(_ key: String, to row: TimelineRow.ID) -> Task<Void, Never> {
        Task {
            do throws(ChangeError) {
                try await chat.toggleReaction(row, key: key, now: .now)
                notice = nil
            } catch {
                notice = error.word
            }
            refresh()
        }
    }

    /// What VoiceOver says of a reaction.
    public func spoken(_ reaction: ChatReaction) -> String {
        words(reaction.isMine ? .reactedToo : .reacted, ["key": .name(reaction.shownKey)], count: reaction.count)
    }

    // MARK: Receipts

    var currentReceipt: ReadReceipt? {
        guard let receipt = chat.receipt, let first = receipt.users.first else { return nil }
        let text = receipt.users.count == 1 && isAlone(with: first.user) ? words(.seen) : words.seen(by: receipt.users)
        return ReadReceipt(row: receipt.id, text: text)
    }

    /// Whether this user is the only other one who is here or has written.
    private func isAlone(with user: UserID) -> Bool {
        let own = chat.channel?.user
        return chat.channel?.connections.allSatisfy { $0.user == user || $0.user == own } != false
            && chat.messages.allSatisfy { $0.direction == .sent || $0.senderUser == user }
    }
}

extension ChatWords {
    /// “Seen by Ada, Bob, and 3 others”.
    func seen(by users: [ChatUser]) -> String {
        let named = users.prefix(Self.readerCount).map { user in
            let name = user.name ?? DisplayName.text(data: nil, connectionID: nil, user: user.user)
            return TypingPhrase.isolated(name, always: isRightToLeft)
        }
        let others = users.count - named.count
        return self(.seenBy, ["names": .text(list(named + (others > 0 ? [self(.others, count: others)] : [])))])
    }

    private static let readerCount = 10
}
