#if canImport(SwiftUI)
    import SwiftUI
    import TextChat

    /// The reactions to a message: a button for each, which adds the user's own or takes it back.
    struct ChatReactions: View {
        let row: TimelineRow.ID
        let reactions: [ChatReaction]
        let model: ChatModel

        var body: some View {
            ScrollView(.horizontal) {
                HStack(spacing: 4) {
                    ForEach(reactions) { reaction in
                        Button("\(reaction.shownKey) \(reaction.count)") {
                            model.toggleReaction(reaction.key, to: row)
                        }
                        .font(.caption)
                        .padding(4)
                        .background(
                            reaction.isMine ? Color.accentColor.opacity(0.3) : Color.secondary.opacity(0.15),
                            in: Capsule()
                        )
                        .disabled(!model.canReact(to: row))
                        .accessibilityLabel(model.spoken(reaction))
                    }
                }
            }
        }
    }
#endif
