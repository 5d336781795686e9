import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// The webhook receivers of all projects.
final class Webhooks: Sendable {
    private struct Route: Sendable {
        let owner: WebhookBody.Owner
        let sender: WebhookSender
    }

    private let routes: [APIKey: Route]
    private let senders: [WebhookSender]

    /// How long a stopping server waits for posts.
    static let stopTime = Duration.seconds(3)

    /// Nil when no project has a receiver.
    init?(_ configuration: ServerConfiguration, projects: [Project], logger: Logger) {
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
            routes[project.apiKey] = Route(
                owner: project.isApplication ? .application(project.apiKey) : .project(project.apiKey), sender: sender)
        }
        if routes.isEmpty { return nil }
        self.routes = routes
        self.senders = senders
    }

    /// Queues an event for the receiver of the session's project. On the loop; does not block.
    func post(_ event: PresenceEvent, of session: SessionID) {
        guard let key = try? SessionIDCodec.read(session).apiKey, let route = routes[key] else { return }
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
