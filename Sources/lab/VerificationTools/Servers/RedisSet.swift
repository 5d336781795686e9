import Foundation

/// A Redis with two replicas, and three Sentinels that choose another primary when it dies.
final class RedisSet: Sendable {
    private static let name = "verified"
    private static let failoverTime = Duration.seconds(60)

    private let members: [RedisProcess]
    private let sentinels: [RedisProcess]

    /// Starts all of them, and returns when the Sentinels know the replicas and each other.
    ///
    /// - Throws: ``VerificationError`` when one does not start.
    init(folder: URL) throws {
        let primary = try RedisProcess(folder: folder, name: "redis-1")
        var members = [primary]
        var sentinels: [RedisProcess] = []
        do {
            for number in 2...3 {
                members.append(try RedisProcess(folder: folder, name: "redis-\(number)", replicating: primary.port))
            }
            for number in 1...3 {
                let settings = [
                    "sentinel monitor \(Self.name) 127.0.0.1 \(primary.port) 2",
                    "sentinel down-after-milliseconds \(Self.name) 2000",
                    "sentinel failover-timeout \(Self.name) 10000",
                ]
                sentinels.append(
                    try RedisProcess(
                        folder: folder, name: "sentinel-\(number)", watching: primary.port, settings: settings))
            }
            let ready = sentinels
            try Self.wait(for: "the Sentinels do not find each other.") {
                ready.allSatisfy {
                    Self.field("num-slaves", of: $0) == "2" && Self.field("num-other-sentinels", of: $0) == "2"
                }
            }
        } catch {
            for process in members + sentinels { process.kill() }
            throw error
        }
        (self.members, self.sentinels) = (members, sentinels)
    }

    /// For `serve --redis`.
    var address: String {
        "redis+sentinel://" + sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",") + "/\(Self.name)"
    }

    /// Kills the primary, waits until all Sentinels name another one, and starts the killed one again, which becomes a
    /// replica.
    func failOver() throws {
        guard let port = Self.field("port", of: sentinels[0]),
            let primary = members.first(where: { "\($0.port)" == port })
        else { throw VerificationError(.serverNotRestarted, "The Sentinels name no primary.") }
        primary.kill()
        let sentinels = sentinels
        try Self.wait(for: "the Sentinels have not chosen another primary.") {
            sentinels.allSatisfy { sentinel in Self.field("port", of: sentinel).map { $0 != port } ?? false }
        }
        try primary.start()
    }

    func kill() { for process in sentinels + members { process.kill() } }

    /// A field of what a Sentinel knows of the primary.
    private static func field(_ name: String, of sentinel: RedisProcess) -> String? {
        guard let connection = RawConnection(port: sentinel.port, patience: 1) else { return nil }
        defer { connection.close() }
        guard connection.send(Array("SENTINEL MASTER \(Self.name)\r\n".utf8)) else { return nil }
        // An array of names and values, each after a line with its length.
        var bytes: [UInt8] = []
        while let more = connection.receive() {
            bytes += more
            let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
            guard let count = Int(lines[0].dropFirst()) else { return nil }
            if lines.count < 2 * count + 2 { continue }
            return lines.firstIndex(of: name).flatMap { $0 + 2 < lines.count ? lines[$0 + 2] : nil }
        }
        return nil
    }

    private static func wait(for fault: String, until isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now + failoverTime
        while !isDone() {
            guard ContinuousClock.now < deadline else {
                throw VerificationError(.serverNotRestarted, "Redis does not fail over: \(fault)")
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
    }
}
