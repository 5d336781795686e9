import CommandSupport
import SignalingProtocol
import TextChat
import TextChatRunning

/// The days and the times of the machine's zone, which may change with the seasons.
struct TerminalCalendar: ChatCalendar {
    func day(of time: WallTime) -> LocalDay { ReaderCalendar(timeZone: .local(at: time)).day(of: time) }

    static func time(_ time: WallTime) -> String { ChatTimeText.text(time, in: .local(at: time)) }
}
