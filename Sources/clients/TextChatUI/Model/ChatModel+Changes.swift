import SignalingProtocol
import TextChat
import TextChatFoundation

/// A message that the user is editing.
public struct MessageEdit: Equatable, Sendable {
    public let row: TimelineRow.ID
    public var text: String
    /// The server has not answered yet.
    public internal(set) var isSaving = false
    /// Why it was not saved; nil: nothing is wrong.
    public internal(set) var notice: ChatWord?
}

extension ChatModel {
    // MARK: Editing and deleting

    /// Whether the user may edit this row's message, as far as is known.
    public func canEdit(_ row: TimelineRow.ID) -> Bool { chat.canEdit(row) }

    /// Whether the user may delete this row's message as its author.
    public func canDelete(_ row: TimelineRow.ID) -> Bool { chat.canDelete(row) }

    /// Opens the editor of a message. The draft stays.
    public func beginEdit(_ row: TimelineRow.ID) {
        guard canEdit(row), let message = chat.timeline.message(of: row) else { return }
        edit = MessageEdit(row: row, text: message.text)
    }

    /// The text in the editor, for a text field.
    public var editText: String {
        get { edit?.text ?? "" }
        set {
            edit?.text = newValue
            edit?.notice = nil
        }
    }

    public func cancelEdit() { edit = nil }

    /// Saves the text of the editor, which stays open until the server has answered, and after an error.
    @discardableResult
    public func saveEdit() -> Task<Void, Never>? {
        guard let edit, !edit.isSaving else { return nil }
        self.edit?.isSaving = true
        return Task {
            var notice: ChatWord?
            do throws(ChangeError) {
                try await chat.editMessage(edit.row, text: edit.text, now: .now)
            } catch {
                notice = error == .unchanged ? nil : error.word
            }
            // The user may have closed it, or opened another one.
            if self.edit?.row == edit.row {
                self.edit?.isSaving = false
                self.edit?.notice = notice
                if notice == nil { self.edit = nil }
            }
            refresh()
        }
    }

    /// Deletes one of the user's messages. ``notice`` says if it did not work.
    @discardableResult
    public func delete(_ row: TimelineRow.ID) -> Task<Void, Never> {
        Task {
            do throws(ChangeError) {
                try await chat.deleteMessage(row, now: .now)
                notice = nil
            } catch {
                notice = error.word
            }
            refresh()
        }
    }

    /// The message may be gone meanwhile: its text goes into the empty draft.
    func noteEdit() {
        guard let edit, !edit.isSaving, chat.timeline.message(of: edit.row)?.isErased ?? true else { return }
        guard draft.isEmpty else {
            self.edit?.notice = .changeRefused
            return
        }
        self.edit = nil
        draft = edit.text
        notice = .editLost
    }

    // MARK: Replies

    /// Whether the draft can answer this row's message.
    public func canReply(to row: TimelineRow.ID) -> Bool { chat.canReply(to: row) }

    /// The draft answers this row's message; nil: none.
    public func reply(to row: TimelineRow.ID?) {
        chat.reply(to: row)
        refresh()
    }

    /// What the draft answers, as a title; nil: nothing.
    public var replyTitle: String? {
        guard let message = chat.timeline.message(of: replyTarget) else { return nil }
        return message.direction == .sent ? words(.replyToOwn) : words(.replyTo, ["name": .name(sender(of: message))])
    }

    /// What the message answers, as a name and a line; nil: nothing.
    public func quote(of message: ChatMessage) -> (name: String?, line: String)? {
        switch chat.quote(of: message) {
        case .shown(_, let quoted): (sender(of: quoted), words.text(of: quoted))
        case .deleted: (nil, words(.erased))
        case .earlier: (nil, words(.earlierMessage))
        case nil: nil
        }
    }

    /// Shows the message that this one answers, which is loaded first if the list does not reach back so far.
    @discardableResult
    public func showQuoted(by message: ChatMessage) -> Task<Void, Never> {
        Task {
            let found = await chat.loadQuoted(message)
            if let found { scrollRequest = scrollRequest.next(.row(found)) } else { notice = .quoteGone }
            refresh()
        }
    }
}

extension ChangeError {
    /// The sentence that says why.
    var word: ChatWord {
        switch self {
        case .unknown, .erased, .notOwn, .notPermitted, .unchanged: .changeRefused
        case .notConnected, .cancelled: .changeOffline
        case .restricted: .failedRestricted
        case .blank: .changeBlank
        case .tooLong, .signalTooLong: .tooLarge
        case .refused(let error):
            if error.restriction != nil {
                .failedRestricted
            } else {
                switch error.code {
                case .permissionDenied, .notFound: .changeRefused
                case .tooLong: .tooLarge
                case .rateLimited: .changeTooFast
                case .notConnected: .changeOffline
                default: .actionFailed
                }
            }
        }
    }
}
