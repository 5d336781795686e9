import Logging
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingRedisCore
import Testing

/// Nodes and their Redis in simulated time. Nothing waits, and what does not happen is certain.
final class SimulatedBench: NodeLoop {
    struct TimedOut: Error {}

    let time: VirtualTime
    let redis: SimulatedRedis
    private(set) var nodes: [TestNode] = []
    private(set) var links: [SimulatedLinks] = []
    private var lastTick = Duration.milliseconds(10)

    init(seed: UInt64 = 1) {
        time = VirtualTime(seed: seed)
        redis = SimulatedRedis(time)
    }

    deinit { time.removeAllEvents() }

    /// Starts a node, and waits until it is open.
    @discardableResult
    func node(_ name: String, _ tune: (inout LogTimes) -> Void = { _ in }) throws -> TestNode {
        let node = TestNode(name, on: self)
        try node.start([], tune)
        try run { node.log != nil || node.fault != nil }
        if let fault = node.fault { throw fault }
        nodes.append(node)
        return node
    }

    func links(of node: TestNode) throws -> SimulatedLinks {
        try #require(links.last { $0.log === node.log })
    }

    func pass(_ duration: Duration) { time.pass(duration) }

    /// Waits until all nodes that have the session have the same state, with this many commands.
    func converge(_ session: SessionID, count: Int) throws {
        try run { nodes.allSatisfy { $0.sessions[session] == nil || $0.texts(session).count >= count } }
        let states = nodes.compactMap { $0.sessions[session]?.texts }
        #expect(states.allSatisfy { $0 == states.first && $0.count == count })
    }

    // MARK: - NodeLoop

    var now: MonotonicInstant { time.now }

    func open(
        _ addresses: [String], run: RunID, times: LogTimes, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) throws {
        let links = SimulatedLinks(time, [redis], tick: times.tick)
        self.links.append(links)
        RedisCommandLog.open(
            over: links, run: run, seed: time.generator.next(), times: times, logger: logger, onOpened: onOpened)
    }

    func run(until isDone: () throws -> Bool) throws {
        var outcome = Result<Bool, any Error>.success(false)
        let isDone = time.pass {
            outcome = Result { try isDone() }
            return (try? outcome.get()) ?? true
        }
        _ = try outcome.get()
        if !isDone { throw TimedOut() }
    }
}
