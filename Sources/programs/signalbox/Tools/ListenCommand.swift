import ArgumentParser
import CommandSupport
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
                if case .disconnected(let reason, _) = event { return reason == .clientDisconnected }
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
        case .userJoined(let user): return describe(user, "userJoined")
        case .userLeft(let user): return describe(user, "userLeft")
        case .moderated(let event, let seq):
            var object: JSONObject = ["event": "moderated", "seq": .integer(seq.rawValue)]
            object.append(members: event.writeMembers)
            return object
        case .restricted(let restriction):
            var object: JSONObject = ["event": "restricted"]
            object.append(members: restriction.writeMembers)
            return object
        case .unrestricted(let kind): return ["event": "unrestricted", "kind": .string(kind.rawValue)]
        case .disconnected(let reason, let ban):
            var object: JSONObject = ["event": "disconnected", "reason": .string(reason.rawValue)]
            if let ban {
                var restriction = JSONObject()
                restriction.append(members: ban.writeMembers)
                object.append("restriction", .object(restriction))
            }
            return object
        case .overflowed: return ["event": "overflowed"]
        // Only a program that asks for the history gets it.
        case .history(let page): return ["event": "history", "count": .integer(Int64(page.messages.count))]
        case .changed(let event): return describe(event)
        case .reactions(let event): return describe(event)
        case .reacted(let seq, let own):
            return [
                "event": "reacted", "seq": .integer(seq.rawValue), "ref": .integer(own.ref.rawValue),
                "keys": .array(own.keys.map { .string($0) }),
            ]
        case .read(let marker):
            return [
                "event": "read", "user": .string(marker.user.rawValue), "through": .integer(marker.through.rawValue),
            ]
        case .erased(.message(let seq), _): return ["event": "erased", "ref": .integer(seq.rawValue)]
        case .erased(.through(let seq), _): return ["event": "erased", "through": .integer(seq.rawValue)]
        case .erased(.user(let user), _): return ["event": "erased", "user": .string(user.rawValue)]
        }
    }

    private func describe(_ event: ChangeEvent) -> JSONObject {
        var object: JSONObject = [
            "event": "change", "seq": .integer(event.seq.rawValue), "ref": .integer(event.ref.rawValue),
        ]
        if let change = event.change { object.append("rel", .string(change.kind.rawValue)) }
        object.append("from", event.sender.map(describe) ?? .null)
        if case .edit(let data, let isJSON) = event.change {
            if let data { object.append("data", .string(data)) }
            if isJSON { object.append("json", true) }
        }
        return object
    }

    private func describe(_ event: ReactionsEvent) -> JSONObject {
        [
            "event": "reactions", "seq": .integer(event.seq.rawValue), "ref": .integer(event.ref.rawValue),
            "reactions": .array(event.counts.map { ["key": .string($0.key), "count": .integer(Int64($0.count))] }),
        ]
    }

    private func describe(_ user: SessionUser, _ event: String) -> JSONObject {
        [
            "event": .string(event), "user": .string(user.id.rawValue),
            "connections": .array(user.connections.map(describe)),
        ]
    }

    private func describe(_ connection: Connection) -> JSONValue {
        var object: JSONObject = [
            "connectionId": .string(connection.connectionId.rawValue),
            "creationTime": .integer(connection.creationTime.milliseconds), "data": .string(connection.data),
        ]
        if let user = connection.user { object.append("user", .string(user.rawValue)) }
        return .object(object)
    }
}

extension JSONObject {
    /// Appends the members that the protocol writes.
    fileprivate mutating func append(members write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        guard let members = (try? JSONValue(parsing: writer.bytes))?.objectValue else { return }
        for member in members { append(member.name, member.value) }
    }
}
