import Foundation
import SignalingProtocol
import Testing

@testable import SignalingServer

@Suite("Sharing development mode")
struct SharingTests {
    private struct Vector: Decodable {
        let text: String
        let version: Int
        let mask: Int
        /// Hexadecimal; the first module is the most significant bit.
        let rows: [String]
    }

    private static let vectors: [Vector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/qr/codes.json")
        let data = try? Data(contentsOf: file.standardized)
        return data.flatMap { try? JSONDecoder().decode([Vector].self, from: $0) } ?? []
    }()

    @Test("a code is one of the eight that another encoder makes of the same text, in each version")
    func codes() throws {
        #expect(Set(Self.vectors.map(\.version)) == [1, 2, 3, 4, 5])
        for text in Set(Self.vectors.map(\.text)) {
            let code = try #require(QRCode(text))
            let rows = code.modules.map { row in
                String(row.reduce(0) { $0 << 1 | ($1 ? 1 : 0) }, radix: 16)
            }
            let masks = Self.vectors.filter { $0.text == text && $0.rows == rows }
            #expect(masks.count == 1, "\(text): \(rows)")
        }
        #expect(QRCode(String(repeating: "x", count: 107)) == nil)
    }

    @Test("a terminal shows a code with a light frame of four modules, in colours of its own")
    func lines() throws {
        let code = try #require(QRCode("http://10.0.0.2/"))
        let plain = code.lines(hasColours: false)
        #expect(
            plain.count == 15 && plain.allSatisfy { $0.count == 29 && $0.hasPrefix("    ") && $0.hasSuffix("    ") })
        #expect(plain[0] == plain[1] && plain[0].allSatisfy { $0 == " " })
        #expect(plain[2].hasPrefix("    █▀▀▀▀▀█ ") && plain[5].hasPrefix("    ▀▀▀▀▀▀▀ "))
        #expect(plain[14].allSatisfy { $0 == " " } && plain[13].allSatisfy { $0 == " " })
        let coloured = code.lines(hasColours: true)
        #expect(coloured.allSatisfy { $0.hasPrefix("\u{1B}[38;5;16;48;5;231m") && $0.hasSuffix("\u{1B}[0m") })
    }

    @Test(
        "the address of the peer and the host of the request decide together who reaches development mode",
        arguments: [
            (true, true, "127.0.0.1:8080", true, DevelopmentReach.thisMachine),
            (true, true, "localhost", false, .thisMachine),
            (true, true, "192.168.1.20:8080", true, .localNetwork),
            (true, true, "192.168.1.20:8080", false, .elsewhere),
            (false, true, "192.168.1.20:8080", true, .localNetwork), (false, true, "10.1.2.3", true, .localNetwork),
            (false, true, "172.31.0.1", true, .localNetwork), (false, true, "172.32.0.1", true, .elsewhere),
            (false, true, "[fd00::1]:8080", true, .localNetwork), (false, true, "[2001:db8::1]", true, .elsewhere),
            (false, true, "192.168.1.20:8080", false, .elsewhere),
            (false, false, "192.168.1.20:8080", true, .elsewhere),
            // A name may be that of another site, which lets it resolve to this machine (DNS rebinding).
            (false, true, "chat.example:8080", true, .elsewhere), (true, true, "chat.example", true, .elsewhere),
            (false, true, "192.168.1.20.example", true, .elsewhere), (false, true, "203.0.113.9", true, .elsewhere),
            // Only a program on this machine reaches it by a loopback address.
            (false, true, "127.0.0.1.example", true, .elsewhere), (false, true, nil, true, .elsewhere),
        ] as [(Bool, Bool, String?, Bool, DevelopmentReach)])
    func reach(isLocal: Bool, isNear: Bool, host: String?, isShared: Bool, expected: DevelopmentReach) {
        let reach = DevelopmentReach(
            isOfThisMachine: isLocal, isOfLocalNetwork: isNear, host: host, isShared: isShared)
        #expect(reach == expected, "\(host ?? "no host")")
    }

    @Test("the network gets the page and the rooms, and moderates nothing")
    func permissions() {
        let key = APIKey("100")
        let open: [Route] = [.file("/"), .room("lobby"), .link, .livez, .readyz]
        let closed: [Route] = [.metrics, .createSession, .project(key, .link), .admin(.stats)]
        for route in open { #expect(DevelopmentReach.localNetwork.permits(route, isShared: true), "\(route)") }
        for route in closed { #expect(!DevelopmentReach.localNetwork.permits(route, isShared: true), "\(route)") }
        for route in open + closed {
            #expect(DevelopmentReach.thisMachine.permits(route, isShared: true))
            #expect(!DevelopmentReach.elsewhere.permits(route, isShared: true))
        }
        #expect(Role.allCases.filter { !DevelopmentReach.localNetwork.permits($0) } == [.moderator])
    }

    @Test("the address of the way out comes first, and only those of local networks count")
    func addresses() {
        let all = ["127.0.0.1", "172.17.0.1", "192.168.1.20", "203.0.113.9", "192.168.1.20"]
        #expect(LocalAddresses.ordered(all, preferred: "192.168.1.20") == ["192.168.1.20", "172.17.0.1"])
        #expect(LocalAddresses.ordered(all, preferred: "203.0.113.9") == ["172.17.0.1", "192.168.1.20"])
    }
}
