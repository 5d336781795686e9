import Dispatch
import Foundation
import FoundationNetworking
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import Synchronization

/// Brings one receiver what ``WebhookQueue`` says, when it says so; it decides nothing itself.
///
/// Events are handed over on the loop: one short lock. All the rest happens on a queue of its own, since the system's HTTP client
/// may keep who calls it waiting.
final class WebhookSender: Sendable {
    private struct State {
        var queue: WebhookQueue
        var randomness = SystemRandomNumberGenerator()
        /// Whether the worker has been asked to look already.
        var isWoken = false
        var isFinished = false
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let receiver: WebhookReceiver
    private let logger: Logger
    private let state: Mutex<State>
    private let worker = DispatchQueue(label: "signalbox-webhooks")
    /// In front of each delivery's number: the numbers begin anew when the server does.
    private let run: String
    private let session: URLSession
    private let poster: WebhookPoster
    /// Guarded by `worker`: used on it alone.
    private nonisolated(unsafe) var post: (ticket: WebhookQueue.Ticket, task: URLSessionDataTask)?
    /// Guarded by `worker`.
    private nonisolated(unsafe) var alarm: DispatchWorkItem?
    /// Guarded by `worker`: why the last post failed.
    private nonisolated(unsafe) var lastFault = "no answer"

    init(receiver: WebhookReceiver, bounds: WebhookQueue.Bounds, logger: Logger) {
        var logger = logger
        logger[metadataKey: "receiver"] = "\(receiver)"
        self.receiver = receiver
        self.logger = logger
        state = Mutex(State(queue: WebhookQueue(bounds: bounds)))
        var randomness = SystemRandomNumberGenerator()
        run = String(UInt64.random(in: 0...(.max), using: &randomness), radix: 16)
        (session, poster) = WebhookPoster.makeSession(postTime: bounds.postTime)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// From any thread; returns at once.
    func add(_ body: [UInt8]) {
        let mustWake = state.withLock { state in
            state.queue.add(body, now: LoopThread.now)
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if mustWake { worker.async { self.step() } }
    }

    /// Tries once more to bring what waits, for as long as `limit`. Nothing is taken any more then.
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
            // The worker may be kept waiting by the HTTP client: then it is left behind.
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(limit.wholeNanoseconds)) + 0.5) {
                self.finish()
            }
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
        case .post(let delivery, let ticket):
            let task = poster.post(request(delivery), over: session) { status, words in
                self.worker.async { self.posted(ticket, status, words) }
            }
            post = (ticket, task)
        case .abandon(let ticket):
            guard let post, post.ticket == ticket else { return }
            lastFault = "no answer in time"
            post.task.cancel()
            self.post = nil
        case .reportFailing:
            logger.warning("a webhook's receiver does not take events; they are kept for it", metadata: fault)
        case .reportRecovered: logger.notice("a webhook's receiver takes events again")
        case .reportDropped(let drops):
            logger.warning("events for a webhook were dropped", metadata: metadata(drops).merging(fault) { $1 })
        case .finished:
            session.finishTasksAndInvalidate()
            finish()
        }
    }

    private func posted(_ ticket: WebhookQueue.Ticket, _ status: Int?, _ words: String) {
        if post?.ticket == ticket {
            post = nil
            lastFault = words
        }
        step { queue, now, randomness in
            queue.posted(ticket, WebhookQueue.Outcome(status: status), now: now, using: &randomness)
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

    private func request(_ delivery: WebhookQueue.Delivery) -> URLRequest {
        let id = "\(run)-\(delivery.number)"
        let timestamp = WallTime.current.milliseconds / 1000
        var request = URLRequest(url: receiver.url)
        request.httpMethod = "POST"
        request.httpBody = Data(delivery.body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("signalbox", forHTTPHeaderField: "User-Agent")
        request.setValue(id, forHTTPHeaderField: "webhook-id")
        request.setValue("\(timestamp)", forHTTPHeaderField: "webhook-timestamp")
        if let signer = receiver.signer {
            request.setValue(
                signer.signature(id: id, timestamp: timestamp, body: delivery.body),
                forHTTPHeaderField: "webhook-signature")
        }
        return request
    }

    private var fault: Logger.Metadata { ["last": "\(lastFault)"] }

    private func metadata(_ drops: WebhookQueue.Drops) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["count": "\(drops.count)"]
        for (name, count) in [
            ("full", drops.full), ("expired", drops.expired), ("refused", drops.refused), ("stopped", drops.stopped),
        ] where count > 0 { metadata[name] = "\(count)" }
        return metadata
    }
}
