import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("The batches on their way to an archive")
struct ArchivingBatchesTests {
    private func batch(_ last: Int64, changes: Bool = false) -> Unarchived.Batch {
        var batch = Unarchived.Batch()
        batch.steps = changes ? [.append([]), .put([])] : [.append([]), .announce([])]
        batch.last = Seq(last)
        return batch
    }

    @Test("HIS-3: without a feed, one batch is on its way until the log has confirmed it")
    func one() {
        var batches = ArchivingBatches()
        #expect(batches.room(announces: false) == .anything && batches.told == nil)
        let number = batches.begin(batch(5))
        #expect(batches.room(announces: false) == .nothing && batches.told == Seq(5))
        #expect(batches.answered(number) == Seq(5))
        #expect(batches.room(announces: false) == .nothing, "the state has it still")
        batches.archived(through: Seq(5))
        #expect(batches.room(announces: false) == .anything && batches.told == nil)
        #expect(batches.answered(number) == nil)
    }

    @Test("FEED-1: batches that change no message follow each other, and a change waits and is waited for")
    func several() {
        var batches = ArchivingBatches()
        for last in 1...Int64(ArchivingBatches.limit) {
            #expect(batches.room(announces: true) == (last == 1 ? .anything : .additions(after: Seq(last - 1))))
            _ = batches.begin(batch(last))
        }
        #expect(batches.room(announces: true) == .nothing, "so many are the most")
        batches.archived(through: Seq(1))
        #expect(batches.room(announces: true) == .additions(after: Seq(16)))
        #expect(batches.room(announces: false) == .nothing, "the feed was switched off")
        batches.archived(through: Seq(16))
        let change = batches.begin(batch(20, changes: true))
        #expect(batches.room(announces: true) == .nothing)
        #expect(batches.answered(change) == Seq(20))
        #expect(batches.room(announces: true) == .nothing)
        batches.archived(through: Seq(20))
        #expect(batches.room(announces: true) == .anything)
    }

    @Test("HIS-3: the log learns of an answer once all earlier batches have theirs, and once")
    func inOrder() {
        var batches = ArchivingBatches()
        let numbers = (1...4 as ClosedRange<Int64>).map { batches.begin(batch($0)) }
        #expect(batches.answered(numbers[1]) == nil)
        #expect(batches.answered(numbers[3]) == nil)
        #expect(batches.answered(numbers[0]) == Seq(2))
        #expect(batches.answered(numbers[0]) == nil)
        #expect(batches.answered(numbers[2]) == Seq(4))
        batches.archived(through: Seq(2))
        #expect(batches.told == Seq(4))
    }

