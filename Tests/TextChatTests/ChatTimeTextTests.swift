import Foundation
import SignalingProtocol
import Testing
import TextChatFoundation

@Suite("The time of a row")
struct ChatTimeTextTests {
    @Test(
        "the time has two digits, twelve hours, and AM or PM",
        arguments: [
            (0 as Int64, "12:00AM"), (59_999, "12:00AM"), (60_000, "12:01AM"), (3_599_999, "12:59AM"),
            (3_600_000, "01:00AM"), (43_199_999, "11:59AM"), (43_200_000, "12:00PM"), (46_800_000, "01:00PM"),
            (54_420_000, "03:07PM"), (86_399_999, "11:59PM"), (86_400_000, "12:00AM"), (-1, "11:59PM"),
            (-60_000, "11:59PM"), (-60_001, "11:58PM"), (1_700_000_000_000, "10:13PM"),
        ])
    func utc(_ milliseconds: Int64, _ text: String) throws {
        #expect(ChatTimeText.text(WallTime(milliseconds: milliseconds), in: .gmt) == text)
    }

    @Test(
        "the time is in the given time zone, with its daylight-saving time",
        arguments: [
            ("Europe/Berlin", 1_700_000_000_000 as Int64, "11:13PM"), ("Europe/Berlin", 1_688_000_000_000, "02:53AM"),
            ("Asia/Kolkata", 1_700_000_000_000, "03:43AM"), ("America/New_York", 1_700_000_000_000, "05:13PM"),
        ])
    func zones(_ name: String, _ milliseconds: Int64, _ text: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        #expect(ChatTimeText.text(WallTime(milliseconds: milliseconds), in: zone) == text)
    }

    @Test("a date at the limits of time is shown without a trap", arguments: [Int64.min, .max])
    func extremes(_ milliseconds: Int64) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(ChatTimeText.text(WallTime(milliseconds: milliseconds), in: zone).count == 7)
    }
}
