import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

/// Checks the guarantees of ``MessageFeed`` on any archive. Pass a factory: each promise is checked on a new archive.
package struct MessageFeedContract {
    /// A new archive, and a way to let it go on until it has given an answer.
    package struct Subject {
        let archive: any MessageArchive
        /// Opens the archive once more, as the next process does. Whether it then has what it had.
        let reopen: () throws -> (archive: any MessageArchive, isKept: Bool)
        /// Sets the date; `nil` if the archive has another clock.
        let setDate: ((WallTime) -> Void)?
        /// Runs the loop of the archive until the condition holds.
        let run: (() -> Bool) throws -> Void

        package init(
            archive: any MessageArchive, reopen: @escaping () throws -> (archive: any MessageArchive, isKept: Bool),
            setDate: ((WallTime) -> Void)?, run: @escaping (() -> Bool) throws -> Void
        ) {
            (self.archive, self.reopen, self.setDate, self.run) = (archive, reopen, setDate, run)
        }
    }

    package enum Promise: String, CaseIterable, Sendable {
        case readsEachEntryOnceInOrder
        case keepsAnyEntry
        case readsPages
        case readsFromEachStart
        case keepsProjectsApart
        case givesIncreasingPositions
        case beginsEmpty
        case boundsTheCount
        case boundsTheAge
        case refusesOtherOffsets
        case continuesInASecondLife
        case keepsTheCursor
        case tellsOfEntries
        case agreesWithAModel
    }

    /// What needs a date that the test sets.
    package static let withoutDate = Promise.allCases.filter { $0 != .boundsTheAge }

    let make: (HistoryBounds) throws -> Subject

    /// - Parameter make: makes an archive with the projects of ``MessageArchiveContract/project(of:)``.
    package init(make: @escaping (HistoryBounds) throws -> Subject) { self.make = make }

    package func check(_ promise: Promise) throws {
        switch promise {
        case .readsEachEntryOnceInOrder: try order()
        case .keepsAnyEntry: try anyEntry()
        case .readsPages: try pages()
        case .readsFromEachStart: try starts()
        case .keepsProjectsApart: try apart()
        case .givesIncreasingPositions: try positions()
        case .beginsEmpty: try empty()
        case .boundsTheCount: try countBound()
        case .boundsTheAge: try age()
        case .refusesOtherOffsets: try otherOffsets()
        case .continuesInASecondLife: try secondLife()
        case .keepsTheCursor: try cursor()
        case .tellsOfEntries: try tells()
        case .agreesWithAModel: for seed in 1...6 as ClosedRange<UInt64> { try model(seed: seed) }
        }
    }

    // MARK: - FEED-1: in order, once

    private func order() throws {
        let feed = try open()
        try feed.announce([1, 2], of: "p/a")
        try feed.announce([3], of: "p/b")
        try feed.wait {
            feed.archive.carryOut([.append([archived(4)]), .announce([feedEntry(4)])], of: "p/a", answer: $0)
        }
        try feed.announce([5, 6], of: "p/b")
        let rows = try feed.all(limit: 2)
        #expect(rows.map(\.entry) == (1...6).map { feedEntry($0) })
        #expect(rows.map(\.session) == ["p/a", "p/a", "p/b", "p/a", "p/b", "p/b"])
        #expect(try feed.all(limit: 100).map(\.end) == rows.map(\.end))
        let page: ArchivePage = try feed.wait {
            feed.archive.page(HistoryRequest(.newest, limit: 5), of: "p/a", answer: $0)
        }
        #expect(page.messages == [archived(4)], "what is announced is there")
    }

    private func anyEntry() throws {
        let feed = try open()
        let entries = [
            FeedEntry([.event(Array(0...255)), .event([]), .change(of: Seq(.max >> 11))]),
            FeedEntry([.messages(first: Seq(1), last: Seq(1_000), count: 99), .change(of: Seq(3))]),
            FeedEntry([.event([UInt8](repeating: 10, count: 70_000))]),
        ]
        let sessions: [SessionID] = ["p/ä{}\r\n\0", "p/", "p/\u{1F600} x"]
        for session in sessions { try feed.announce(entries: entries, of: session) }
        let rows = try feed.all(limit: 4)
        #expect(rows.map(\.entry) == entries + entries + entries)
        #expect(rows.map(\.session) == sessions.flatMap { [$0, $0, $0] })
        // Many at once.
        let many = (1...300).map { feedEntry($0) }
        try feed.announce(entries: many, of: "many/s")
        #expect(try feed.all(of: APIKey("many"), limit: 500).map(\.entry) == many)
        try feed.announce(entries: [], of: "none/s")
        #expect(try feed.all(of: APIKey("none"), limit: 5).isEmpty)
    }

    // MARK: - FEED-3: pages and positions

    private func pages() throws {
        let feed = try open()
        try feed.announce(Array(1...7), of: "p/s")
        let first = try feed.page(.oldest, limit: 3)
        #expect(first.numbers == [1, 2, 3] && first.more && first.end == first.rows.last?.end)
        let second = try feed.page(.after(first.end), limit: 3)
        #expect(second.numbers == [4, 5, 6] && second.more)
        let third = try feed.page(.after(second.end), limit: 3)
        #expect(third.numbers == [7] && !third.more)
        let whole = try feed.page(.oldest, limit: 7)
        #expect(whole.numbers == Array(1...7) && !whole.more)
        for (index, row) in whole.rows.enumerated() {
            #expect(try feed.page(.after(row.end), limit: 9).numbers == Array(1...7).suffix(6 - index))
        }
        let end = try feed.page(.after(third.end), limit: 3)
        #expect(end.rows.isEmpty && !end.more && end.end == third.end)
    }

    private func starts() throws {
        let feed = try open()
        try feed.announce([1, 2], of: "p/s")
        let newest = try feed.page(.newest)
        #expect(newest.rows.isEmpty && !newest.more)
        #expect(try feed.page(.oldest).end == newest.end)
        try feed.announce([3, 4], of: "p/s")
        #expect(try feed.page(.after(newest.end)).numbers == [3, 4])
        #expect(try feed.page(.oldest).numbers == [1, 2, 3, 4])
        #expect(try feed.page(.after(.start(partCount: 5))).numbers == [1, 2, 3, 4], "of more parts than there are")
        #expect(try feed.page(.after(FeedOffset([]))).numbers == [1, 2, 3, 4])
    }

    private func apart() throws {
        let feed = try open()
        try feed.announce([1], of: "p/s")
        try feed.announce([2], of: "q/s")
        try feed.announce([3], of: "p/s")
        // A session without a project has no feed.
        try feed.announce([4], of: "s")
        #expect(try feed.page(.oldest).numbers == [1, 3])
        #expect(try feed.page(.oldest, of: APIKey("q")).numbers == [2])
        #expect(try feed.page(.oldest, of: APIKey("s")).rows.isEmpty)
        let end = try feed.page(.newest).end
        try feed.keepCursor(end)
        #expect(try feed.cursor(of: APIKey("q")) == nil)
    }

    private func positions() throws {
        let feed = try open()
        for number in 1...40 as ClosedRange<Int64> {
            // The clock of the machine is set back, and stands still.
            feed.setDate?(WallTime(milliseconds: [5_000_000, 5_000_000, 4_000_000, 5_000_001][Int(number % 4)]))
            try feed.announce([number, number + 100], of: number.isMultiple(of: 3) ? "p/a" : "p/b")
        }
        let ends = try feed.all(limit: 7).map(\.end)
        #expect(ends.count == 80)
        for (one, next) in zip(ends, ends.dropFirst()) {
            #expect(zip(one.parts, next.parts).allSatisfy { $0 <= $1 } && one != next)
            #expect(one.text < next.text)
            #expect(FeedOffset(text: one.text) == one)
        }
        // A machine whose date is beyond everything.
        feed.setDate?(WallTime(milliseconds: .max))
        try feed.announce([200, 201], of: "p/a")
        feed.setDate?(WallTime(milliseconds: .min))
        try feed.announce([202], of: "p/a")
        #expect(try feed.all(limit: 50).suffix(3).map(\.entry) == [200, 201, 202].map { feedEntry($0) })
    }

    private func empty() throws {
        let feed = try open()
        let (oldest, newest) = (try feed.page(.oldest), try feed.page(.newest))
        #expect(oldest.rows.isEmpty && !oldest.more && newest.rows.isEmpty && !newest.more)
        #expect(try feed.page(.after(oldest.end)).rows.isEmpty)
        #expect(try feed.cursor() == nil)
        // A receiver that has got nothing yet.
        try feed.keepCursor(newest.end)
        #expect(try feed.cursor() == newest.end)
        #expect(try feed.page(.after(newest.end)).rows.isEmpty)
        let still = try feed.page(.newest).end
        try feed.announce([1, 2], of: "p/s")
        for offset in [oldest.end, newest.end, still] {
            #expect(try feed.page(.after(offset)).numbers == [1, 2])
        }
    }

    private func otherOffsets() throws {
        let feed = try open()
        #expect(try feed.read(.after(FeedOffset([1]))) == nil)
        try feed.announce([1], of: "p/s")
        let end = try feed.page(.newest).end
        for position in [1, end.parts[0] / 2, end.parts[0] + 1 << 50, .max] {
            #expect(try feed.read(.after(end.with(position, in: 0))) == nil, "\(position)")
        }
        #expect(try feed.read(.after(end)) != nil)
    }

    // MARK: - FEED-4: what goes

    private func countBound() throws {
        var bounds = HistoryBounds()
        bounds.feedEntryCount = 3
        let feed = try open(bounds)
        let empty = try feed.page(.oldest).end
        var ends: [FeedOffset] = []
        for number in 1...5 as ClosedRange<Int64> {
            try feed.announce([number], of: "p/s")
            ends.append(try feed.page(.newest).end)
        }
        try feed.announce([1], of: "q/s")
        try feed.sweep(now: time(1_000))
        #expect(try feed.page(.oldest).numbers == [3, 4, 5])
        for offset in [ends[0], empty] { #expect(try feed.read(.after(offset)) == nil) }
        #expect(try feed.page(.after(ends[1])).numbers == [3, 4, 5], "it has the last one that is gone")
        #expect(try feed.page(.after(ends[3])).numbers == [5])
        #expect(try feed.page(.after(ends[4])).rows.isEmpty)
        #expect(try feed.page(.oldest, of: APIKey("q")).numbers == [1])
        bounds.feedEntryCount = 1
        feed.archive.changeBounds(to: bounds)
        try feed.announce([6], of: "p/s")
        try feed.sweep(now: time(1_000))
        #expect(try feed.page(.oldest).numbers == [6])
        try feed.announce(Array(7...3_000), of: "p/s")
        try feed.sweep(now: time(1_000))
        #expect(try feed.page(.oldest).numbers == [3_000])
        #expect(try feed.page(.newest).end == feed.page(.oldest).end)
    }

    private func age() throws {
        let feed = try open(HistoryBounds(age: .seconds(100)))
        var ends: [FeedOffset] = []
        for number in 1...4 as ClosedRange<Int64> {
            feed.setDate?(time(1_000 + number * 10))
            try feed.announce([number], of: "p/s")
            ends.append(try feed.page(.newest).end)
        }
        try feed.sweep(now: time(1_110))
        #expect(try feed.page(.oldest).numbers == [1, 2, 3, 4])
        try feed.sweep(now: time(1_125))
        #expect(try feed.page(.oldest).numbers == [3, 4])
        #expect(try feed.read(.after(ends[0])) == nil)
        #expect(try feed.page(.after(ends[1])).numbers == [3, 4], "it has the last one that is gone")
        try feed.sweep(now: time(2_000))
        #expect(try feed.page(.oldest).rows.isEmpty)
        #expect(try feed.read(.after(ends[2])) == nil)
        #expect(try feed.page(.after(ends[3])).rows.isEmpty, "it has everything")
        feed.setDate?(time(2_001))
        try feed.announce([5], of: "p/s")
        #expect(try feed.page(.after(ends[3])).numbers == [5])
        #expect(try feed.page(.oldest).numbers == [5])
    }

    // MARK: - Lives

    private func secondLife() throws {
        var feed = try open()
        feed.setDate?(time(1_000))
        try feed.announce([1, 2, 3], of: "p/s")
        let before = try feed.page(.oldest)
        try feed.keepCursor(before.rows[1].end)
        let isKept = try feed.reopen()
        // The same moment, in which the last life has given out positions.
        feed.setDate?(time(isKept ? 1_000 : 1_001))
        if isKept {
            #expect(try feed.cursor() == before.rows[1].end)
            #expect(try feed.page(.oldest).numbers == [1, 2, 3])
            #expect(try feed.page(.after(before.rows[1].end)).numbers == [3])
        } else {
            #expect(try feed.cursor() == nil)
            #expect(try feed.read(.after(before.end)) == nil)
        }
        try feed.announce([4, 5], of: "p/s")
        let after = try feed.page(.oldest, limit: 9)
        #expect(after.numbers == (isKept ? [1, 2, 3, 4, 5] : [4, 5]))
        #expect(after.rows.suffix(2).allSatisfy { $0.end.text > before.end.text })
        #expect(try feed.read(.after(before.end))?.numbers == (isKept ? [4, 5] : nil))
    }

    private func cursor() throws {
        let feed = try open()
        #expect(try feed.cursor() == nil)
        try feed.announce([1, 2], of: "p/s")
        #expect(try feed.cursor() == nil)
        let rows = try feed.page(.oldest).rows
        for row in rows.reversed() {
            try feed.keepCursor(row.end)
            #expect(try feed.cursor() == row.end)
        }
        try feed.announce([3], of: "p/s")
        #expect(try feed.cursor() == rows[0].end)
        try feed.sweep(now: time(10))
        #expect(try feed.cursor() == rows[0].end)
    }

    private func tells() throws {
        let feed = try open()
        var told: [SessionID] = []
        feed.feed.onAnnounced = { told.append($0) }
        try feed.announce([1], of: "p/a")
        try feed.wait { feed.archive.append([archived(1)], to: "p/b", answer: $0) }
        #expect(told == ["p/a"])
        try feed.announce([2, 3], of: "p/b")
        #expect(told == ["p/a", "p/b"])
        #expect(try feed.page(.oldest).numbers == [1, 2, 3])
    }

    // MARK: - Anything

    /// A reader that goes on from page to page gets everything, unless it is told of a gap.
    private func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bounds = HistoryBounds()
        bounds.feedEntryCount = 20
        let feed = try open(bounds)
        var (announced, position, offset): (Int64, Int64, FeedOffset?) = (0, 0, nil)
        for _ in 0..<80 {
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                let count = Int64.random(in: 1...6, using: &random)
                let session: SessionID = ["p/a", "p/b", "p/c"].randomElement(using: &random) ?? "p/a"
                try feed.announce(Array(announced + 1...announced + count), of: session)
                announced += count
            case 3: try feed.sweep(now: time(1))
            default:
                let limit = Int.random(in: 1...8, using: &random)
                if let page = try feed.read(offset.map { .after($0) } ?? .oldest, limit: limit) {
                    let numbers = page.numbers
                    if offset == nil, let first = numbers.first { position = first - 1 }
                    let expected = (1...8).map { position + $0 }.filter { $0 <= announced }.prefix(limit)
                    #expect(numbers == Array(expected), "seed \(seed)")
                    position += Int64(numbers.count)
                    #expect(page.more == (position < announced), "seed \(seed)")
                    offset = page.end
                } else {
                    #expect(announced - position > 20, "seed \(seed)")
                    offset = nil
                }
            }
        }
    }

    private func open(_ bounds: HistoryBounds = HistoryBounds()) throws -> FeedBench {
        let feed = FeedBench(try make(bounds))
        feed.setDate?(time(1_000))
        return feed
    }
}

