import SignalingCore
import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("Redis log: addresses")
struct AddressTests {
    @Test("host, port, database, user and password are read")
    func parts() throws {
        let full = try RedisAddress("redis://user:p%40ss%3A@redis.example:6380/2")
        #expect(full.endpoint == RedisEndpoint(host: "redis.example", port: 6_380))
        #expect(full.database == 2)
        #expect(full.user == "user" && full.password == "p@ss:")
        let short = try RedisAddress("redis://localhost")
        #expect(
            short.endpoint.port == 6_379 && !short.isEncrypted && short.database == 0 && short.user == nil
                && short.password == nil)
        let withoutUser = try RedisAddress("redis://:secret@[::1]:7000")
        #expect(withoutUser.endpoint == RedisEndpoint(host: "::1", port: 7_000))
        #expect(withoutUser.user == nil && withoutUser.password == "secret")
    }

    @Test("no description contains the password")
    func description() throws {
        let address = try RedisAddress("redis://user:secret@[::1]/3")
        #expect(address.description == "redis://[::1]:6379/3")
        #expect("\(address)" == address.description)
    }

    @Test(
        "a malformed address is refused, without its text",
        arguments: [
            "", "localhost:6379", "http://localhost", "redis://", "redis://:secret@", "redis://host:0",
            "redis://host:x",
            "redis://host:65536", "redis://host/x", "redis://host/-1", "redis://secret@host", "redis://:%zz@host",
            "redis://[::1", "redis://[::1]x", "redis://host?secret", "redis://ho st",
        ])
    func malformed(text: String) {
        let fault = #expect(throws: CommandLogFault.self) { try RedisAddress(text) }
        #expect(fault?.code == .badAddress)
        #expect(fault?.message.contains("secret") == false)
    }

    @Test("an address with TLS is another one")
    func tls() throws {
        let address = try RedisAddress("rediss://user:secret@host/1")
        #expect(address.isEncrypted && address.description == "rediss://host:6379/1")
    }

    @Test("Sentinels, the name of their Redis, and a database")
    func sentinels() throws {
        let address = try RedisAddress("redis+sentinel://user:secret@a,[::1]:7000,c:26380/my%20room/2")
        #expect(
            address.sentinels == [
                RedisEndpoint(host: "a", port: 26_379), RedisEndpoint(host: "::1", port: 7_000),
                RedisEndpoint(host: "c", port: 26_380),
            ])
        #expect(address.primaryName == "my room" && address.database == 2 && address.password == "secret")
        #expect(address.description == "redis+sentinel://a:26379,[::1]:7000,c:26380/my room/2")
        #expect(try RedisAddress("rediss+sentinel://a/room").isEncrypted)
        #expect(try RedisAddress("redis://host").sentinels.isEmpty)
        for text in ["redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a,/room", "redis+sentinel://a/b/c"]
        {
            let fault = #expect(throws: CommandLogFault.self) { try RedisAddress(text) }
            #expect(fault?.code == .badAddress)
        }
    }

    @Test("a list of addresses, of which some have several Sentinels")
    func list() {
        #expect(RedisAddress.split("redis://a,rediss://b") == ["redis://a", "rediss://b"])
        #expect(
            RedisAddress.split("redis+sentinel://a:1,b:2/x,redis+sentinel://c,d/y,redis://e") == [
                "redis+sentinel://a:1,b:2/x", "redis+sentinel://c,d/y", "redis://e",
            ])
    }

    @Test("the password of the Sentinels is in no description")
    func access() throws {
        var access = RedisAccess()
        access.sentinelPassword = "hidden"
        let address = try RedisAddress("redis+sentinel://:hidden@a/room", access)
        var text = ""
        dump(access, to: &text)
        #expect(!"\(access) \(address) \(text)".contains("hidden"))
    }
}
