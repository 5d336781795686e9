#if canImport(SwiftUI)
    import SwiftUI
    import TextChat

    /// One row of the list: a message, or what stands between messages.
    @MainActor
    public struct ChatRow<Avatar: View>: View {
        private let row: TimelineRow
        private let model: ChatModel
        private let avatar: (ChatPerson) -> Avatar
        @State private var question: ModeratorAction?
        @State private var asksToDelete = false

        /// - Parameter avatar: stands beside the first message of a group of another person.
        public init(_ row: TimelineRow, model: ChatModel, @ViewBuilder avatar: @escaping (ChatPerson) -> Avatar) {
            self.row = row
            self.model = model
            self.avatar = avatar
        }

        public var body: some View {
            switch row.content {
            case .message(let message): self.message(message)
            case .day, .unreadDivider, .gap, .beginning:
                Text(model.text(of: row) ?? "")
                    .font(.footnote)
                    .foregroundStyle(.secondary)
                    .frame(maxWidth: .infinity)
                    .padding(.vertical, 4)
            }
        }

        private func message(_ row: MessageRow) -> some View {
            let message = row.message
            let isOwn = message.direction == .sent
            let person = model.person(of: message)
            return HStack(alignment: .top, spacing: 8) {
                // The messages of a group stand below each other.
                if !isOwn { avatar(person).opacity(row.position.isFirst ? 1 : 0).accessibilityHidden(true) }
                VStack(alignment: isOwn ? .trailing : .leading, spacing: 2) {
                    if row.showsSender { ChatSender(person: person, words: model.words) }
                    quote(message)
                    if let edit = model.edit, edit.row == self.row.id {
                        editor(edit)
                    } else {
                        bubble(message, isOwn: isOwn)
                    }
                    if message.editedAt != nil {
                        Text(model.words(.edited)).font(.caption2).foregroundStyle(.secondary).accessibilityHidden(true)
                    }
                    if !message.reactions.isEmpty {
                        ChatReactions(row: self.row.id, reactions: message.reactions, model: model)
                    }
                    if row.showsTime, let time = message.receivedAt.map(model.words.time) {
                        Text(time).font(.caption2).foregroundStyle(.secondary)
                    }
                    if let state = ChatWords.state(of: message) {
                        Text(model.words(state)).font(.caption).foregroundStyle(.secondary)
                    }
                    if let receipt = model.receipt, receipt.row == self.row.id {
                        Text(receipt.text).font(.caption2).foregroundStyle(.secondary)
                    }
                    if case .failed = message.state { actions(message) }
                }
            }
            .frame(maxWidth: .infinity, alignment: isOwn ? .trailing : .leading)
        }

        private func bubble(_ message: ChatMessage, isOwn: Bool) -> some View {
            Text(model.words.attributed(message))
                .foregroundStyle(message.isErased ? Color.secondary : Color.primary)
                .padding(8)
                .background(
                    isOwn ? Color.accentColor.opacity(0.2) : Color.secondary.opacity(0.15),
                    in: RoundedRectangle(cornerRadius: 12)
                )
                .selectable()
                .accessibilityLabel(model.spoken(message))
                .menu(
                    model.actions(for: message), of: row.id, question: $question, asksToDelete: $asksToDelete,
                    model: model)
        }

        @ViewBuilder private func quote(_ message: ChatMessage) -> some View {
            if let quote = model.quote(of: message) {
                Button {
                    model.showQuoted(by: message)
                } label: {
                    VStack(alignment: .leading, spacing: 0) {
                        if let name = quote.name { Text(name).font(.caption2) }
                        Text(quote.line).font(.caption).lineLimit(1)
                    }
                    .foregroundStyle(.secondary)
                }
            }
        }

        private func editor(_ edit: MessageEdit) -> some View {
            VStack(alignment: .trailing, spacing: 4) {
                TextField(model.words(.editing), text: Bindable(model).editText, axis: .vertical)
                    .lineLimit(1...10)
                    .onSubmit { model.saveEdit() }
                if let notice = edit.notice { Text(model.words(notice)).font(.caption).foregroundStyle(.secondary) }
                HStack {
                    Button(model.words(.cancel)) { model.cancelEdit() }
                    Button(model.words(edit.isSaving ? .saving : .save)) { model.saveEdit() }
                }
            }
            .disabled(edit.isSaving)
        }

        private func actions(_ message: ChatMessage) -> some View {
            HStack {
                Button(model.words(.tryAgain)) { model.retry(message) }
                Button(model.words(.discard)) { model.discard(message) }
            }
        }
    }

    extension ChatRow where Avatar == ChatAvatar {
        public init(_ row: TimelineRow, model: ChatModel) { self.init(row, model: model, avatar: ChatAvatar.init) }
    }

    /// The first character of a person's name, on the person's colour.
    @MainActor
    public struct ChatAvatar: View {
        @ScaledMetric(relativeTo: .caption) private var size: CGFloat = 28
        private let person: ChatPerson

        public init(_ person: ChatPerson) { self.person = person }

        public var body: some View {
            Text(person.initial)
                .font(.caption)
                .foregroundStyle(Color.white)
                .frame(width: size, height: size)
                .background(Self.colours[person.colour % Self.colours.count], in: Circle())
        }

        /// Those of the chat element: white text has a contrast of at least 4.5 on each.
        private static let colours: [Color] = [
            0xC23D5D, 0x8E1A03, 0xB05A02, 0x674603, 0x847509, 0x435501, 0x048824, 0x0A5B44, 0x05837E, 0x0A5763,
            0x0F7CAC, 0x02499C, 0x6463D4, 0x612997, 0xA449AA, 0x880A5E,
        ].map { (rgb: UInt32) in
            Color(
                .sRGB, red: Double(rgb >> 16) / 255, green: Double(rgb >> 8 & 0xFF) / 255,
                blue: Double(rgb & 0xFF) / 255)
        }
    }

    /// The name over a message, and its marks.
    struct ChatSender: View {
        let person: ChatPerson
        let words: ChatWords

        var body: some View {
            HStack(spacing: 4) {
                Text(person.name).font(.caption).foregroundStyle(.secondary)
                if person.isGuest { mark(words(.guestMark), words(.guestMarkHelp)) }
                if let number = person.number { mark(String(number), words(.numberHelp)) }
            }
        }

        private func mark(_ text: String, _ help: String) -> some View {
            Text(text).font(.caption2).foregroundStyle(.secondary).accessibilityLabel(help)
        }
    }

    extension View {
        /// These systems have no selection of texts.
        @ViewBuilder fileprivate func selectable() -> some View {
            #if os(tvOS) || os(watchOS)
                self
            #else
                textSelection(.enabled)
            #endif
        }

        /// What the user can do with a message, and the questions before it. A watch has no such menu.
        @MainActor @ViewBuilder fileprivate func menu(
            _ actions: [ModeratorAction], of row: TimelineRow.ID, question: Binding<ModeratorAction?>,
            asksToDelete: Binding<Bool>, model: ChatModel
        ) -> some View {
            #if os(watchOS)
                self
            #else
                let (mayEdit, mayReply) = (model.canEdit(row), model.canReply(to: row))
                let mayReact = model.canReact(to: row)
                // A moderator deletes as one.
                let mayDelete = actions.isEmpty && model.canDelete(row)
                if actions.isEmpty, !mayEdit, !mayDelete, !mayReply, !mayReact {
                    self
                } else {
                    contextMenu {
                        if mayReact {
                            Menu(model.words(.react)) {
                                ForEach(ChatModel.reactionKeys, id: \.self) { key in
                                    Button(key) { model.toggleReaction(key, to: row) }
                                }
                            }
                        }
                        if mayReply { Button(model.words(.reply)) { model.reply(to: row) } }
                        if mayEdit { Button(model.words(.edit)) { model.beginEdit(row) } }
                        if mayDelete {
                            Button(model.words(.deleteMessage), role: .destructive) { asksToDelete.wrappedValue = true }
                        }
                        ForEach(actions) { action in
                            Button(action.title, role: action.isDestructive ? .destructive : nil) {
                                question.wrappedValue = action
                            }
                        }
                    }
                    .confirmationDialog(
                        question.wrappedValue?.question ?? "",
                        isPresented: Binding(
                            get: { question.wrappedValue != nil },
                            set: { isShown in if !isShown { question.wrappedValue = nil } }),
                        titleVisibility: .visible, presenting: question.wrappedValue
                    ) { action in
                        Button(action.confirmation, role: action.isDestructive ? .destructive : nil) {
                            model.carryOut(action)
                        }
                    } message: { action in
                        Text(action.explanation)
                    }
                    .confirmationDialog(
                        model.words(.askDeleteOwn), isPresented: asksToDelete, titleVisibility: .visible
                    ) {
                        Button(model.words(.doDelete), role: .destructive) { model.delete(row) }
                    } message: {
                        Text(model.words(.explainDeleteOwn))
                    }
                }
            #endif
        }
    }
#endif
