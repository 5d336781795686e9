import SignalingCore
import Testing

@testable import SignalingRedis

@Suite("Redis log: addresses")
struct AddressTests {
    @Test("host, port, database, user and password are read")
    func parts() throws {
        let full = try RedisAddress("redis://user:p%40ss%3A@redis.example:6380/2")
        #expect(full.host == "redis.example" && full.port == 6_380 && full.database == 2)
        #expect(full.user == "user" && full.password == "p@ss:")
        let short = try RedisAddress("redis://localhost")
        #expect(short.port == 6_379 && short.database == 0 && short.user == nil && short.password == nil)
        let withoutUser = try RedisAddress("redis://:secret@[::1]:7000")
        #expect(withoutUser.host == "::1" && withoutUser.port == 7_000)
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

    @Test("an address with TLS says what to do")
    func tls() {
        let fault = #expect(throws: CommandLogFault.self) { try RedisAddress("rediss://host") }
        #expect(fault?.message.contains("TLS tunnel") == true)
    }
}