    @Test("HIS-3: a batch that has failed is told again with those behind it, and their late answers count no more")
    func failure() {
        var batches = ArchivingBatches()
        let numbers = (1...4 as ClosedRange<Int64>).map { batches.begin(batch($0)) }
        #expect(batches.answered(numbers[2]) == nil)
        var isNew = batches.failed(numbers[1])
        #expect(isNew)
        #expect(batches.room(announces: true) == .additions(after: Seq(1)))
        for number in numbers[2...] { #expect(batches.answered(number) == nil) }
        isNew = batches.failed(numbers[3])
        #expect(!isNew)
        let again = batches.begin(batch(4))
        for number in [numbers[3], again] { #expect(batches.answered(number) == nil) }
        #expect(batches.answered(numbers[0]) == Seq(4))
        batches.removeAll()
        isNew = batches.failed(again)
        #expect(!isNew && batches.told == nil)
        #expect(batches.answered(again) == nil)
    }
}

@Suite("The feed of an engine over a log")
struct EngineFeedTests {
    /// What the feed has, in its order: seqs of messages, `edit` with a seq, and names of events.
    private func feed(_ archive: HeldArchive) -> [String] {
        var found: [String] = []
        archive.kept.read(APIKey("p"), from: .oldest, limit: 1_000) { result in
            guard case .success(.page(let page)) = result else { return }
            for announcement in page.rows.flatMap(\.entry.announcements) {
                switch announcement {
                case .messages(let first, let last, _): found.append(first == last ? "\(first)" : "\(first)-\(last)")
                case .change(let seq): found.append("change \(seq)")
                case .event(let members): found.append(text(members).contains("Created") ? "created" : "event")
                }
            }
        }
        return found
    }

    private func host(_ hasFeed: Bool = true) -> Host {
        let host = Host(hasFeed: hasFeed)
        host.join("ada")
        host.settle()
        host.pass(1)
        host.archive.holdsWrites = true
        return host
    }

    private func waiting(_ host: Host) -> Int { host.engine.state(of: room)?.unarchived.items.count ?? -1 }

    @Test("FEED-1: an archive that answers late is told every 0.9 s, and the log learns of it in order")
    func pipeline() {
        let host = host()
        #expect(feed(host.archive) == ["created"])
        for number in 1...20 {
            host.say("\(number)")
            host.pass(1)
        }
        #expect(host.archive.appends == (2...17).map { [$0] }, "16 are on their way, and the rest waits")
        #expect(waiting(host) == 20 && host.history.count == 20)
        host.archive.release(at: 1)
        host.settle()
        #expect(waiting(host) == 20, "the first has no answer")
        host.archive.release(at: 0)
        host.settle()
        #expect(waiting(host) == 18)
        #expect(host.archive.appends.last == [18, 19, 20, 21])
        host.archive.holdsWrites = false
        host.archive.release()
        host.settle()
        #expect(waiting(host) == 0 && host.history.count == 20)
        #expect(Set(feed(host.archive)) == Set(["created", "18-21"] + (2...17).map { "\($0)" }))
    }

    @Test("FEED-1: what is said within 0.9 s goes together")
    func together() {
        let host = host()
        for number in 1...30 {
            host.say("\(number)")
            host.pass(0.1)
        }
        #expect((3...4).contains(host.archive.appends.count), "\(host.archive.appends)")
    }

    @Test("HIS-3: without a feed, one batch is on its way")
    func withoutFeed() {
        let host = host(false)
        for number in 1...300 { host.say("\(number)") }
        host.settle()
        host.pass(120)
        #expect(host.archive.appends.count == 1)
        host.archive.holdsWrites = false
        host.archive.release()
        host.pass(61)
        #expect(host.archive.appends.flatMap { $0 } == Array(2...301) && waiting(host) == 0)
    }

    @Test("CHG-8, FEED-1: a change waits for its message, and what is said after it waits for the change")
    func change() {
        let host = host()
        host.say("one")
        host.settle()
        host.pass(1)
        host.say("two")
        host.edit(2, "1")
        host.say("three")
        host.settle()
        host.pass(1)
        #expect(host.archive.appends == [[2], [3]])
        host.pass(5)
        #expect(host.archive.appends == [[2], [3]])
        host.archive.release()
        host.settle()
        host.archive.release()
        host.settle()
        #expect(host.archive.appends == [[2], [3], [5]])
        host.say("four")
        host.pass(2)
        #expect(host.archive.appends.count == 3, "a batch with a change is alone")
        host.archive.holdsWrites = false
        host.archive.release()
        host.settle()
        host.pass(2)
        #expect(feed(host.archive) == ["created", "2", "3", "change 2", "5", "6"])
        #expect(host.history.map { $0.prefix(6) } == [#"2 "1","#, #"3 "two"#, #"5 "thr"#, #"6 "fou"#])
    }

    @Test("HIS-9, FEED-1: an erasure waits for what is on its way")
    func erasure() {
        let host = host()
        host.say("one")
        host.pass(1)
        host.say("two")
        host.erase(.message(Seq(2)), "ada")
        host.pass(1)
        #expect(host.archive.appends == [[2], [3]] && host.archive.eraseCount == 0)
        host.archive.holdsWrites = false
        host.archive.release()
        host.pass(6)
        #expect(host.archive.eraseCount == 1 && waiting(host) == 0)
        #expect(host.history == ["2 erased", #"3 "two""#])
        #expect(feed(host.archive) == ["created", "2", "3", "event"])
    }

    @Test("HIS-3, FEED-1: after a fault, a batch and all behind it are told again")
    func fault() {
        let host = host()
        for number in 1...4 {
            host.say("\(number)")
            host.settle()
            host.pass(1)
        }
        #expect(host.archive.appends == [[2], [3], [4], [5]])
        host.archive.release { $0 == 1 }
        host.settle()
        #expect(waiting(host) == 3, "the first is there")
        host.archive.holdsWrites = false
        host.pass(0.5)
        #expect(host.archive.appends.count == 4, "it waits for a second")
        host.pass(0.6)
        #expect(host.archive.appends.last == [3, 4, 5] && waiting(host) == 0)
        #expect(host.history.count == 4)
        #expect(feed(host.archive) == ["created", "2", "4", "5", "3-5"], "at least once")
    }

    @Test("HIS-3, FEED-1: the next process tells again what has no answer")
    func crash() {
        let host = host()
        for number in 1...3 {
            host.say("\(number)")
            host.pass(1)
        }
        host.archive.release(at: 1)
        host.settle()
        let next = host.restarted()
        next.archive.holdsWrites = false
        next.pass(61)
        #expect(next.history == [#"2 "1""#, #"3 "2""#, #"4 "3""#])
        host.archive.release()
        #expect(next.history.count == 3)
    }
}
