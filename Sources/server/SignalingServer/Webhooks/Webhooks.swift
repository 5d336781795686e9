import Logging
import OutgoingHTTP
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// The webhook receivers of all projects: those that get batches of the project's feed, and those that get single presence
/// events (FEED-5). Confined to the loop.
final class Webhooks {
    private var pushers: [APIKey: FeedPusher] = [:]
    private let configuration: ServerConfiguration
    private let desk: FeedDesk
    private let loop: LoopThread
    private let logger: Logger
    /// All posts use its thread and its connections. Nil without a receiver.
    private let poster: HTTPPoster?
    /// Called when a feed has a kept event: the session need not keep it.
    private let onHandedOn: (KeptPresenceEvent, SessionID) -> Void
    /// Names the events that no session keeps.
    private let runID: String
    private var lastNumbers: [APIKey: Int64] = [:]
    private var finishing: (timer: LoopTimer, done: () -> Void)?

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    /// - Throws: ``TransportError`` `.resourcesExhausted`.
    init(
        _ configuration: ServerConfiguration, projects: [Project], desk: FeedDesk, loop: LoopThread, logger: Logger,
        onHandedOn: @escaping (KeptPresenceEvent, SessionID) -> Void
    ) throws(TransportError) {
        self.configuration = configuration
        self.desk = desk
        self.loop = loop
        self.logger = logger
        self.onHandedOn = onHandedOn
        let hasReceiver = configuration.webhook != nil || !configuration.projectWebhooks.isEmpty
        poster = hasReceiver ? try Self.makePoster() : nil
        var randomness = SystemRandomNumberGenerator()
        runID = String(UInt64.random(in: 0...(.max), using: &randomness), radix: 16)
        for project in projects {
            add(project, configuration.projectWebhooks[project.apiKey] ?? configuration.webhook)
        }
        desk.onAnnounced = { [weak self] in self?.pushers[$0]?.announced() }
    }

    private static func makePoster() throws(TransportError) -> HTTPPoster {
        do {
            return try HTTPPoster()
        } catch {
            throw TransportError(
                .resourcesExhausted,
                "Cannot create a thread for webhooks: \(error). Raise the limit of threads, descriptors or memory.")
        }
    }

    private func add(_ project: Project, _ receiver: WebhookReceiver?) {
        guard pushers[project.apiKey] == nil, let receiver, let poster else { return }
        let pusher = FeedPusher(
            project, receiver, bounds: configuration.webhookBounds, desk: desk, poster: poster, loop: loop,
            logger: logger)
        pushers[project.apiKey] = pusher
        pusher.onStep = { [weak self] in self?.checkFinished() }
        pusher.start()
    }

    /// Posts the events of projects that were added while the server runs to the common receiver, if there is one. A
    /// project of which the server knows no receiver of its own waits for a restart.
    ///
    /// - Parameter others: projects with a receiver of their own.
    func add(_ projects: [Project], except others: Set<APIKey>) {
        for project in projects where !others.contains(project.apiKey) { add(project, configuration.webhook) }
    }

    // MARK: - Presence

    /// Hands an event that no session keeps to the receiver of the session's project.
    func post(_ event: PresenceEvent, of session: SessionID) {
        guard let (key, pusher) = singlePusher(of: session) else { return }
        let number = (lastNumbers[key] ?? 0) + 1
        lastNumbers[key] = number
        let body = WebhookBody.encode(event, of: session, ownedBy: pusher.owner, happenedAt: .current)
        hand(WebhookPost(id: "\(runID)-\(number)", body: body), of: session, to: pusher) {}
    }

    /// Hands on an event that its session repeats until a feed has it.
    func post(_ event: KeptPresenceEvent, of session: SessionID) {
        guard let (_, pusher) = singlePusher(of: session) else { return onHandedOn(event, session) }
        let body = WebhookBody.encode(
            event.untold.event, of: session, ownedBy: pusher.owner,
            // The clock of a command log begins in 1970.
            happenedAt: WallTime(milliseconds: event.untold.time.nanoseconds / 1_000_000))
        hand(WebhookPost(id: event.webhookID, body: body), of: session, to: pusher) { [onHandedOn] in
            onHandedOn(event, session)
        }
    }

    private func hand(
        _ post: WebhookPost, of session: SessionID, to pusher: FeedPusher, _ done: @escaping () -> Void
    ) {
        desk.announce(post.announcement, of: session, in: pusher.feed) { [weak pusher] isKept in
            // Otherwise the archive is closed: the session repeats the event in the next process.
            if isKept { done() }
            pusher?.announced()
        }
    }

    private func singlePusher(of session: SessionID) -> (APIKey, FeedPusher)? {
        if pushers.isEmpty { return nil }
        guard let key = try? SessionIDCodec.apiKey(of: session), let pusher = pushers[key],
            pusher.receiver.types == nil
        else { return nil }
        return (key, pusher)
    }

    // MARK: - For operators

    /// By project. A node that does not post a feed does not know how far its receiver is.
    var consumers: [FeedConsumers.Consumer] {
        pushers.filter { $0.value.push.hasClaim }.sorted { $0.key.rawValue < $1.key.rawValue }.map { project, pusher in
            FeedConsumers.Consumer(
                project: project, feed: pusher.feed, kind: .push, name: "\(pusher.receiver)",
                offset: pusher.push.cursor, eventCount: pusher.push.deliveredCount)
        }
    }

    var pushes: [FeedPush] { pushers.values.map(\.push) }

    // MARK: - The end

    /// Waits until every receiver has everything, or one fails, but not for long: for a server whose feeds end with it.
    func finish(within limit: Duration = stopTime, done: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop) { [weak self] in self?.endFinishing() }
        finishing = (timer, done)
        timer.schedule(at: loop.now.advanced(by: limit))
        checkFinished()
    }

    private func checkFinished() {
        if finishing != nil, pushers.values.allSatisfy({ $0.push.isUpToDate || $0.push.isFailing }) { endFinishing() }
    }

    private func endFinishing() {
        guard let (_, done) = finishing else { return }
        finishing = nil
        for pusher in pushers.values where !pusher.push.isUpToDate { pusher.reportLoss() }
        done()
    }

    func stop() { for pusher in pushers.values { pusher.stop() } }
}
