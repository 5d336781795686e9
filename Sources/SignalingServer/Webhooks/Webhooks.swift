import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import Synchronization

/// The webhook receivers of all projects. Each project has a queue of its own, even if projects share a receiver: one
/// that floods its queue, or whose receiver is slow, does not affect the others.
final class Webhooks: Sendable {
    private struct Route: Sendable {
        let owner: WebhookBody.Owner
        let sender: WebhookSender

        init(_ project: Project, _ receiver: WebhookReceiver, _ bounds: WebhookQueue.Bounds, _ logger: Logger) {
            owner = project.isApplication ? .application(project.apiKey) : .project(project.apiKey)
            sender = WebhookSender(receiver: receiver, bounds: bounds, logger: logger)
        }
    }

    private let routes: Mutex<[APIKey: Route]>
    /// The receiver for projects without one of their own.
    private let common: WebhookReceiver?
    private let bounds: WebhookQueue.Bounds
    private let logger: Logger

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    init(_ configuration: ServerConfiguration, projects: [Project], logger: Logger) {
        common = configuration.webhook
        bounds = configuration.webhookBounds
        self.logger = logger
        var routes: [APIKey: Route] = [:]
        for project in projects {
            guard let receiver = configuration.projectWebhooks[project.apiKey] ?? configuration.webhook else {
                continue
            }
            routes[project.apiKey] = Route(project, receiver, configuration.webhookBounds, logger)
        }
        self.routes = Mutex(routes)
    }

    /// Posts the events of projects that were added while the server runs to the common receiver, if there is one. A
    /// project of which the server knows no receiver of its own waits for a restart.
    ///
    /// - Parameter others: projects with a receiver of their own.
    func add(_ projects: [Project], except others: Set<APIKey>) {
        guard let common else { return }
        routes.withLock { routes in
            for project in projects where routes[project.apiKey] == nil && !others.contains(project.apiKey) {
                routes[project.apiKey] = Route(project, common, bounds, logger)
            }
        }
    }

    /// Queues an event for the receiver of the session's project. On the loop; does not block.
    func post(_ event: PresenceEvent, of session: SessionID) {
        if routes.withLock({ $0.isEmpty }) { return }
        guard let key = try? SessionIDCodec.read(session).apiKey, let route = routes.withLock({ $0[key] })
        else { return }
        route.sender.add(
            WebhookBody.encode(event, of: session, ownedBy: route.owner, happenedAt: .current), of: session)
    }

    /// Stops all senders concurrently.
    func stop() async {
        await withTaskGroup { group in
            for sender in routes.withLock({ $0.values.map(\.sender) }) {
                group.addTask { await sender.stop(within: Self.stopTime) }
            }
        }
    }
}
