extension Verification {
    /// What happens in a run. The same seed repeats the order of the faults and the signals, but not the timing of the
    /// machine.
    package struct Plan: Sendable {
        /// The number of signals in all; each client sends at least one.
        package var signals = 2_000
        package var sessions = 4
        /// The number of clients that stay in each session; at least 2. The third one suppresses presence (CON-4).
        package var members = 3
        /// How many of the signals come from a backend through REST.
        package var rest = 100
        /// Resets of one client's network.
        package var cuts = 20
        /// Losses of one direction of one client's network, without a reset.
        package var silences = 2
        /// Clients without a network for a while: shorter than the resume window, then shorter than the recovery
        /// window, then longer than both.
        package var absences = 3
        /// Clients without a network until the others are told that they are away, and resumed then.
        package var longAbsences = 1
        /// Clients that try to resume a connection with a wrong and with an old secret.
        package var wrongSecrets = 1
        /// Clients that read slowly or not at all for a few seconds.
        package var slowReaders = 2
        /// Clients whose missed events the log no longer has when they come back.
        package var overruns = 2
        /// Pauses of the server's process (SIGSTOP, SIGCONT).
        package var stops = 2
        /// Restarts after SIGKILL: the server keeps its sessions, unless they are in memory.
        package var kills = 1
        /// Restarts after SIGTERM: the server keeps its sessions.
        package var restarts = 1
        /// Nodes that hang (SIGSTOP) until the others have declared them lost, and go on then.
        package var freezes = 0
        /// Resets of one node's connections to Redis.
        package var redisCuts = 0
        /// Restarts of Redis after SIGKILL.
        package var redisKills = 0
        /// Ends of the primary of a Redis with replicas and Sentinels (SIGKILL), after which another one takes over.
        package var redisFailovers = 0
        /// Members that disconnect and come back.
        package var leaves = 4
        /// Further clients that join for a moment. They crash, unless they are expelled.
        package var guests = 8
        /// How many of the guests are force-disconnected, in turn by a moderator and through REST.
        package var expulsions = 2
        /// Guests whose token expires while they are connected.
        package var expiredTokens = 1
        /// Clients that join, read the history in both directions, and leave.
        package var readers = 4
        /// Messages that a moderator or a backend erases.
        package var erasures = 3
        /// Edits and erasures by the authors of messages, and by others, who are refused.
        package var changes = 20
        /// How often everybody leaves a session until it sleeps, and comes back (HIS-3).
        package var sleeps = 2
        /// Small histories in which messages are erased, over restarts of their server (HIS-2, HIS-9, MOD-9).
        package var archives = 1
        /// Servers whose files are restored from a backup, replaced by an older copy, and removed (HIS-3, RES-3, LOG-23).
        package var restores = 1
        /// Restrictions of users and sessions, by a moderator and through REST in turn (MOD-1).
        package var bans = 16
        /// How many percent of the time the consumers of the feed are down, hang, fail, or do not answer.
        package var consumerDowntime = 30
        /// Whether backends consume the feed of the project, beside the clients (F1, F2).
        package var hasFeed = false
        /// Whether the servers keep a history.
        var keepsHistory: Bool { hasFeed || readers + erasures + changes + sleeps + archives + restores > 0 }
        /// Whether the server has no state folder.
        package var isInMemory = false
        /// How many servers serve the sessions together, over one Redis.
        package var nodes = 1
        /// The Redis of the nodes, as in `serve --redis`; nil: the run starts one of its own.
        package var redis: String?
        var cluster: Cluster.Plan { Cluster.Plan(nodes: nodes, redis: redis, hasSentinels: redisFailovers > 0) }
        /// Whether the servers keep their sessions in Redis.
        package var isShared: Bool { nodes > 1 || redis != nil }
        /// The server's port; 0: a free one.
        package var port = 0
        package var seed: UInt64

        package init(seed: UInt64) { self.seed = seed }

        /// Some faults of each kind for several nodes.
        package mutating func addFaultsOfNodes() {
            kills = 3
            freezes = 1
            redisCuts = redis == nil ? 3 : 0
            redisKills = redis == nil ? 2 : 0
        }

        /// Nothing that an older program may not know: neither history nor moderation.
        package mutating func forgoNewRules() {
            (readers, erasures, changes, sleeps, bans, archives, restores) = (0, 0, 0, 0, 0, 0, 0)
            (hasFeed, consumerDowntime) = (false, 0)
        }

        /// Only the signals and the clients, without any fault.
        package static func withoutFaults(seed: UInt64) -> Plan {
            var plan = Plan(seed: seed)
            for fault in faults { plan[keyPath: fault.count] = 0 }
            plan.rest = 0
            return plan
        }

        /// The counts of the faults, by the names of their options.
        package static var faults: [(name: String, count: WritableKeyPath<Plan, Int>)] {
            [
                ("cuts", \.cuts), ("silences", \.silences), ("absences", \.absences),
                ("longAbsences", \.longAbsences), ("wrongSecrets", \.wrongSecrets), ("slowReaders", \.slowReaders),
                ("overruns", \.overruns), ("stops", \.stops), ("kills", \.kills), ("restarts", \.restarts),
                ("freezes", \.freezes), ("redisCuts", \.redisCuts), ("redisKills", \.redisKills),
                ("redisFailovers", \.redisFailovers),
                ("leaves", \.leaves), ("guests", \.guests), ("expulsions", \.expulsions),
                ("expiredTokens", \.expiredTokens), ("readers", \.readers), ("erasures", \.erasures),
                ("changes", \.changes),
                ("sleeps", \.sleeps), ("bans", \.bans), ("archives", \.archives), ("restores", \.restores),
                ("consumerDowntime", \.consumerDowntime),
            ]
        }

        /// What is wrong with the plan, as a sentence for people; nil if it can run.
        package var problem: String? {
            if signals < 1 || sessions < 1 { return "--signals and --sessions must be positive." }
            if members < 2 { return "--members is \(members). A session needs at least 2 clients." }
            if let fault = Self.faults.first(where: { self[keyPath: $0.count] < 0 }) {
                return "--\(fault.name.words(separator: "-")) is \(self[keyPath: fault.count]). Use 0 or more."
            }
            if rest < 0 || rest > signals {
                return "--rest is \(rest). Use 0 to \(signals): these signals are part of --signals."
            }
            if expulsions > guests {
                return "--expulsions is \(expulsions), but only guests are expelled. Give at least as many --guests."
            }
            if isInMemory, restarts > 0 {
                return "--in-memory and --restarts contradict each other: such a server keeps nothing. Use --kills."
            }
            if isInMemory || isShared, restores > 0 {
                return "--restores contradicts --in-memory, --nodes and --redis: it needs a state folder."
            }
            if hasFeed, isInMemory {
                return "--feed contradicts --in-memory: such a feed ends with its server, and its consumers begin anew."
            }
            if !hasFeed, consumerDowntime > 0 { return "--consumer-downtime needs --feed." }
            if consumerDowntime > 90 { return "--consumer-downtime is \(consumerDowntime). Use 0 to 90 percent." }
            if !(1...9).contains(nodes) { return "--nodes is \(nodes). Use 1 to 9." }
            if isShared, isInMemory {
                return "--in-memory contradicts --nodes and --redis: Redis keeps the sessions."
            }
            if isShared, port != 0 { return "--port contradicts --nodes and --redis: each node takes a free port." }
            if nodes == 1, freezes > 0 {
                return "--freezes needs --nodes: with one node, nobody declares it lost. Use --stops."
            }
            if !isShared, redisCuts + redisKills + redisFailovers > 0 {
                return "--redis-cuts, --redis-kills and --redis-failovers need --nodes or --redis."
            }
            if redis != nil, redisCuts + redisKills + redisFailovers > 0 {
                return "--redis-cuts, --redis-kills and --redis-failovers contradict --redis: the run harms only its "
                    + "own Redis."
            }
            if redisFailovers > 0, redisCuts + redisKills > 0 {
                return
                    "--redis-failovers contradicts --redis-cuts and --redis-kills: each failover kills a Redis, and the "
                    + "nodes reach it without a relay."
            }
            if !(0...65_535).contains(port) { return "--port is \(port). Use 0 to 65535." }
            return nil
        }

        /// The signals last at least so long, so that they pass while the faults happen.
        var leastDuration: Duration {
            if redisFailovers > 0 { return .seconds(20 * redisFailovers) }
            if absences > 2 || silences > 0 || freezes > 0 { return .seconds(20) }
            if absences > 0 || expiredTokens > 0 { return .seconds(12) }
            return guests + leaves + slowReaders + bans + changes > 0 ? .seconds(4) : .zero
        }
    }
}

extension String {
    /// The words of a name in the code: "long absences" for `longAbsences`.
    func words(separator: String = " ") -> String {
        map { $0.isUppercase ? separator + $0.lowercased() : "\($0)" }.joined()
    }
}
