import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

private func message(_ seq: Int64, _ data: String? = "x") -> ArchivedMessage {
    ArchivedMessage(
        seq: Seq(seq), time: WallTime(milliseconds: seq), head: Array(#"{"seq":\#(seq),"from":null"#.utf8),
        content: data.map { Array(#","data":"\#($0)""#.utf8) })
}

/// A state that carries these messages for its archive, and these erasures behind them.
private func unarchived(_ seqs: [Int64], erasures: [(Int64, Erasure)] = []) -> Unarchived {
    var unarchived = Unarchived()
    for seq in seqs {
        let event = SignalEvent(seq: Seq(seq), from: nil, type: nil, data: "x")
        unarchived.keep(
            LogEntry(
                seq: Seq(seq), audience: .everyone, kind: .signal,
                appendedAt: MonotonicInstant(nanoseconds: seq * 1_000_000),
                line: EncodedLine(event, encodedSender: nil)))
    }
    for (seq, erasure) in erasures { unarchived.erase(erasure, at: Seq(seq), .seconds(0)) }
    return unarchived
}

@Suite("A page of the archive, completed by the state")
struct UnarchivedTests {
    /// The archive's own page for a request.
    private func page(_ seqs: [Int64], _ request: HistoryRequest) -> ArchivePage {
        let archive = MemoryArchive()
        archive.append(seqs.map { message($0) }, to: room) { _ in }
        var found = ArchivePage(range: nil, more: false, messages: [])
        archive.page(request, of: room) { if case .success(let page) = $0 { found = page } }
        return found
    }

    @Test("HIS-6: a page passes over what the archive is still to remove, and nothing is said to follow before it")
    func removedBefore() {
        let state = unarchived([9], erasures: [(10, .through(Seq(5)))])
        func read(_ request: HistoryRequest) -> ArchivePage {
            let seqs = (1...8 as ClosedRange<Int64>).map { $0 }
            return state.complete(page(seqs, state.archiveRequest(for: request)), for: request) { $0.date }
        }
        let forward = read(HistoryRequest(.after(.zero), limit: 2))
        #expect(forward.messages.map(\.seq.rawValue) == [6, 7] && forward.more)
        let backward = read(HistoryRequest(.before(Seq(8)), limit: 4))
        #expect(backward.messages.map(\.seq.rawValue) == [6, 7] && !backward.more)
    }

    @Test(
        "HIS-4: however the messages are spread over the archive and the state, the page is the same",
        arguments: 1...40 as ClosedRange<UInt64>)
    func spread(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let seqs = (1...30 as ClosedRange<Int64>).filter { _ in Bool.random(using: &random) }
        for request in [
            HistoryRequest(.newest, limit: 5), HistoryRequest(.newest, limit: 100),
            HistoryRequest(.before(Seq(17)), limit: 4), HistoryRequest(.before(Seq(200)), limit: 9),
            HistoryRequest(.after(Seq(9)), limit: 4), HistoryRequest(.after(.zero), limit: 100),
            HistoryRequest(.after(Seq(28)), limit: 3),
        ] {
            let whole = page(seqs, request)
            // The archive has the first ones. Of some of these the state does not know it yet.
            let archived = Int.random(in: 0...seqs.count, using: &random)
            let known = Int.random(in: 0...archived, using: &random)
            let state = unarchived(Array(seqs[known...]))
            let completed = state.complete(page(Array(seqs[..<archived]), request), for: request) { $0.date }
            #expect(
                completed.messages.map(\.seq) == whole.messages.map(\.seq), "\(request) \(seqs) \(known) \(archived)")
            #expect(completed.range == whole.range, "\(request) \(seqs) \(known) \(archived)")
            #expect(completed.more == whole.more, "\(request) \(seqs) \(known) \(archived)")
        }
    }

    @Test("HIS-9: no page has the content that the archive is still to erase")
    func erased() {
        let request = HistoryRequest(.newest)
        let one = unarchived([5], erasures: [(6, .message(Seq(2)))])
        let page = one.complete(page([1, 2, 3], request), for: request) { $0.date }
        #expect(page.messages.map(\.seq.rawValue) == [1, 2, 3, 5])
        #expect(page.messages.map { $0.content == nil } == [false, true, false, false])
        let all = unarchived([5, 8], erasures: [(9, .through(Seq(5)))])
        let rest = all.complete(self.page([1, 2, 3], request), for: request) { $0.date }
        #expect(rest.messages.map(\.seq.rawValue) == [8])
        #expect(rest.range?.upperBound == Seq(8) && (rest.range?.lowerBound ?? .zero) > Seq(5))
        let none = unarchived([5], erasures: [(9, .through(Seq(5)))])
        #expect(none.complete(self.page([1], request), for: request) { $0.date }.range == nil)
    }

    @Test("HIS-6: a message in a page has the members of its signal, the sender's connection and the time")
    func form() throws {
        let sender = Connection(
            connectionId: client("ada"), creationTime: WallTime(milliseconds: 17), data: "name=\"Ada\"")
        let event = SignalEvent(seq: Seq(812), from: client("ada"), type: "chat", data: "a\"b\n", isJSON: true)
        let byREST = SignalEvent(seq: Seq(9), from: nil, type: nil, data: nil)
        var unarchived = Unarchived()
        for (seq, line) in [
            (Seq(9), EncodedLine(byREST, encodedSender: nil)),
            (Seq(812), EncodedLine(event, encodedSender: EncodedLine.encode(sender))),
        ] {
            unarchived.keep(
                LogEntry(
                    seq: seq, audience: .everyone, kind: .signal, appendedAt: MonotonicInstant(nanoseconds: 42_500_000),
                    line: line))
        }
        let batch = unarchived.nextBatch(atMost: 10) { $0.date }
        guard case .append(let messages)? = batch?.steps.first else {
            Issue.record("nothing to tell")
            return
        }
        #expect(batch?.last == Seq(812))
        var bytes: [UInt8] = []
        for message in messages { message.append(to: &bytes) }
        #expect(
            text(bytes) == #"{"seq":9,"from":null,"time":42}"#
                + #"{"seq":812,"from":"ada","connection":{"connectionId":"ada","creationTime":17,"data":"name=\"Ada\""},"#
                + #""type":"chat","data":"a\"b\n","json":true,"time":42}"#)
        bytes = []
        messages[1].erased.append(to: &bytes)
        #expect(text(bytes).hasSuffix(#""data":"name=\"Ada\""},"erased":true,"time":42}"#))
    }

    @Test("HIS-9: the archive is told of messages and erasures in their order, several at once")
    func batches() {
        func told(_ state: Unarchived, atMost count: Int) -> [String] {
            (state.nextBatch(atMost: count) { $0.date }?.steps ?? []).map { step in
                switch step {
                case .append(let messages): "\(messages.map(\.seq.rawValue))"
                case .put(let forms): "put \(forms.map(\.seq.rawValue))"
                case .erase(let scope): "erase \(scope.seq)"
                case .announce(let entries): "announce \(entries.map(\.announcements))"
                }
            }
        }
        var state = unarchived([1, 2], erasures: [(3, .message(Seq(1))), (4, .message(Seq(2)))])
        for seq in [5, 6] as [Int64] {
            state.keep(
                LogEntry(
                    seq: Seq(seq), audience: .everyone, kind: .signal, appendedAt: .seconds(0),
                    line: EncodedLine(SignalEvent(seq: Seq(seq), from: nil, type: nil, data: "x"), encodedSender: nil)))
        }
        #expect(told(state, atMost: 100) == ["[1, 2]", "erase 3", "erase 4", "[5, 6]"])
        #expect(told(state, atMost: 5) == ["[1, 2]", "erase 3", "erase 4", "[5]"])
        #expect(state.nextBatch(atMost: 3) { $0.date }?.last == Seq(3))
        state.archived(through: Seq(4))
        #expect(told(state, atMost: 100) == ["[5, 6]"])
        let many = unarchived([], erasures: (1...1_000).map { ($0, .message(Seq(1))) })
        #expect(told(many, atMost: 1_000).count == 256)
    }
}
