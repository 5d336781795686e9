import SignalingCore
import SignalingProtocol

/// A log in memory that several nodes share. It stands for a store on another machine: what a node asks for happens at
/// the store when the test says so (``Node/send(_:)``), and the answers and notifications arrive when the test says so
/// (``Node/receive(_:)``). Notifications may be lost, repeated and reordered on their way (``Node/disturb(using:)``).
public final class MemorySharedLog {
    struct Session {
        /// Tells this session from an earlier one of the same ID.
        let generation: Int
        var snapshot: KeptCommands.Snapshot?
        /// Those that are not trimmed.
        var entries: [CommandEntry] = []
        var last: LogPosition?
        /// Whether its last command has put it to sleep, and nobody has opened it for another one.
        var isAsleep = false
        /// Of each run.
        var counters: [RunID: UInt64] = [:]

        /// The entries behind a number; `nil` if some of them are trimmed.
        func entries(after number: UInt64) -> [CommandEntry]? {
            if number >= last?.number ?? 0 { return [] }
            guard let first = entries.first, first.position.number <= number + 1 else { return nil }
            return entries.filter { $0.position.number > number }
        }
    }

    /// The present moment of every process.
    private let clock: () -> MonotonicInstant
    /// How far the log's clock is ahead of the processes'.
    private let offset: Duration
    private var lastTime = MonotonicInstant(nanoseconds: .min)
    private var generationCount = 0
    private var runCount: UInt64 = 0
    fileprivate(set) var sessions: [SessionID: Session] = [:]
    fileprivate var lostRuns: [RunID: MonotonicInstant] = [:]
    /// The sessions of lost nodes that no living node could adopt.
    private var unclaimed: [(RunID, Set<SessionID>)] = []
    public private(set) var nodes: [Node] = []
    /// Whether the entries that a snapshot replaces are removed at once, so that a node that is behind has a gap.
    public var trimsAtOnce = false
    /// What the nodes of another version would append in the place of these bytes.
    public var rewrite: ([UInt8]) -> [UInt8] = { $0 }
    public private(set) var counts: [String: Int] = [:]

    public init(offset: Duration = .seconds(1_000_000), clock: @escaping () -> MonotonicInstant) {
        self.clock = clock
        self.offset = offset
    }

    // MARK: - The store

    public func makeNode() -> Node {
        let node = Node(store: self, run: nextRun())
        nodes.append(node)
        for (run, orphans) in unclaimed {
            if let lostAt = lostRuns[run] { hand(orphans, of: run, lostAt, to: node) }
        }
        unclaimed = []
        return node
    }

    private func nextRun() -> RunID {
        runCount += 1
        return RunID(runCount)
    }

    /// The sessions of which anything is kept.
    public var keptSessions: [SessionID] { sessions.keys.sorted() }
    /// Those of them that sleep.
    public var sleepingSessions: [SessionID] { keptSessions.filter { sessions[$0]?.isAsleep == true } }
    /// What a node that opens the session gets.
    public func kept(_ session: SessionID, by run: RunID? = nil) -> KeptCommands.Session {
        let kept = sessions[session]
        let entries = kept?.entries.filter { $0.position.number > kept?.snapshot?.position.number ?? 0 } ?? []
        return KeptCommands.Session(
            id: session, snapshot: kept?.snapshot, entries: entries,
            ownCounter: run.flatMap { kept?.counters[$0] } ?? 0)
    }
    public func lastNumber(of session: SessionID) -> UInt64 { sessions[session]?.last?.number ?? 0 }

    fileprivate var time: MonotonicInstant { max(lastTime, clock().advanced(by: offset)) }

    /// Declares a node lost. One of the others adopts its sessions.
    ///
    /// - Parameter moment: when the node was last alive, by the processes' clock; now by default.
    public func declareLost(_ node: Node, lastAlive moment: MonotonicInstant? = nil) {
        guard lostRuns[node.run] == nil else { return }
        count("lost")
        let lostAt = min(moment?.advanced(by: offset) ?? time, time)
        lostRuns[node.run] = lostAt
        var orphans = Set(node.follows.keys).union(node.adopted)
        for other in nodes where other !== node && lostRuns[other.run] == nil && !other.isDead {
            hand(orphans, of: node.run, lostAt, to: other)
            orphans = []
        }
        if !orphans.isEmpty { unclaimed.append((node.run, orphans)) }
    }

    private func hand(_ orphans: Set<SessionID>, of run: RunID, _ lostAt: MonotonicInstant, to node: Node) {
        node.adopted.formUnion(orphans)
        node.arrive(.lost(run, lostAt, orphans.sorted()))
    }

    /// Somebody removed the session from the store: its order is lost.
    public func forget(_ session: SessionID) {
        guard sessions.removeValue(forKey: session) != nil else { return }
        count("forgotten")
        for node in nodes { node.drop(session) }
    }

