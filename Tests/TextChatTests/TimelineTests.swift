import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("The timeline")
struct TimelineTests {
    @Test("a script gives its rows, by the snapshot and by the changes", arguments: try Vectors.folder("timeline"))
    func script(_ vector: VectorCase) throws {
        var script = try TimelineScript(vector)
        for step in try #require(vector["steps"]?.arrayValue) {
            try script.run(step)
            #expect(script.shown == script.timeline.rows)
            if let rows = step["rows"]?.arrayValue {
                #expect(script.timeline.rows.map(line) == rows.compactMap(\.stringValue), "after \(step)")
            }
            if let count = step["unread"]?.integerValue { #expect(script.timeline.unreadCount == Int(count)) }
        }
        let rows = try #require(vector["rows"]?.arrayValue).compactMap(\.stringValue)
        #expect(script.timeline.rows.map(line) == rows)
    }

    static let now = WallTime(milliseconds: 1_700_000_000_000)

    private func own(_ localID: String) -> ChatMessage {
        ChatMessage(text: localID, senderID: "me", localID: LocalID(localID), direction: .sent)
    }

    private func other(_ text: String, seq: Int64? = nil) -> ChatMessage {
        ChatMessage(text: text, senderID: "b", seq: seq.map { Seq($0) })
    }

    @Test("an own message keeps its row's id from sending to sent, over failure and retry, and when it moves")
    func identity() throws {
        var timeline = ChatTimeline()
        _ = timeline.appendPending(own("1"), now: Self.now)
        let id = try #require(timeline.rows.first?.id)
        _ = timeline.appendPending(own("2"), now: Self.now)
        _ = timeline.fail(LocalID("1"), .interrupted)
        _ = timeline.retry(LocalID("1"))
        let changes = timeline.confirm(LocalID("2"), seq: Seq(4))
        #expect(changes.contains { if case .move = $0 { true } else { false } })
        _ = timeline.confirm(LocalID("1"), seq: Seq(5))
        #expect(timeline.rowID(of: LocalID("1")) == id)
        #expect(timeline.rows.map(\.id).last == id)
    }

    @Test("the most common calls make the fewest changes")
    func minimal() throws {
        var timeline = ChatTimeline()
        timeline.isVisible = true
        let first = timeline.insert(other("a", seq: 1), now: Self.now)
        #expect(first == [.insert(timeline.rows[0], at: 0)])
        let second = timeline.insert(other("b", seq: 2), now: Self.now)
        #expect(second == [.insert(timeline.rows[1], at: 1), .update(timeline.rows[0], at: 0)])
        let third = timeline.appendPending(own("1"), now: Self.now)
        #expect(third == [.insert(timeline.rows[2], at: 2)])
        let confirmed = timeline.confirm(LocalID("1"), seq: Seq(3))
        #expect(confirmed == [.update(timeline.rows[2], at: 2)])
        #expect(timeline.confirm(LocalID("1"), seq: Seq(3)).isEmpty)
    }

    @Test("the timeline keeps at most the limit; the oldest messages go first, pending ones never")
    func bound() {
        var timeline = ChatTimeline(limit: 3)
        for number in 0..<5 { _ = timeline.appendPending(own(String(number)), now: Self.now) }
        for number in 0..<10 { _ = timeline.insert(other("o\(number)"), now: Self.now) }
        #expect(timeline.messages.map(\.text) == ["0", "1", "2", "3", "4"])
        for number in 0..<5 { _ = timeline.confirm(LocalID(String(number))) }
        #expect(timeline.messages.map(\.text) == ["2", "3", "4"])
        #expect(timeline.messageCount == 3)
    }

    @Test("10,000 messages are kept by default, and a dropped one is not remembered")
    func standardBound() {
        var timeline = ChatTimeline()
        func message(_ number: Int) -> ChatMessage {
            ChatMessage(text: "x", senderID: "b", localID: LocalID(String(number)))
        }
        for number in 0..<10_001 { _ = timeline.insert(message(number), now: Self.now) }
        #expect(timeline.messageCount == 10_000)
        #expect(timeline.rowCount == 10_001)
        #expect(timeline.insert(message(10_000), now: Self.now).isEmpty)
        #expect(!timeline.insert(message(0), now: Self.now).isEmpty)
    }

    @Test("the cost of an append does not grow with the number of messages", arguments: [1_000_000, 5_000])
    func work(_ limit: Int) {
        var timeline = ChatTimeline(calendar: DayOfEpoch(), limit: limit)
        var costs: [Int] = []
        for number in 0..<12_000 {
            let before = timeline.stepCount
            let time = WallTime(milliseconds: Int64(number) * 7000)
            let changes = timeline.insert(other("x", seq: Int64(number)), now: time)
            #expect(changes.count <= 8)
            costs.append(timeline.stepCount - before)
        }
        #expect(costs.allSatisfy { $0 <= 5 })
    }

    @Test("a change far back costs no more than its neighbourhood")
    func farBack() {
        var timeline = ChatTimeline()
        timeline.isVisible = true
        for number in 1...3000 where number != 1500 {
            _ = timeline.insert(other("x", seq: Int64(number)), now: Self.now)
        }
        let before = timeline.stepCount
        #expect(timeline.insert(other("late", seq: 1500), now: Self.now).count == 1)
        #expect(timeline.stepCount - before <= 2)
        #expect(timeline.messages[1499].text == "late")
    }
}

/// Days of 24 h, counted from 1970 as days of the year 0.
struct DayOfEpoch: ChatCalendar {
    func day(of time: WallTime) -> LocalDay { LocalDay(year: 0, month: 1, day: Int(time.milliseconds / 86_400_000)) }
}
