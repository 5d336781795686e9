#if canImport(SwiftUI)
    import Accessibility
    import SwiftUI
    import TextChat

    /// A chat: its messages, who types, the state of the connection, and a field to write in.
    ///
    /// Texts follow the size that the user has chosen, and VoiceOver reads each message as one element. The view only
    /// draws: ``ChatModel`` decides. Replace its avatars or its rows:
    ///
    /// ```swift
    /// ChatView(model: model, avatar: { person in Image(person.name) })
    /// ChatView(model: model) { row in
    ///     if row.message?.message.text == "🎉" { Confetti() } else { ChatRow(row, model: model) }
    /// }
    /// ```
    @MainActor
    public struct ChatView<Row: View>: View {
        @Bindable private var model: ChatModel
        @Environment(\.scenePhase) private var scenePhase
        @State private var top: TimelineRow.ID?
        private let row: (TimelineRow) -> Row

        /// - Parameter row: draws a row; ``ChatRow`` is the one that the chat has by itself.
        public init(model: ChatModel, @ViewBuilder row: @escaping (TimelineRow) -> Row) {
            self.model = model
            self.row = row
        }

        public var body: some View {
            VStack(spacing: 0) {
                if let sentence = model.statusSentence, model.status != .banned || model.restriction.isEmpty {
                    ChatNotice(text: sentence)
                }
                if model.status.offersRetry { Button(model.words(.tryAgain)) { model.tryAgain() }.padding(8) }
                list
                if !model.typing.isEmpty {
                    Text(model.typing).font(.footnote).foregroundStyle(.secondary).padding(.horizontal)
                }
                if !model.restriction.isEmpty { ChatNotice(text: model.restriction) }
                if let notice = model.notice { ChatNotice(text: model.words(notice)) }
                if let title = model.replyTitle { reply(title) }
                composer
            }
            .onAppear { model.isVisible = true }
            .onDisappear { model.isVisible = false }
            .onChange(of: scenePhase, initial: true) { _, phase in model.isInBackground = phase == .background }
            .onChange(of: model.announcement) { _, announcement in
                if let announcement { AccessibilityNotification.Announcement(announcement.value).post() }
            }
        }

        private var list: some View {
            ScrollViewReader { proxy in
                ScrollView {
                    LazyVStack(alignment: .leading, spacing: 4) {
                        if model.hasEarlier { earlier }
                        if let note = model.emptyNote { Text(model.words(note)).foregroundStyle(.secondary) }
                        ForEach(model.rows) { each in row(each).id(each.id) }
                        Color.clear
                            .frame(height: 1)
                            .id(ChatEnd.id)
                            .onAppear { model.noteEnd(isVisible: true) }
                            .onDisappear { model.noteEnd(isVisible: false) }
                            .accessibilityHidden(true)
                    }
                    .scrollTargetLayout()
                    .padding()
                }
                .scrollPosition(id: $top, anchor: .top)
                // The newest message stays in view while the list grows.
                .defaultScrollAnchor(.bottom)
                .accessibilityLabel(model.words(.messages))
                .overlay(alignment: .bottom) { newMessages }
                .onChange(of: top) { _, top in model.noteTop(top) }
                .onChange(of: model.scrollRequest) { _, request in
                    switch request?.value {
                    case .end?: proxy.scrollTo(ChatEnd.id, anchor: .bottom)
                    case .row(let id)?: proxy.scrollTo(id, anchor: .top)
                    case nil: break
                    }
                }
            }
        }

        @ViewBuilder private var newMessages: some View {
            if let text = model.newMessages {
                Button(text) { model.goToNewMessages() }
                    .padding(8)
                    .background(.thinMaterial, in: Capsule())
                    .padding(8)
            }
        }

        private var earlier: some View {
            Button(model.isLoadingEarlier ? model.words(.loadingEarlier) : model.words(.showEarlier)) {
                model.loadEarlier()
            }
            .disabled(model.isLoadingEarlier)
        }

        private func reply(_ title: String) -> some View {
            HStack {
                Text(title).font(.footnote).foregroundStyle(.secondary).lineLimit(1)
                Spacer()
                Button(model.words(.endReply)) { model.reply(to: nil) }.font(.footnote)
            }
            .padding(.horizontal)
        }

        private var composer: some View {
            HStack(alignment: .bottom) {
                TextField(model.words(.placeholder), text: $model.draft, axis: .vertical)
                    .lineLimit(1...5)
                    .chatFieldStyle()
                    .onSubmit { model.send() }
                    .disabled(!model.restriction.isEmpty)
                Button(model.words(.send)) { model.send() }.disabled(!model.canSend)
            }
            .padding()
        }
    }

    extension ChatView {
        public init(model: ChatModel) where Row == ChatRow<ChatAvatar> {
            self.init(model: model, row: { ChatRow($0, model: model) })
        }

        /// - Parameter avatar: stands beside the first message of a group of another person.
        public init<Avatar: View>(model: ChatModel, @ViewBuilder avatar: @escaping (ChatPerson) -> Avatar)
        where Row == ChatRow<Avatar> {
            self.init(model: model, row: { ChatRow($0, model: model, avatar: avatar) })
        }
    }

    /// The end of the list, behind its rows.
    private enum ChatEnd: Hashable { case id }

    extension View {
        /// These systems have one look of a field only.
        @ViewBuilder fileprivate func chatFieldStyle() -> some View {
            #if os(tvOS) || os(watchOS)
                self
            #else
                textFieldStyle(.roundedBorder)
            #endif
        }
    }

    /// A sentence about the chat, which VoiceOver reads when it appears.
    struct ChatNotice: View {
        let text: String

        var body: some View {
            Text(text)
                .font(.footnote)
                .frame(maxWidth: .infinity)
                .padding(8)
                .background(.thinMaterial)
                .accessibilityAddTraits(.updatesFrequently)
        }
    }
#endif
