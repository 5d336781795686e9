import SignalingCore
import SignalingProtocol
import SignalingRedisCore

/// A Redis in simulated time: keys in memory, and the real functions (`signalbox.lua`). It restarts, forgets, is full and
/// stands still when the simulation says so; ``SimulatedLinks`` are the networks between it and its nodes.
package final class SimulatedRedis {
    /// What is left of the keys when Redis starts again.
    package enum Memory {
        case all
        case none
        /// As they were at the last ``save()``.
        case saved
    }

    private let time: any SimulatedTime
    private var store = RedisStore()
    private var saved = RedisStore()
    private var library: LuaLibrary?
    private var processCount = 0
    private var linkCount = 0
    private var links: [ObjectIdentifier: SimulatedLink] = [:]
    package private(set) var isUp = false
    /// Whether the memory limit is reached.
    package var isFull = false
    /// Whether the nodes know that Redis keeps everything over a restart.
    package var forgetsNothing = false
    /// Whether INFO does not tell the name of the process, as some providers have it.
    package var hidesRunID = false
    /// How far its clock is ahead of the simulation's.
    package var clockOffset = Duration.seconds(1_000_000)
    /// Called when a run is declared lost.
    package var onLost: ((RunID) -> Void)?
    /// Whether notifications are lost and repeated on their way.
    package var disturbsMessages = false
    /// How often each command and each function was called by the nodes.
    package private(set) var counts: [String: Int] = [:]
    private var isInFunction = false
    /// What arrives while Redis stands still, in its order; `nil` while it runs.
    private var standstill: [() -> Void]?

    package init(_ time: any SimulatedTime) {
        self.time = time
        start(with: .all)
    }

    // MARK: - Life and death

    package func start(with memory: Memory) {
        switch memory {
        case .all: break
        case .none:
            store = RedisStore()
            library = nil
        case .saved: store = saved
        }
        processCount += 1
        store.runID = Hexadecimal.text(UInt64(processCount)) + Hexadecimal.text(0)
        // Functions are kept with the keys. What they remember ends with the process.
        if library != nil { library = makeLibrary(FunctionLibrary.code) }
        isUp = true
    }

    package func stop() {
        isUp = false
        for link in links.values.sorted(by: { $0.number < $1.number }) { link.end("Redis has stopped") }
        links = [:]
        thaw()
    }

    package func freeze() { standstill = [] }

    package func thaw() {
        let late = standstill ?? []
        standstill = nil
        for run in late { run() }
    }

    /// Runs what has arrived, when Redis does not stand still.
    func whenRunning(_ run: @escaping () -> Void) {
        if standstill == nil { run() } else { standstill?.append(run) }
    }

    /// Writes the keys to the disk.
    package func save() { saved = store }

    /// Deletes all keys, as an operator does with `FLUSHALL`.
    package func flush() {
        let runID = store.runID
        store = RedisStore()
        store.runID = runID
    }

    // MARK: - Links

    func nextLinkNumber() -> Int {
        linkCount += 1
        return linkCount
    }

    func add(_ link: SimulatedLink) { links[ObjectIdentifier(link)] = link }
    func remove(_ link: SimulatedLink) { links[ObjectIdentifier(link)] = nil }

    // MARK: - Commands

    private var clock: MonotonicInstant { time.now.advanced(by: clockOffset) }

    private func makeLibrary(_ code: String) -> LuaLibrary? {
        LuaLibrary(code) { [unowned self] arguments in carryOut(arguments) }
    }

    /// A command in Redis' protocol, from a program or a function.
    package func carryOut(_ arguments: [[UInt8]]) -> RedisReply {
        let name = arguments.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if !isInFunction { counts[name, default: 0] += 1 }
        switch name {
        case "FCALL": return callFunction(Array(arguments.dropFirst()))
        case "FUNCTION":
            library = makeLibrary(String(decoding: arguments.last ?? [], as: UTF8.self))
            return .bytes([])
        case "PUBLISH":
            publish(arguments[2], on: String(decoding: arguments[1], as: UTF8.self))
            return .integer(1)
        case "TIME":
            let (seconds, rest) = (clock.nanoseconds / 1_000_000_000, clock.nanoseconds % 1_000_000_000 / 1_000)
            return .array([.bytes(Array(String(seconds).utf8)), .bytes(Array(String(rest).utf8))])
        case "INFO" where hidesRunID: return .bytes(Array("redis_version:7.0.15\r\n".utf8))
        case "INFO": return .bytes(Array("run_id:\(store.runID)\r\n".utf8))
        default: return store.carryOut(arguments, now: clock) ?? .failure(RedisFailure("ERR unknown command \(name)"))
        }
    }

    package func carryOut(_ words: String...) -> RedisReply { carryOut(words.map { Array($0.utf8) }) }

    private func callFunction(_ arguments: [[UInt8]]) -> RedisReply {
        let function = String(decoding: arguments[0], as: UTF8.self)
        guard let library, let allowsFull = library.allowsFull(function) else {
            return .failure(RedisFailure("ERR Function not found"))
        }
        if isFull, !allowsFull { return .failure(.full) }
        counts[function, default: 0] += 1
        let keyCount = Int(String(decoding: arguments[1], as: UTF8.self)) ?? 0
        isInFunction = true
        defer { isInFunction = false }
        return library.call(
            function, keys: Array(arguments[2..<(2 + keyCount)]), Array(arguments[(2 + keyCount)...]))
    }

    private func publish(_ message: [UInt8], on channel: String) {
        if channel == SessionKeys.nodesChannel(database: 0),
            case .lost(let run, _)? = NodesMessage(String(decoding: message, as: UTF8.self))
        {
            onLost?(run)
        }
        for link in links.values.sorted(by: { $0.number < $1.number }) { link.publish(message, on: channel) }
    }

    // MARK: - Looking into it

    package var keys: [String] { store.keys }

    /// The number of the last command of a session.
    package func lastNumber(of session: SessionID) -> UInt64 {
        carryOut("HGET", "sb:{\(session.rawValue)}:meta", "n").number.map { UInt64($0) } ?? 0
    }

    /// Whether nobody is in a session, which is kept for its history.
    package func isAsleep(_ session: SessionID) -> Bool {
        carryOut("HGET", "sb:{\(session.rawValue)}:meta", "z").number == 1
    }

    /// Whether everything of a session ends by itself.
    package func willForget(_ session: SessionID) -> Bool {
        ["meta", "log", "snap"].allSatisfy { carryOut("TTL", "sb:{\(session.rawValue)}:\($0)").number != -1 }
    }

    /// The sessions of which anything is kept.
    package var keptSessions: [SessionID] {
        store.keys.filter { $0.hasPrefix("sb:{") && $0.hasSuffix("}:meta") }
            .map { SessionID(rawValue: String($0.dropFirst(4).dropLast(6))) }
    }
}
