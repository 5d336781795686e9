import SignalingProtocol

extension SessionEvent {
    /// The same as a ``SignalChannel``'s owner hands it on to a component, in order.
    ///
    /// - Parameter connectionID: the session's connection by now. Back as another one, the client is told its new id, and
    ///   before that of the loss, if there may be one (G4). A stream that has ended early is a loss, too.
    public func channelEvents(connectionID: ConnectionID?) -> [SignalChannelEvent] {
        switch self {
        case .signal(let signal): [.signal(signal)]
        case .connectionCreated(let connection): [.connectionCreated(connection)]
        case .connectionDestroyed(let connection, _): [.connectionDestroyed(connection)]
        case .reconnecting: [.reconnecting]
        case .reconnected(.resumed): [.reconnected]
        case .reconnected(.recovered): Self.connected(connectionID)
        case .reconnected(.lost), .reconnected(.new): [.lost] + Self.connected(connectionID)
        case .disconnected: [.disconnected]
        case .overflowed: [.lost]
        }
    }

    /// Without an id the connection has ended meanwhile, and that event follows.
    private static func connected(_ id: ConnectionID?) -> [SignalChannelEvent] { id.map { [.connected($0)] } ?? [] }
}

extension Session {
    /// What happens from now on, as a component takes it: first the connection, if there is one already.
    ///
    /// ```swift
    /// for await event in session.channelEvents { component.handle(event, now: .now) }
    /// ```
    ///
    /// For one connection: it ends behind `disconnected`. One that falls too far behind ends with `lost`.
    public var channelEvents: ChannelEvents { ChannelEvents(session: self) }

    /// See ``Session/channelEvents``; for one reader.
    public struct ChannelEvents: AsyncSequence, Sendable {
        public typealias Failure = Never
        public typealias Element = SignalChannelEvent

        private let events: AsyncStream<SessionEvent>
        private let first: [SignalChannelEvent]
        private let connectionID: @Sendable () -> ConnectionID?

        init(session: Session) {
            // First the stream, so that nothing falls between.
            events = session.events
            first = session.connectionID.map { [.connected($0)] } ?? []
            // A stream must not keep its session alive.
            connectionID = { [weak session] in session?.connectionID }
        }

        public func makeAsyncIterator() -> Iterator {
            Iterator(events: events.makeAsyncIterator(), waiting: first, connectionID: connectionID)
        }

        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var events: AsyncStream<SessionEvent>.Iterator
            /// What one event of the session has become and was not asked for yet; two at most.
            fileprivate var waiting: [SignalChannelEvent]
            fileprivate let connectionID: @Sendable () -> ConnectionID?
            fileprivate var isOver = false

            public mutating func next() async -> SignalChannelEvent? { await next(isolation: #isolation) }

            public mutating func next(isolation actor: isolated (any Actor)?) async -> SignalChannelEvent? {
                while waiting.isEmpty {
                    guard !isOver, let event = await events.next(isolation: actor) else { return nil }
                    if case .disconnected = event { isOver = true }
                    waiting = event.channelEvents(connectionID: connectionID())
                }
                return waiting.removeFirst()
            }
        }
    }
}
