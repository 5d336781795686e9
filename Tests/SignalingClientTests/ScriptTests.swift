import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

/// The scripts in `Tests/Vectors/client`. The browser library runs them, too (`Tests/Vectors/README.md`).
@Suite("A client by the shared scenarios")
struct ScriptTests {
    struct Script: CustomTestStringConvertible {
        let path: String
        let value: JSONValue
        var testDescription: String { "\(value["rule"]?.stringValue ?? "") \(path)" }
    }

    static let scripts: [Script] =
        ["client", "client/changes"].flatMap { folder in
            (try? Vectors.files(in: folder).map { Script(path: $0.path, value: $0.value) }) ?? []
        }

    static func steps(of script: Script) -> [JSONValue] { script.value["steps"]?.arrayValue ?? [] }

    @Test("the scripts are found")
    func found() { #expect(Self.scripts.count >= 60) }

    @Test("each step has exactly the effects of its script, and leads to its state", arguments: scripts)
    func run(_ script: Script) throws {
        let random = try #require(script.value["random"]?.doubleValue)
        var client = ScriptedClient(random: random)
        for (index, step) in Self.steps(of: script).enumerated() {
            let input = try #require(step["input"])
            let milliseconds = try #require(step["at"]?.integerValue)
            let effects = try client.apply(input, at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000))
            let expected = try (step["expect"]?.arrayValue ?? []).flatMap { try client.expectation($0) }
            for group in Word.Group.allCases {
                #expect(
                    effects.filter { $0.group == group }.map(\.text)
                        == expected.filter { $0.group == group }.map(\.text),
                    "step \(index + 1), at \(milliseconds) ms: \(input["is"]?.stringValue ?? "")")
            }
            #expect(client.stateName == step["state"]?.stringValue, "step \(index + 1), at \(milliseconds) ms")
        }
    }
}

/// An effect as text, and the group in which its order counts.
private struct Word {
    enum Group: CaseIterable { case socket, told, answers }
    let group: Group
    let text: String
}

private struct ScriptedClient: ~Copyable {
    private var state: ClientState
    private var parser = JSONParser()
    private var calls: [String: UInt64] = [:]
    private var names: [UInt64: String] = [:]
    /// The requests whose success has a seq in the scripts.
    private var actions: Set<UInt64> = []
    private var sockets: Int64 = 0
    /// The client's own connections. The Swift client emits presence events of the others only.
    private var own: Set<String> = []
    private var ownNow = ""

    init(random: Double) { state = ClientState(random: { random }) }

    // MARK: Inputs