/// An entry that no other one is like.
package func feedEntry(_ number: Int64) -> FeedEntry {
    FeedEntry([.messages(first: Seq(number), last: Seq(number), count: 1)])
}

extension FeedPage {
    /// Of the entries of ``feedEntry(_:)``.
    package var numbers: [Int64] {
        rows.compactMap { row in
            if case .messages(let first, _, _)? = row.entry.announcements.first { first.rawValue } else { nil }
        }
    }
}

/// Waits for the answers of an archive and its feed.
private struct FeedBench {
    private(set) var archive: any MessageArchive
    private let subject: MessageFeedContract.Subject

    init(_ subject: MessageFeedContract.Subject) { (self.subject, archive) = (subject, subject.archive) }

    var feed: any MessageFeed { archive.feed }
    var setDate: ((WallTime) -> Void)? { subject.setDate }

    /// - Returns: whether the archive has what it had.
    mutating func reopen() throws -> Bool {
        let (reopened, isKept) = try subject.reopen()
        archive = reopened
        return isKept
    }

    func announce(_ numbers: [Int64], of session: SessionID) throws {
        try announce(entries: numbers.map { feedEntry($0) }, of: session)
    }

    func announce(entries: [FeedEntry], of session: SessionID) throws {
        try wait { feed.announce(entries, of: session, answer: $0) }
    }

