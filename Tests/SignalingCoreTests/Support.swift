import CoreTestSupport
import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

func lines(_ bytes: [UInt8]) -> [String] { text(bytes).split(separator: "\n").map(String.init) }

extension SessionLog {
    @discardableResult
    mutating func append(
        audience: Audience, kind: LogEntry.Kind, line: (Seq) -> EncodedLine
    ) -> LogEntry {
        append(audience: audience, kind: kind, now: .seconds(0), line: line)
    }
}

extension SessionState {
    /// An empty session of epoch `e`.
    init(
        connectionCount: Int = 100, logEventCount: Int = 2048, logByteCount: Int = 1_048_576,
        signalRate: RateLimit? = nil, onlineOnlyRate: RateLimit? = nil, onlineOnlyConnectionCount: Int = 100
    ) {
        self.init(
            id: room, epoch: Epoch("e"),
            bounds: Bounds(
                connectionCount: connectionCount, logEventCount: logEventCount, logByteCount: logByteCount,
                signalRate: signalRate, onlineOnlyRate: onlineOnlyRate,
                onlineOnlyConnectionCount: onlineOnlyConnectionCount))
    }

    @discardableResult
    mutating func join(
        _ name: String, _ role: Role = .publisher, suppressesPresence: Bool = false, at milliseconds: Int64 = 0
    ) -> SessionOutcome {
        handle(
            .join(
                JoinRequest(
                    connectionId: client(name), role: role, data: "name=\(name)",
                    suppressesPresence: suppressesPresence, wallTime: WallTime(milliseconds: milliseconds))))
    }

    @discardableResult
    mutating func leave(_ name: String, _ reason: DisconnectReason = .clientDisconnected) -> SessionOutcome {
        handle(.leave(client(name), reason))
    }

    @discardableResult
    mutating func signal(
        from name: String?, type: String? = "chat", data: String? = nil, to target: String? = nil,
        isOnlineOnly: Bool = false
    ) -> SessionOutcome {
        handle(
            .signal(
                name.map { .connection(client($0)) } ?? .server,
                SignalRequest(type: type, data: data, to: target.map { client($0) }, isOnlineOnly: isOnlineOnly)))
    }

    @discardableResult
    mutating func forceDisconnect(_ target: String, by name: String?) -> SessionOutcome {
        handle(.forceDisconnect(name.map { .connection(client($0)) } ?? .server, client(target)))
    }

    mutating func advance(to now: MonotonicInstant) {
        var effects: [SessionEffect] = []
        advance(to: now, effects: &effects)
    }

    /// Carries out a command at 0 s and drops its effects.
    mutating func handle(_ command: SessionCommand) -> SessionOutcome {
        var effects: [SessionEffect] = []
        return handle(command, now: .seconds(0), effects: &effects)
    }

    var lines: [String] { log.entries.map { text($0.line.bytes) } }
}

extension ConnectionState.Effect: CustomTestStringConvertible {
    /// The effect in one line: `send ack 2 7`, `submit leave ada networkDisconnected to 1_room`, `close 1000`.
    public var testDescription: String {
        switch self {
        case .send(.ack(let request, let seq)): "send ack \(request)" + (seq.map { " \($0)" } ?? "")
        case .send(.error(let request, let error)):
            "send error \(request.map(\.description) ?? "-") \(error.code.number) \(error.code.name)"
        case .send(.disconnected(let reason, .after(let wait), _)):
            "send disconnected \(reason), come back after \(wait.wholeMilliseconds) ms"
        case .send(.disconnected(let reason, let reconnect, let ban)):
            "send disconnected \(reason)" + (reconnect == .never ? "" : ", come back")
                + (ban.map { " because of a \($0.kind)" } ?? "")
        case .sendLine(let line): "send \(text(line.bytes))"
        case .readHistory(let id, let request, let session, let last):
            "read \(request.position)\(last.map { " up to \($0)" } ?? "") of \(session) as \(id)"
        case .send(let message): "send \(text(message.encoded()))"
        case .enter(let request, let welcome, let entry):
            "enter \(request) \(welcome.connection.connectionId)"
                + (welcome.outcome == .new ? "" : " \(welcome.outcome)")
                + (entry.suppressesPresence ? " without presence" : "")
        case .verify(let request, let refresh): "verify \(refresh.token) for \(refresh.session) as \(request)"
        case .authenticate(let request): "authenticate \(request.token)"
        case .submit(let command, let session, let request):
            "submit \(command.testDescription) to \(session)" + (request.map { " as \($0)" } ?? "")
        case .moderate(let sender, let request, let session, let id):
            "moderate \(request.name) by \(sender.testDescription) in \(session) as \(id)"
        case .ping: "ping"
        case .pauseReading: "pause reading"
        case .resumeReading: "resume reading"
        case .close(let reason, .drop): "close \(reason.rawValue)"
        case .close(let reason, .deliver): "close \(reason.rawValue) after all unsent bytes"
        }
    }
}

