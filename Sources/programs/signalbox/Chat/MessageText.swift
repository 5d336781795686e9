import CommandSupport
import SignalingProtocol
import TextChat

/// Which forms of the messages a terminal has shown: lines that are printed stay, so that an edit needs a new one.
struct ShownForms {
    private struct Form: Equatable {
        var version: Seq?
        var isErased = false
    }

    private var forms: [TimelineRow.ID: Form] = [:]

    /// With more deleted messages at once, as by a moderator, only their number is news.
    private static let deletedCount = 3

    /// The messages that have changed since they were shown, and how many more were deleted.
    mutating func news(in changes: [TimelineChange]) -> (messages: [ChatMessage], deletedCount: Int) {
        let news = changed(in: changes)
        let deletedCount = news.count { $0.isErased }
        guard deletedCount > Self.deletedCount else { return (news, 0) }
        return (news.filter { !$0.isErased }, deletedCount)
    }

    private mutating func changed(in changes: [TimelineChange]) -> [ChatMessage] {
        var news: [ChatMessage] = []
        for change in changes {
            switch change {
            case .insert(let row, _): note(row)
            case .update(let row, _): if note(row), let message = row.message?.message { news.append(message) }
            case .remove(let id, _): forms[id] = nil
            case .move: break
            }
        }
        return news
    }

    /// Returns whether it was shown in another form, or not at all and has changed.
    @discardableResult
    private mutating func note(_ row: TimelineRow) -> Bool {
        guard let message = row.message?.message else { return false }
        let form = Form(version: message.version, isErased: message.isErased)
        defer { forms[row.id] = form == Form() ? nil : form }
        return forms[row.id] ?? Form() != form
    }
}

/// A message as a terminal writes it.
struct MessageText {
    let names: NameBook

    /// One line: the text, or that it was deleted.
    func text(of message: ChatMessage) -> String {
        if message.isErased { return "(deleted)" }
        return Printable.text(message.text) + (message.editedAt == nil ? "" : " (edited)")
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
