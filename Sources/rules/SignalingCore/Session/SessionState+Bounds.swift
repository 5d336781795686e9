import SignalingProtocol

extension SessionState {
    /// The limits of a session. An operator may change them between two runs of the server, and some of them while it
    /// runs.
    public struct Bounds: Sendable {
        /// The maximum number of connections at a time. The default is OpenTok's limit of 15,000.
        public var connectionCount: Int
        public var log: SessionLog.Bounds
        /// How long a connection continues without a socket; zero disables resuming.
        public var resumeWindow: Duration
        /// How long after the loss of its socket a client can fetch what it missed; zero disables it.
        public var recoveryWindow: Duration
        /// The maximum number of connections without a socket that began with the same token. Beyond it the one whose
        /// loss is the oldest ends early (RES-12).
        public var detachedCountPerToken: Int
        /// The maximum number of expired connections whose clients may still recover what they missed.
        public var recoverableCount: Int
        /// The rate limit for one connection's signals (SIG-11); `nil` for no limit. Does not count online-only
        /// signals.
        public var signalRate: RateLimit?
        /// The rate at which a connection's online-only signals are relayed (SIG-12); `nil` for all of them.
        public var onlineOnlyRate: RateLimit?
        /// In a session of more connections, online-only broadcasts are not relayed (SIG-12).
        public var onlineOnlyConnectionCount: Int
        /// How long after the loss of its socket a connection is away (PRES-4).
        public var awayDelay = Limits.awayDelay
        /// The unit in which clients share the encoded list of connections, in bytes (CON-11). Tests use a small one, to
        /// get lists of several pages.
        public var listBlockByteCount = 16_384
        /// The maximum number of presence events that wait for ``SessionState/told(through:)``; zero keeps none. Beyond
        /// it the oldest are dropped (LOG-11).
        public var untoldEventCount = 0
        /// The types of signals that the session's history keeps (HIS-1); `nil` for none.
        public var history: KeptTypes?
        /// What the authors of kept messages may do, and whether users may react (CHG-4).
        public var changes: Set<ChangeKind> = []
        /// What becomes of read markers (READ-4).
        public var readMarkers = ReadMarkers.off
        /// Whether the feed of the project tells of the session (FEED-1).
        public var announces = false
        /// How long a message may be unread for a user who is not connected until the feed says so (FEED-6); zero: it never
        /// does.
        public var unreadDelay = Duration.zero
        /// When the node that has these limits was started, or has read them anew. Of two nodes the later one's limits
        /// count (CHG-4, HIS-1).
        public var asOf = WallTime(milliseconds: 0)

        /// The log keeps events for as long as a client may ask for them.
        public init(
            connectionCount: Int = 15_000, logEventCount: Int = 2048, logByteCount: Int = 1_048_576,
            resumeWindow: Duration = Limits.resumeWindow, recoveryWindow: Duration = Limits.recoveryWindow,
            detachedCountPerToken: Int = 1000, recoverableCount: Int = 1024, signalRate: RateLimit? = nil,
            onlineOnlyRate: RateLimit? = RateLimit(perSecond: 1, burst: 5), onlineOnlyConnectionCount: Int = 100
        ) {
            self.connectionCount = connectionCount
            self.resumeWindow = resumeWindow
            self.recoveryWindow = recoveryWindow
            self.detachedCountPerToken = detachedCountPerToken
            self.recoverableCount = recoverableCount
            self.signalRate = signalRate
            self.onlineOnlyRate = onlineOnlyRate
            self.onlineOnlyConnectionCount = onlineOnlyConnectionCount
            log = SessionLog.Bounds(
                eventCount: logEventCount, byteCount: logByteCount, age: max(resumeWindow, recoveryWindow))
        }
    }
}
