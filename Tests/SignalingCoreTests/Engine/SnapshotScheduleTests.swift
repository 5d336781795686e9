import Testing

@testable import SignalingCore

@Suite("When a session is kept as a snapshot")
struct SnapshotScheduleTests {
    @Test("LOG-9: what the archive has taken since counts as gone from the last snapshot")
    func archived() {
        var schedule = SnapshotSchedule()
        schedule.note(commandByteCount: 1_000_000)
        let first = schedule.begin(waiting: 900_000)
        schedule.noteKept(byteCount: 1_000_000)
        schedule.note(commandByteCount: 150_000)
        let second = [900_000, 1_000_000, 60_000, 40_000].map { schedule.begin(waiting: $0) }
        schedule.noteKept(byteCount: 140_000)
        schedule.note(commandByteCount: 130_000)
        let third = schedule.begin(waiting: 40_000)
        #expect(first && second == [false, false, false, true] && !third)
    }
}
