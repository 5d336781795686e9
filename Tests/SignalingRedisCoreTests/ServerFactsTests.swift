import SignalingCore
import Testing

@testable import SignalingRedisCore

@Suite("Redis: what it says of itself")
struct ServerFactsTests {
    private func fault(_ fields: String..., at redis: String = "redis://10.0.0.1:6379") -> CommandLogFault? {
        ServerFacts(info: (["redis_version:7.0.15"] + fields).joined(separator: "\r\n")).fault(at: redis)
    }

    @Test("a policy that removes keys is refused, with the step for the provider")
    func eviction() {
        let facts = ["role:master", "maxmemory:1000", "maxmemory_policy:volatile-lru"].joined(separator: "\r\n")
        let own = fault(facts)
        #expect(own?.code == .unsuitable)
        #expect(own?.message.contains("its maxmemory-policy is volatile-lru. Set it to noeviction") == true)
        for (host, words) in [
            ("master.room.abc.euc1.cache.amazonaws.com", "ElastiCache: give the cache a parameter group"),
            ("db-1-do-user-2-0.b.db.ondigitalocean.com", "DigitalOcean:"), ("room.aivencloud.com", "Aiven:"),
            ("redis-1.c2.eu-west-1-3.ec2.redis-cloud.com", "no eviction"), ("a.redis.cache.windows.net", "Azure:"),
            ("apt-room-1.upstash.io", "Upstash:"),
        ] {
            let message = fault(facts, at: "rediss://\(host):6379")?.message ?? ""
            #expect(message.contains("volatile-lru") && message.contains(words), "\(message)")
        }
    }

    @Test("cluster mode is refused, with the step for the provider")
    func cluster() {
        #expect(fault("cluster_enabled:1")?.message.contains("several independent Redis servers") == true)
        let cache = fault("cluster_enabled:1", at: "rediss://clustercfg.a.b.euc1.cache.amazonaws.com:6379")
        #expect(cache?.message.contains("cluster mode disabled") == true)
        let memory = fault("cluster_enabled:1", at: "rediss://clustercfg.a.b.memorydb.eu-central-1.amazonaws.com:6379")
        #expect(memory?.message.contains("use ElastiCache") == true)
    }

    @Test("a role decides: a primary serves, a replica does not, and a Sentinel is named")
    func role() {
        #expect(fault("role:master") == nil)
        #expect(fault("role:slave")?.code == .readOnly)
        let sentinel = fault("redis_mode:sentinel")
        #expect(sentinel?.code == .unsuitable)
        #expect(sentinel?.message.contains("redis+sentinel://") == true)
    }

    @Test("a Redis that hides what it does not have to tell is used, but not trusted with its memory")
    func hidden() {
        #expect(fault() == nil)
        #expect(ServerFacts(info: "redis_version:7.0.15").hasTakenOver)
    }

    @Test("a command that was renamed is named, with the step")
    func renamed() {
        let text = "ERR unknown command 'INFO', with args beginning with: "
        let fault = CommandLogFault(RedisFailure(text), from: "redis")
        #expect(fault.code == .unsuitable)
        #expect(fault.message.contains("'INFO'") && fault.message.contains("rename-command"))
    }
}
