import Foundation
import SignalingProtocol
import SignalingTokens
import SignalingVerification
import Synchronization

/// Two backends that consume the feed of the project, as a real one does: one reads, and keeps its place together with
/// what it has got, and one gets posts. Now and then they die, hang, fail, or do not answer.
final class FeedConsumers: Sendable {
    enum Consumer: String, CaseIterable, Sendable { case pull, push }

    /// What a consumer has got, and how often and how long it was in trouble.
    struct Result: Sendable {
        var tally = WireJudge.FeedTally()
        var batches = 0
        var troubles = 0
        var downtime = Duration.zero
    }

    /// What befalls the reader.
    private enum ReaderTrouble: CaseIterable { case dies, hangs }

    /// Enough that a consumer that was away catches up.
    private static let pageLimit = 1_000
    /// More than the server waits for events.
    private static let patience = 40.0

    private let tap: WireTap
    private let start: ContinuousClock.Instant
    private let requests: BackendRequests
    private let receiver: FeedReceiver
    private let numbers: [Consumer: Int]
    private let notes = Mutex<[Consumer: Result]>([:])
    /// Since when each takes what comes at once.
    private let upSince = Mutex<[Consumer: MonotonicInstant]>([:])
    private let readerTrouble = Mutex<ReaderTrouble?>(nil)
    /// What the reader keeps.
    private let offset = Mutex("-1")
    private let isStopped = Atomic(false)
    private let isCalm = Atomic(false)

    init(_ project: Project, tap: WireTap, start: ContinuousClock.Instant) throws {
        (self.tap, self.start) = (tap, start)
        requests = BackendRequests(project: project)
        receiver = try FeedReceiver()
        numbers = tap.judging { judge, _ in
            [
                .pull: judge.addFeedConsumer("the consumer by pull", isPosted: false),
                .push: judge.addFeedConsumer("the consumer by push", isPosted: true),
            ]
        }
        receiver.start { [weak self] body in self?.got(body, .push, for: nil) }
    }

    var receiverURL: String { "http://127.0.0.1:\(receiver.port)/feed" }

    var results: [Consumer: Result] {
        var results = notes.withLock(\.self)
        for (consumer, number) in numbers {
            results[consumer, default: Result()].tally = tap.judging { judge, _ in judge.feedTally(of: number) }
        }
        return results
    }

    private var now: MonotonicInstant { MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds) }
    private var isOver: Bool { isStopped.load(ordering: .relaxed) }

    /// Begins to read, and to be in trouble for so many percent of the time.
    func start(on stage: Stage, downtime percent: Int, seed: UInt64) {
        Task { [weak stage] in
            while let cluster = stage?.cluster, !isOver { await readNext(of: cluster) }
        }
        guard percent > 0 else { return }
        for (consumer, seed) in [(Consumer.pull, seed), (.push, seed &+ 1)] {
            Task { [weak stage] in
                var random = SplitMix64(state: seed)
                while let stage, !isOver, !isCalm.load(ordering: .relaxed) {
                    await befall(consumer, percent, on: stage, &random)
                }
            }
        }
    }

    /// Ends their troubles, and waits until they have what the clients have.
    func catchUp(within time: Duration) async {
        isCalm.store(true, ordering: .relaxed)
        let deadline = ContinuousClock.now + time
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if tap.judging({ judge, _ in !judge.isFeedBehind }) { break }
            try? await Task.sleep(for: .milliseconds(100))
        }
        // Edits come behind the messages.
        try? await Task.sleep(for: .seconds(2))
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        receiver.stop()
    }

    // MARK: - Troubles

    /// The consumer is up for a while, and in trouble for a while.
    private func befall(_ consumer: Consumer, _ percent: Int, on stage: Stage, _ random: inout SplitMix64) async {
        let time = Int.random(in: 200...1_500, using: &random)
        try? await Task.sleep(for: .milliseconds(time * (100 - percent) / percent))
        if isOver || isCalm.load(ordering: .relaxed) { return }
        let begin = stage.elapsed
        switch consumer {
        case .pull: readerTrouble.withLock { $0 = ReaderTrouble.allCases.randomElement(using: &random) }
        case .push: receiver.befalls(FeedReceiver.Trouble.allCases.randomElement(using: &random))
        }
        try? await Task.sleep(for: .milliseconds(time))
        switch consumer {
        case .pull: readerTrouble.withLock { $0 = nil }
        case .push: receiver.befalls(nil)
        }
        noteUp(consumer)
        notes.withLock { notes in
            notes[consumer, default: Result()].troubles += 1
            notes[consumer, default: Result()].downtime += stage.elapsed - begin
        }
        stage.mark(consumer == .pull ? "pullTrouble" : "pushTrouble", since: begin)
    }

    private func noteUp(_ consumer: Consumer) {
        let now = now
        upSince.withLock { $0[consumer] = now }
    }

    private func got(
        _ body: some Collection<UInt8> & Sendable, _ consumer: Consumer, for request: WireJudge.FeedRequest?
    ) {
        guard let number = numbers[consumer] else { return }
        let up = upSince.withLock { $0[consumer] } ?? MonotonicInstant(nanoseconds: 0)
        notes.withLock { $0[consumer, default: Result()].batches += 1 }
        tap.judging { judge, now in judge.gotFeed(body, number, for: request, upSince: up, at: now) }
    }

    // MARK: - Reading

    private func readNext(of cluster: Cluster) async {
        let request = tap.judging { judge, now in judge.asksFeed(at: now) }
        let path = "/feed?offset=\(offset.withLock(\.self))&limit=\(Self.pageLimit)&live=long-poll"
        let answer = await requests.send("GET", path, port: cluster.somePort, patience: Self.patience)
        while let trouble = readerTrouble.withLock(\.self), !isOver {
            try? await Task.sleep(for: .milliseconds(10))
            // What it has got and not kept is gone with it.
            if case .dies = trouble, readerTrouble.withLock(\.self) == nil { return }
        }
        let next = answer?.header("Stream-Next-Offset")
        switch answer?.status {
        case 200:
            if let body = answer?.body { got(body, .pull, for: request) }
            if let next { offset.withLock { $0 = next } }
        case 204: if let next { offset.withLock { $0 = next } }
        case 410:
            if let number = numbers[.pull] { tap.judging { judge, _ in judge.feedIsGone(number) } }
            offset.withLock { $0 = "-1" }
        default:
            try? await Task.sleep(for: .milliseconds(50))
            noteUp(.pull)
        }
    }
}
