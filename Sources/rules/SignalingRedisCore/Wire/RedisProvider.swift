/// The operator of a Redis, as far as the name of its host tells it: settings lie in other places with each.
enum RedisProvider: CaseIterable {
    case elastiCache, memoryDB, azureCache, redisCloud, digitalOcean, aiven, upstash

    /// - Parameter redis: an address.
    init?(of redis: String) {
        let provider = Self.allCases.first { provider in provider.domains.contains { redis.contains($0) } }
        guard let provider else { return nil }
        self = provider
    }

    private var domains: [String] {
        switch self {
        case .elastiCache: [".cache.amazonaws.com"]
        case .memoryDB: [".memorydb."]
        case .azureCache: [".redis.cache.windows.net", ".redis.azure.net", ".redisenterprise.cache.azure.net"]
        case .redisCloud: [".redis-cloud.com", ".redislabs.com", ".rlrcp.com"]
        case .digitalOcean: [".db.ondigitalocean.com"]
        case .aiven: [".aivencloud.com"]
        case .upstash: [".upstash.io"]
        }
    }

    /// How to have no key removed when the memory is full.
    var evictionStep: String? {
        switch self {
        case .elastiCache:
            "ElastiCache: give the cache a parameter group of your own, and set maxmemory-policy in it to noeviction."
        case .memoryDB: nil
        case .azureCache: "Azure: set maxmemory-policy under Advanced settings to noeviction."
        case .redisCloud: "Redis Cloud: set the data eviction policy of the database to no eviction."
        case .digitalOcean:
            "DigitalOcean: set the eviction policy in the settings of the database to noeviction."
        case .aiven: "Aiven: set redis_maxmemory_policy or valkey_maxmemory_policy to noeviction."
        case .upstash: "Upstash: turn eviction off for the database."
        }
    }

    /// How to have a Redis without cluster mode.
    var clusterStep: String? {
        switch self {
        case .elastiCache:
            "ElastiCache: create a node-based cache with cluster mode disabled; a serverless one is always a cluster."
        case .memoryDB: "MemoryDB always has cluster mode: use ElastiCache with cluster mode disabled."
        case .azureCache: "Azure Managed Redis: choose the cluster policy Non-Clustered."
        case .redisCloud, .digitalOcean, .aiven, .upstash: nil
        }
    }
}
