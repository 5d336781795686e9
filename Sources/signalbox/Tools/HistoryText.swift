import Foundation
import SignalingProtocol
import TextChat

/// A kept message as a line for a terminal.
enum HistoryText {
    /// `2026-11-25 16:19:26 Ada: See you at nine`. A signal that is no chat message has its type before its data.
    static func line(_ message: HistoryMessage, in zone: TimeZone) -> String {
        "\(moment(message.time, in: zone)) \(words(message))"
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

    /// In JavaScript's range of dates: a time of a server may be anything.
    private static func moment(_ time: WallTime, in zone: TimeZone) -> String {
        let milliseconds = min(max(time.milliseconds, -8_640_000_000_000_000), 8_640_000_000_000_000)
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone)
            .year().month().day().time(includingFractionalSeconds: false)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(style)
    }
}
