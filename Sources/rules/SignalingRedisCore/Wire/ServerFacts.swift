import SignalingCore

/// What a Redis says about itself, and whether it can keep a log.
package struct ServerFacts: Equatable {
    private let fields: [String: String]

    /// - Parameter text: the reply to INFO.
    package init(info text: String) {
        var fields: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { fields[String(parts[0])] = ForeignText.line(String(parts[1])) }
        }
        self.fields = fields
    }

    /// Whether this Redis once was a replica that took over. It may lack commands that its predecessor had.
    package var hasTakenOver: Bool { fields["master_replid2"].map { $0.contains { $0 != "0" } } ?? true }

    /// Why this Redis cannot keep a log.
    ///
    /// - Parameter redis: its address, without the password.
    package func fault(at redis: String) -> CommandLogFault? {
        let provider = RedisProvider(of: redis)
        if fields["redis_mode"] == "sentinel" {
            return CommandLogFault(
                .unsuitable,
                "\(redis) is a Sentinel. Begin the address with redis+sentinel://, and end it with the name of the Redis: "
                    + "/NAME.")
        }
        let version = fields["redis_version"] ?? ""
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }) else {
            return CommandLogFault(.unsuitable, "\(redis) does not tell its version. Use Redis 7.0 or later.")
        }
        if major < 7 {
            return CommandLogFault(
                .unsuitable, "\(redis) runs Redis \(version), which has no functions. Use Redis 7.0 or later.")
        }
        if fields["loading"] == "1" { return CommandLogFault(RedisFailure.loading, from: redis) }
        if fields["cluster_enabled"] == "1" {
            return CommandLogFault(
                .unsuitable,
                "\(redis) is in cluster mode, which is not supported. "
                    + (provider?.clusterStep ?? "List several independent Redis servers instead."))
        }
        if let role = fields["role"], role != "master" { return CommandLogFault(RedisFailure.readOnly, from: redis) }
        return memoryFault(at: redis, provider)
    }

    private func memoryFault(at redis: String, _ provider: RedisProvider?) -> CommandLogFault? {
        guard let limit = fields["maxmemory"].flatMap({ Int($0) }), limit > 0 else { return nil }
        if let policy = fields["maxmemory_policy"], policy != "noeviction" {
            return CommandLogFault(
                .unsuitable,
                "\(redis) may delete sessions when its memory is full: its maxmemory-policy is \(policy). "
                    + (provider?.evictionStep
                        ?? "Set it to noeviction, in redis.conf or at your provider: docs/SCALING.md."))
        }
        guard let used = fields["used_memory"].flatMap({ Int($0) }), used >= limit else { return nil }
        return CommandLogFault(RedisFailure.full, from: redis)
    }
}
