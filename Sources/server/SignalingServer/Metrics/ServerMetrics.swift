import EventLoop
import FoundationEssentials
import JSONText
import Metrics
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingSQLite
import SignalingTokens
import SignalingTransport

/// Publishes the numbers of a server: to its own registry at each scrape, and to the backend of the program that embeds
/// the server once a second. Confined to the loop.
final class ServerMetrics {
    /// The parts of a server that count.
    struct Sources {
        let loop: LoopThread
        let hub: ServerHub
        let sessions: SessionHost
        let requests: RequestStatistics
        let refusals: RefusalRecorder
        let webhooks: Webhooks
        let feeds: FeedDesk
        let connectionLimit: Int
        let httpConnectionCount: () -> Int
        let stateFolder: String?
    }

    private let sources: Sources
    private let registry = PrometheusRegistry()
    private let own: MetricsSink
    private let embedding: MetricsSink?
    private var timer: LoopTimer?
    private var copy: (response: HTTPResponse, until: MonotonicInstant)?
    private let startedAt = Date().timeIntervalSince1970

    /// - Parameter factory: the backend of the embedding program; nil if it has none.
    init(_ sources: Sources, factory: (any MetricsFactory)?) {
        self.sources = sources
        own = MetricsSink(factory: registry)
        embedding = factory.map(MetricsSink.init)
        if embedding != nil {
            timer = LoopTimer(loop: sources.loop) { [weak self] in self?.publishRegularly() }
            publishRegularly()
        }
    }

    /// The values in the text format of Prometheus, at most one second old. Anybody may ask for those of the main port,
    /// as often as a client can send requests.
    func publicResponse() -> HTTPResponse {
        let now = sources.loop.now
        if let copy, now < copy.until { return copy.response }
        let response = response()
        copy = (response, now.advanced(by: .seconds(1)))
        return response
    }

    /// The present values in the text format of Prometheus.
    func response() -> HTTPResponse {
        publish(to: own)
        return HTTPResponse(
            status: HTTPStatus.ok.rawValue,
            headers: [("Content-Type", PrometheusRegistry.contentType), ("Cache-Control", "no-store")],
            body: Array(registry.text.utf8))
    }

    /// The backend that the embedding program has set for its process; nil if it has set none.
    static var bootstrappedFactory: (any MetricsFactory)? {
        let factory = MetricsSystem.factory
        return factory is NOOPMetricsHandler ? nil : factory
    }

    /// The most important numbers, for the admin page and `signalbox admin stats`.
    func summary() -> JSONValue {
        let statistics = sources.hub.statistics
        let overview = sources.hub.overview
        let usage = sources.loop.usage
        let process = ProcessUsage.current()
        func number(_ count: Int) -> JSONValue { .integer(Int64(count)) }
        return [
            "version": .string(ServerVersion.text),
            "uptimeSeconds": .integer(Int64(Date().timeIntervalSince1970 - startedAt)),
            "status": .string(sources.sessions.obstacle ?? "ok"),
            "sessions": number(overview.sessionCount),
            "connections": [
                "unjoined": number(overview.openCount - overview.joinedCount), "joined": number(overview.joinedCount),
                "detached": number(overview.detachedCount),
                "limit": number(sources.connectionLimit),
            ],
            "signals": number(statistics.acceptedClientSignals + statistics.acceptedServerSignals),
            "signalRefusals": number(statistics.signalRefusalCount),
            "deliveries": number(statistics.eventDeliveries + statistics.onlineOnlyDeliveries),
            "receivedBytes": number(statistics.receivedBytes), "sentBytes": number(statistics.sentBytes),
            "refusals": number(sources.refusals.counts.total), "pauses": number(statistics.pauses),
            "slowConsumers": number(statistics.closes[.slowConsumer] ?? 0),
            "loopBusySeconds": .double(usage.busyTime.inSeconds),
            "loopLongestTurnSeconds": .double(usage.longestTurn.inSeconds),
            "webhookDelaySeconds": .double(webhookDelay),
            "residentMemoryBytes": process.residentByteCount.map(number) ?? .null,
            "openDescriptors": process.openDescriptorCount.map(number) ?? .null,
            "cpuSeconds": .double(process.processorSeconds),
        ]
    }

    private func publishRegularly() {
        if let embedding { publish(to: embedding) }
        timer?.schedule(at: sources.loop.now.advanced(by: .seconds(1)))
    }

    private func publish(to sink: MetricsSink) {
        sink.gauge(MetricsTable.build, [ServerVersion.text], 1)
        publishConnections(to: sink)
        publishSignals(to: sink)
        publishTraffic(to: sink)
        publishRequests(to: sink)
        publishWebhooks(to: sink)
        publishLog(to: sink)
        publishHistory(to: sink)
        publishProcess(to: sink)
    }

