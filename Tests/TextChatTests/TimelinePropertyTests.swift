import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("Random scenarios")
struct TimelinePropertyTests {
    @Test(
        "the changes lead from each snapshot to the next, and the rows match a plain reading of the rules",
        arguments: 0..<1_500 as Range<UInt64>)
    func changes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let calendar: DayOfEpoch? = seed.isMultiple(of: 4) ? nil : DayOfEpoch()
        let limit = [1, 2, 5, 8, 1000].randomElement(using: &random) ?? 1
        var rule: GroupingRule = seed.isMultiple(of: 3) ? .openTok : .standard
        // A span may start at a message that has been dropped since.
        if limit < 1000 { rule.span = nil }
        var timeline = ChatTimeline(rule: rule, calendar: calendar, limit: limit)
        var shown: [TimelineRow] = []
        var now: Int64 = 0
        var lastID = 0
        for _ in 0..<Int.random(in: 5..<60, using: &random) {
            // Mostly seconds, sometimes hours. Sometimes the clock is set back.
            now += [0, 1000, 119_999, 120_000, 400_000, 40_000_000, -90_000_000].randomElement(using: &random) ?? 0
            let before = shown
            let changes = step(
                on: &timeline, now: WallTime(milliseconds: max(now, 0)), lastID: &lastID, using: &random)
            shown.apply(changes)
            let rows = timeline.rows
            #expect(shown == rows, "seed \(seed)")
            let expected = plain(rows, rule, calendar, timeline.firstUnreadID)
            #expect(rows.map { line($0.content) } == expected.map(line), "seed \(seed)")
            #expect(Set(rows.map(\.id)).count == rows.count, "seed \(seed)")
            #expect(timeline.messageCount == timeline.messages.count)
            #expect(timeline.unreadCount == 0 || timeline.firstUnreadID != nil)
            let confirmed = timeline.messages.filter { !isPending($0) }
            #expect(confirmed.count <= limit)
            #expect(timeline.messages.suffix(timeline.messageCount - confirmed.count).allSatisfy(isPending))
            for change in changes {
                // No change is reported that changes nothing.
                switch change {
                case .move(_, let from, let to): #expect(from != to)
                case .update(let row, _): #expect(!before.contains(row), "seed \(seed)")
                case .insert, .remove: break
                }
            }
            if shown != rows { return }
        }
    }

    private func isPending(_ message: ChatMessage) -> Bool { message.direction == .sent && message.state != .sent }

    private func step(
        on timeline: inout ChatTimeline, now: WallTime, lastID: inout Int, using random: inout SeededGenerator
    ) -> [TimelineChange] {
        let own = timeline.messages.filter { $0.direction == .sent }.compactMap(\.localID)
        let one = own.randomElement(using: &random) ?? LocalID("none")
        let seq = Bool.random(using: &random) ? Seq(Int64.random(in: 1...40, using: &random)) : nil
        lastID += 1
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1, 2, 3:
            return timeline.insert(
                ChatMessage(
                    text: "\(lastID)", senderID: ["a", "b", nil].randomElement(using: &random) ?? nil,
                    sentAt: WallTime(milliseconds: Int64.random(in: 0..<300_000_000, using: &random)),
                    localID: Bool.random(using: &random) ? LocalID("\(Int.random(in: 0..<30, using: &random))") : nil,
                    seq: seq), now: now)
        case 4, 5:
            return timeline.appendPending(
                ChatMessage(text: "\(lastID)", senderID: "me", localID: LocalID("m\(lastID)"), direction: .sent),
                now: now)
        case 6:
            return timeline.insert(
                ChatMessage(text: "\(lastID)", senderID: "me", localID: LocalID("m\(lastID)"), direction: .sent),
                now: now)
        case 7, 8: return timeline.confirm(one, seq: seq)
        case 9: return timeline.fail(one, .interrupted)
        case 10: return Bool.random(using: &random) ? timeline.retry(one) : timeline.discard(one)
        case 11: return timeline.noteGap()
        case 12:
            timeline.isVisible.toggle()
            if Bool.random(using: &random) { timeline.startEra() }
            return []
        default:
            return timeline.markRead(upTo: timeline.rows.randomElement(using: &random)?.id)
        }
    }

    /// The rows as the rules require, computed in one pass from the messages and gaps.
    private func plain(
        _ rows: [TimelineRow], _ rule: GroupingRule, _ calendar: DayOfEpoch?, _ firstUnread: TimelineRow.ID?
    ) -> [TimelineRow.Content] {
        var result: [TimelineRow.Content] = []
        var previous: ChatMessage?
        var anchor: WallTime?
        var startsAt: [Int] = []
        var messagePlaces: [Int] = []
        var hasGap = false
        for row in rows {
            switch row.content {
            case .beginning, .day, .unreadDivider: continue
            case .gap:
                hasGap = true
                result.append(.gap)
            case .message(let message):
                let message = message.message
                let day = time(of: message, rule).flatMap { calendar?.day(of: $0) }
                let previousDay = previous.flatMap { time(of: $0, rule) }.flatMap { calendar?.day(of: $0) }
                if let day, day != previousDay { result.append(.day(day)) }
                if row.id == firstUnread { result.append(.unreadDivider) }
                let continues =
                    previous.map { belongs(message, behind: $0, anchor: anchor, rule) } == true && !hasGap
                    && (!rule.breaksAtDay || day == previousDay)
                if !continues {
                    anchor = time(of: message, rule)
                    startsAt.append(result.count)
                }
                messagePlaces.append(result.count)
                result.append(row.content)
                previous = message
                hasGap = false
            }
        }
        for (number, index) in messagePlaces.enumerated() {
            guard case .message(var row) = result[index] else { continue }
            let isFirst = startsAt.contains(index)
            let isLast = number + 1 == messagePlaces.count || startsAt.contains(messagePlaces[number + 1])
            row.position = isFirst ? (isLast ? .single : .first) : (isLast ? .last : .middle)
            row.showsSender = isFirst && (rule.clock == .sender || row.message.direction == .received)
            row.showsTime = rule.clock == .sender ? isFirst : isLast
            result[index] = .message(row)
        }
        return result
    }

    private func time(of message: ChatMessage, _ rule: GroupingRule) -> WallTime? {
        rule.clock == .sender ? message.sentAt : message.receivedAt
    }

    private func belongs(
        _ message: ChatMessage, behind previous: ChatMessage, anchor: WallTime?, _ rule: GroupingRule
    ) -> Bool {
        guard let earlier = time(of: previous, rule), let later = time(of: message, rule) else { return false }
        let isClose = later.milliseconds - earlier.milliseconds < 120_000
        if rule.clock == .sender { return isClose && message.senderID != nil && message.senderID == previous.senderID }
        let isOneSender =
            message.direction == previous.direction
            && (message.direction == .sent || (message.senderID != nil && message.senderID == previous.senderID))
        let isShort = rule.span == nil || anchor.map { later.milliseconds - $0.milliseconds < 600_000 } ?? true
        let hasFailed = [message, previous].contains { if case .failed = $0.state { true } else { false } }
        return isClose && isOneSender && isShort && !hasFailed
    }
}
