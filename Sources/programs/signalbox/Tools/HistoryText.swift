import CommandSupport
import FoundationEssentials
import Glibc
import SignalingProtocol
import TextChat

/// Kept messages as lines for a terminal. Note the messages before you print the first: a later one may show that a
/// name is another's.
struct HistoryText {
    private var names = NameBook()

    mutating func note(_ message: HistoryMessage) {
        if let chat = Self.chat(message) { names.note(chat) }
    }

    /// `2026-11-25 16:19:26 Ada: See you at nine`. A signal that is no chat message has its type before its data.
    func line(_ message: HistoryMessage, in zone: TimeZone? = nil) -> String {
        "\(DateText.text(message.time, in: zone)) \(words(message))"
    }

    private func words(_ message: HistoryMessage) -> String {
        let sender = message.from.map(Printable.name) ?? Printable.server
        switch message.content {
        case .erased: return "\(sender): (erased)"
        case .signal(let type, let data, _):
            let mark =
                (message.edit == nil ? "" : " (edited)")
                + MessageText.counts((message.reactions?.counts ?? []).map { ($0.key, $0.count) })
            guard let chat = Self.chat(message) else {
                return "\(sender) [\(Printable.text(type ?? "signal"))] \(Printable.text(data ?? ""))\(mark)"
            }
            return "\(Printable.name(chat, in: names)): \(Printable.text(chat.text))\(mark)"
        }
    }

    private static func chat(_ message: HistoryMessage) -> ChatMessage? {
        guard case .signal(let type, let data, _) = message.content else { return nil }
        return ChatWireForm.message(
            from: Signal(type: type, data: data, from: message.from, seq: message.seq), now: message.time)
    }
}
