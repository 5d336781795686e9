import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import Synchronization

/// The webhook receivers of all projects.
final class Webhooks: Sendable {
    private struct Route: Sendable {
        let owner: WebhookBody.Owner
        let sender: WebhookSender

        init(_ project: Project, _ sender: WebhookSender) {
            owner = project.isApplication ? .application(project.apiKey) : .project(project.apiKey)
            self.sender = sender
        }
    }

    private let routes: Mutex<[APIKey: Route]>
    private let common: WebhookSender?
    private let senders: [WebhookSender]

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    init(_ configuration: ServerConfiguration, projects: [Project], logger: Logger) {
        func makeSender(_ receiver: WebhookReceiver) -> WebhookSender {
            WebhookSender(receiver: receiver, bounds: configuration.webhookBounds, logger: logger)
        }
        let common = configuration.webhook.map(makeSender)
        var routes: [APIKey: Route] = [:]
        var senders = common.map { [$0] } ?? []
        for project in projects {
            let own = configuration.projectWebhooks[project.apiKey].map(makeSender)
            if let own { senders.append(own) }
            guard let sender = own ?? common else { continue }
            routes[project.apiKey] = Route(project, sender)
        }
        self.routes = Mutex(routes)
        self.common = common
        self.senders = senders
    }

    /// Posts the events of projects that were added while the server runs to the common receiver, if there is one. A
    /// project of which the server knows no receiver of its own waits for a restart.
    ///
    /// - Parameter others: projects with a receiver of their own.
    func add(_ projects: [Project], except others: Set<APIKey>) {
        guard let common else { return }
        routes.withLock { routes in
            for project in projects where routes[project.apiKey] == nil && !others.contains(project.apiKey) {
                routes[project.apiKey] = Route(project, common)
            }
        }
    }

    /// Queues an event for the receiver of the session's project. On the loop; does not block.
    func post(_ event: PresenceEvent, of session: SessionID) {
        if routes.withLock({ $0.isEmpty }) { return }
        guard let key = try? SessionIDCodec.read(session).apiKey, let route = routes.withLock({ $0[key] })
        else { return }
        route.sender.add(
            WebhookBody.encode(event, of: session, ownedBy: route.owner, happenedAt: .current))
    }

    /// Stops all senders concurrently.
    func stop() async {
        await withTaskGroup { group in
            for sender in senders { group.addTask { await sender.stop(within: Self.stopTime) } }
        }
    }
}
