import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

/// Checks the guarantees of ``MessageArchive`` on any archive. Pass a factory: each promise is checked on a new archive.
package struct MessageArchiveContract {
    /// A new archive, and a way to let it go on until it has given an answer.
    package struct Subject {
        let archive: any MessageArchive
        /// Whether the archive counts these messages, and no others, of the sessions that have some.
        let counts: ([[ArchivedMessage]]) throws -> Bool
        /// Runs the loop of the archive until the condition holds.
        let run: (() -> Bool) throws -> Void

        package init(
            archive: any MessageArchive, counts: @escaping ([[ArchivedMessage]]) throws -> Bool,
            run: @escaping (() -> Bool) throws -> Void
        ) {
            self.archive = archive
            self.counts = counts
            self.run = run
        }
    }

    package enum Promise: String, CaseIterable, Sendable {
        case keepsWhatWasAppended
        case keepsAMessageOnce
        case ordersBySeq
        case readsPagesInBothDirections
        case endsAPageAtItsBytes
        case erasesOneMessage
        case erasesThroughASeq
        case erasesTheMessagesOfAUser
        case bringsNothingTrimmedBack
        case knowsTheLastSeq
        case forgetsEmptySessions
        case boundsTheAge
        case boundsASession
        case boundsAllSessions
        case sharesTheBound
        case countsItsMessages
        case keepsSessionsApart
        case putsNewerForms
        case putsNothingErasedBack
        case boundsWhatItPuts
        case agreesWithAModel
        case endsAlikeInAnyOrder
    }

    /// The projects of the sessions: what is in front of the slash.
    package static func project(of session: SessionID) -> APIKey? {
        session.rawValue.firstIndex(of: "/").map { APIKey(String(session.rawValue[..<$0])) }
    }

    let make: (HistoryBounds) throws -> Subject

    /// - Parameter make: makes an archive with the projects of ``project(of:)``.
    package init(make: @escaping (HistoryBounds) throws -> Subject) { self.make = make }

    package func check(_ promise: Promise) throws {
        switch promise {
        case .keepsWhatWasAppended: try keeps()
        case .keepsAMessageOnce: try once()
        case .ordersBySeq: try order()
        case .readsPagesInBothDirections: try pages()
        case .endsAPageAtItsBytes: try pageBytes()
        case .erasesOneMessage: try eraseOne()
        case .erasesThroughASeq: try eraseThrough()
        case .erasesTheMessagesOfAUser: try eraseUser()
        case .bringsNothingTrimmedBack: try trimmed()
        case .knowsTheLastSeq: try lastSeq()
        case .forgetsEmptySessions: try forgets()
        case .boundsTheAge: try age()
        case .boundsASession: try sessionBounds()
        case .boundsAllSessions: try totalBound()
        case .sharesTheBound: try shares()
        case .countsItsMessages: try counts()
        case .keepsSessionsApart: try apart()
        case .putsNewerForms: try puts()
        case .putsNothingErasedBack: try putsNothingBack()
        case .boundsWhatItPuts: try putBounds()
        case .agreesWithAModel: for seed in 1...8 as ClosedRange<UInt64> { try model(seed: seed) }
        case .endsAlikeInAnyOrder: for seed in 1...8 as ClosedRange<UInt64> { try anyOrder(seed: seed) }
        }
    }

    // MARK: - Kept, once, in order

    private func keeps() throws {
        let archive = try open()
        try archive.append([1, 2, 5])
        let page = try archive.page()
        #expect(page.messages == [archived(1), archived(2), archived(5)])
        #expect(page.range == Seq(1)...Seq(5))
        #expect(!page.more)
        let nothing = try archive.page(of: "other")
        #expect(nothing.messages.isEmpty && nothing.range == nil && !nothing.more)
        // Not of a message that fits into any buffer.
        try archive.append([archived(9, byteCount: 60_000)])
        #expect(try archive.page(.after(Seq(5))).messages == [archived(9, byteCount: 60_000)])
        try archive.append([ArchivedMessage(seq: Seq(10), time: time(10), head: [1], content: [])])
        #expect(try archive.page(.after(Seq(9))).messages.first?.content == [])
    }

    private func once() throws {
        let archive = try open()
        try archive.append([1, 2])
        let other = ArchivedMessage(seq: Seq(2), time: time(77), head: [1], content: [2])
        try archive.append([other, archived(3)])
        #expect(try archive.page().messages == [archived(1), archived(2), archived(3)])
        #expect(archive.count == 3)
    }

    private func order() throws {
        let archive = try open()
        try archive.append([10, 20])
        try archive.append([5, 15, 25])
        try archive.append([1, 16])
        #expect(try archive.seqs() == [1, 5, 10, 15, 16, 20, 25])
    }

    // MARK: - Pages

    private func pages() throws {
        let archive = try open()
        try archive.append((1...500).map { $0 * 2 })
        func expect(
            _ position: HistoryRequest.Position, _ limit: Int, _ seqs: [Int64], more: Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let page = try archive.page(position, limit: limit)
            #expect(page.messages.map(\.seq.rawValue) == seqs, sourceLocation: sourceLocation)
            #expect(page.more == more, sourceLocation: sourceLocation)
            #expect(page.range == Seq(2)...Seq(1_000), sourceLocation: sourceLocation)
        }
        try expect(.newest, 3, [996, 998, 1_000], more: true)
        try expect(.before(Seq(996)), 3, [990, 992, 994], more: true)
        try expect(.before(Seq(995)), 2, [992, 994], more: true)
        try expect(.before(Seq(6)), 2, [2, 4], more: false)
        try expect(.before(Seq(6)), 1, [4], more: true)
        try expect(.before(Seq(2)), 5, [], more: false)
        try expect(.before(Seq(0)), 5, [], more: false)
        try expect(.before(Seq(.max)), 1, [1_000], more: true)
        try expect(.after(Seq(0)), 2, [2, 4], more: true)
        try expect(.after(Seq(3)), 2, [4, 6], more: true)
        try expect(.after(Seq(994)), 3, [996, 998, 1_000], more: false)
        try expect(.after(Seq(994)), 2, [996, 998], more: true)
        try expect(.after(Seq(1_000)), 5, [], more: false)
        try expect(.after(Seq(.max)), 5, [], more: false)
        #expect(try archive.page(limit: 200).messages.count == 200)
        #expect(try archive.page(.after(Seq(0)), limit: 200).messages.count == 200)
    }

    private func pageBytes() throws {
        let archive = try open()
        let limit = Limits.historyPageByteCount
        try archive.append([
            archived(1), archived(2, byteCount: limit + 100), archived(3), archived(4, byteCount: limit - 200),
        ])
        let newest = try archive.page()
        #expect(newest.messages.map(\.seq.rawValue) == [3, 4] && newest.more)
        #expect(newest.messages.reduce(0) { $0 + $1.byteCount } <= limit)
        let oversized = try archive.page(.before(Seq(3)))
        #expect(oversized.messages.map(\.seq.rawValue) == [2] && oversized.more, "at least one message")
        let first = try archive.page(.before(Seq(2)))
        #expect(first.messages.map(\.seq.rawValue) == [1] && !first.more)
        #expect(try archive.page(.after(Seq(0))).messages.map(\.seq.rawValue) == [1])
    }

    // MARK: - Erasing

    private func eraseOne() throws {
        let archive = try open()
        try archive.append([1, 2, 3])
        try archive.erase(.message(Seq(2)))
        #expect(try archive.page().messages == [archived(1), archived(2).erased, archived(3)])
        try archive.append([2])
        try archive.erase(.message(Seq(2)))
        #expect(try archive.page().messages == [archived(1), archived(2).erased, archived(3)])
        // An erasure that came before the message, and that the archive learns of after it: a repetition.
        try archive.erase(.message(Seq(3)), at: Seq(3))
        try archive.erase(.through(Seq(3)), at: Seq(1))
        #expect(try archive.page().messages == [archived(1), archived(2).erased, archived(3)])
        #expect(try archive.counts([[archived(1), archived(2).erased, archived(3)]]))
    }

    private func eraseThrough() throws {
        let archive = try open()
        try archive.append((1...300).map { $0 })
        try archive.erase(.through(Seq(298)))
        #expect(try archive.seqs() == [299, 300])
        #expect(try archive.page().range == Seq(299)...Seq(300))
        try archive.append([298, 299, 301])
        #expect(try archive.seqs() == [299, 300, 301])
        try archive.erase(.through(Seq(301)))
        let page = try archive.page()
        #expect(page.messages.isEmpty && page.range == nil && !page.more)
        #expect(try archive.count == 0 && archive.counts([]))
        // What comes after the newest is not erased yet.
        try archive.append([302])
        try archive.erase(.through(Seq(.max)))
        try archive.append([301, 302, 303])
        #expect(try archive.seqs() == [303])
        try archive.erase(.through(Seq(5)), of: "unknown")
        try archive.erase(.message(Seq(5)), of: "unknown")
        try archive.append([5], to: "unknown")
        #expect(try archive.page(of: "unknown").messages == [archived(5)])
    }

    /// More messages than an archive erases in one step.
    private func eraseUser() throws {
        let archive = try open()
        let users: [UserID?] = ["u", nil, "v", "u\"}", "u"]
        func message(_ seq: Int64) -> ArchivedMessage {
            archived(seq, by: users[Int(seq) % users.count], byteCount: 300)
        }
        let count: Int64 = 3_000
        for start in stride(from: 1, through: count, by: 300) { try archive.append((start..<start + 300).map(message)) }
        try archive.erase(.user("u"), at: Seq(count - 9))
        func expected(_ seq: Int64) -> ArchivedMessage {
            users[Int(seq) % users.count] == "u" && seq < count - 9 ? message(seq).erased : message(seq)
        }
        #expect(try archive.all(of: "session") == (1...count).map(expected))
        #expect(try archive.counts([(1...count).map(expected)]))
        #expect(archive.count == Int(count))
        // Late messages of a node that stood still, and the same erasure once more.
        try archive.append((1...10).map(message))
        try archive.erase(.user("u"), at: Seq(count - 9))
        try archive.erase(.user("nobody"))
        try archive.erase(.user("u"), of: "unknown")
        #expect(try archive.all(of: "session") == (1...count).map(expected))
        #expect(try archive.lastSeq(of: "unknown") == nil)
    }

    // MARK: - Bounds

    private func trimmed() throws {
        let archive = try open(HistoryBounds(messageCount: 3))
        try archive.append([1, 2, 3, 4, 5])
        #expect(try archive.seqs() == [3, 4, 5])
        try archive.append([1, 2])
        #expect(try archive.seqs() == [3, 4, 5])
    }

    private func lastSeq() throws {
        let archive = try open(HistoryBounds(messageCount: 2))
        #expect(archive.archive.isEmpty)
        #expect(try archive.lastSeq() == nil)
        try archive.append([1, 2, 9])
        try archive.append([4])
        #expect(try archive.lastSeq() == Seq(9))
        try archive.erase(.through(Seq(20)))
        #expect(try archive.lastSeq() == Seq(9))
        #expect(!archive.archive.isEmpty)
        #expect(try archive.lastSeq(of: "other") == nil)
    }

    private func forgets() throws {
        let archive = try open(HistoryBounds(age: .seconds(100)))
        try archive.append([1, 2], to: "old")
        try archive.append([archived(1), archived(500)], to: "new")
        try archive.append([1], to: "erased")
        try archive.erase(.through(Seq(1)), of: "erased")
        #expect(try archive.sweep(now: time(102)) == ["erased"])
        #expect(try archive.sweep(now: time(103)) == ["old"])
        #expect(try archive.sweep(now: time(103)) == [])
        #expect(try archive.lastSeq(of: "old") == nil)
        #expect(try archive.lastSeq(of: "new") == Seq(500))
        #expect(try archive.seqs(of: "new") == [500])
    }

    private func age() throws {
        let archive = try open(HistoryBounds(age: .seconds(100)))
        try archive.append((1...600).map { $0 })
        #expect(try archive.sweep(now: time(700)) == [])
        #expect(try archive.page().range == Seq(600)...Seq(600))
        let young = try open()
        try young.append([1, 2])
        #expect(try young.sweep(now: time(1_000)) == [])
        #expect(try young.seqs() == [1, 2])
        young.archive.changeBounds(to: HistoryBounds(age: .seconds(1)))
        #expect(try young.sweep(now: time(1_000)) == ["session"])
    }

    private func sessionBounds() throws {
        let size = archived(1).byteCount
        let archive = try open(HistoryBounds(messageCount: 100, byteCount: 5 * size))
        try archive.append((1...20).map { $0 })
        #expect(try archive.seqs() == [16, 17, 18, 19, 20])
        archive.archive.changeBounds(to: HistoryBounds(messageCount: 2))
        #expect(try archive.sweep(now: time(20)) == [])
        #expect(try archive.seqs() == [19, 20])
        archive.archive.changeBounds(to: HistoryBounds(messageCount: 4))
        try archive.append((21...400).map { $0 })
        #expect(try archive.seqs() == [397, 398, 399, 400])
    }

    private func totalBound() throws {
        let archive = try open()
        try archive.append((1...300).map { $0 }, to: "small")
        try archive.append((1...2_100).map { $0 }, to: "large")
        try archive.append((1...1_200).map { $0 }, to: "middle")
        try archive.sweepWithin(0.85)
        #expect(try archive.seqs(of: "small").count == 300)
        #expect(try archive.seqs(of: "middle").count == 1_200)
        #expect(try archive.page(of: "large").range?.upperBound == Seq(2_100))
        // Then the largest are equal.
        try archive.append((301...1_700).map { $0 }, to: "small")
        try archive.sweepWithin(0.75)
        let counts = try (["small", "middle", "large"] as [SessionID]).map { try archive.seqs(of: $0).count }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) < 120, "\(counts)")
    }

    private func shares() throws {
        let archive = try open()
        try archive.append((1...1_000).map { $0 }, to: "quiet/one")
        try archive.append((1...20).map { $0 }, to: "quiet/two")
        for number in 0..<600 { try archive.append([1], to: SessionID("loud/\(number)")) }
        try archive.append((1...500).map { $0 }, to: "loud/large")
        // The project with the most sessions loses the messages, and its largest session the first of them.
        try archive.sweepWithin(0.75)
        #expect(try archive.seqs(of: "quiet/one").count == 1_000)
        #expect(try archive.seqs(of: "quiet/two").count == 20)
        #expect(try archive.seqs(of: "loud/large").count < 100)
        #expect(archive.count > 1_120)
        // What the others do not have is for the loud one, until they have more.
        try archive.append((1_001...1_500).map { $0 }, to: "quiet/one")
        try archive.sweepWithin(0.95)
        #expect(try archive.seqs(of: "quiet/one").count == 1_500)
    }

    private func counts() throws {
        let archive = try open(HistoryBounds(messageCount: 5))
        let empty = archive.bytes
        #expect(archive.count == 0)
        try archive.append([1, 2, 3], to: "a")
        try archive.append([1, 2, 3, 4, 5, 6], to: "b")
        #expect(archive.count == 8 && archive.bytes > empty)
        #expect(try archive.counts([[1, 2, 3].map { archived($0) }, [2, 3, 4, 5, 6].map { archived($0) }]))
        try archive.erase(.through(Seq(2)), of: "a")
        #expect(archive.count == 6)
        #expect(try archive.sweep(now: time(100_000_000)) == ["a", "b"])
        #expect(archive.count == 0 && archive.bytes == empty)
    }

    private func apart() throws {
        let archive = try open()
        try archive.append([1, 2], to: "a")
        try archive.append([2, 3], to: "b")
        try archive.erase(.through(Seq(2)), of: "b")
        #expect(try archive.seqs(of: "a") == [1, 2])
        #expect(try archive.seqs(of: "b") == [3])
        try archive.erase(.message(Seq(1)), of: "a")
        #expect(try archive.page(of: "b").messages == [archived(3)])
    }

    func open(_ bounds: HistoryBounds = HistoryBounds()) throws -> ArchiveBench {
        ArchiveBench(try make(bounds))
    }
}

