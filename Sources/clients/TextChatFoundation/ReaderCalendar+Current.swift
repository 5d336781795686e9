import Foundation
import TextChatRunning

extension ReaderCalendar {
    /// In the reader's time zone.
    public init() { self.init(timeZone: .current) }
}
