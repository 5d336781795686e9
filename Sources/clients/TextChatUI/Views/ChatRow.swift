#if canImport(SwiftUI)
    import Foundation
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
            case .day(let day): Self.divider(Self.text(of: day))
            case .unreadDivider: Self.divider(ChatWord.newMessages.text)
            case .gap: Self.divider(ChatWord.gap.text)
            case .beginning: Self.divider(ChatWord.beginning.text)
            }
        }

        private static func divider(_ text: String) -> some View {
            Text(text).font(.footnote).foregroundStyle(.secondary).frame(maxWidth: .infinity).padding(.vertical, 4)
        }

        private func message(_ row: MessageRow) -> some View {
            let message = row.message
            let isOwn = message.direction == .sent
            let time = message.receivedAt.map(Self.text(of:))
            return VStack(alignment: isOwn ? .trailing : .leading, spacing: 2) {
                if row.showsSender { sender(of: message) }
                Text(message.text).textSelection(.enabled)
                if row.showsTime, let time { Text(time).font(.caption2).foregroundStyle(.secondary) }
                if let state = MessageWords.state(of: message) {
                    Text(state.text).font(.caption).foregroundStyle(.secondary)
                }
                if case .failed = message.state { actions(message) }
            }
            .frame(maxWidth: .infinity, alignment: isOwn ? .trailing : .leading)
            .accessibilityElement(children: .combine)
            .accessibilityLabel(MessageWords.spoken(message, in: model.chat.names, time: time))
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
                Button(ChatWord.tryAgain.text) { model.retry(message) }
                Button(ChatWord.discard.text) { model.discard(message) }
            }
        }

        private static func text(of time: WallTime) -> String {
            Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(date: .omitted, time: .shortened)
        }

        private static func text(of day: LocalDay) -> String {
            let parts = DateComponents(calendar: .current, year: day.year, month: day.month, day: day.day)
            return parts.date?.formatted(date: .long, time: .omitted) ?? day.description
        }
    }
#endif
