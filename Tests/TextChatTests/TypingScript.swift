import JSONText
import SignalingProtocol
import TestSupport
import TextChat

/// One case of the files in `Tests/Vectors/typing` and `phrases`, with the members of its file.
struct TypingVector: Sendable, CustomStringConvertible {
    let path: String
    let number: Int64
    let kind: String
    let vector: VectorCase

    var description: String { "case \(number), \(path): \(vector.name)" }

    static func all(in folder: String, kind: String) throws -> [TypingVector] {
        try Vectors.files(in: folder).filter { $0.value["kind"]?.stringValue == kind }.flatMap { file in
            try Vectors.cases(file.path).map {
                TypingVector(
                    path: file.path, number: file.value["case"]?.integerValue ?? 0, kind: kind, vector: $0)
            }
        }
    }
}

struct BadVector: Error {
    let what: String
}

extension MonotonicInstant {
    init(milliseconds: Int64) { self.init(nanoseconds: milliseconds * 1_000_000) }
    var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

/// Runs one script: its steps, with the timer served to the instant in between.
struct TypingScript {
    private var engine: TypingIndicator
    private var text = ""
    private(set) var signals: [JSONValue] = []
    private(set) var snapshots: [JSONValue] = []
    private(set) var requests: [SignalRequest] = []
    private(set) var numbers: [Int64] = []
    /// The faults that steps have found.
    private(set) var unexpected: [String] = []

    init(_ vector: VectorCase) throws {
        engine = TypingIndicator(
            policy: try Self.policy(vector["policy"] ?? nil), connection: ConnectionID("me"))
        for step in try (vector["steps"]?.arrayValue ?? []).flatMap(Self.spread) {
            let at = try Self.milliseconds(step["at"])
            if step["late"]?.boolValue != true { try run(to: at) }
            note(at, try perform(step, MonotonicInstant(milliseconds: at)))
        }
        try run(to: try Self.milliseconds(vector["until"]))
    }

    static func policy(_ written: JSONValue) throws -> TypingPolicy {
        if let name = written.stringValue { return try preset(name) }
        guard let members = written.objectValue, let name = members["preset"]?.stringValue else {
            throw BadVector(what: "policy \(written)")
        }
        return try TypingPolicy(try settings(preset(name), members))
    }

    static func preset(_ name: String) throws -> TypingPolicy {
        switch name {
        case "standard": .standard
        case "layer": .layer
        case "layerWeb": .layerWeb
        case "easemob": .easemob
        default: throw BadVector(what: "preset \(name)")
        }
    }

    static func settings(_ base: TypingPolicy, _ changes: JSONObject) throws -> TypingPolicy.Settings {
        var settings = base.settings
        for (name, value) in changes where name != "preset" {
            let duration = value.integerValue.map { Duration.milliseconds($0) }
            let count = value.integerValue.map { Int($0) }
            switch name {
            case "refresh": settings.refresh = duration ?? .zero
            case "idleToPause": settings.idleToPause = duration
            case "pauseToFinish": settings.pauseToFinish = duration
            case "beginExpiry": settings.beginExpiry = duration ?? .zero
            case "pauseExpiry": settings.pauseExpiry = duration ?? .zero
            case "minimumGap": settings.minimumGap = duration
            case "linger": settings.linger = duration
            case "minimumShow": settings.minimumShow = duration
            case "roomCap": settings.roomCap = count
            case "typerLimit": settings.typerLimit = count ?? 0
            case "finishesWhenMessageSent": settings.finishesWhenMessageSent = value.boolValue ?? false
            case "pausedCountsAsTyping": settings.pausedCountsAsTyping = value.boolValue ?? false
            case "isReciprocal": settings.isReciprocal = value.boolValue ?? false
            default: throw BadVector(what: "setting \(name)")
            }
        }
        return settings
    }

    /// Every setting, as the vectors write it.
    static func written(_ settings: TypingPolicy.Settings) -> JSONObject {
        func milliseconds(_ duration: Duration?) -> JSONValue {
            duration.map { .integer(Int64($0 / .milliseconds(1))) } ?? .null
        }
        var members = JSONObject()
        for (name, value) in Mirror(reflecting: settings).children {
            let written: JSONValue =
                switch value {
                case let form as TypingWireForm: .string(form.rawValue)
                case let flag as Bool: .bool(flag)
                case let duration as Duration?: milliseconds(duration)
                case let count as Int?: count.map { .integer(Int64($0)) } ?? .null
                default: .string("of an unknown type")
                }
            members.append(name ?? "none", written)
        }
        return members
    }

    private mutating func run(to end: Int64) throws {
        var turns = 0
        while let at = engine.nextDeadline, at.milliseconds <= end {
            note(at.milliseconds, engine.advance(to: at))
            turns += 1
            guard turns <= 10_000 else { throw BadVector(what: "the timer does not rest at \(at.milliseconds)") }
        }
    }

