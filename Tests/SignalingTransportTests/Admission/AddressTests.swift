import Logging
import SignalingProtocol
import Testing

@testable import SignalingTransport

@Suite("Client addresses")
struct AddressTests {
    private static let start = MonotonicInstant(nanoseconds: 0)

    @Test(
        "an address literal is read and written; anything else is refused",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("2001:db8::7", "2001:db8::7"), ("[2001:db8::7]", "2001:db8::7"),
            ("::ffff:192.0.2.7", "192.0.2.7"), ("localhost", nil), ("example.org", nil), ("", nil), ("300.1.1.1", nil),
            ("192.0.2.7:80", nil), (" 192.0.2.7", nil), ("2001:db8::7/64", nil),
        ])
    func literals(text: String, expected: String?) {
        #expect(PeerAddress(text)?.text == expected)
    }

    @Test(
        "a block contains the addresses with its first bits",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.6", false), ("0.0.0.0/0", "192.0.2.7", true), ("0.0.0.0/0", "2001:db8::7", false),
            ("10.0.0.128/25", "10.0.0.127", false), ("10.0.0.128/25", "10.0.0.200", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
            ("::1", "::1", true), ("::1", "::2", false),
        ])
    func blocks(block: String, address: String, contains: Bool) throws {
        let address = try #require(PeerAddress(address))
        #expect(try #require(AddressBlock(block)).contains(address) == contains)
    }

    @Test(
        "a malformed block is refused",
        arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::1/129", "proxy", "10.0.0.0/+8"])
    func malformedBlocks(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test(
        "the client is the last address that is no trusted proxy's",
        arguments: [
            ("192.0.2.7", nil as String?, "192.0.2.7"), ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
            ("10.0.0.1", nil, "10.0.0.1"), ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "203.0.113.9,198.51.100.1 , 10.0.0.2", "198.51.100.1"),
            ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"), ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
            ("10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"), ("10.0.0.1", "2001:db8::7", "2001:db8::7"),
            ("10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"), ("10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", ",,", "10.0.0.1"), ("10.0.0.1", ":80", "10.0.0.1"),
        ])
    func forwarded(peer: String, header: String?, client: String) throws {
        let proxies = TrustedProxies(blocks: [try #require(AddressBlock("10.0.0.0/24"))])
        #expect(proxies.client(behind: try #require(PeerAddress(peer)), forwardedFor: header).text == client)
    }

    @Test("the table forgets addresses that have no connections and a full bucket, and only those")
    func sweep() throws {
        var table = AddressTable()
        let limit = AddressLimit(connectionCount: 10, exemptsLoopback: true)
        let kept = try #require(PeerAddress("198.51.100.1"))
        #expect(table.add(kept, limit: limit, now: Self.start) == nil)
        for number in 0..<5_000 {
            let address = try #require(PeerAddress("10.0.\(number / 250).\(number % 250)"))
            let now = Self.start.advanced(by: .seconds(number * 100))
            #expect(table.add(address, limit: limit, now: now) == nil)
            table.remove(address, isJoined: false)
        }
        #expect(table.count <= 1_024)
        let later = Self.start.advanced(by: .seconds(1_000_000))
        for _ in 1..<5 { #expect(table.add(kept, limit: limit, now: later) == nil) }
        #expect(table.add(kept, limit: limit, now: later) == .addressUnjoined)
    }

    @Test("the default lets no address have more than a quarter of the connections")
    func standard() {
        for (total, count) in [(65_536, 500), (2_000, 500), (1_000, 250), (16, 4), (1, 1)] {
            let limit = AddressLimit.standard(ofTotal: total)
            #expect(limit.connectionCount == count && limit.unjoinedCount >= 1 && limit.perSecond >= 1)
            #expect(limit.exemptsLoopback)
        }
    }
}

@Suite("The record of refusals")
struct RefusalTests {
    @Test("every refusal is counted")
    func counts() {
        let recorder = RefusalRecorder(logger: quietLogger)
        for refusal in Refusal.allCases {
            for _ in 0..<3 { recorder.note(refusal, address: "192.0.2.7", now: MonotonicInstant(nanoseconds: 0)) }
            #expect(recorder.counts[refusal] == 3)
        }
        #expect(recorder.counts.total == 3 * Refusal.allCases.count)
    }

    @Test("the order of ages: any number can leave, and the oldest is the one that was added first")
    func ages() {
        var order = AgeOrder()
        for id in UInt64(1)...5 { order.append(id) }
        for (removed, oldest) in [(3, 1), (1, 2), (9, 2), (2, 4), (5, 4)] as [(UInt64, UInt64)] {
            order.remove(removed)
            #expect(order.oldest == oldest)
        }
        order.remove(4)
        #expect(order.oldest == nil && order.count == 0)
        order.append(7)
        order.append(7)
        #expect(order.oldest == 7 && order.count == 1)
    }
}
