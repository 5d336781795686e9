#if canImport(SwiftUI)
    import SwiftUI
    import TextChat

    /// A chat: its messages, who types, the state of the connection, and a field to write in.
    ///
    /// Texts follow the size that the user has chosen, and VoiceOver reads each message as one element.
    @MainActor
    public struct ChatView: View {
        @Bindable private var model: ChatModel

        public init(model: ChatModel) { self.model = model }

        public var body: some View {
            VStack(spacing: 0) {
                if let sentence = model.statusSentence, model.status != .banned || model.restriction.isEmpty {
                    ChatNotice(text: sentence)
                }
                ScrollView {
                    LazyVStack(alignment: .leading, spacing: 4) {
                        if model.hasEarlier { earlier }
                        if let note = model.emptyNote { Text(model.words(note)).foregroundStyle(.secondary) }
                        ForEach(model.rows) { row in ChatRow(row: row, model: model) }
                    }
                    .padding()
                }
                // The newest message stays in view while the list grows.
                .defaultScrollAnchor(.bottom)
                .accessibilityLabel(model.words(.messages))
                if !model.typing.isEmpty {
                    Text(model.typing).font(.footnote).foregroundStyle(.secondary).padding(.horizontal)
                }
                if !model.restriction.isEmpty { ChatNotice(text: model.restriction) }
                if let notice = model.notice { ChatNotice(text: model.words(notice)) }
                composer
            }
            .onAppear { model.isVisible = true }
            .onDisappear { model.isVisible = false }
        }

        private var earlier: some View {
            Button(model.isLoadingEarlier ? model.words(.loadingEarlier) : model.words(.showEarlier)) {
                model.loadEarlier()
            }
            .disabled(model.isLoadingEarlier)
        }

        private var composer: some View {
            HStack(alignment: .bottom) {
                TextField(model.words(.placeholder), text: $model.draft, axis: .vertical)
                    .lineLimit(1...5)
                    .textFieldStyle(.roundedBorder)
                    .onSubmit { model.send() }
                    .disabled(!model.restriction.isEmpty)
                Button(model.words(.send)) { model.send() }.disabled(!model.canSend)
            }
            .padding()
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