    private func publishConnections(to sink: MetricsSink) {
        let statistics = sources.hub.statistics
        let overview = sources.hub.overview
        sink.gauge(MetricsTable.connections, ["unjoined"], Double(overview.openCount - overview.joinedCount))
        sink.gauge(MetricsTable.connections, ["joined"], Double(overview.joinedCount))
        sink.gauge(MetricsTable.connections, ["detached"], Double(overview.detachedCount))
        sink.gauge(MetricsTable.connectionsLimit, Double(sources.connectionLimit))
        sink.gauge(MetricsTable.httpConnections, Double(sources.httpConnectionCount()))
        sink.gauge(MetricsTable.sessions, Double(overview.sessionCount))
        for outcome in Welcome.Outcome.allCases {
            sink.counter(MetricsTable.connects, [outcome.rawValue], statistics.connects[outcome] ?? 0)
        }
        for (code, count) in statistics.connectRefusals {
            sink.counter(MetricsTable.connectRefusals, [code.metricLabel], count)
        }
        for refusal in Refusal.allCases {
            sink.counter(MetricsTable.refusals, [refusal.metricLabel], sources.refusals.counts[refusal])
        }
        for reason in CloseReason.allCases {
            sink.counter(MetricsTable.closes, ["\(reason)".snakeCased], statistics.closes[reason] ?? 0)
        }
    }

    private func publishSignals(to sink: MetricsSink) {
        let statistics = sources.hub.statistics
        sink.counter(MetricsTable.signals, ["client", "accepted"], statistics.acceptedClientSignals)
        sink.counter(MetricsTable.signals, ["server", "accepted"], statistics.acceptedServerSignals)
        for (code, count) in statistics.clientSignalRefusals {
            sink.counter(MetricsTable.signals, ["client", code.metricLabel], count)
        }
        for (code, count) in statistics.serverSignalRefusals {
            sink.counter(MetricsTable.signals, ["server", code.metricLabel], count)
        }
        for drop in OnlineOnlyDrop.allCases {
            sink.counter(
                MetricsTable.onlineOnlyDropped, [drop.rawValue.snakeCased], statistics.onlineOnlyDrops[drop] ?? 0)
        }
        for kind in ChangeKind.allCases {
            sink.counter(MetricsTable.changes, [kind.rawValue], statistics.changes[kind] ?? 0)
        }
        sink.counter(MetricsTable.readMarkers, statistics.markers)
        for (action, count) in statistics.moderations { sink.counter(MetricsTable.moderations, [action], count) }
        for kind in Restriction.Kind.allCases {
            sink.counter(MetricsTable.restrictionRefusals, [kind.rawValue], statistics.restrictionRefusals[kind] ?? 0)
        }
        sink.counter(MetricsTable.malformed, statistics.malformedLines)
        sink.counter(MetricsTable.deliveries, ["event"], statistics.eventDeliveries)
        sink.counter(MetricsTable.deliveries, ["online_only"], statistics.onlineOnlyDeliveries)
        sink.histogram(MetricsTable.ackLatency, statistics.ackLatency)
        sink.histogram(MetricsTable.flushSize, statistics.flushSize)
        sink.histogram(MetricsTable.flushDelay, statistics.flushDelay)
    }

    private func publishTraffic(to sink: MetricsSink) {
        let statistics = sources.hub.statistics
        sink.counter(MetricsTable.receivedMessages, statistics.receivedMessages)
        sink.counter(MetricsTable.receivedBytes, statistics.receivedBytes)
        sink.counter(MetricsTable.sentMessages, statistics.sentMessages)
        sink.counter(MetricsTable.sentBytes, statistics.sentBytes)
        sink.counter(MetricsTable.pauses, statistics.pauses)
        sink.counter(MetricsTable.backlogs, statistics.backlogs)
        let usage = sources.loop.usage
        sink.counter(MetricsTable.loopBusy, seconds: usage.busyTime.inSeconds)
        sink.counter(MetricsTable.loopTurns, usage.turnCount)
        sink.gauge(MetricsTable.longestTurn, usage.longestTurn.inSeconds)
    }

    private func publishRequests(to sink: MetricsSink) {
        for (answer, count) in sources.requests.counts {
            sink.counter(MetricsTable.requests, [answer.route, "\(answer.status)"], count)
        }
        for (route, durations) in sources.requests.durations {
            sink.histogram(MetricsTable.requestDuration, [route], durations)
        }
        for verdict in [TokenGuesses.Verdict.wrong, .tooMany] {
            sink.counter(
                MetricsTable.adminTokenRefusals, [verdict.rawValue], sources.requests.adminTokens[verdict] ?? 0)
        }
    }