    private mutating func note(_ at: Int64, _ effects: [TypingIndicator.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let request, let n):
                requests.append(request)
                numbers.append(n)
                let read = TypingSignal(Signal(type: request.type, data: request.data))
                let entry: [JSONValue] = [.integer(at), .string(read?.action.word ?? "nothing")]
                signals.append(.array(entry + (request.to.map { [.string($0.rawValue)] } ?? [])))
            case .changed(let snapshot):
                var entry: [JSONValue] = [.integer(at), Self.names(snapshot.typing), Self.names(snapshot.paused)]
                if snapshot.typingCount != snapshot.typing.count || snapshot.pausedCount != snapshot.paused.count {
                    entry += [.integer(Int64(snapshot.typingCount)), .integer(Int64(snapshot.pausedCount))]
                }
                snapshots.append(.array(entry))
            }
        }
    }

    private mutating func perform(_ step: JSONValue, _ now: MonotonicInstant) throws -> [TypingIndicator.Effect] {
        switch step["do"]?.stringValue {
        case "typingN":
            if engine.typingN != step["value"]?.integerValue { unexpected.append("\(step): \(engine.typingN ?? -1)") }
            return []
        case "current":
            let effects = engine.advance(to: now)
            let seen = (Self.names(engine.current.typing), Self.names(engine.current.paused))
            if seen.0 != step["typing"] || seen.1 != step["paused"] { unexpected.append("\(step): \(seen)") }
            return effects
        default:
            guard let input = try input(step) else { return engine.advance(to: now) }
            return engine.handle(input, now: now)
        }
    }

    /// The input of a step; nil for a signal that is not about typing.
    private mutating func input(_ step: JSONValue) throws -> TypingInput? {
        let value = step["value"]
        let id = ConnectionID(step["id"]?.stringValue ?? "")
        let from = ConnectionID(step["from"]?.stringValue ?? "")
        switch step["do"]?.stringValue {
        case "key":
            text += "a"
            return .draftEdited(text)
        case "draftEdited":
            text = step["text"]?.stringValue ?? ""
            return .draftEdited(text)
        case "draftSet":
            text = step["text"]?.stringValue ?? ""
            return .draftSet(text)
        case "send":
            guard let action = step["action"]?.stringValue.flatMap(TypingAction.init(word:)) else {
                throw BadVector(what: "\(step)")
            }
            return .send(action)
        case "messageSubmitted":
            text = ""
            return .messageSubmitted
        case "leave": return .leave
        case "restricted": return .restricted(value?.boolValue ?? false)
        case "optedOut": return .optedOut(value?.boolValue ?? false)
        case "blockedUsers":
            return .blockedUsers(Set((step["users"]?.arrayValue ?? []).compactMap(\.stringValue)))
        case "connected": return .connected(id, user: step["userId"]?.stringValue.map { UserID($0) })
        case "reconnecting": return .reconnecting
        case "disconnected": return .disconnected
        case "connectionLost": return .connectionLost
        case "memberCount": return .memberCount(Int(value?.integerValue ?? 0))
        case "recipient": return .recipient(step["id"]?.stringValue.map { ConnectionID($0) })
        case "publishFailed": return .publishFailed(n: step["n"]?.integerValue ?? 0)
        case "signal":
            guard step["from"] != nil, let typing = TypingSignal(Self.signal(step)) else { return nil }
            return .signal(
                typing, from: from, user: step["user"]?.stringValue,
                userID: step["userId"]?.stringValue.map { UserID($0) })
        case "messageReceived": return .messageReceived(from: from, typingN: step["typingN"]?.integerValue)
        case "connectionDestroyed": return .connectionDestroyed(id)
        default: throw BadVector(what: "\(step)")
        }
    }

    private static func signal(_ step: JSONValue) -> Signal {
        var data = step["data"]?.stringValue
        if let action = step["action"] {
            var members = JSONObject()
            members.append("action", action)
            members["n"] = step["n"]
            data = JSONValue.object(members).encodedText()
        }
        return Signal(
            type: step["type"]?.stringValue ?? "typing", data: data,
            from: step["from"]?.stringValue.map { connection($0) })
    }

    /// `{from, every, to}` stands for a step at each of these moments.
    private static func spread(_ step: JSONValue) throws -> [JSONValue] {
        guard step["every"] != nil, var members = step.objectValue else { return [step] }
        let (from, to) = (try milliseconds(step["from"]), try milliseconds(step["to"]))
        let every = Int(try milliseconds(step["every"]))
        return stride(from: from, through: to, by: every).map { at in
            members["at"] = .integer(at)
            return .object(members)
        }
    }

    private static func milliseconds(_ value: JSONValue?) throws -> Int64 {
        guard let value = value?.integerValue else { throw BadVector(what: "a time is missing") }
        return value
    }

    static func names(_ typers: [TypingSnapshot.Typer]) -> JSONValue {
        .array(typers.map { .string($0.name ?? $0.connectionId.rawValue) })
    }
}
