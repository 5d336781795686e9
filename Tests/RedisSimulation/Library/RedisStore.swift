import SignalingProtocol
import SignalingRedisCore

/// The keys of a Redis, and those of its commands that the log uses. A copy is what a disk has.
///
/// Names and values are in a fixed order, so that a run can be repeated.
struct RedisStore {
    private enum Value {
        case string([UInt8])
        case hash([String: [UInt8]])
        case set(Set<String>)
        case stream([(number: UInt64, fields: [[UInt8]])])
    }

    private var values: [String: Value] = [:]
    private var expiries: [String: MonotonicInstant] = [:]
    /// Of the process that has the keys.
    var runID = ""

    var keys: [String] { values.keys.sorted() }

    /// - Returns: `nil` if this is not a command on keys.
    mutating func carryOut(_ arguments: [[UInt8]], now: MonotonicInstant) -> RedisReply? {
        let words = arguments.map { String(decoding: $0, as: UTF8.self) }
        guard let name = words.first, words.count > 1 else { return nil }
        let key = words[1]
        for expired in expiries where expired.value <= now { delete(expired.key) }
        switch name {
        case "DEL":
            for key in words.dropFirst() { delete(key) }
            return .integer(1)
        case "EXISTS": return .integer(values[key] == nil ? 0 : 1)
        case "EXPIRE":
            if values[key] != nil { expiries[key] = now.advanced(by: .seconds(Int64(words[2]) ?? 0)) }
            return .integer(1)
        case "TTL":
            guard values[key] != nil else { return .integer(-2) }
            return .integer(expiries[key].map { $0.duration(since: now).components.seconds } ?? -1)
        case "GET":
            if case .string(let bytes)? = values[key] { return .bytes(bytes) }
            return .null
        case "SET":
            values[key] = .string(arguments[2])
            expiries[key] = nil
            if words.count == 5, let time = Int64(words[4]) {
                expiries[key] = now.advanced(by: words[3] == "PX" ? .milliseconds(time) : .seconds(time))
            }
            return .bytes(Array("OK".utf8))
        case "HGET": return hash(key)[words[2]].map { .bytes($0) } ?? .null
        case "HMGET": return .array(words.dropFirst(2).map { hash(key)[$0].map { .bytes($0) } ?? .null })
        case "HGETALL":
            return .array(
                hash(key).sorted { $0.key < $1.key }.flatMap { [.bytes(Array($0.key.utf8)), .bytes($0.value)] })
        case "HKEYS": return .array(hash(key).keys.sorted().map { .bytes(Array($0.utf8)) })
        case "HSET":
            var hash = hash(key)
            for index in stride(from: 2, to: words.count - 1, by: 2) { hash[words[index]] = arguments[index + 1] }
            values[key] = .hash(hash)
            return .integer(1)
        case "HDEL":
            var hash = hash(key)
            for name in words.dropFirst(2) { hash[name] = nil }
            if hash.isEmpty { delete(key) } else { values[key] = .hash(hash) }
            return .integer(1)
        case "SADD":
            values[key] = .set(set(key).union(words.dropFirst(2)))
            return .integer(1)
        // All members of a sorted set have the score 0.
        case "ZADD":
            values[key] = .set(set(key).union([words[3]]))
            return .integer(1)
        case "ZRANDMEMBER": return .array(set(key).sorted().prefix(2).map { .bytes(Array($0.utf8)) })
        case "SREM", "ZREM":
            let rest = set(key).subtracting(words.dropFirst(2))
            if rest.isEmpty { delete(key) } else { values[key] = .set(rest) }
            return .integer(1)
        case "SMEMBERS": return .array(set(key).sorted().map { .bytes(Array($0.utf8)) })
        case "SUNIONSTORE":
            values[key] = .set(words.dropFirst(2).reduce(into: []) { $0.formUnion(set($1)) })
            return .integer(1)
        case "XADD", "XRANGE", "XTRIM": return changeStream(name, key, arguments, words)
        case "TIME":
            return nil
        default: return nil
        }
    }

    private mutating func delete(_ key: String) {
        values[key] = nil
        expiries[key] = nil
    }

    private func hash(_ key: String) -> [String: [UInt8]] {
        if case .hash(let hash)? = values[key] { hash } else { [:] }
    }

    private func set(_ key: String) -> Set<String> {
        if case .set(let set)? = values[key] { set } else { [] }
    }

    private mutating func changeStream(
        _ name: String, _ key: String, _ arguments: [[UInt8]], _ words: [String]
    ) -> RedisReply {
        var entries: [(number: UInt64, fields: [[UInt8]])] = []
        if case .stream(let stream)? = values[key] { entries = stream }
        func number(_ text: String) -> UInt64 { text.split(separator: "-").first.flatMap { UInt64($0) } ?? 0 }
        switch name {
        case "XADD":
            let number = number(words[2])
            guard number > entries.last?.number ?? 0 else { return .failure(RedisFailure("ERR The ID is too small")) }
            entries.append((number, Array(arguments[3...])))
        case "XTRIM": entries.removeAll { $0.number < number(words[3]) }
        default:
            let last = words[3] == "+" ? UInt64.max : number(words[3])
            let count = words.count == 6 ? Int(words[5]) ?? 0 : Int.max
            let range = entries.filter { $0.number >= number(words[2]) && $0.number <= last }.prefix(count)
            return .array(
                range.map { .array([.bytes(Array("\($0.number)-0".utf8)), .array($0.fields.map { .bytes($0) })]) })
        }
        values[key] = .stream(entries)
        return .integer(1)
    }
}
