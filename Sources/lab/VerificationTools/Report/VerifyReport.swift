import Foundation
import JSONText
import SignalingProtocol
import SignalingVerification

/// The result of a ``Verification``. It can be printed for people, as JSON and as an HTML page.
package struct VerifyReport: Sendable {
    let plan: Verification.Plan
    /// Whether every client was connected at the end and had received the last signal of each member of its session.
    var isSettled: Bool { unsettled.isEmpty }
    /// What has not happened in time at the end of a run, as ends of sentences.
    private(set) var unsettled: [String] = []
    var duration = Duration.zero
    var resources: ResourceCheck.Result?
    private(set) var interruptions: [ServiceGap] = []
    private(set) var latencies = DurationCounts()
    /// How long after its acknowledgement the last signal of a banned user passed to a client.
    private(set) var banDelays: [Duration] = []
    private(set) var timeline: [Stage.Mark] = []
    private(set) var stalledTime = Duration.zero
    private(set) var violations: [Violation] = []
    private(set) var counts: [String: Int] = [:]
    /// What the consumers of the feed have got.
    private(set) var consumers: [FeedConsumers.Consumer: FeedConsumers.Result] = [:]

    /// What the caller knows of the program, for the report.
    package var version = ""
    package var command = ""

    init(plan: Verification.Plan) { self.plan = plan }

    package var isGood: Bool { isSettled && violations.isEmpty }

    /// - Parameter unsettled: the result of ``Stage/settle(within:)``.
    mutating func add(_ stage: Stage, unsettled: String?, epochLimit: Int) {
        let isSettled = unsettled == nil
        if let unsettled { self.unsettled.append(unsettled) }
        if stage.cluster.hasFailed { stage.report(.g3, .wrong, "the server ended by itself") }
        for room in stage.rooms {
            let clients = room.all
            let programs = clients.map(\.program) + [room.backend.program]
            for program in programs { count(program) }
            add(
                stage.tap.judging { judge, _ in
                    judge.violations(of: programs, isSettled: isSettled, epochLimit: epochLimit)
                })
            counts["restAcknowledged", default: 0] += room.backend.acknowledgedCount
            for client in clients {
                interruptions += client.interruptions
                latencies.add(client.latencies)
                counts["actionsTold", default: 0] += client.actionCount
                counts["restricted", default: 0] += client.restrictedCount
            }
        }
        add(stage.tap.judging { judge, now in judge.violations(at: now, isSettled: isSettled) })
        banDelays += stage.tap.judging { judge, _ in judge.banDelays }
        counts["delivered", default: 0] += stage.tap.judging { judge, _ in judge.deliveryCount }
        counts["pagesRead", default: 0] += stage.pagesRead.value
        counts["messagesRead", default: 0] += stage.messagesRead.value
        counts.merge(stage.counts, uniquingKeysWith: +)
        if let feed = stage.feed { consumers = feed.results }
        timeline += stage.timeline
        stalledTime = max(stalledTime, stage.tap.stalledTime)
    }

    /// Adds the results of another server.
    mutating func add(_ other: VerifyReport) {
        unsettled += other.unsettled
        interruptions += other.interruptions
        latencies.add(other.latencies)
        banDelays += other.banDelays
        timeline += other.timeline
        stalledTime = max(stalledTime, other.stalledTime)
        violations += other.violations
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    mutating func addViolations(of stage: Stage) { add(stage.violations) }

    private mutating func count(_ program: ProgramRecord) {
        for step in program.steps {
            switch step.action {
            case .sent: count("signals")
            case .answered(_, .acknowledged): count("acknowledged")
            case .answered(_, .refused): count("refused")
            case .answered(_, .unknown): count("unknown")
            case .received: count("received")
            case .entered(let entry):
                count(entry.outcome == .lost ? "lossesTold" : entry.outcome.rawValue)
                if entry.missing != nil { count("rangesTold") }
            case .away: count("absencesTold")
            case .erased: count("erasuresTold")
            case .changed: count("editsTold")
            case .userJoined: count("usersTold")
            case .created, .destroyed, .back, .userLeft, .moderated, .reconnected, .ended: break
            }
        }
    }

    private mutating func add(_ found: [Violation]) {
        for violation in found {
            violations.append(violation)
            switch violation.kind {
            case .missing: count("lost")
            case .duplicate: count("duplicated")
            case .reordered: count("reordered")
            case .wrong: break
            }
        }
    }

    private mutating func count(_ name: String) { counts[name, default: 0] += 1 }

    // MARK: - For people

    private static let shownViolationCount = 20

    static var machine: String {
        let info = ProcessInfo.processInfo
        let memory = info.physicalMemory >> 30
        return "\(info.operatingSystemVersionString), \(info.activeProcessorCount) processors, \(memory) GiB of memory"
    }

    func percentiles(_ cause: ServiceGap.Cause? = nil) -> Percentiles {
        Percentiles(interruptions.filter { cause == nil || $0.cause == cause }.map(\.duration))
    }

    private var failoverTimes: [Duration] { timeline.filter { $0.kind == "redisFailover" }.map(\.length) }

    func number(_ name: String) -> Int { counts[name] ?? 0 }

    package var text: String {
        let all = percentiles()
        let faults = Verification.Plan.faults.compactMap { fault in
            let count = plan[keyPath: fault.count]
            return count > 0 ? "\(fault.name.words()) \(count)" : nil
        }
        var lines = [
            "signalbox \(version) on \(Self.machine)",
            "\(plan.nodes > 1 ? "\(plan.nodes) nodes, " : "")\(plan.sessions) sessions of \(plan.members) clients for \(duration.wholeMilliseconds) ms; "
                + (faults.isEmpty ? "no faults" : faults.joined(separator: ", ")),
            "signals \(number("signals")): acknowledged \(number("acknowledged")), by REST \(number("restAcknowledged")), refused \(number("refused")), unknown \(number("unknown")); received \(number("received"))",
            "lost \(number("lost")), duplicated \(number("duplicated")), reordered \(number("reordered"))",
            "reconnected: resumed \(number("resumed")), recovered \(number("recovered")), losses reported \(number("lossesTold")), with their range \(number("rangesTold")); absences reported \(number("absencesTold"))",
            "interruptions \(all.count), from the cut: p50 \(all.p50.wholeMilliseconds) ms, p95 \(all.p95.wholeMilliseconds) ms, max \(all.max.wholeMilliseconds) ms",
        ]
        func kept(_ promises: [Violation.Promise]) -> String {
            promises.map { promise in
                let count = violations.count { $0.promise == promise }
                return "\(promise.rawValue) \(count == 0 ? "kept" : "broken \(count) times")"
            }.joined(separator: ", ")
        }
        if plan.keepsHistory {
            lines.append(
                "history: \(number("pagesRead")) pages read with \(number("messagesRead")) messages, \(number("erasuresTold")) erasures told; "
                    + kept(Violation.Promise.ofHistory))
        }
        if plan.changes > 0 {
            lines.append(
                "changes: \(number("edits")) edits and \(number("deletions")) deletions acknowledged, \(number("changesRefused")) refused or lost; \(number("editsTold")) edits told, \(number("changeLists")) lists of changes read; "
                    + kept(Violation.Promise.ofChanges))
        }
        if plan.hasFeed {
            for consumer in FeedConsumers.Consumer.allCases { lines.append(feedLine(consumer)) }
            lines.append("feed: \(kept(Violation.Promise.ofFeed))")
        }
        if plan.bans > 0 {
            let delays = Percentiles(banDelays)
            lines.append(
                "moderation: \(number("actionsTold")) actions told, \(number("restricted")) signals refused, \(delays.count) bans; the last signal of a banned user after the ban was acknowledged: p50 \(delays.p50.wholeMilliseconds) ms, p95 \(delays.p95.wholeMilliseconds) ms, max \(delays.max.wholeMilliseconds) ms; \(kept([.m1]))"
            )
        }
        for cause in ServiceGap.Cause.allCases {
            let some = percentiles(cause)
            guard some.count > 0 else { continue }
            lines.append(
                "  \(cause.rawValue) \(some.count): p50 \(some.p50.wholeMilliseconds) ms, p95 \(some.p95.wholeMilliseconds) ms, max \(some.max.wholeMilliseconds) ms"
            )
        }
        if plan.redisFailovers > 0 {
            let times = failoverTimes.map { "\($0.wholeMilliseconds) ms" }.joined(separator: ", ")
            lines.append("from the end of a primary until every session had acknowledged a signal again: \(times)")
        }
        if let resources {
            let memory = resources.resident.map { "\($0 >> 20)" }.joined(separator: ", ")
            lines.append(
                "server: descriptors \(resources.descriptorsAtStart) at the start, \(resources.descriptorsAtEnd) at the end; MiB of memory after each round \(memory)"
            )
        }
        if stalledTime > .zero {
            lines.append(
                "the machine stood still for \(stalledTime.wholeMilliseconds) ms; times were judged with so much more tolerance"
            )
        }
        for reason in unsettled { lines.append("BROKEN: the run did not end in order: \(reason)") }
        lines += violations.prefix(Self.shownViolationCount).map { "BROKEN \($0)" }
        lines.append("repeat it with: \(command)")
        lines.append(isGood ? "every promise was kept" : "\(violations.count) violations of the promises")
        return lines.joined(separator: "\n")
    }

    private func feedLine(_ consumer: FeedConsumers.Consumer) -> String {
        guard let result = consumers[consumer] else { return "feed by \(consumer.rawValue): nothing" }
        let (tally, delays) = (result.tally, Percentiles(result.tally.delays))
        return
            "feed by \(consumer.rawValue): \(tally.events) events in \(result.batches) batches, \(tally.gaps) gaps, \(tally.restarts) new beginnings, \(tally.doubles) doubles; \(result.troubles) times in trouble, \(result.downtime.wholeMilliseconds) ms; while it was up, an event took p50 \(delays.p50.wholeMilliseconds) ms, p99 \(delays.p99.wholeMilliseconds) ms, max \(delays.max.wholeMilliseconds) ms"
    }

    // MARK: - JSON

    private static let names = [
        "signals", "acknowledged", "restAcknowledged", "refused", "unknown", "received", "delivered", "lost",
        "duplicated", "reordered", "lossesTold", "rangesTold", "absencesTold", "resumed", "recovered", "pagesRead",
        "messagesRead", "erasuresTold", "edits", "deletions", "changesRefused", "editsTold", "changeLists",
        "actionsTold", "restricted", "usersTold",
    ]

    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("version", version)
        writer.member("machine", Self.machine)
        writer.member("command", command)
        for name in Self.names {
            writer.name(escaping: name)
            writer.value(counts[name] ?? 0)
        }
        writer.member("nodes", plan.nodes)
        for fault in Verification.Plan.faults {
            writer.name(escaping: fault.name)
            writer.value(plan[keyPath: fault.count])
        }
        writer.name("interruptions")
        writer.beginObject()
        write("all", percentiles(), &writer)
        for cause in ServiceGap.Cause.allCases { write(cause.rawValue, percentiles(cause), &writer) }
        writer.endObject()
        writer.name("banDelays")
        writer.beginObject()
        write("all", Percentiles(banDelays), &writer)
        writer.endObject()
        writer.name("failoverMilliseconds")
        writer.beginArray()
        for time in failoverTimes { writer.value(Int(time.wholeMilliseconds)) }
        writer.endArray()
        if plan.hasFeed {
            writer.name("feed")
            writer.beginObject()
            for (consumer, result) in consumers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                write(consumer, result, &writer)
            }
            writer.endObject()
        }
        if let resources {
            writer.member("descriptorsAtStart", resources.descriptorsAtStart)
            writer.member("descriptorsAtEnd", resources.descriptorsAtEnd)
            writer.name("residentBytes")
            writer.beginArray()
            for bytes in resources.resident { writer.value(bytes) }
            writer.endArray()
        }
        writer.member("milliseconds", duration.wholeMilliseconds)
        writer.member("stalledMilliseconds", stalledTime.wholeMilliseconds)
        writer.member("seed", plan.seed)
        writer.member("settled", isSettled)
        writer.name("unsettled")
        writer.beginArray()
        for reason in unsettled { writer.value(reason) }
        writer.endArray()
        writer.name("violations")
        writer.beginArray()
        for violation in violations.prefix(Self.shownViolationCount) { writer.value(violation.description) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(
        _ consumer: FeedConsumers.Consumer, _ result: FeedConsumers.Result, _ writer: inout JSONWriter
    ) {
        writer.name(escaping: consumer.rawValue)
        writer.beginObject()
        writer.member("events", result.tally.events)
        writer.member("batches", result.batches)
        writer.member("gaps", result.tally.gaps)
        writer.member("newBeginnings", result.tally.restarts)
        writer.member("doubles", result.tally.doubles)
        writer.member("troubles", result.troubles)
        writer.member("downtimeMilliseconds", result.downtime.wholeMilliseconds)
        let delays = Percentiles(result.tally.delays)
        write("delays", delays, &writer)
        writer.member("p99Milliseconds", delays.p99.wholeMilliseconds)
        writer.endObject()
    }

    private func write(_ name: String, _ percentiles: Percentiles, _ writer: inout JSONWriter) {
        writer.name(escaping: name)
        writer.beginObject()
        writer.member("count", percentiles.count)
        writer.member("p50Milliseconds", percentiles.p50.wholeMilliseconds)
        writer.member("p95Milliseconds", percentiles.p95.wholeMilliseconds)
        writer.member("maxMilliseconds", percentiles.max.wholeMilliseconds)
        writer.endObject()
    }
}
