#if canImport(SwiftUI)
    import SwiftUI
    import SignalingProtocol
    import TextChat

    /// One row of the list.
    @MainActor
    struct ChatRow: View {
        let row: TimelineRow
        let model: ChatModel

        var body: some View {
            switch row.content {
            case .message(let row): message(row)
            case .day, .unreadDivider, .gap, .beginning: Self.divider(model.text(of: row) ?? "")
            }
        }

        private static func divider(_ text: String) -> some View {
            Text(text).font(.footnote).foregroundStyle(.secondary).frame(maxWidth: .infinity).padding(.vertical, 4)
        }

        private func message(_ row: MessageRow) -> some View {
            let message = row.message
            let isOwn = message.direction == .sent
            let time = message.receivedAt.map(model.words.time)
            return VStack(alignment: isOwn ? .trailing : .leading, spacing: 2) {
                if row.showsSender { sender(of: message) }
                Text(model.words.text(of: message)).textSelection(.enabled)
                if row.showsTime, let time { Text(time).font(.caption2).foregroundStyle(.secondary) }
                if let state = ChatWords.state(of: message) {
                    Text(model.words(state)).font(.caption).foregroundStyle(.secondary)
                }
                if case .failed = message.state { actions(message) }
            }
            .frame(maxWidth: .infinity, alignment: isOwn ? .trailing : .leading)
            .accessibilityElement(children: .combine)
            .accessibilityLabel(model.spoken(message))
        }

        /// Another person may have the same name.
        private func sender(of message: ChatMessage) -> some View {
            HStack(spacing: 4) {
                Text(model.sender(of: message)).font(.caption).foregroundStyle(.secondary)
                if message.direction == .received, let number = model.chat.names.number(of: message) {
                    Text(String(number)).font(.caption2).foregroundStyle(.secondary)
                }
            }
        }

        private func actions(_ message: ChatMessage) -> some View {
            HStack {
                Button(model.words(.tryAgain)) { model.retry(message) }
                Button(model.words(.discard)) { model.discard(message) }
            }
        }
    }
#endif