/// Waits for the answers of an archive.
struct ArchiveBench {
    let archive: any MessageArchive
    let counts: ([[ArchivedMessage]]) throws -> Bool
    private let run: (() -> Bool) throws -> Void

    init(_ subject: MessageArchiveContract.Subject) {
        (archive, counts, run) = (subject.archive, subject.counts, subject.run)
    }

    var count: Int { archive.messageCount }
    var bytes: Int { archive.byteCount }

    func append(_ messages: [ArchivedMessage], to session: SessionID = "session") throws {
        try wait { archive.append(messages, to: session, answer: $0) }
    }

    func append(_ seqs: [Int64], to session: SessionID = "session") throws {
        try append(seqs.map { archived($0) }, to: session)
    }

    func put(_ forms: [ArchivedForm], of session: SessionID = "session") throws {
        try wait { archive.put(forms, of: session, answer: $0) }
    }

    func carryOut(_ steps: [ArchiveStep]) throws { try wait { archive.carryOut(steps, of: "session", answer: $0) } }

    func page(
        _ position: HistoryRequest.Position = .newest, limit: Int = 50, of session: SessionID = "session"
    ) throws -> ArchivePage {
        try wait { archive.page(HistoryRequest(position, limit: limit), of: session, answer: $0) }
    }

    func seqs(of session: SessionID = "session") throws -> [Int64] { try all(of: session).map(\.seq.rawValue) }

