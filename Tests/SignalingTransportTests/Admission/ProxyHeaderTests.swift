import JSONText
import TestSupport
import Testing

@testable import SignalingTransport

@Suite("How a trusted proxy names its client")
struct ProxyHeaderTests {
    private static func expected(_ one: VectorCase) throws -> ProxyHeader.Verdict {
        if one["malformed"] != nil { return .malformed }
        if one["incomplete"] != nil { return .incomplete }
        guard case .integer(let count)? = one["byteCount"] else { throw VectorFault(name: one.name) }
        return .complete(byteCount: Int(count), client: one["client"]?.stringValue.flatMap { PeerAddress($0) })
    }

    private struct VectorFault: Error { let name: String }

    @Test("each PROXY header of the vectors is read to its end, or is incomplete or malformed")
    func vectors() throws {
        let cases = try Vectors.cases("http/proxy.json")
        #expect(cases.count >= 60)
        for one in cases {
            let verdict = ProxyHeader.verdict(on: try #require(one.bytes, "\(one)"))
            #expect(try verdict == Self.expected(one), "\(one)")
        }
    }

    @Test("a verdict does not depend on how the bytes arrive: each prefix is incomplete, or has the final verdict")
    func prefixes() throws {
        for one in try Vectors.cases("http/proxy.json") {
            let bytes = try #require(one.bytes, "\(one)")
            let final = ProxyHeader.verdict(on: bytes)
            for count in 0..<bytes.count {
                let verdict = ProxyHeader.verdict(on: bytes[..<count])
                guard verdict != .incomplete else { continue }
                #expect(verdict == final, "\(one), \(count) bytes")
                break
            }
        }
    }

    @Test("changed bytes: a header never ends behind the bytes or the limit, and incomplete ones stay below the limit")
    func fuzz() throws {
        let seeds = try Vectors.cases("http/proxy.json").compactMap(\.bytes).filter { !$0.isEmpty }
        var generator = SeededGenerator(seed: 7239)
        for _ in 0..<20_000 {
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            switch ProxyHeader.verdict(on: bytes) {
            case .complete(let byteCount, _):
                #expect(byteCount > 0 && byteCount <= min(bytes.count, ProxyHeader.byteLimit), "\(bytes)")
            case .incomplete: #expect(bytes.count < ProxyHeader.byteLimit, "\(bytes)")
            case .malformed: break
            }
        }
    }

    @Test("each `Forwarded` header of the vectors has its nodes, or is malformed")
    func forwardedVectors() throws {
        let cases = try Vectors.cases("http/forwarded.json")
        #expect(cases.count >= 50)
        for one in cases {
            let nodes = ForwardedHeader.nodes(try #require(one.bytes, "\(one)"))
            let texts = nodes.map { nodes in
                JSONValue.array(
                    nodes.map { node in
                        switch node {
                        case .address(let address): .string(address.text)
                        case .hidden: .null
                        }
                    })
            }
            #expect(texts == one["nodes"], "\(one)")
            #expect((nodes == nil) == (one["malformed"] != nil), "\(one)")
        }
    }

    @Test("changed bytes: a `Forwarded` header has at most a node per element; the proxy's is the last")
    func forwardedFuzz() throws {
        let seeds = try Vectors.cases("http/forwarded.json").compactMap(\.bytes).filter { !$0.isEmpty }
        let own = try #require(PeerAddress("198.51.100.99"))
        var generator = SeededGenerator(seed: 7239)
        for _ in 0..<20_000 {
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            // Whatever the client has written, the proxy appends its part.
            bytes += Array(", for=198.51.100.99".utf8)
            guard let nodes = ForwardedHeader.nodes(bytes) else { continue }
            #expect(nodes.last == .address(own), "\(bytes)")
            #expect(nodes.count <= bytes.count { $0 == UInt8(ascii: ",") } + 1, "\(bytes)")
        }
    }

    @Test(
        "the client is the last node that is no trusted proxy's; a malformed header names no one",
        arguments: [
            ("192.0.2.7", "for=198.51.100.1", "192.0.2.7"), ("10.0.0.1", "for=198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "for=203.0.113.9, for=198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "for=203.0.113.9, for=198.51.100.1, for=10.0.0.2", "198.51.100.1"),
            ("10.0.0.1", "for=198.51.100.1, for=unknown", "10.0.0.1"), ("10.0.0.1", "proto=https", "10.0.0.1"),
            ("10.0.0.1", "for=\"x, for=198.51.100.1", nil as String?), ("192.0.2.7", "for=\"x", "192.0.2.7"),
        ])
    func forwarded(peer: String, header: String, client: String?) throws {
        let proxies = TrustedProxies(blocks: [try #require(AddressBlock("10.0.0.0/24"))])
        let peer = try #require(PeerAddress(peer))
        #expect(proxies.client(behind: peer, forwarded: Array(header.utf8))?.text == client)
        #expect(proxies.client(behind: peer, forwarded: nil) == peer)
    }

    @Test(
        "heads that follow each other are counted up to the first one that has a body or is malformed",
        arguments: [
            ("", 0), ("G", 1), ("GH", 2), ("GHGHGH", 6), ("GPG", 2), ("PG", 1), ("GBG", 2), ("GXG", 1), ("XG", 0),
            ("AG", 1), ("GAG", 1),
        ])
    func heads(pattern: String, count: Int) {
        let heads: [Character: String] = [
            "G": "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "H": "HEAD / HTTP/1.0\r\n\r\n",
            "A": "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n",
            "P": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n",
            "B": "GET / HTTP/1.1\r\nHost: h\r\ncontent-LENGTH: 5\r\n\r\n", "X": "GET / HTTP/1.1\nHost: h\r\n\r\n",
        ]
        let bytes = Array(pattern.compactMap { heads[$0] }.joined().utf8)
        #expect(RequestHeadCheck.headByteCounts(in: bytes).count == count)
        let verdict = bytes.withUnsafeBytes { RequestHeadCheck.inspect($0).verdict }
        #expect(verdict == RequestHeadCheck.verdict(on: bytes))
    }

    @Test("the values of a header come in their order, whatever the case of its name; the request line has none")
    func values() {
        let head =
            "\r\nGET /forwarded: HTTP/1.1\r\nHost: h\r\nForwarded: a\r\nX-Forwarded: b\r\nFORWARDED:c, d\r\n\r\n"
            + "forwarded: e\r\n"
        let values = RequestHeadCheck.values(of: "forwarded", in: Array(head.utf8))
        #expect(values.map { String(decoding: $0, as: UTF8.self) } == [" a", "c, d"])
    }
}
