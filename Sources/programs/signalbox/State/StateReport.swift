import JSONText
import SignalingCore
import SignalingProtocol
import SignalingSQLite

/// The output of `signalbox state inspect`.
struct StateReport {
    let sessions: [SessionSummary]
    let sleeperCount: Int
    let history: SQLiteArchive.Summary?
    let files: [SQLiteCommandLog.FolderContents.File]
    let obstacle: String?

    /// Decodes and replays each session.
    init(_ contents: SQLiteCommandLog.FolderContents) {
        sessions = contents.sessions.map { SessionSummary($0) }
        sleeperCount = contents.sleeperCount
        history = contents.history
        files = contents.files
        obstacle = contents.obstacle
    }

    static func line(obstacle: String) -> String { "The next server begins new sessions: \(obstacle)." }

    static func line(history: SQLiteArchive.Summary) -> String {
        "history: \(counted(history.messageCount, "message")) of \(counted(history.sessionCount, "session")), "
            + "\(history.byteCount) bytes"
    }

    // MARK: - For people

    var text: String {
        var lines: [String] = []
        if !sessions.isEmpty {
            var table = TextTable([
                .left("session"), .left("epoch"), .right("attached"), .right("detached"), .right("events"),
                .right("bytes"), .right("last seq"), .right("commands"), .right("bytes"), .right("snapshot"),
                .left("last events"),
            ])
            for session in sessions { table.append(row(session)) }
            lines += table.lines
        }
        lines.append(
            "\(counted(sessions.count, "session")), \(counted(totals.connections, "connection")) "
                + "(\(totals.attached) attached), \(counted(totals.events, "event")), "
                + "\(counted(totals.commands, "command")) since the snapshots")
        if sleeperCount > 0 { lines.append(counted(sleeperCount, "sleeping session")) }
        if let history { lines.append(Self.line(history: history)) }
        lines.append(files.map { "\($0.name) \($0.byteCount) bytes" }.joined(separator: ", "))
        if let obstacle { lines.append(Self.line(obstacle: obstacle)) }
        return lines.joined(separator: "\n")
    }

    private func row(_ session: SessionSummary) -> [String] {
        let content =
            switch session.content {
            case .live(let live):
                [
                    live.epoch.rawValue, "\(live.attachedCount)", "\(live.detachedCount)", "\(live.eventCount)",
                    "\(live.eventByteCount)", "\(live.lastSeq.rawValue)",
                ]
            case .ended, .unreadable: Array(repeating: "-", count: 6)
            }
        let end =
            switch session.content {
            case .live(let live): live.lastEvents.map(\.rawValue).joined(separator: " ")
            case .ended: "ended"
            case .unreadable(let fault): "unreadable: \(fault)"
            }
        return [session.id.rawValue] + content + [
            "\(session.commandCount)", "\(session.commandByteCount)",
            session.snapshotByteCount.map { "\($0)" } ?? "-", end,
        ]
    }

    private struct Totals {
        var attached = 0
        var detached = 0
        var events = 0
        var eventBytes = 0
        var commands = 0

        var connections: Int { attached + detached }
    }

    private var totals: Totals {
        var totals = Totals()
        for session in sessions {
            totals.commands += session.commandCount
            switch session.content {
            case .live(let live):
                totals.attached += live.attachedCount
                totals.detached += live.detachedCount
                totals.events += live.eventCount
                totals.eventBytes += live.eventByteCount
            case .ended, .unreadable: break
            }
        }
        return totals
    }

    // MARK: - JSON

    var json: String {
        let totals = totals
        let value: JSONValue = [
            "sessions": .array(sessions.map { .object(describe($0)) }),
            "totals": [
                "sessions": .integer(sessions.count), "attached": .integer(totals.attached),
                "detached": .integer(totals.detached), "events": .integer(totals.events),
                "eventBytes": .integer(totals.eventBytes), "commands": .integer(totals.commands),
            ],
            "sleeping": .integer(sleeperCount),
            "history": history.map {
                [
                    "sessions": .integer($0.sessionCount), "messages": .integer($0.messageCount),
                    "bytes": .integer($0.byteCount),
                ]
            } ?? .null,
            "files": .array(files.map { ["name": .string($0.name), "bytes": .integer($0.byteCount)] }),
            "continues": .bool(obstacle == nil),
            "reason": obstacle.map(JSONValue.string) ?? .null,
        ]
        return value.encodedText()
    }

    private func describe(_ session: SessionSummary) -> JSONObject {
        var object: JSONObject = ["sessionId": .string(session.id.rawValue)]
        switch session.content {
        case .live(let live):
            object.append("state", "live")
            object.append("epoch", .string(live.epoch.rawValue))
            object.append("attached", .integer(live.attachedCount))
            object.append("detached", .integer(live.detachedCount))
            object.append("events", .integer(live.eventCount))
            object.append("eventBytes", .integer(live.eventByteCount))
            object.append("lastSeq", .integer(live.lastSeq.rawValue))
            object.append("lastEvents", .array(live.lastEvents.map { .string($0.rawValue) }))
        case .ended: object.append("state", "ended")
        case .unreadable(let fault):
            object.append("state", "unreadable")
            object.append("fault", .string(fault.description))
        }
        object.append("commands", .integer(session.commandCount))
        object.append("commandBytes", .integer(session.commandByteCount))
        object.append("snapshotBytes", session.snapshotByteCount.map { .integer($0) } ?? .null)
        return object
    }
}

extension JSONValue {
    fileprivate static func integer(_ count: Int) -> JSONValue { .integer(Int64(count)) }
}

/// "1 session", "2 sessions".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
