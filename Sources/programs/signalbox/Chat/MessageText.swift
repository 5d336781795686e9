import CommandSupport
import SignalingProtocol
import TextChat

/// Which forms of the messages a terminal has shown: lines that are printed stay, so that an edit needs a new one.
struct ShownForms {
    private struct Form: Equatable {
        var version: Seq?
        var isErased = false
        var reactions: [ChatReaction] = []
    }

    /// What has changed since it was shown.
    struct News {
        var messages: [ChatMessage] = []
        /// So many more were deleted.
        var deletedCount = 0
        /// Messages whose reactions alone have changed.
        var reacted: [ChatMessage] = []
    }

    private var forms: [TimelineRow.ID: Form] = [:]

    /// With more deleted messages at once, as by a moderator, only their number is news.
    private static let deletedCount = 3

    mutating func news(in changes: [TimelineChange]) -> News {
        var news = News()
        for change in changes {
            switch change {
            case .insert(let row, _): note(row)
            case .update(let row, _):
                guard let message = row.message?.message else { break }
                let (before, form) = (forms[row.id] ?? Form(), note(row))
                if (before.version, before.isErased) != (form.version, form.isErased) {
                    news.messages.append(message)
                } else if before.reactions != form.reactions {
                    news.reacted.append(message)
                }
            case .remove(let id, _): forms[id] = nil
            case .move: break
            }
        }
        let deletedCount = news.messages.count { $0.isErased }
        guard deletedCount > Self.deletedCount else { return news }
        news.messages.removeAll { $0.isErased }
        news.deletedCount = deletedCount
        return news
    }

    /// The row is shown in this form now.
    @discardableResult
    private mutating func note(_ row: TimelineRow) -> Form {
        guard let message = row.message?.message else { return Form() }
        let form = Form(version: message.version, isErased: message.isErased, reactions: message.reactions)
        forms[row.id] = form == Form() ? nil : form
        return form
    }
}

/// A message as a terminal writes it.
struct MessageText {
    let names: NameBook

    /// One line: the text, or that it was deleted.
    func text(of message: ChatMessage) -> String {
        if message.isErased { return "(deleted)" }
        return Printable.text(message.text) + (message.editedAt == nil ? "" : " (edited)")
            + Self.counts(message.reactions.map { ($0.key, $0.count) })
    }

    /// ` [👍 2 🎉 1]`; empty without reactions.
    static func counts(_ reactions: [(key: String, count: Int)]) -> String {
        reactions.isEmpty
            ? "" : " [\(reactions.map { "\(Printable.text($0.key)) \($0.count)" }.joined(separator: " "))]"
    }

    /// What the reactions to a message are now.
    func reactions(to message: ChatMessage) -> String {
        let counts = Self.counts(message.reactions.map { ($0.key, $0.count) })
        return
            "\(name(of: message)): \(short(Printable.text(message.text)))\(counts.isEmpty ? " [no reactions]" : counts)"
    }

    /// Who has read the user's last message that somebody has read; empty: nobody.
    static func receipt(_ receipt: ChatReceipt?) -> String {
        guard let users = receipt?.users, !users.isEmpty else { return "" }
        let names = users.prefix(3).map { Printable.text($0.name ?? $0.user.rawValue) }.joined(separator: ", ")
        return "seen by \(names)" + (users.count > 3 ? " and \(users.count - 3) more" : "")
    }

    /// The message that this one answers, in short; nil: none.
    func quote(_ quote: ChatQuote?) -> String? {
        switch quote {
        case .shown(_, let message)?: "\(name(of: message)): \(short(Printable.text(message.text)))"
        case .deleted?: "(deleted)"
        case .earlier?: "an earlier message"
        case nil: nil
        }
    }

    private func name(of message: ChatMessage) -> String {
        message.direction == .sent ? "You" : Printable.name(message, in: names)
    }

    private func short(_ text: String) -> String {
        text.count > Self.quoteLength ? text.prefix(Self.quoteLength - 1) + "…" : text
    }

    private static let quoteLength = 60
}
