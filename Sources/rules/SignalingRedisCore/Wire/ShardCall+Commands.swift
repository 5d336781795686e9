import SignalingCore
import SignalingProtocol

extension ShardCall {
    /// The most entries of one range.
    static let rangeCount = 1_000

    /// The commands of the call, to send one after the other. The last reply belongs to the last command.
    package func commands(database: Int) -> [RedisCommand] {
        let database = String(database)
        switch self {
        case .hello(let caller, let hello):
            let losses = hello.losses.flatMap { [$0.run.hexadecimal, $0.time.microseconds] }
            return [
                RedisCommand(
                    .hello,
                    [database] + caller.arguments + [
                        hello.restoring.microseconds, String(hello.life.wholeMilliseconds), hello.fingerprint,
                        hello.floor?.microseconds ?? "",
                    ] + losses)
            ]
        case .loadLibrary: return [FunctionLibrary.loadCommand]
        case .goodbye(let run): return [RedisCommand(.goodbye, [database, run.hexadecimal])]
        case .declareLost(let caller, let run, let isCertain):
            let arguments = [database] + caller.arguments + [run.hexadecimal, isCertain ? "1" : "0"]
            return [RedisCommand(.declareLost, arguments)]
        case .open(let caller, let follow, let trusts):
            return [RedisCommand(.open, of: follow.session, [database] + caller.arguments + [trusts ? "1" : "0"])]
        case .restore(let caller, let follow, let restoration):
            return [Self.restore([database] + caller.arguments, follow.session, restoration)]
        case .append(let caller, let follow, let appendix):
            return [Self.append([database] + caller.arguments, follow.session, appendix)]
        case .keep(let caller, let follow, let generation, let snapshot, let retention):
            var command = RedisCommand(
                .keep, of: follow.session,
                caller.arguments + [
                    generation, String(snapshot.position.number), snapshot.position.id.text, retention.microseconds,
                ], extraCount: 1)
            command.add(snapshot.bytes)
            return [command]
        case .sleep(let caller, let sleeper):
            let (end, life) = (sleeper.end, sleeper.life.components.seconds)
            var command = RedisCommand(
                .sleep, of: sleeper.session,
                caller.arguments + [end.generation, end.number, end.id, String(max(1, life))], extraCount: 2)
            command.add(sleeper.state)
            command.add(String(max(0, sleeper.restricted.components.seconds)))
            return [command]
        case .forget(let follow, let generation, let number):
            return [RedisCommand(.forget, of: follow.session, [generation, String(number)])]
        case .remove(let run, let session, let end):
            let arguments = [database, run.hexadecimal, end.generation, end.number, end.id]
            return [RedisCommand(.remove, of: session, arguments)]
        case .close(let run, let session): return [RedisCommand(.close, of: session, [run.hexadecimal])]
        case .delete(let follow):
            let key = SessionKeys.base(of: follow.session)
            return [RedisCommand("DEL", "\(key):meta", "\(key):log", "\(key):snap")]
        case .repair(let follow, let generation):
            return [RedisCommand(.repair, of: follow.session, [database, generation])]
        case .compare(let follow), .catchUp(let follow): return [Self.readMark(of: follow.session)]
        case .fill(let follow, let first, let last):
            let range = RedisCommand(
                "XRANGE", "\(SessionKeys.base(of: follow.session)):log", "\(first)-0", last.map { "\($0)-0" } ?? "+",
                "COUNT", String(Self.rangeCount))
            // Generations are not reused: if it is still this one afterwards, the range was of this one.
            return [range, Self.readMark(of: follow.session)]
        case .relay(let run, let session, let bytes):
            var command = RedisCommand(argumentCount: 3)
            command.add("PUBLISH")
            command.add(SessionKeys.channel(of: session, database: database))
            command.add(ChannelMessage.relay(bytes, from: run))
            return [command]
        }
    }

    private static func readMark(of session: SessionID) -> RedisCommand {
        RedisCommand("HMGET", "\(SessionKeys.base(of: session)):meta", "g", "n", "id")
    }

    private static func restore(
        _ caller: [String], _ session: SessionID, _ restoration: Restoration
    ) -> RedisCommand {
        let arguments =
            caller + [
                restoration.generation, String(restoration.position.number), restoration.position.id.text,
                restoration.time.microseconds,
            ]
        let counters = restoration.snapshot?.counters.flatMap { [$0.run.hexadecimal, String($0.counter)] } ?? []
        var command = RedisCommand(
            .restore, of: session, arguments, extraCount: (restoration.snapshot == nil ? 0 : 1) + counters.count)
        if let snapshot = restoration.snapshot { command.add(snapshot.bytes) }
        for counter in counters { command.add(counter) }
        return command
    }

    private static func append(_ caller: [String], _ session: SessionID, _ appendix: Appendix) -> RedisCommand {
        let arguments =
            caller + [
                appendix.generation, appendix.newGeneration, String(appendix.commands.first?.counter ?? 0),
            ]
        // A full Redis takes what empties it, and refuses the rest.
        var command = RedisCommand(
            appendix.freesMemory ? .appendFreeing : .append, of: session, arguments,
            extraCount: appendix.commands.count)
        for one in appendix.commands { command.add(one.bytes) }
        return command
    }
}

/// The names of a session's keys and of its channel.
package enum SessionKeys {
    static func base(of session: SessionID) -> String { "sb:{\(session.rawValue)}" }

    package static func channel(of session: SessionID, database: some CustomStringConvertible) -> String {
        "sb:\(database):{\(session.rawValue)}"
    }

    /// The session of a channel.
    package static func session(ofChannel name: String, database: Int) -> SessionID? {
        let prefix = "sb:\(database):{"
        guard name.hasPrefix(prefix), name.hasSuffix("}") else { return nil }
        return SessionID(rawValue: String(name.dropFirst(prefix.count).dropLast()))
    }

    /// The channel on which the nodes tell each other of lives and deaths.
    package static func nodesChannel(database: Int) -> String { "sb:\(database):nodes" }
}

extension ShardCaller {
    fileprivate var arguments: [String] { [run.hexadecimal, String(link)] }
}

extension RedisCommand {
    init(
        _ function: RedisFunction, of session: SessionID, _ arguments: [String], extraCount: Int = 0
    ) {
        self.init(function, key: SessionKeys.base(of: session), arguments, extraCount: extraCount)
    }
}
