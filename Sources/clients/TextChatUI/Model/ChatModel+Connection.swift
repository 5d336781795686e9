import Foundation
import SignalingClient
import SignalingProtocol
import TextChat
import TextChatFoundation

extension ChatModel {
    /// Connects, and keeps the chat connected until the task is cancelled, which leaves the session. Where only the user
    /// can change something it waits for ``tryAgain()``. It returns earlier if the user was removed, or if the program has
    /// disconnected the session.
    ///
    /// - Parameter token: returns a new token, for each connect; your backend has it. If it throws, the chat tries
    ///   again after a while. A function without an actor will do.
    public func run(_ session: Session, token: @MainActor () async throws -> String) async {
        server = URLComponents(string: session.server)?.host ?? session.server
        chat.channel = session
        self.session = session
        chat.runTyping()
        await keepConnected(returns: session.returns) {
            let events = session.events
            do {
                try await session.connect(token: try await token(), replacing: chat.formerConnection)
                let end = await follow(session, events)
                ban = end.ban
                return plan.ended(end.reason, isBanned: ban != nil)
            } catch {
                let error = error as? SignalingError
                ban = error?.restriction
                return plan.failed(error)
            }
        }
        if Task.isCancelled { await session.disconnect() }
    }

    /// Tries to connect at once. Nothing happens while the chat is connected, or tries already. Offer it to the user where
    /// ``ChatStatus/offersRetry`` is true.
    public func tryAgain() { pause.end() }

    /// - Parameters:
    ///   - returns: the moments at which the network, or the app, is back.
    ///   - attempt: one connection, from its beginning to its end.
    func keepConnected(returns: AsyncStream<Void>, attempt: @MainActor () async -> ConnectPlan.Step) async {
        let watch = Task { [weak self] in for await _ in returns { self?.networkIsBack() } }
        defer { watch.cancel() }
        while !Task.isCancelled {
            plan.begin()
            ban = nil
            show(plan.status)
            let step = await attempt()
            show(plan.status)
            refresh()
            switch step {
            case .stop where !status.offersRetry: return
            case .stop: await pause.wait(nil)
            case .tryAgain(let wait): await pause.wait(wait)
            }
        }
    }

    /// A server that is full asks for its wait.
    private func networkIsBack() { if status == .unreachable { pause.end() } }

    /// Passes on the events of a connection until it ends.
    private func follow(
        _ session: Session, _ events: AsyncStream<SessionEvent>
    ) async -> (reason: DisconnectReason, ban: Restriction?) {
        chat.setSenderId(
            session.connectionId?.rawValue, alias: session.connection.flatMap { DisplayName.read(from: $0.data) })
        if let connection = session.connectionId { handle(.connected(connection)) }
        for await event in events {
            for each in event.channelEvents(connectionId: session.connectionId) { handle(each) }
            if case .disconnected(let reason, let ban) = event { return (reason, ban) }
        }
        // The task is cancelled, or the stream has overflowed. The chat reads what it has missed after the next connect.
        await session.disconnect()
        return (Task.isCancelled ? .clientDisconnected : .networkDisconnected, nil)
    }
}