    /// Every message, read page by page.
    func all(of session: SessionID) throws -> [ArchivedMessage] {
        var messages: [ArchivedMessage] = []
        while true {
            let page = try page(.after(messages.last?.seq ?? .zero), limit: 200, of: session)
            messages += page.messages
            if !page.more { return messages }
        }
    }

    func erase(_ erasure: Erasure, at seq: Seq = .greatest, of session: SessionID = "session") throws {
        try wait { archive.erase(ErasureScope(erasure, at: seq), of: session, answer: $0) }
    }

    func lastSeq(of session: SessionID = "session") throws -> Seq? {
        try wait { archive.lastSeq(of: session, answer: $0) }
    }

    /// Bounds all sessions to a part of what they take, and sweeps.
    func sweepWithin(_ part: Double) throws {
        let bound = Int(Double(bytes) * part)
        archive.changeBounds(to: HistoryBounds(totalByteCount: bound))
        _ = try sweep(now: time(1))
        #expect(bytes <= bound && bytes > bound / 10 * 9)
    }

    func sweep(now: WallTime) throws -> [SessionID] { try wait { archive.sweep(now: now, answer: $0) }.sorted() }

    func wait<Value>(_ call: (@escaping (Result<Value, ArchiveFault>) -> Void) -> Void) throws -> Value {
        var answers: [Result<Value, ArchiveFault>] = []
        call { answers.append($0) }
        try run { !answers.isEmpty }
        #expect(answers.count == 1)
        return try answers[0].get()
    }
}

/// A message whose time is its seq in seconds.
///
/// - Parameter user: of the client that sent it; `nil` for a message by REST.
package func archived(_ seq: Int64, by user: UserID? = nil, byteCount: Int = 100) -> ArchivedMessage {
    var head = Array(#"{"seq":\#(seq),"from":"#.utf8)
    if let user {
        let sender = Connection(
            connectionId: ConnectionID("c"), creationTime: WallTime(milliseconds: 1), data: "", user: user)
        head += Array(#""c""#.utf8) + EncodedLine.encode(sender)
    } else {
        head += Array("null".utf8)
    }
    let content = [UInt8](repeating: UInt8(truncatingIfNeeded: seq), count: max(0, byteCount - 24 - head.count))
    return ArchivedMessage(seq: Seq(seq), time: time(seq), head: head, content: content)
}

func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1_000) }