    private func publishWebhooks(to sink: MetricsSink) {
        let pushes = sources.webhooks.pushes
        sink.gauge(MetricsTable.webhookOldest, webhookDelay)
        let pushedCount = pushes.reduce(0) { $0 + $1.deliveredCount }
        sink.counter(MetricsTable.webhookSent, pushedCount)
        sink.counter(MetricsTable.webhookDropped, ["refused"], pushes.reduce(0) { $0 + $1.refusedCount })
        sink.counter(MetricsTable.feedEvents, ["pull"], sources.feeds.readEventCount)
        sink.counter(MetricsTable.feedEvents, ["push"], pushedCount)
        sink.counter(MetricsTable.feedGaps, pushes.reduce(0) { $0 + $1.gapCount })
    }

    /// How long the oldest event has waited for its receiver, in seconds.
    private var webhookDelay: Double {
        let now = WallTime.current
        return sources.webhooks.pushes.compactMap(\.waitingSince)
            .map { Double(now.milliseconds - $0.milliseconds) / 1_000 }.max().map { max(0, $0) } ?? 0
    }

    private func publishLog(to sink: MetricsSink) {
        switch sources.sessions.store {
        case .memory: return
        case .folder(let log, let meter, _):
            sink.gauge(MetricsTable.logInFlight, Double(log.inFlightByteCount))
            sink.histogram(MetricsTable.logAppend, meter.appendLatency)
            sink.histogram(MetricsTable.snapshotDuration, meter.snapshotDuration)
            publishLogSize(to: sink)
        case .redis(let log, let meter):
            sink.gauge(MetricsTable.nodes, Double(log.nodeCount))
            sink.gauge(MetricsTable.logInFlight, Double(log.inFlightByteCount))
            sink.histogram(MetricsTable.logAppend, meter.appendLatency)
        }
        sink.gauge(MetricsTable.logHealthy, sources.sessions.obstacle == nil ? 1 : 0)
    }

    private func publishHistory(to sink: MetricsSink) {
        let archive = sources.sessions.archive
        sink.gauge(MetricsTable.historyHealthy, archive.fault == nil ? 1 : 0)
        if let sleeperCount = sources.sessions.sleeperCount {
            sink.gauge(MetricsTable.historyMessages, Double(archive.messageCount))
            sink.gauge(MetricsTable.historyBytes, Double(archive.byteCount))
            sink.gauge(MetricsTable.sleepers, Double(sleeperCount()))
        }
        if let shared = archive as? RedisArchive { sink.counter(MetricsTable.historyTrimmed, shared.trimmedCount) }
        let reads = sources.hub.history.counts
        for (outcome, count) in [("read", reads.read), ("shared", reads.shared), ("failed", reads.failed)] {
            sink.counter(MetricsTable.historyReads, [outcome], count)
        }
    }

    private func publishLogSize(to sink: MetricsSink) {
        guard let folder = sources.stateFolder else { return }
        for (label, file) in [("database", "sessions.sqlite"), ("write_ahead_log", "sessions.sqlite-wal")] {
            if let size = FileStatus("\(folder)/\(file)")?.byteCount {
                sink.gauge(MetricsTable.logSize, [label], Double(size))
            }
        }
    }

    private func publishProcess(to sink: MetricsSink) {
        let usage = ProcessUsage.current()
        if let count = usage.residentByteCount { sink.gauge(MetricsTable.residentMemory, Double(count)) }
        if let count = usage.openDescriptorCount { sink.gauge(MetricsTable.openDescriptors, Double(count)) }
        sink.gauge(MetricsTable.maxDescriptors, Double(usage.descriptorLimit))
        sink.counter(MetricsTable.processorTime, seconds: usage.processorSeconds)
        // Where the system does not tell it, the start of the server is next.
        sink.gauge(MetricsTable.startTime, ProcessUsage.startedAt ?? startedAt)
    }
}

extension SignalingError.Code {
    /// `OT_RATE_LIMIT_EXCEEDED` → `rate_limit_exceeded`. Codes that share a name have names of their own here.
    var metricLabel: String {
        switch self {
        case .tooLong: "too_long"
        case .badTarget: "bad_target"
        case .notConnectedToModerate: "not_connected_to_moderate"
        case .unableToPublish: "unable_to_publish"
        case .unableToForceDisconnect: "unable_to_force_disconnect"
        default: name.lowercased().replacing("ot_", with: "")
        }
    }
}

extension Refusal {
    /// `addressRate` → `address_rate`.
    var metricLabel: String { rawValue.snakeCased }
}

extension Duration {
    var inSeconds: Double { Double(wholeNanoseconds) / 1_000_000_000 }
}

extension String {
    /// `slowConsumer` → `slow_consumer`, `notTLS` → `not_tls`.
    var snakeCased: String {
        var words = ""
        var wasUppercase = true
        for character in self {
            if character.isUppercase, !wasUppercase { words += "_" }
            wasUppercase = character.isUppercase
            words += character.lowercased()
        }
        return words
    }
}
