import Logging
import OutgoingHTTP
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Posts a feed to the receiver of its project: it performs the effects of ``FeedPush``, and decides nothing.
///
/// Unchecked: confined to the loop. The outcomes of posts come from another thread, and are passed on to the loop.
final class FeedPusher: @unchecked Sendable {
    let owner: WebhookBody.Owner
    let receiver: WebhookReceiver
    /// The project's, or the one of presence events for this webhook.
    let feed: APIKey
    private let desk: FeedDesk
    private let poster: HTTPPoster
    private let loop: LoopThread
    private let logger: Logger
    private let postTime: Duration
    private(set) var push: FeedPush
    /// Called after each step.
    var onStep: (() -> Void)?
    private var timer: LoopTimer?
    private var attempt: (ticket: FeedPush.Ticket, post: HTTPPoster.PostID)?
    /// Why the last attempt failed.
    private var lastFault = "no response"
    private var isStopped = false

    init(
        _ project: Project, _ receiver: WebhookReceiver, bounds: WebhookBounds, desk: FeedDesk, poster: HTTPPoster,
        loop: LoopThread, logger: Logger
    ) {
        owner = project.isApplication ? .application(project.apiKey) : .project(project.apiKey)
        feed = receiver.types == nil ? project.apiKey.webhookFeed : project.apiKey
        self.receiver = receiver
        self.desk = desk
        self.poster = poster
        self.loop = loop
        var logger = logger
        logger[metadataKey: "receiver"] = "\(receiver)"
        self.logger = logger
        postTime = bounds.postTime
        push = FeedPush(
            bounds: bounds, pollInterval: desk.pollInterval, tellsGaps: receiver.types != nil, now: loop.now)
    }

    func start() {
        timer = LoopTimer(loop: loop) { [weak self] in self?.step { $0.advance(to: $1) } }
        step { $0.advance(to: $1) }
    }

    /// The feed has something new.
    func announced() { step { $0.announced(now: $1) } }

    /// What the receiver has not got waits for the next process, or another node.
    func stop() {
        isStopped = true
        timer?.cancel()
        if let attempt { poster.cancel(attempt.post) }
        if push.hasClaim { desk.release(feed) }
    }

    private func step(_ body: (inout FeedPush, MonotonicInstant) -> Void) {
        if isStopped { return }
        body(&push, loop.now)
        for effect in push.takeEffects() { perform(effect) }
        if let deadline = push.nextDeadline { timer?.schedule(at: deadline) } else { timer?.cancel() }
        onStep?()
    }

    private func perform(_ effect: FeedPush.Effect) {
        switch effect {
        case .claim: desk.claim(feed) { [weak self] claim in self?.step { $0.claimed(claim, now: $1) } }
        case .read(let start, let end): read(from: start, through: end)
        case .post(let batch, let ticket):
            let id = poster.post(request(batch)) { [loop, weak self] outcome in
                loop.post { [weak self] in self?.posted(ticket, outcome) }
            }
            attempt = (ticket, id)
        case .abandon(let ticket):
            guard let attempt, attempt.ticket == ticket else { return }
            lastFault = "\(PostFault.timedOut)"
            poster.cancel(attempt.post)
            self.attempt = nil
        case .keepCursor(let offset):
            desk.keepCursor(offset, of: feed) { [weak self] _ in self?.step { $0.kept(now: $1) } }
        case .reportFailing:
            logger.warning("a webhook receiver does not accept events; the server retries", metadata: fault)
        case .reportRecovered: logger.notice("a webhook receiver accepts events again")
        case .reportRefused(let count):
            logger.warning(
                "dropped events for a webhook receiver",
                metadata: ["count": .stringConvertible(count), "refused": .stringConvertible(count)]
                    .merging(fault) { $1 })
        case .reportGap:
            logger.warning("dropped events for a webhook receiver: it was further behind than the feed reaches")
        }
    }

    private func read(from start: FeedStart, through end: FeedOffset?) {
        let use: FeedDesk.Answer = { [weak self] result in self?.step { $0.read(result, now: $1) } }
        if let types = receiver.types {
            desk.read(
                feed, from: start, through: end, limit: FeedEntry.largestCount, types: types, answer: use)
        } else {
            desk.readSingle(feed, from: start, answer: use)
        }
    }

    private func posted(_ ticket: FeedPush.Ticket, _ outcome: PostOutcome) {
        if attempt?.ticket == ticket {
            attempt = nil
            lastFault = "\(outcome)"
        }
        step {
            $0.posted(ticket, WebhookOutcome(status: outcome.status), now: $1, jitter: .random(in: 0...0.5))
        }
    }

    /// The server ends, and its feeds with it.
    func reportLoss() {
        logger.warning("dropped events for a webhook receiver: the server stops, and keeps none", metadata: fault)
    }

    private var fault: Logger.Metadata { ["last": "\(lastFault)"] }

    private func request(_ batch: FeedBatch) -> HTTPPost {
        if receiver.types == nil, let post = WebhookPost(batch.events.first.map { .event($0) }) {
            return receiver.request(post.body, id: post.id, timeLimit: postTime)
        }
        return receiver.request(
            WebhookBody.encode(batch, ownedBy: owner), id: batch.end.text, timeLimit: postTime)
    }
}