    fileprivate func append(_ command: CommandAppend, by node: Node) {
        guard let follow = node.follows[command.session] else { return }
        var session = sessions[command.session] ?? Session(generation: nextGeneration())
        guard follow.generation == nil || follow.generation == session.generation else {
            return node.drop(command.session)
        }
        node.follows[command.session]?.generation = session.generation
        let counter = session.counters[node.run] ?? 0
        precondition(command.id == CommandID(run: node.run, counter: counter + 1), "LOG-3: a counter has a gap")
        session.counters[node.run] = counter + 1
        lastTime = time
        let position = LogPosition(number: (session.last?.number ?? 0) + 1, id: command.id)
        session.last = position
        session.isAsleep = false
        session.entries.append(
            CommandEntry(session: command.session, position: position, time: lastTime, bytes: rewrite(command.bytes)))
        sessions[command.session] = session
        for follower in nodes { follower.arrive(.entries(command.session, position.number, session.generation)) }
    }

    private func nextGeneration() -> Int {
        generationCount += 1
        return generationCount
    }

    fileprivate func keep(_ session: SessionID, _ snapshot: KeptCommands.Snapshot, by node: Node) {
        guard let follow = node.follows[session], follow.generation == sessions[session]?.generation else { return }
        let number = snapshot.position.number
        if number > sessions[session]?.snapshot?.position.number ?? 0 { sessions[session]?.snapshot = snapshot }
        if trimsAtOnce { sessions[session]?.entries.removeAll { $0.position.number <= number } }
    }

    fileprivate func sleep(_ session: SessionID, _ snapshot: KeptCommands.Snapshot, of generation: Int?) {
        guard sessions[session]?.generation == generation, sessions[session]?.last == snapshot.position else { return }
        sessions[session]?.snapshot = snapshot
        sessions[session]?.entries = []
        sessions[session]?.isAsleep = true
    }

    fileprivate func remove(_ session: SessionID, through position: LogPosition, of generation: Int?) {
        // A later session of the same ID may have the same positions.
        guard sessions[session]?.generation == generation else { return }
        if sessions[session]?.last == position { sessions[session] = nil }
    }

    fileprivate func open(_ session: SessionID, by node: Node) {
        let kept = kept(session, by: node.run)
        let delivered = kept.entries.last?.position.number ?? kept.snapshot?.position.number ?? 0
        node.follows[session] = Node.Follow(generation: sessions[session]?.generation, delivered: delivered)
        node.adopted.remove(session)
        node.arrive(.opened(kept, lostRuns))
    }

    fileprivate func catchUp(_ session: SessionID, by node: Node) {
        guard let follow = node.follows[session] else { return }
        let kept = sessions[session]
        if follow.generation != nil, follow.generation != kept?.generation { return node.drop(session) }
        node.arrive(.caughtUp(session, kept?.last?.number ?? 0, kept?.generation))
    }

    fileprivate func count(_ what: String) { counts[what, default: 0] += 1 }

    fileprivate func renew(_ node: Node) -> RunID { nextRun() }
}

extension MemorySharedLog {
    /// One node's end of the log.
    public final class Node: SharedCommandLog {
        struct Follow {
            /// `nil` for a session that did not exist when it was opened.
            var generation: Int?
            /// The number of the last entry that the observer has.
            var delivered: UInt64
            var isOpen = false
        }

        private enum Request {
            case append(CommandAppend)
            case open(SessionID)
            case catchUp(SessionID)
            case keep(SessionID, KeptCommands.Snapshot)
            case sleep(SessionID, KeptCommands.Snapshot, Int?)
            case remove(SessionID, LogPosition, Int?)
            case close(SessionID)
            case relay([UInt8], SessionID)
        }

        enum Event {
            case opened(KeptCommands.Session, [RunID: MonotonicInstant])
            /// The store has entries up to this number.
            case entries(SessionID, UInt64, Int)
            /// Everything up to this number was in the store at the time of the request.
            case caughtUp(SessionID, UInt64, Int?)
            case relayed([UInt8], SessionID)
            case lost(RunID, MonotonicInstant, [SessionID])
            case dropped(SessionID)
            case continuesAs(RunID)
            case kept(SessionID, LogPosition, Int)

            /// Whether the network may lose, repeat and reorder it.
            var isNotification: Bool {
                switch self {
                case .entries, .relayed: true
                case .opened, .caughtUp, .lost, .dropped, .continuesAs, .kept: false
                }
            }

            func isOf(_ session: SessionID) -> Bool {
                switch self {
                case .opened(let kept, _): kept.id == session
                case .entries(let id, _, _), .caughtUp(let id, _, _), .relayed(_, let id), .dropped(let id),
                    .kept(let id, _, _):
                    id == session
                case .lost, .continuesAs: false
                }
            }
        }

