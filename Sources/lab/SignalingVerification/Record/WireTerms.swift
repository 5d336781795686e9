import SignalingProtocol

extension WireJudge {
    /// What the server under test was told, and how exactly its clock can be judged.
    public struct Terms: Sendable {
        public var resumeWindow: Duration
        public var recoveryWindow: Duration
        public var heartbeat: Duration
        /// How long after its loss a connection counts as away (PRES-4).
        public var awayDelay: Duration
        /// The bounds of a session's log (RES-14).
        public var logEventCount: Int
        public var logByteCount: Int
        /// How late a server may act, and how far the tap's clock may be from the server's, before it counts as wrong.
        public var tolerance: Duration
        /// How much earlier than its window a connection may end before it counts as wrong; nil: ``tolerance``.
        public var earliness: Duration?
        /// Whether the server keeps its sessions even if it is killed. Clients then see a kill as a lost socket: no
        /// `lost`, no new epoch, and no departure of a client that comes back. Default: false.
        public var isDurable = false
        /// Which signals the server keeps as history; nil: nothing is judged of a history. Default: nil.
        public var history: KeptHistory?
        /// The wall clock when the judge's clock is at zero; nil: restrictions that end by themselves are not judged
        /// (MOD-2). Default: nil.
        public var wallTimeAtZero: WallTime?

        public init(
            resumeWindow: Duration, recoveryWindow: Duration, heartbeat: Duration, awayDelay: Duration,
            logEventCount: Int, logByteCount: Int, tolerance: Duration, earliness: Duration? = nil
        ) {
            self.resumeWindow = resumeWindow
            self.recoveryWindow = recoveryWindow
            self.heartbeat = heartbeat
            self.awayDelay = awayDelay
            self.logEventCount = logEventCount
            self.logByteCount = logByteCount
            self.tolerance = tolerance
            self.earliness = earliness
        }

        var allowedEarliness: Duration { earliness ?? tolerance }

        /// The same terms on a machine that stood still for so long.
        public func tolerating(_ stall: Duration) -> Self {
            var terms = self
            terms.tolerance += stall
            if let earliness { terms.earliness = earliness + stall }
            return terms
        }

        /// Which signals the server keeps (HIS-1).
        public struct KeptHistory: Sendable {
            /// nil: all types, and signals without a type.
            public var types: Set<String>?
            /// How many messages of a session the server keeps (HIS-2); nil: all. What waits for the archive may come
            /// on top.
            public var bound: Int?
            /// What authors may do with their messages (CHG-4); nil: neither the offer nor a refusal is judged.
            public var changes: Set<String>?

            /// What becomes of read markers (READ-4): `off`, `own` or `shared`; nil: that is not judged.
            public var markers: String?

            public init(
                types: Set<String>?, bound: Int? = nil, changes: Set<String>? = nil, markers: String? = nil
            ) {
                self.types = types
                self.bound = bound
                self.changes = changes
                self.markers = markers
            }

            func keeps(_ type: String?) -> Bool { types.map { types in type.map(types.contains) ?? false } ?? true }
        }
    }
}
