import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

/// Runs one case of the vectors in `sending`: a component on a channel whose answers the script gives.
@MainActor
final class SendingScript {
    private let chat: TextChatComponent
    private let channel = AnsweringChannel()
    private let delegate = RecordingDelegate(answer: true)
    private let now = WallTime(milliseconds: 0)
    private(set) var outcomes: [String: String] = [:]

    init(_ vector: VectorCase) {
        let form = vector["wireForm"]?.stringValue.flatMap(ChatWireForm.init(rawValue:)) ?? .json
        chat = TextChatComponent(wireForm: form)
        chat.isVisible = true
        chat.channel = channel
    }

    /// Runs the steps and compares what each step names.
    func run(_ vector: VectorCase) async throws {
        for step in vector["steps"]?.arrayValue ?? [] {
            let sentBefore = channel.sent.count
            let refused = try await perform(step)
            await settle()
            let texts = channel.sent[sentBefore...].map(text)
            #expect(JSONValue.array(texts) == step["sent"] ?? .array([]), "sent: \(step)")
            #expect(refused == step["refused"]?.stringValue, "refused: \(step)")
            if let rows = step["rows"] { #expect(self.rows == rows, "rows: \(step)") }
            if let draft = step["draft"]?.stringValue { #expect(chat.draft == draft, "draft: \(step)") }
            if let obstacle = step["obstacle"] {
                #expect(chat.obstacle?.rawValue == obstacle.stringValue, "obstacle: \(step)")
            }
        }
    }

    /// Returns why the draft was refused, if it was.
    private func perform(_ step: JSONValue) async throws -> String? {
        let localID = LocalID(step["localId"]?.stringValue ?? "")
        switch step["do"]?.stringValue {
        case "connected":
            let id = ConnectionID(step["id"]?.stringValue ?? "")
            channel.id = id
            chat.handle(.connected(id), now: now)
        case "reconnecting": chat.handle(.reconnecting, now: now)
        case "reconnected": chat.handle(.reconnected, now: now)
        case "disconnected":
            channel.id = nil
            chat.handle(.disconnected, now: now)
        case "renewed": channel.id = ConnectionID(step["id"]?.stringValue ?? "")
        case "enqueue":
            chat.edit(step["text"]?.stringValue ?? "")
            if let refusal = chat.enqueue(now: now, localID: localID) { return reason(refusal) }
            Task { note(await chat.outcome(of: localID), of: localID) }
        case "send":
            chat.edit(step["text"]?.stringValue ?? "")
            Task { note(await chat.send(now: now, localID: localID), of: localID) }
        case "retry":
            Task { note(await chat.retry(localID), of: localID) }
        case "discard": chat.discard(localID)
        case "passFailed": chat.passFailed()
        case "cancel": chat.cancel(localID)
        case "acknowledge": try channel.answer(.success(step["seq"]?.integerValue.map { Seq($0) }))
        case "refuse": try channel.answer(.failure(SignalingError(.permissionDenied, "no")))
        case "limit": try channel.answer(.failure(SignalingError(.rateLimited, "too fast")))
        case "lose": try channel.answer(.failure(SignalingError(.notConnected, "lost")))
        case "echo": chat.handle(.signal(echo(step)), now: now)
        case "delegate":
            delegate.answer = step["value"]?.boolValue ?? false
            chat.delegate = step["value"] == .null ? nil : delegate
        case "channel": chat.channel = step["value"]?.boolValue == true ? channel : nil
        default: throw BadVector(what: "\(step)")
        }
        return nil
    }

    /// Lets the component do all that it can do. Everything runs on the main actor, which serves tasks in their order.
    private func settle() async {
        for _ in 0..<50 { await Task.yield() }
    }

    private func note(_ result: SendResult, of localID: LocalID) {
        outcomes[localID.rawValue] =
            switch result {
            case .sent: "sent"
            case .failed: "failed"
            case .discarded: "discarded"
            case .heldBack(let obstacle): "heldBack by \(obstacle.rawValue)"
            case .stillSending: "stillSending"
            case .refused(let refusal): "refused \(reason(refusal))"
            }
    }

    private func reason(_ refusal: SendRefusal) -> String {
        switch refusal {
        case .blank: "blank"
        case .tooLong: "tooLong"
        case .signalTooLong: "signalTooLong"
        case .notConnected: "notConnected"
        case .restricted: "restricted"
        case .tooManyWaiting: "tooManyWaiting"
        case .localIDTaken: "localIdTaken"
        case .byDelegate: "byDelegate"
        case .cancelled: "cancelled"
        }
    }

    private var rows: JSONValue {
        .array(
            chat.messages.map { message in
                switch message.state {
                case .sending: .string("\(message.text) sending")
                case .sent: .string("\(message.text) \(message.direction.rawValue)")
                case .failed: .string("\(message.text) failed")
                }
            })
    }

    private func text(_ request: SignalRequest) -> JSONValue {
        let message = ChatWireForm.message(from: Signal(type: request.type, data: request.data), now: now)
        return message.map { .string($0.text) } ?? .null
    }

    /// The signal as the session delivers it to its sender.
    private func echo(_ step: JSONValue) -> Signal {
        let message = ChatMessage(
            text: step["text"]?.stringValue ?? "", localID: step["localId"]?.stringValue.map { LocalID($0) })
        let request = chat.wireForm.signal(for: message)
        return Signal(
            type: request.type, data: request.data, from: connection(step["from"]?.stringValue ?? "me"),
            seq: step["seq"]?.integerValue.map { Seq($0) })
    }
}

/// A channel that holds each send until the script answers it.
private final class AnsweringChannel: SignalChannel {
    // Used on the main actor only.
    nonisolated(unsafe) var id: ConnectionID?
    nonisolated(unsafe) var sent: [SignalRequest] = []
    nonisolated(unsafe) private var waiting: [CheckedContinuation<Result<Seq?, SignalingError>, Never>] = []

    var connectionId: ConnectionID? { id }

    func send(_ signal: SignalRequest) async throws(SignalingError) -> Seq? {
        sent.append(signal)
        return try await withCheckedContinuation { waiting.append($0) }.get()
    }

    /// Answers the send that has waited longest.
    func answer(_ answer: Result<Seq?, SignalingError>) throws {
        guard !waiting.isEmpty else { throw BadVector(what: "an answer without a send") }
        waiting.removeFirst().resume(returning: answer)
    }
}