        public weak var observer: (any CommandLogObserver)?
        public weak var nodeObserver: (any SharedCommandLogObserver)?
        /// Called when the node has something to send. A simulation schedules it here.
        public var onRequest: () -> Void = {}
        /// Called when something has arrived.
        public var onArrival: () -> Void = {}
        private let store: MemorySharedLog
        public private(set) var run: RunID
        /// The process has ended.
        public private(set) var isDead = false
        fileprivate var follows: [SessionID: Follow] = [:]
        /// The sessions of lost nodes that this node is to open.
        fileprivate var adopted: Set<SessionID> = []
        private var requests: [Request] = []
        private var events: [Event] = []
        private var opening: Set<SessionID> = []
        private var lossTimes: [RunID: MonotonicInstant] = [:]

        fileprivate init(store: MemorySharedLog, run: RunID) {
            self.store = store
            self.run = run
            lossTimes = store.lostRuns
        }

        // MARK: - The port

        public func time(at now: MonotonicInstant) -> MonotonicInstant {
            max(store.lastTime, now.advanced(by: store.offset))
        }

        public var inFlightByteCount: Int {
            requests.reduce(0) { sum, request in
                if case .append(let command) = request { sum + command.bytes.count } else { sum }
            }
        }

        private func request(_ request: Request) {
            requests.append(request)
            onRequest()
        }

        public func append(_ commands: [CommandAppend], now: MonotonicInstant) {
            // The engine does not know yet that its run or the session is lost.
            for command in commands where command.id.run == run && follows[command.session]?.isOpen == true {
                requests.append(.append(command))
            }
            onRequest()
        }

        public func keep(_ snapshot: CommandSnapshot) {
            let bytes = snapshot.encode()
            request(.keep(snapshot.session, KeptCommands.Snapshot(position: snapshot.position, bytes: bytes)))
        }

        public func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason) {
            let kept = KeptCommands.Snapshot(position: snapshot.position, bytes: snapshot.encode())
            request(.sleep(snapshot.session, kept, follows[snapshot.session]?.generation))
        }

        public func remove(_ session: SessionID, through position: LogPosition) {
            request(.remove(session, position, follows[session]?.generation))
        }

        public func open(_ session: SessionID) {
            guard opening.insert(session).inserted else { return }
            request(.open(session))
        }

        /// What was appended before is still on its way.
        public func close(_ session: SessionID) {
            let appends = requests.filter { request in
                if case .append(let command) = request { command.session == session } else { false }
            }
            let follow = follows[session]
            forget(session)
            guard !appends.isEmpty, var follow else { return }
            follow.isOpen = false
            follows[session] = follow
            requests += appends + [.close(session)]
            onRequest()
        }

        public func catchUp(_ session: SessionID) { request(.catchUp(session)) }
        public func relay(_ bytes: [UInt8], of session: SessionID) { request(.relay(bytes, session)) }
        public func lossTime(of run: RunID) -> MonotonicInstant? { lossTimes[run] }

        // MARK: - The test's part

        /// Whether nothing is on its way.
        public var isQuiet: Bool { requests.isEmpty && events.isEmpty }
        public var requestCount: Int { requests.count }
        public var eventCount: Int { events.count }
        public var followed: [SessionID] { follows.keys.sorted() }

        /// The store carries out the oldest requests.
        public func send(_ count: Int = .max) {
            if isDead { return }
            for _ in 0..<min(count, requests.count) {
                if requests.isEmpty { return }
                if store.lostRuns[run] != nil { return beginAnew() }
                switch requests.removeFirst() {
                case .append(let command): store.append(command, by: self)
                case .open(let session): store.open(session, by: self)
                case .catchUp(let session): store.catchUp(session, by: self)
                case .keep(let session, let snapshot):
                    store.keep(session, snapshot, by: self)
                    arrive(.kept(session, snapshot.position, snapshot.bytes.count))
                case .sleep(let session, let snapshot, let generation):
                    store.sleep(session, snapshot, of: generation)
                case .remove(let session, let position, let generation):
                    store.remove(session, through: position, of: generation)
                case .close(let session): follows[session] = nil
                case .relay(let bytes, let session):
                    for other in store.nodes where other !== self { other.arrive(.relayed(bytes, session)) }
                }
            }
        }

        /// The store has refused this node.
        private func beginAnew() {
            store.count("continued as another run")
            run = store.renew(self)
            forgetEverything()
            arrive(.continuesAs(run))
        }

        private func forgetEverything() {
            follows = [:]
            adopted = []
            opening = []
            requests = []
            events.removeAll { event in
                if case .lost = event { false } else { true }
            }
        }

        private func forget(_ session: SessionID) {
            follows[session] = nil
            opening.remove(session)
            requests.removeAll { request in
                switch request {
                case .append(let command): command.session == session
                case .open(let id), .catchUp(let id), .keep(let id, _), .relay(_, let id): id == session
                case .sleep, .remove, .close: false
                }
            }
            events.removeAll { $0.isOf(session) }
        }

