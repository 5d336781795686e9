import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// The webhook receivers of all projects. Each project has a queue of its own, even if projects share a receiver: one
/// that floods its queue, or whose receiver is slow, does not affect the others.
final class Webhooks: Sendable {
    private struct Route: Sendable {
        let owner: WebhookBody.Owner
        let sender: WebhookSender
    }

    private let routes: [APIKey: Route]

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    /// Nil when no project has a receiver.
    init?(_ configuration: ServerConfiguration, projects: [Project], logger: Logger) {
        var routes: [APIKey: Route] = [:]
        for project in projects {
            guard let receiver = configuration.projectWebhooks[project.apiKey] ?? configuration.webhook else {
                continue
            }
            routes[project.apiKey] = Route(
                owner: project.isApplication ? .application(project.apiKey) : .project(project.apiKey),
                sender: WebhookSender(receiver: receiver, bounds: configuration.webhookBounds, logger: logger))
        }
        if routes.isEmpty { return nil }
        self.routes = routes
    }

    /// Queues an event for the receiver of the session's project. On the loop; does not block.
    func post(_ event: PresenceEvent, of session: SessionID) {
        guard let key = try? SessionIDCodec.read(session).apiKey, let route = routes[key] else { return }
        route.sender.add(
            WebhookBody.encode(event, of: session, ownedBy: route.owner, happenedAt: .current), of: session)
    }

    /// Stops all senders concurrently.
    func stop() async {
        await withTaskGroup { group in
            for sender in routes.values.map(\.sender) { group.addTask { await sender.stop(within: Self.stopTime) } }
        }
    }
}
