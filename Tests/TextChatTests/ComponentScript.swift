import JSONText
import SignalingProtocol
import TestSupport
import TextChat

/// Runs one case of the kind `component` of the vectors in `typing`: a component, and the events and calls that it
/// gets.
@MainActor
struct ComponentScript {
    private let chat: TextChatComponent
    private let channel = ScriptChannel()
    private let clock: ScriptClock
    private var lastID = 0
    private(set) var signals: [JSONValue] = []
    private(set) var snapshots: [JSONValue] = []
    private var shown = TypingSnapshot.nobody

    /// The component's clock.
    private final class ScriptClock {
        var now: Int64 = 0
    }

    init(_ vector: VectorCase) throws {
        let clock = ScriptClock()
        self.clock = clock
        chat = TextChatComponent(typing: try TypingScript.policy(vector["policy"] ?? nil))
        chat.setSenderId(vector["senderId"]?.stringValue, alias: nil)
        chat.typing.start { MonotonicInstant(milliseconds: clock.now) }
        channel.state.id = vector["connection"]?.stringValue.map { ConnectionID($0) }
        chat.channel = channel
        for step in vector["steps"]?.arrayValue ?? [] {
            run(to: step["at"]?.integerValue ?? 0)
            try perform(step)
            note()
        }
        run(to: vector["until"]?.integerValue ?? 0)
    }

    /// Serves the timer to the instant.
    private mutating func run(to end: Int64) {
        note()
        while let at = chat.typing.nextDeadline?.milliseconds, at <= end {
            clock.now = max(clock.now, at)
            chat.typing.advance(to: MonotonicInstant(milliseconds: clock.now))
            note()
        }
        clock.now = end
    }

    private mutating func note() {
        if let request = chat.typing.dequeueSignal()?.request {
            let action = TypingSignal(Signal(type: request.type, data: request.data))?.action.word
            signals.append([
                .integer(clock.now), .string(request.type == "typing" ? action ?? "nothing" : request.type ?? "none"),
            ])
        }
        if chat.typing.current != shown {
            shown = chat.typing.current
            snapshots.append([
                .integer(clock.now), TypingScript.names(shown.typing), TypingScript.names(shown.paused),
            ])
        }
    }

    private mutating func perform(_ step: JSONValue) throws {
        let id = ConnectionID(step["id"]?.stringValue ?? "")
        let other = connection(id.rawValue, data: step["data"]?.stringValue ?? "", user: step["user"]?.stringValue)
        let text = step["text"]?.stringValue ?? ""
        let value = step["value"]?.boolValue ?? false
        switch step["do"]?.stringValue {
        case "connected":
            channel.state.id = id
            channel.state.user = step["user"]?.stringValue.map { UserID($0) }
            channel.state.members = [id]
            handle(.connected(id))
        case "reconnecting": handle(.reconnecting)
        case "reconnected":
            channel.state.id = id
            handle(.reconnected)
        case "disconnected": handle(.disconnected)
        case "connectionCreated":
            channel.state.members.insert(id)
            handle(.connectionCreated(other))
        case "connectionDestroyed":
            channel.state.members.remove(id)
            handle(.connectionDestroyed(other))
        case "signal": handle(.signal(Self.signal(step)))
        case "edit": chat.edit(text)
        case "setDraft": chat.setDraft(text)
        case "restore": chat.restore(messages: [], draft: text, now: WallTime(milliseconds: 0))
        case "send":
            lastID += 1
            let localID = LocalID(String(lastID))
            guard chat.enqueue(now: WallTime(milliseconds: 0), localID: localID) == nil else {
                throw BadVector(what: "\(step)")
            }
            note()
            let number = chat.messages.first { $0.localID == localID }?.typingN
            signals.append([.integer(clock.now), "message", number.map { .integer($0) } ?? nil])
        case "isVisible": chat.isVisible = value
        case "typing.leave": chat.typing.leave()
        case "typing.send":
            guard let action = step["action"]?.stringValue.flatMap(TypingAction.init(word:)) else {
                throw BadVector(what: "\(step)")
            }
            chat.typing.send(action)
        case "typing.isOptedOut": chat.typing.isOptedOut = value
        case "typing.blockedUsers":
            chat.typing.blockedUsers = Set((step["users"]?.arrayValue ?? []).compactMap(\.stringValue))
        case "typing.policy": chat.typing.policy = try TypingScript.policy(step["policy"] ?? nil)
        case "typing.stop": chat.typing.stop()
        case "typing.publishFailed": chat.typing.publishFailed(n: step["n"]?.integerValue ?? 0)
        default: throw BadVector(what: "\(step)")
        }
    }

    private func handle(_ event: SignalChannelEvent) { chat.handle(event, now: WallTime(milliseconds: 0)) }

    private static func signal(_ step: JSONValue) -> Signal {
        var told = step["content"]
        if let action = step["action"] {
            var members = JSONObject()
            members.append("action", action)
            members["n"] = step["n"]
            told = .object(members)
        }
        return Signal(
            type: step["type"]?.stringValue ?? "typing", data: told?.stringValue ?? told?.encodedText(),
            from: step["from"]?.stringValue.map {
                connection($0, data: step["data"]?.stringValue ?? "", user: step["user"]?.stringValue)
            })
    }
}

/// A channel with the connections that the script names. It acknowledges every signal and delivers none.
private final class ScriptChannel: SignalChannel {
    struct State {
        var id: ConnectionID?
        var user: UserID?
        var members: Set<ConnectionID> = []
    }

    nonisolated(unsafe) var state = State()  // Used on the main actor only.

    var connectionId: ConnectionID? { state.id }
    var user: UserID? { state.user }
    var memberCount: Int? { state.members.count }

    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? { nil }
}
