import Logging
import OutgoingHTTP
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import Synchronization

/// The webhook receivers of all projects. Each project has a queue of its own, even if projects share a receiver: one
/// that floods its queue, or whose receiver is slow, does not affect the others.
final class Webhooks: Sendable {
    private struct Route: Sendable {
        let owner: WebhookBody.Owner
        let sender: WebhookSender

        init(
            _ project: Project, _ receiver: WebhookReceiver, _ bounds: WebhookQueue.Bounds, _ poster: HTTPPoster,
            _ logger: Logger, onSettled: @escaping WebhookSender.Settled
        ) {
            owner = project.isApplication ? .application(project.apiKey) : .project(project.apiKey)
            sender = WebhookSender(
                receiver: receiver, bounds: bounds, poster: poster, logger: logger, onSettled: onSettled)
        }
    }

    private let routes: Mutex<[APIKey: Route]>
    /// The receiver for projects without one of their own.
    private let common: WebhookReceiver?
    /// All posts use its thread and its connections. Nil without a receiver.
    private let poster: HTTPPoster?
    private let bounds: WebhookQueue.Bounds
    private let logger: Logger
    private let onSettled: WebhookSender.Settled

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    /// - Parameter onSettled: called on another thread when a receiver has a kept event, or will never get it.
    /// - Throws: ``TransportError`` `.resourcesExhausted`.
    init(
        _ configuration: ServerConfiguration, projects: [Project], logger: Logger,
        onSettled: @escaping WebhookSender.Settled
    ) throws(TransportError) {
        let hasReceiver = configuration.webhook != nil || !configuration.projectWebhooks.isEmpty
        let poster = hasReceiver ? try Self.makePoster() : nil
        self.poster = poster
        self.onSettled = onSettled
        common = configuration.webhook
        bounds = configuration.webhookBounds
        self.logger = logger
        var routes: [APIKey: Route] = [:]
        for project in projects {
            guard let poster,
                let receiver = configuration.projectWebhooks[project.apiKey] ?? configuration.webhook
            else { continue }
            routes[project.apiKey] = Route(
                project, receiver, configuration.webhookBounds, poster, logger, onSettled: onSettled)
        }
        self.routes = Mutex(routes)
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

    /// Posts the events of projects that were added while the server runs to the common receiver, if there is one. A
    /// project of which the server knows no receiver of its own waits for a restart.
    ///
    /// - Parameter others: projects with a receiver of their own.
    func add(_ projects: [Project], except others: Set<APIKey>) {
        guard let common, let poster else { return }
        routes.withLock { routes in
            for project in projects where routes[project.apiKey] == nil && !others.contains(project.apiKey) {
                routes[project.apiKey] = Route(project, common, bounds, poster, logger, onSettled: onSettled)
            }
        }
    }

    /// Queues an event for the receiver of the session's project. On the loop; does not block.
    func post(_ event: PresenceEvent, of session: SessionID) {
        guard let route = route(of: session) else { return }
        route.sender.add(
            WebhookBody.encode(event, of: session, ownedBy: route.owner, happenedAt: .current), of: session)
    }

    /// Queues an event that its session repeats until it is settled. On the loop; does not block.
    func post(_ event: KeptPresenceEvent, of session: SessionID) {
        guard let route = route(of: session) else { return onSettled(event, session) }
        let body = WebhookBody.encode(
            event.untold.event, of: session, ownedBy: route.owner,
            // The clock of a command log begins in 1970.
            happenedAt: WallTime(milliseconds: event.untold.time.nanoseconds / 1_000_000))
        route.sender.add(body, of: session, kept: event)
    }

    /// The sums over all receivers, and the age of the oldest event.
    func statistics(now: MonotonicInstant) -> WebhookStatistics {
        routes.withLock { $0.values.map(\.sender) }.reduce(into: WebhookStatistics()) { sum, sender in
            let statistics = sender.statistics(now: now)
            sum.waitingCount += statistics.waitingCount
            sum.oldestAge = max(sum.oldestAge, statistics.oldestAge)
            sum.deliveredCount += statistics.deliveredCount
            sum.drops.full += statistics.drops.full
            sum.drops.expired += statistics.drops.expired
            sum.drops.refused += statistics.drops.refused
            sum.drops.stopped += statistics.drops.stopped
        }
    }

    private func route(of session: SessionID) -> Route? {
        if routes.withLock({ $0.isEmpty }) { return nil }
        guard let key = try? SessionIDCodec.apiKey(of: session) else { return nil }
        return routes.withLock { $0[key] }
    }

    /// Stops all senders concurrently.
    ///
    /// - Parameter limit: how long each may go on. Kept events need not wait: the next process posts them.
    func stop(within limit: Duration = stopTime) async {
        await withTaskGroup { group in
            for sender in routes.withLock({ $0.values.map(\.sender) }) {
                group.addTask { await sender.stop(within: limit) }
            }
        }
    }
}

/// The numbers of one or all receivers.
struct WebhookStatistics {
    var waitingCount = 0
    var oldestAge = Duration.zero
    var deliveredCount = 0
    var drops = WebhookQueue.Drops()
}
