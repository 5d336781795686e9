import SignalingProtocol

extension SessionEvent {
    /// The event as events of a ``SignalChannel``, in order, for a component.
    ///
    /// A new connection becomes `connected` with its ID, after `lost` if events may be missing (G4). A stream that
    /// overflowed is `lost`, too.
    ///
    /// - Parameter connectionId: the session's present connection.
    public func channelEvents(connectionId: ConnectionID?) -> [SignalChannelEvent] {
        switch self {
        case .signal(let signal): [.signal(signal)]
        case .history(let page): [.history(page)]
        case .changed(let event): [.changed(event)]
        case .reactions(let event): [.reactions(event)]
        case .reacted(let seq, let own): [.reacted(seq, own)]
        case .read(let marker): [.read(marker)]
        case .erased(let erasure, let seq): [.erased(erasure, seq: seq)]
        case .connectionCreated(let connection): [.connectionCreated(connection)]
        case .connectionDestroyed(let connection, _): [.connectionDestroyed(connection)]
        case .restricted, .unrestricted: [.restrictionsChanged]
        case .connectionAway, .connectionBack, .userJoined, .userLeft, .moderated: []
        case .reconnecting: [.reconnecting]
        case .reconnected(.resumed, _): [.reconnected]
        case .reconnected(.recovered, _): Self.connected(connectionId)
        case .reconnected(.lost, _), .reconnected(.new, _): [.lost] + Self.connected(connectionId)
        case .disconnected: [.disconnected]
        case .overflowed: [.lost]
        }
    }

    /// Without an ID the connection has ended meanwhile, and `disconnected` follows.
    private static func connected(_ id: ConnectionID?) -> [SignalChannelEvent] { id.map { [.connected($0)] } ?? [] }
}

extension Session {
    /// The session's events from now on, for a component. The first is `connected` if there is a connection.
    ///
    /// ```swift
    /// import SignalingClient
    /// import TextChatFoundation  // WallTime.now
    ///
    /// for await event in session.channelEvents { component.handle(event, now: .now) }
    /// ```
    ///
    /// Use it before `connect`, so that you miss no event. The sequence then has no `connected` for that `connect`: a
    /// component whose `channel` is the session finds the connection by itself. The sequence ends after `disconnected`,
    /// and when the session is released. If its reader falls far behind, it ends with `lost`. For another `connect`,
    /// use a new sequence.
    public var channelEvents: ChannelEvents { ChannelEvents(session: self) }

    /// The sequence of ``Session/channelEvents``; for one reader.
    public struct ChannelEvents: AsyncSequence, Sendable {
        public typealias Failure = Never
        public typealias Element = SignalChannelEvent

        private let events: AsyncStream<SessionEvent>
        private let first: [SignalChannelEvent]
        private let connectionId: @Sendable () -> ConnectionID?

        init(session: Session) {
            // Create the stream first, so that no event is lost between the two.
            events = session.events
            first = session.connectionId.map { [.connected($0)] } ?? []
            // A stream must not keep its session alive.
            connectionId = { [weak session] in session?.connectionId }
        }

        public func makeAsyncIterator() -> Iterator {
            Iterator(events: events, waiting: first, connectionId: connectionId)
        }

        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let events: AsyncStream<SessionEvent>
            /// Channel events of one session event that have not been read yet; two at most.
            fileprivate var waiting: [SignalChannelEvent]
            fileprivate let connectionId: @Sendable () -> ConnectionID?
            fileprivate var isOver = false

            public mutating func next() async -> SignalChannelEvent? { await next(isolation: #isolation) }

            public mutating func next(isolation actor: isolated (any Actor)?) async -> SignalChannelEvent? {
                while waiting.isEmpty {
                    guard !isOver, let event = await nextEvent(isolation: actor) else { return nil }
                    if case .disconnected = event { isOver = true }
                    waiting = event.channelEvents(connectionId: connectionId())
                }
                return waiting.removeFirst()
            }

            private func nextEvent(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
                // All iterators of a stream take from the same events.
                var iterator = events.makeAsyncIterator()
                if #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) {
                    return await iterator.next(isolation: actor)
                }
                return await Self.next(of: events)
            }

            /// Older systems read outside of the caller's actor.
            @concurrent
            private static func next(of events: AsyncStream<SessionEvent>) async -> SessionEvent? {
                var iterator = events.makeAsyncIterator()
                return await iterator.next()
            }
        }
    }
}
