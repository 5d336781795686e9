import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

let room = SessionID("1_room")

func client(_ name: String) -> ConnectionID { ConnectionID(name) }
func lines(_ bytes: [UInt8]) -> [String] { text(bytes).split(separator: "\n").map(String.init) }

/// The socket on which a connection joins by default.
let socket1 = SocketID(1)

/// A stand-in for a hash: the bytes of the secret itself.
func hash(_ secret: String) -> ResumeSecretHash { ResumeSecretHash(bytes: Array(secret.utf8)) }

extension SocketBinding {
    /// A connection and its first socket.
    init(_ name: String, _ socket: UInt64 = 1) { self.init(client(name), SocketID(socket)) }
}

extension CommandSender {
    /// A connection on its first socket, and a request without an ID.
    static func connection(_ id: ConnectionID) -> CommandSender { .connection(SocketBinding(id, socket1), nil) }
}

extension SessionCommand {
    static func leave(_ id: ConnectionID, _ reason: DisconnectReason) -> SessionCommand {
        .leave(SocketBinding(id, socket1), reason)
    }
}

extension JoinRequest {
    /// By default on socket 1, with the secret `name-1`.
    init(
        connectionId: ConnectionID, role: Role, data: String, user: UserID? = nil, suppressesPresence: Bool = false,
        wallTime: WallTime, socket: UInt64 = 1, resumption: Resumption? = nil, isUntimely: Bool = false
    ) {
        self.init(
            connectionId: connectionId, socket: SocketID(socket), role: role, data: data, user: user,
            suppressesPresence: suppressesPresence, wallTime: wallTime,
            secretHash: hash("\(connectionId)-\(socket)"), resumption: resumption, isUntimely: isUntimely)
    }
}

extension SessionEngine {
    /// Submits a command for which the time does not matter.
    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket) {
        submit(command, to: session, ticket: ticket, now: .seconds(0))
    }
}

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

extension SessionOutcome: CustomTestStringConvertible {
    /// `joined 2 of 3`, `signalled 4`, `signalled`, `refused 404`, ….
    public var testDescription: String {
        switch self {
        case .joined(let join):
            "joined \(join.connection.connectionId) at \(join.seq)"
                + (join.outcome == .new ? "" : " \(join.outcome)")
                + (join.replayThrough.map { " through \($0)" } ?? "")
                + (join.suppressesPresence ? " without presence" : "")
                + (join.missing.map { " without \($0.first) to \($0.last)" } ?? "")
        case .wasForceDisconnected: "was force-disconnected"
        case .superseded: "superseded"
        case .done: "done"
        case .signalled(let seq): seq.map { "signalled \($0)" } ?? "signalled"
        case .forceDisconnected: "force-disconnected"
        case .erased(let seq): "erased \(seq)"
        case .moderated(let action, let subject): "moderated \(action.seq) \(subject.testDescription)"
        case .restrictions(let records): "restrictions \(records.map(\.testDescription))"
        case .refreshed: "refreshed"
        case .refused(let error): "refused \(error.code.number) \(error.code.name)"
        case .unavailable(let mayBeCarriedOut): "unavailable" + (mayBeCarriedOut ? ", may be carried out" : "")
        }
    }
}

extension SessionEffect: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .onlineOnly(let signal): "online-only after \(signal.after): \(text(signal.line.bytes))"
        case .onlineOnlyDropped(let reason): "online-only dropped: \(reason)"
        case .ended(let connection, let reason, let ban):
            "ended \(connection) \(reason)" + (ban.map { " because of a \($0.kind)" } ?? "")
        case .superseded(let socket): "superseded \(socket)"
        case .presence(.sessionCreated): "sessionCreated"
        case .presence(.connectionCreated(let connection)): "connectionCreated \(connection.connectionId)"
        case .presence(.connectionDestroyed(let connection, let reason)):
            "connectionDestroyed \(connection.connectionId) \(reason)"
        case .presence(.sessionDestroyed): "sessionDestroyed"
        case .keptPresence(let event):
            "\(event.untold.commandNumber).\(event.untold.index) \(SessionEffect.presence(event.untold.event).testDescription)"
        }
    }
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
        case .readHistory(let id, let request, let session): "read \(request.position) of \(session) as \(id)"
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
        case .erase(let sender, let erasure): "erase \(erasure) by \(sender.testDescription)"
        case .forceDisconnect(let sender, let target): "forceDisconnect \(target) by \(sender.testDescription)"
        case .moderate(let sender, let request, _): "moderate \(request.name) by \(sender.testDescription)"
        case .restrictions(let binding): "restrictions of \(binding.testDescription)"
        }
    }
}

extension RestrictionRecord.Subject: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .user(let user): "user \(user)"
        case .guest(let connection): "guest \(connection)"
        case .session: "session"
        }
    }
}

extension RestrictionRecord: CustomTestStringConvertible {
    public var testDescription: String { "\(ref) \(restriction.kind) \(subject.testDescription)" }
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
