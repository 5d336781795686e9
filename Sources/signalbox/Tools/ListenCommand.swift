import ArgumentParser
import JSONText
import SignalingClient
import SignalingProtocol

struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Print the events of a session, one JSON object per line.",
        discussion: """
            The first line is {"event":"connected",…}. The exit status is 0 after SIGINT or SIGTERM, and 1 when the \
            connection ends otherwise.
            """)

    @OptionGroup var session: SessionOptions

    func run() async throws {
        let access = try await session.access()
        let listening = access.session
        let events = listening.events
        // A process signal disconnects the session cleanly, also while it connects.
        let isComplete = try await Interruption.handle(first: { await listening.disconnect() }) {
            try await session.connect(access)
            emit([
                "event": "connected",
                "connection": listening.connection.map(describe) ?? .null,
                "connections": .array(listening.connections.map(describe)),
            ])
            for await event in events {
                emit(describe(event))
                if case .disconnected(let reason) = event { return reason == .clientDisconnected }
            }
            return false
        }
        if !isComplete { throw ExitCode(ExitStatus.failed) }
    }

    private func emit(_ object: JSONObject) { StandardOutput.print(json: JSONValue.object(object).encodedText()) }

    private func describe(_ event: SessionEvent) -> JSONObject {
        switch event {
        case .signal(let signal):
            var object: JSONObject = ["event": "signal"]
            if let seq = signal.seq { object.append("seq", .integer(seq.rawValue)) }
            object.append("from", signal.from.map(describe) ?? .null)
            if let type = signal.type { object.append("type", .string(type)) }
            if let data = signal.data { object.append("data", .string(data)) }
            if signal.isDirected { object.append("directed", true) }
            return object
        case .connectionCreated(let connection):
            return ["event": "connectionCreated", "connection": describe(connection)]
        case .connectionDestroyed(let connection, let reason):
            return [
                "event": "connectionDestroyed", "connection": describe(connection), "reason": .string(reason.rawValue),
            ]
        case .connectionAway(let connection):
            return ["event": "connectionAway", "connection": describe(connection)]
        case .connectionBack(let connection):
            return ["event": "connectionBack", "connection": describe(connection)]
        case .reconnecting: return ["event": "reconnecting"]
        case .reconnected(let outcome, let missing):
            var object: JSONObject = ["event": "reconnected", "outcome": .string(outcome.rawValue)]
            if let missing {
                object.append(
                    "missing", ["first": .integer(missing.first.rawValue), "last": .integer(missing.last.rawValue)])
            }
            return object
        case .disconnected(let reason): return ["event": "disconnected", "reason": .string(reason.rawValue)]
        case .overflowed: return ["event": "overflowed"]
        // Only a program that asks for the history gets it.
        case .history(let page): return ["event": "history", "count": .integer(Int64(page.messages.count))]
        case .erased(.message(let seq)): return ["event": "erased", "ref": .integer(seq.rawValue)]
        case .erased(.through(let seq)): return ["event": "erased", "through": .integer(seq.rawValue)]
        }
    }

    private func describe(_ connection: Connection) -> JSONValue {
        [
            "connectionId": .string(connection.connectionId.rawValue),
            "creationTime": .integer(connection.creationTime.milliseconds), "data": .string(connection.data),
        ]
    }
}