    mutating func apply(_ input: JSONValue, at now: MonotonicInstant) throws -> [Word] {
        // The driver drops the events of an older socket.
        if let socket = input["socket"]?.integerValue, socket != sockets { return [] }
        var effects: [ClientState.Effect] = []
        switch try #require(input["is"]?.stringValue) {
        case "time": effects = state.advance(to: now)
        case "connect":
            effects = state.handle(.connect(try ConnectRequest(script: input)), now: now)
        case "signal":
            let name = try #require(input["call"]?.stringValue)
            let request = SignalRequest(
                type: input["type"]?.stringValue, data: input["data"]?.stringValue,
                to: input["to"]?.stringValue.map { ConnectionID($0) },
                isOnlineOnly: input["onlineOnly"]?.boolValue ?? false)
            let retries = input["retryAfterReconnect"]?.boolValue ?? true
            let count = input["times"]?.integerValue
            for number in 1...(count ?? 1) {
                let call = callID(count == nil ? name : "\(name)-\(number)")
                effects += state.handle(.signal(request, call, retriesAfterReconnect: retries), now: now)
            }
        case "forceDisconnect":
            let target = ConnectionID(try #require(input["connectionId"]?.stringValue))
            let call = callID(try #require(input["call"]?.stringValue))
            effects = state.handle(.forceDisconnect(target, call), now: now)
        case "refreshToken":
            let call = callID(try #require(input["call"]?.stringValue))
            effects = state.handle(.refreshToken(try #require(input["token"]?.stringValue), call), now: now)
        case "history":
            guard case .history(_, let request) = try request(of: input, op: "history") else { break }
            effects = state.handle(.history(request, callID(try #require(input["call"]?.stringValue))), now: now)
        case "change":
            guard case .change(_, let request) = try request(of: input, op: "change") else { break }
            let call = callID(try #require(input["call"]?.stringValue))
            actions.insert(call.rawValue)
            effects = state.handle(.change(request, call), now: now)
        case "erase":
            guard case .erase(_, let erasure) = try request(of: input, op: "erase") else { break }
            effects = state.handle(.erase(erasure, callID(try #require(input["call"]?.stringValue))), now: now)
        case "moderate":
            guard case .moderate(_, let request) = try request(of: input, op: "moderate") else { break }
            let call = callID(try #require(input["call"]?.stringValue))
            actions.insert(call.rawValue)
            effects = state.handle(.moderate(request, call), now: now)
        case "restrictions":
            effects = state.handle(.restrictions(callID(try #require(input["call"]?.stringValue))), now: now)
        case "disconnect": effects = state.handle(.disconnect, now: now)
        case "networkBack": effects = state.handle(.networkBack, now: now)
        case "pageStored": effects = state.handle(.suspended, now: now)
        case "pageShown": effects = state.handle(.awake, now: now)
        case "socketOpened": effects = state.handle(.socketOpened, now: now)
        case "socketClosed":
            effects = state.handle(
                .socketClosed(code: try #require(input["code"]?.integerValue.map { UInt16($0) })), now: now)
        case "received":
            let line = Array(try #require(input["message"]).encodedText().utf8)
            do throws(SignalingError) {
                let message = try decode(line)
                effects = state.handle(message.map { .received($0) } ?? .receivedUnknown, now: now)
            } catch {
                effects = state.handle(.receivedMalformed(error), now: now)
            }
        case let other: Issue.record("no such input: \(other)")
        }
        return effects.compactMap { word($0) }
    }

    /// The request of an input that has the message without `op` and `id`.
    private mutating func request(of input: JSONValue, op: String) throws -> ClientMessage {
        var message = try #require(input["message"]?.objectValue)
        message["op"] = .string(op)
        message["id"] = 0
        let line = Array(JSONValue.object(message).encodedText().utf8)
        return try line.withUnsafeBytes { try ClientMessage(line: $0, parser: &parser) }
    }

    private mutating func decode(_ line: [UInt8]) throws(SignalingError) -> ServerMessage? {
        let result = line.withUnsafeBytes { bytes in
            Result { () throws(SignalingError) in try ServerMessage.decode(line: bytes, parser: &parser) }
        }
        return try result.get()
    }

    /// The state's name in the scripts.
    var stateName: String {
        switch state.phase {
        case .disconnected: "disconnected"
        case .opening: "opening"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting(_, let reconnection):
            switch reconnection.step {
            case .waiting, .postponed: "reconnecting/waiting"
            case .suspended: "reconnecting/suspended"
            case .opening: "reconnecting/opening"
            case .connecting: "reconnecting/connecting"
            }
        case .disconnecting: "disconnecting"
        }
    }

    private mutating func callID(_ name: String) -> ClientState.CallID {
        let id = calls[name] ?? UInt64(calls.count)
        calls[name] = id
        names[id] = name
        return ClientState.CallID(rawValue: id)
    }

    // MARK: Effects

    private mutating func word(_ effect: ClientState.Effect) -> Word? {
        switch effect {
        case .openSocket:
            sockets += 1
            return Word(group: .socket, text: "openSocket")
        case .send(let message): return Word(group: .socket, text: "send \(text(message))")
        case .closeSocket(let reason): return Word(group: .socket, text: "closeSocket \(reason.rawValue)")
        case .connectSucceeded(let welcome):
            be(welcome.connection.connectionId.rawValue)
            return Word(group: .told, text: "connected \(ownNow) \(welcome.outcome)")
        case .connectFailed(let error): return Word(group: .told, text: "connectFailed \(Self.text(error))")
        case .connectionReplaced(let welcome):
            be(welcome.connection.connectionId.rawValue)
            return nil
        case .connectionResumed: return nil
        case .callSucceeded(let call, let seq):
            let detail = actions.contains(call.rawValue) ? " \(seq?.rawValue ?? -1)" : ""
            return Word(group: .answers, text: "succeeded \(name(call))" + detail)
        case .restrictionsRead(let call, let records):
            let found = records.map { "\($0.restriction.kind) \($0.ref)" }
            return Word(group: .answers, text: "succeeded \(name(call)) \(found)")
        case .reactorsRead(let call, let reactors):
            return Word(group: .answers, text: "succeeded \(name(call)) \(reactors.map { "\($0.key) \($0.users)" })")
        case .pageRead(let call, let page):
            return Word(group: .answers, text: "succeeded \(name(call)) \(seqs(page))")
        case .callFailed(let call, let error):
            return Word(group: .answers, text: "failed \(name(call)) \(Self.text(error))")
        case .emit(.connectionDestroyed(let connection, _)) where own.contains(connection.connectionId.rawValue):
            return nil
        // The browser library derives them in its session; both pass the vectors of `users`.
        case .emit(.userJoined), .emit(.userLeft): return nil
        case .emit(let event): return Word(group: .told, text: text(event))
        }
    }

    private mutating func be(_ connection: String) {
        own.insert(connection)
        ownNow = connection
    }

    private func name(_ call: ClientState.CallID) -> String { names[call.rawValue] ?? "?" }
    private func text(_ message: ClientMessage) -> String { String(decoding: message.encoded(), as: UTF8.self) }

    private func seqs(_ page: HistoryPage) -> [Int64] { page.messages.map(\.seq.rawValue) }

    private func text(_ event: SessionEvent) -> String {
        switch event {
        case .signal(let signal):
            "signal \(signal.from?.connectionId.rawValue ?? "-") \(signal.type ?? "-") \(signal.data ?? "-")"
        case .connectionCreated(let connection): "connectionCreated \(connection.connectionId)"
        case .connectionDestroyed(let connection, let reason):
            "connectionDestroyed \(connection.connectionId) \(reason)"
        case .connectionAway(let connection): "connectionAway \(connection.connectionId)"
        case .connectionBack(let connection): "connectionBack \(connection.connectionId)"
        case .reconnecting: "reconnecting"
        case .reconnected(let outcome, let missing):
            "reconnected \(outcome) \(ownNow)" + (missing.map { " without \($0.first) to \($0.last)" } ?? "")
        case .disconnected(let reason, let ban): "disconnected \(reason)" + (ban.map { " \($0.kind)" } ?? "")
        case .history(let page): "history \(seqs(page))"
        case .changed(let event): "changed \(event.seq) \(event.ref) \(event.from?.rawValue ?? "-") \(Self.text(event))"
        case .reactions(let event):
            "reactions \(event.seq) \(event.ref) \(event.counts.map { "\($0.key) \($0.count)" })"
        case .reacted(let seq, let own): "reacted \(seq) \(own.ref) \(own.keys)"
        case .read(let marker): "read \(marker.user) \(marker.through)"
        case .erased(.message(let seq), _): "erased ref \(seq.rawValue)"
        case .erased(.through(let seq), _): "erased through \(seq.rawValue)"
        case .erased(.user(let user), let seq): "erased user \(user) before \(seq?.rawValue ?? -1)"
        case .moderated(let event, let seq):
            "moderated \(seq) \(event.action.name) \(Self.user(event.action)?.rawValue ?? "-")"
        case .restricted(let restriction):
            "restricted \(restriction.kind) \(restriction.until?.milliseconds ?? -1) \(restriction.reason ?? "-")"
        case .unrestricted(let kind): "unrestricted \(kind)"
        case .userJoined, .userLeft, .overflowed: "\(event)"
        }
    }

    private static func text(_ event: ChangeEvent) -> String {
        guard case .edit(let data, _) = event.change else { return "unknown" }
        return "edit \(data ?? "-")"
    }

    private static func text(_ error: SignalingError) -> String {
        let parts = [error.restriction?.kind.rawValue, error.retryAfter.map { "\($0.wholeMilliseconds)" }]
        return (["\(error.code.number)"] + parts.compactMap { $0 }).joined(separator: " ")
    }

    private static func user(_ action: ModerationRequest) -> UserID? {
        switch action {
        case .mute(.user(let user), _), .ban(.user(let user), _, _), .unmute(.user(let user)), .unban(.user(let user)):
            user
        case .mute, .ban, .unmute, .unban, .freeze, .unfreeze: nil
        }
    }

    // MARK: Expected results

    private static func seqs(_ page: JSONValue) -> [Int64] { page.arrayValue?.compactMap(\.integerValue) ?? [] }

    mutating func expectation(_ word: JSONValue) throws -> [Word] {
        func part(_ name: String) -> String { word[name]?.stringValue ?? "-" }
        func number(_ name: String) -> Int64 { word[name]?.integerValue ?? -1 }
        var error: String {
            let parts = [word["restriction"]?.stringValue, word["retryAfter"]?.integerValue.map { "\($0)" }]
            return (["\(number("code"))"] + parts.compactMap { $0 }).joined(separator: " ")
        }
        switch try #require(word["is"]?.stringValue) {
        case "openSocket": return [Word(group: .socket, text: "openSocket")]
        case "send":
            var message = try #require(word["message"]?.objectValue)
            return try (0..<(word["times"]?.integerValue ?? 1)).map { step in
                if step > 0 { message["id"] = .integer(try #require(message["id"]?.integerValue) + 1) }
                let line = Array(JSONValue.object(message).encodedText().utf8)
                let sent = try line.withUnsafeBytes { try ClientMessage(line: $0, parser: &parser) }
                return Word(group: .socket, text: "send \(text(sent))")
            }
        case "closeSocket": return [Word(group: .socket, text: "closeSocket \(word["code"]?.integerValue ?? -1)")]
        case "connected": return [Word(group: .told, text: "connected \(part("connectionId")) \(part("outcome"))")]
        case "connectFailed": return [Word(group: .told, text: "connectFailed \(error)")]
        case "succeeded":
            let page = word["page"].map { " \(Self.seqs($0))" } ?? ""
            let seq = word["seq"]?.integerValue.map { " \($0)" } ?? ""
            let found = word["restrictions"]?.arrayValue.map { " \($0.compactMap(\.stringValue))" } ?? ""
            return [Word(group: .answers, text: "succeeded \(part("call"))" + page + seq + found)]
        case "failed":
            return [Word(group: .answers, text: "failed \(part("call")) \(error)")]
        case "event":
            let connection = part("connectionId")
            switch part("name") {
            case "signal": return [Word(group: .told, text: "signal \(part("from")) \(part("type")) \(part("data"))")]
            case "connectionCreated":
                return own.contains(connection) ? [] : [Word(group: .told, text: "connectionCreated \(connection)")]
            case "connectionDestroyed":
                return own.contains(connection)
                    ? [] : [Word(group: .told, text: "connectionDestroyed \(connection) \(part("reason"))")]
            case "connectionAway", "connectionBack":
                return [Word(group: .told, text: "\(part("name")) \(connection)")]
            case "reconnected":
                let missing = word["missing"].flatMap { missing in
                    missing["first"]?.integerValue.flatMap { first in
                        missing["last"]?.integerValue.map { " without \(first) to \($0)" }
                    }
                }
                return [
                    Word(group: .told, text: "reconnected \(part("outcome")) \(connection)" + (missing ?? ""))
                ]
            case "history": return [Word(group: .told, text: "history \(word["page"].map(Self.seqs) ?? [])")]
            case "changed":
                let change = part("rel") == "edit" ? "edit \(part("data"))" : "unknown"
                return [
                    Word(group: .told, text: "changed \(number("seq")) \(number("ref")) \(part("from")) \(change)")
                ]
            case "erased":
                if let user = word["user"]?.stringValue {
                    return [Word(group: .told, text: "erased user \(user) before \(number("before"))")]
                }
                let (name, seq) = word["ref"].map { ("ref", $0) } ?? ("through", word["through"] ?? .null)
                return [Word(group: .told, text: "erased \(name) \(seq.integerValue ?? -1)")]
            case "disconnected":
                let restriction = word["restriction"]?.stringValue.map { " \($0)" } ?? ""
                return [Word(group: .told, text: "disconnected \(part("reason"))" + restriction)]
            case "moderated":
                return [Word(group: .told, text: "moderated \(number("seq")) \(part("action")) \(part("user"))")]
            case "restricted":
                return [Word(group: .told, text: "restricted \(part("kind")) \(number("until")) \(part("reason"))")]
            case "unrestricted": return [Word(group: .told, text: "unrestricted \(part("kind"))")]
            case let other: return [Word(group: .told, text: other)]
            }
        case let other:
            Issue.record("no such effect: \(other)")
            return []
        }
    }
}

extension ConnectRequest {
    fileprivate init(script: JSONValue) throws {
        self.init(
            apiKey: APIKey(try #require(script["apiKey"]?.stringValue)),
            sessionId: SessionID(try #require(script["sessionId"]?.stringValue)),
            token: try #require(script["token"]?.stringValue))
        guard let option = script["options"]?["history"] else { return }
        let count = (option["last"] ?? option["limit"])?.integerValue.map { Int($0) }
        let position = option["after"]?.integerValue.map { HistoryRequest.Position.after(Seq($0)) }
        history = HistoryRequest(position ?? .newest, limit: try #require(count))
    }
}