        /// The observer gets the oldest events.
        public func receive(_ count: Int = .max) {
            if isDead { return }
            for _ in 0..<min(count, events.count) {
                if events.isEmpty { return }
                handle(events.removeFirst())
            }
        }

        fileprivate func arrive(_ event: Event) {
            if isDead { return }
            switch event {
            case .entries(let session, _, _), .relayed(_, let session):
                if follows[session] == nil { return }
            case .opened, .caughtUp, .lost, .dropped, .continuesAs, .kept: break
            }
            events.append(event)
            onArrival()
        }

        private func handle(_ event: Event) {
            switch event {
            case .opened(let kept, let lostRuns):
                guard opening.remove(kept.id) != nil else { return }
                follows[kept.id]?.isOpen = true
                lossTimes.merge(lostRuns) { $1 }
                nodeObserver?.log(opened: kept)
            case .entries(let session, let number, let generation):
                guard let follow = follows[session], follow.generation ?? generation == generation else { return }
                follows[session]?.generation = generation
                deliver(session, through: number)
            case .caughtUp(let session, let number, let generation):
                if follows[session]?.generation == nil { follows[session]?.generation = generation }
                guard deliver(session, through: number) else { return }
                nodeObserver?.log(caughtUp: session)
            case .relayed(let bytes, let session):
                if follows[session]?.isOpen == true { nodeObserver?.log(relayed: bytes, of: session) }
            case .lost(let run, let time, let orphans):
                lossTimes[run] = time
                nodeObserver?.log(lost: run, at: time, orphans: orphans)
            case .dropped(let session): nodeObserver?.log(dropped: session)
            case .continuesAs(let run): nodeObserver?.log(continuesAs: run)
            case .kept(let session, let position, let byteCount):
                observer?.log(kept: position, of: session, byteCount: byteCount)
            }
        }

        /// - Returns: false if the session is not open here, or was dropped.
        @discardableResult
        private func deliver(_ session: SessionID, through number: UInt64) -> Bool {
            guard let follow = follows[session], follow.isOpen else { return false }
            guard let kept = store.sessions[session], kept.generation == follow.generation else {
                // Nobody has begun it, or its removal is on its way here.
                return follow.generation == nil
            }
            guard let entries = kept.entries(after: follow.delivered)?.prefix(while: { $0.position.number <= number })
            else {
                store.count("gap")
                drop(session)
                return false
            }
            guard let last = entries.last else { return true }
            follows[session]?.delivered = last.position.number
            observer?.log(confirmed: Array(entries))
            return follows[session] != nil
        }

        /// The node learns that it has lost a session.
        public func drop(_ session: SessionID) {
            guard follows[session] != nil else { return }
            forget(session)
            arrive(.dropped(session))
        }

        /// Asks for the last entry of each session, and whether this node was declared lost, as a node does now and
        /// then.
        public func check() {
            if isDead { return }
            if store.lostRuns[run] != nil { return beginAnew() }
            for (session, follow) in follows.sorted(by: { $0.key < $1.key }) where follow.isOpen {
                guard let kept = store.sessions[session] else {
                    if follow.generation != nil { drop(session) }
                    continue
                }
                if let generation = follow.generation, generation != kept.generation {
                    drop(session)
                } else {
                    arrive(.entries(session, kept.last?.number ?? 0, kept.generation))
                }
            }
        }

        /// The network loses all notifications on their way.
        public func loseNotifications() { events.removeAll { $0.isNotification } }

        /// The network loses, repeats and reorders notifications.
        public func disturb(using random: inout some RandomNumberGenerator) {
            var index = 0
            while index < events.count {
                if events[index].isNotification {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0:
                        events.remove(at: index)
                        continue
                    case 1:
                        if case .entries = events[index] { events.insert(events[index], at: index) }
                        index += 1
                    case 2 where index + 1 < events.count && mayOvertake(events[index + 1], events[index]):
                        events.swapAt(index, index + 1)
                    default: break
                    }
                }
                index += 1
            }
        }

        /// Relayed bytes of one node stay in their order.
        private func mayOvertake(_ later: Event, _ earlier: Event) -> Bool {
            if case .relayed = earlier, case .relayed = later { return false }
            return later.isNotification
        }

        /// The process ends. Some of its requests have reached the store.
        public func die(sending count: Int = 0) {
            send(count)
            isDead = true
            requests = []
            events = []
            (observer, nodeObserver) = (nil, nil)
            (onRequest, onArrival) = ({}, {})
        }

        /// A clean stop: everything is sent, and the other nodes learn of it.
        public func stop() {
            send()
            store.declareLost(self)
            die()
        }
    }
}