    /// - Returns: `nil` if entries behind the start are gone.
    func read(_ start: FeedStart, of project: APIKey = APIKey("p"), limit: Int = 100) throws -> FeedPage? {
        let reading: FeedReading = try wait { feed.read(project, from: start, limit: limit, answer: $0) }
        if case .page(let page) = reading { return page }
        return nil
    }

    func page(_ start: FeedStart, of project: APIKey = APIKey("p"), limit: Int = 100) throws -> FeedPage {
        try #require(try read(start, of: project, limit: limit))
    }

    /// Everything, read page by page.
    func all(of project: APIKey = APIKey("p"), limit: Int) throws -> [FeedPage.Row] {
        var page = try page(.oldest, of: project, limit: limit)
        var rows = page.rows
        while page.more {
            #expect(page.rows.count == limit)
            page = try self.page(.after(page.end), of: project, limit: limit)
            rows += page.rows
        }
        return rows
    }

    func keepCursor(_ offset: FeedOffset, of project: APIKey = APIKey("p")) throws {
        try wait { feed.keepCursor(offset, of: project, answer: $0) }
    }

    func cursor(of project: APIKey = APIKey("p")) throws -> FeedOffset? {
        try wait { feed.cursor(of: project, answer: $0) }
    }

    func sweep(now: WallTime) throws { _ = try wait { archive.sweep(now: now, answer: $0) } }

    func wait<Value>(_ call: (@escaping (Result<Value, ArchiveFault>) -> Void) -> Void) throws -> Value {
        var answers: [Result<Value, ArchiveFault>] = []
        call { answers.append($0) }
        try subject.run { !answers.isEmpty }
        #expect(answers.count == 1)
        return try answers[0].get()
    }
}
