import Foundation
import SignalingProtocol
import TextChat

/// A kept message as a line for a terminal.
enum HistoryText {
    /// `2026-11-25 16:19:26 Ada: See you at nine`. A signal that is no chat message has its type before its data.
    static func line(_ message: HistoryMessage, in zone: TimeZone) -> String {
        "\(DateText.text(message.time, in: zone)) \(words(message))"
    }

    private static func words(_ message: HistoryMessage) -> String {
        let sender = message.from.map(Printable.name) ?? "the server"
        switch message.content {
        case .erased: return "\(sender): (erased)"
        case .signal(let type, let data, _):
            let signal = Signal(type: type, data: data, from: message.from, seq: message.seq)
            guard let chat = ChatWireForm.message(from: signal, now: message.time) else {
                return "\(sender) [\(Printable.text(type ?? "signal"))] \(Printable.text(data ?? ""))"
            }
            return "\(chat.senderAlias == nil ? sender : Printable.name(chat)): \(Printable.text(chat.text))"
        }
    }
}