extension SessionCommand: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .join(let request): "join \(request.connectionId) \(request.role) \(request.data)"
        case .leave(let binding, let reason): "leave \(binding.testDescription) \(reason)"
        case .detach(let binding): "detach \(binding.testDescription)"
        case .refreshToken(let binding, _):
            "refreshToken of \(binding.testDescription)"
        case .heard(let binding): "heard \(binding.testDescription)"
        case .signal(let sender, let request): "signal \(request.type ?? "-") of \(sender.testDescription)"
        case .change(let sender, let request):
            "\(request.change.kind.rawValue) \(request.ref) by \(sender.testDescription)"
        case .react(let sender, let request): "react to \(request.ref) by \(sender.testDescription)"
        case .reactors(let binding, let request): "reactors of \(request.ref) for \(binding.testDescription)"
        case .read(let binding, let seq): "read through \(seq) by \(binding.testDescription)"
        case .erase(let sender, let erasure): "erase \(erasure) by \(sender.testDescription)"
        case .forceDisconnect(let sender, let target): "forceDisconnect \(target) by \(sender.testDescription)"
        case .moderate(let sender, let request, _): "moderate \(request.name) by \(sender.testDescription)"
        case .streams(let sender, let streams): "\(streams.count) streams of \(sender.testDescription)"
        case .restrictions(let binding): "restrictions of \(binding.testDescription)"
        }
    }
}

extension CommandSender: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .connection(let binding, _): binding.testDescription
        case .server: "server"
        }
    }
}

extension SocketBinding: CustomTestStringConvertible {
    /// Names the socket unless it is the first.
    public var testDescription: String {
        connectionId.rawValue + (socket == socket1 ? "" : " by \(socket)")
    }
}

/// Dequeues everything from an outbox, as lines.
func dequeueAll(_ outbox: inout Outbox, _ log: SessionLog, onlineOnly: [OnlineOnlySignal] = []) -> [String] {
    var bytes: [UInt8] = []
    #expect(outbox.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: .max, into: &bytes) == .complete)
    return lines(bytes)
}

/// The message that a client reads from a line; `nil` for one that it ignores.
func decoded(_ line: String) throws(SignalingError) -> ServerMessage? {
    var parser = JSONParser()
    let result = Array(line.utf8).withUnsafeBytes { bytes -> Result<ServerMessage?, SignalingError> in
        do throws(SignalingError) { return .success(try ServerMessage.decode(line: bytes, parser: &parser)) } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

extension JoinResult {
    /// The connections of the answer that a client gets without pages, as the client reads them.
    var connections: [Connection] {
        let welcome = Welcome(
            connection: connection, connections: [connection], connectionCount: connectionCount, role: role,
            epoch: epoch, seq: seq, outcome: outcome,
            resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
        var entrance = Entrance(EncodedWelcome(welcome, answering: RequestID(1)), others)
        var bytes: [UInt8] = []
        while !entrance.dequeue(byteLimit: .max, into: &bytes, separatedFrom: bytes.count) {}
        guard case .connected(RequestID(1), let read)? = try? decoded(text(bytes)) else { return [] }
        return read.connections
    }

    /// The connections that follow `connected` in pages.
    var pages: UnsentConnections? {
        if case .inPages(let pages) = others { pages } else { nil }
    }
}

extension SharedBatch {
    /// The bytes for this member, its private lines included. Its cursor moves to the end of the log. `nil` when it needs
    /// bytes of its own.
    mutating func bytes(for outbox: inout Outbox, log: borrowing SessionLog) -> [UInt8]? {
        guard let form = advance(&outbox, log: log) else { return nil }
        var bytes = bytes(of: form)
        outbox.dequeueLinesBehindBatch { line in
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
            bytes += line
        }
        return bytes
    }
}
