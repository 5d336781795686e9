import Foundation
import SignalingProtocol

/// The servers of a stage: one, or several nodes over one Redis.
///
/// Each node reaches Redis through a relay of its own, and each client reaches one of the nodes. Like a load balancer,
/// the cluster sends the next connection of a client only to a node that serves.
final class Cluster: Sendable {
    let nodes: [RestartableServer]
    /// Of a cluster that has started its own Redis.
    private let redis: RedisProcess?
    /// Of a cluster whose Redis has Sentinels.
    private let redisSet: RedisSet?
    /// The relays between the nodes and Redis, in the order of the nodes; empty without Redis.
    private let redisRelays: [NetworkRelay]

    /// What the nodes have in common.
    struct Plan: Sendable {
        var nodes: Int
        /// The address of Redis; nil: the cluster starts one if there are several nodes.
        var redis: String?
        /// Whether the cluster's own Redis has replicas and Sentinels.
        var hasSentinels = false
    }

    /// Starts the servers.
    ///
    /// - Throws: ``VerificationError`` when Redis or a server does not start. Nothing runs then.
    init(_ plan: Plan, launch: ServerProcess.Launch) throws {
        guard launch.terms.isShared else {
            (redis, redisSet) = (nil, nil)
            redisRelays = []
            nodes = [RestartableServer(launch)]
            try nodes[0].start()
            return
        }
        let set = plan.hasSentinels ? try RedisSet(folder: launch.folder) : nil
        let own = plan.redis == nil && set == nil ? try RedisProcess(folder: launch.folder) : nil
        (redis, redisSet) = (own, set)
        if let own {
            let relays = try (0..<plan.nodes).map { _ in try NetworkRelay(to: own.port) }
            redisRelays = relays
            nodes = relays.map { relay in
                var launch = launch
                launch.redis = "redis://127.0.0.1:\(relay.port)"
                return RestartableServer(launch)
            }
        } else {
            redisRelays = []
            nodes = (0..<plan.nodes).map { _ in
                var launch = launch
                launch.redis = set?.address ?? plan.redis
                return RestartableServer(launch)
            }
        }
        do { for node in nodes { try node.start() } } catch {
            stopForGood()
            throw error
        }
    }

    /// Kills all processes. No other one starts after this.
    func stopForGood() {
        for node in nodes { node.stopForGood() }
        for relay in redisRelays { relay.stop() }
        redis?.kill()
        redisSet?.kill()
    }

    /// The nodes that clients can reach.
    var servingNodes: [RestartableServer] { nodes.filter(\.serves) }

    /// The port of some node that serves.
    var somePort: Int { (servingNodes.randomElement() ?? nodes[0]).port }

    /// Whether one of the present servers has this port.
    func hasPort(_ port: Int) -> Bool { nodes.contains { $0.port == port } }

    var hasFailed: Bool { nodes.contains { $0.process?.hasFailed == true } }

    /// Resets the connections of one node to Redis.
    func cutRedis(of number: Int) {
        if redisRelays.indices.contains(number) { redisRelays[number].cut(.abrupt) }
    }

    var hasOwnRedis: Bool { redis != nil }
    /// The bytes that Redis has written to its file.
    var redisByteCount: UInt64? { redis?.writtenByteCount }

    /// Kills the primary, and returns when the Sentinels have chosen another one.
    func failOverRedis() throws { try redisSet?.failOver() }

    /// Kills Redis, and starts it again with what it has left on disk.
    ///
    /// - Parameter byteCount: what it has left of its file, as after a loss of power; nil: all of it.
    func replaceRedis(keeping byteCount: UInt64? = nil) throws {
        redis?.kill()
        if let byteCount { try redis?.truncate(to: byteCount) }
        try redis?.start()
    }
}
