import Dispatch
import Logging
import OutgoingHTTP
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import Synchronization

/// Posts the events of one project to its receiver: it performs the effects of ``WebhookQueue``, and decides nothing.
///
/// The loop only adds events, under a short lock. Everything else happens on a dispatch queue, since a signature takes
/// time.
final class WebhookSender: Sendable {
    private struct State {
        var queue: WebhookQueue
        var randomness = SystemRandomNumberGenerator()
        /// Whether a step of the worker is already scheduled.
        var isWoken = false
        var isFinished = false
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let receiver: WebhookReceiver
    private let logger: Logger
    private let state: Mutex<State>
    private let worker = DispatchQueue(label: "signalbox-webhooks")
    /// A prefix for the number of each post, since the numbers begin at 1 in every run of the server.
    private let runID: String
    private let poster: HTTPPoster
    private let postTime: Duration
    /// Guarded by `worker`: used only on it.
    private nonisolated(unsafe) var attempt: (ticket: WebhookQueue.Ticket, post: HTTPPoster.PostID)?
    /// Guarded by `worker`.
    private nonisolated(unsafe) var alarm: DispatchWorkItem?
    /// Guarded by `worker`: why the last attempt failed.
    private nonisolated(unsafe) var lastFault = "no response"

    private let onSettled: Settled

    /// Called on another thread when the receiver has a kept event, or will never get it.
    typealias Settled = @Sendable (KeptPresenceEvent, SessionID) -> Void

    init(
        receiver: WebhookReceiver, bounds: WebhookQueue.Bounds, poster: HTTPPoster, logger: Logger,
        onSettled: @escaping Settled = { _, _ in }
    ) {
        self.onSettled = onSettled
        var logger = logger
        logger[metadataKey: "receiver"] = "\(receiver)"
        self.receiver = receiver
        self.logger = logger
        state = Mutex(State(queue: WebhookQueue(bounds: bounds)))
        var randomness = SystemRandomNumberGenerator()
        runID = String(UInt64.random(in: 0...(.max), using: &randomness), radix: 16)
        self.poster = poster
        postTime = bounds.postTime
    }

    /// Adds an event, from any thread. Does not block.
    func add(_ body: [UInt8], of session: SessionID, kept: KeptPresenceEvent? = nil) {
        let mustWake = state.withLock { state in
            state.queue.add(body, of: session, kept: kept, now: LoopThread.now)
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if mustWake { worker.async { self.step() } }
    }

    /// The numbers of this receiver, from any thread.
    func statistics(now: MonotonicInstant) -> WebhookStatistics {
        state.withLock { state in
            WebhookStatistics(
                waitingCount: state.queue.count,
                oldestAge: state.queue.oldestAddedAt.map { now.duration(since: $0) } ?? .zero,
                deliveredCount: state.queue.deliveredCount, drops: state.queue.drops)
        }
    }

    /// Posts the waiting events, without retries and for at most `limit`. The sender drops events that are added later.
    func stop(within limit: Duration) async {
        let deadline = LoopThread.now.advanced(by: limit)
        state.withLock { $0.queue.stop(by: deadline) }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isFinished { state.stopWaiters.append(continuation) }
                return state.isFinished
            }
            if isOver { return continuation.resume() }
            worker.async { self.step() }
        }
    }

    private func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.stopWaiters = [] }
            return state.stopWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: - On the worker

    private func step(
        _ input: (inout WebhookQueue, MonotonicInstant, inout SystemRandomNumberGenerator) -> Void = { _, _, _ in }
    ) {
        let (effects, deadline) = state.withLock { state in
            state.isWoken = false
            let now = LoopThread.now
            input(&state.queue, now, &state.randomness)
            let effects = state.queue.advance(to: now, using: &state.randomness)
            return (effects, state.queue.nextDeadline)
        }
        for effect in effects { perform(effect) }
        setAlarm(deadline)
    }

    private func perform(_ effect: WebhookQueue.Effect) {
        switch effect {
        case .send(let post, let ticket):
            let id = poster.post(request(post)) { outcome in
                self.worker.async { self.posted(ticket, outcome) }
            }
            attempt = (ticket, id)
        case .abandon(let ticket):
            guard let attempt, attempt.ticket == ticket else { return }
            lastFault = "\(PostFault.timedOut)"
            poster.cancel(attempt.post)
            self.attempt = nil
        case .settled(let event, let session): onSettled(event, session)
        case .reportFailing:
            logger.warning("a webhook receiver does not accept events; the server retries", metadata: fault)
        case .reportRecovered: logger.notice("a webhook receiver accepts events again")
        case .reportDropped(let drops):
            logger.warning("dropped events for a webhook receiver", metadata: metadata(drops).merging(fault) { $1 })
        case .finished: finish()
        }
    }

    private func posted(_ ticket: WebhookQueue.Ticket, _ outcome: PostOutcome) {
        if attempt?.ticket == ticket {
            attempt = nil
            lastFault = "\(outcome)"
        }
        step { queue, now, randomness in
            queue.posted(ticket, WebhookQueue.Outcome(status: outcome.status), now: now, using: &randomness)
        }
    }

    private func setAlarm(_ deadline: MonotonicInstant?) {
        alarm?.cancel()
        alarm = nil
        guard let deadline else { return }
        let item = DispatchWorkItem { self.step() }
        alarm = item
        let wait = max(0, deadline.duration(since: LoopThread.now).wholeNanoseconds)
        worker.asyncAfter(deadline: .now() + .nanoseconds(Int(wait)), execute: item)
    }

    private func request(_ post: WebhookQueue.Post) -> HTTPPost {
        let id = post.kept?.webhookID ?? "\(runID)-\(post.number)"
        let timestamp = WallTime.current.milliseconds / 1000
        var headers = [
            (name: "Content-Type", value: "application/json"), (name: "User-Agent", value: "signalbox"),
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: "\(timestamp)"),
        ]
        if let signer = receiver.signer {
            let signature = signer.signature(id: id, timestamp: timestamp, body: post.body)
            headers.append((name: "webhook-signature", value: signature))
        }
        return HTTPPost(url: receiver.address, headers: headers, body: post.body, timeLimit: postTime)
    }

    private var fault: Logger.Metadata { ["last": "\(lastFault)"] }

    private func metadata(_ drops: WebhookQueue.Drops) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["count": .stringConvertible(drops.count)]
        for (name, count) in [
            ("full", drops.full), ("expired", drops.expired), ("refused", drops.refused), ("stopped", drops.stopped),
        ] where count > 0 { metadata[name] = .stringConvertible(count) }
        return metadata
    }
}

extension KeptPresenceEvent {
    /// The same in every process that posts the event, so that receivers can ignore a repetition.
    fileprivate var webhookID: String { "\(epoch)-\(untold.commandNumber)-\(untold.index)" }
}
