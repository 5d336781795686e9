import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Online-only signals between nodes, in bytes")
struct RelayedSignalTests {
    private static let ada = Connection(connectionId: client("ada"), creationTime: WallTime(milliseconds: 5), data: "é")

    private static func relayed(_ type: String?, to target: String?, from: Connection?) -> RelayedSignal {
        let audience: Audience = target.map { .only(client($0)) } ?? .everyone
        let line = EncodedLine(
            SignalEvent(seq: nil, from: from?.connectionId, type: type, data: "x", to: target.map { client($0) }),
            encodedSender: from.map { EncodedLine.encode($0) })
        return RelayedSignal(
            epoch: Epoch("e"), node: RunID(5), number: 300,
            signal: OnlineOnlySignal(
                after: Seq(7), from: from?.connectionId, type: type, audience: audience, line: line))
    }

    static let signals = [
        relayed("typing", to: nil, from: ada), relayed(nil, to: "bob", from: ada), relayed("t", to: nil, from: nil),
    ]

    @Test("a signal is read as it was written", arguments: signals)
    func roundTrip(_ signal: RelayedSignal) throws {
        #expect(portrait(try RelayedSignal(decoding: signal.encoded())) == portrait(signal))
    }

    @Test("an offset without a sender to insert is refused")
    func offsetAlone() {
        let bytes = Self.relayed("t", to: nil, from: nil).encoded()
        #expect(throws: CodingFault.malformed) { try RelayedSignal(decoding: bytes.dropLast() + [1]) }
    }

    @Test("bytes that are read are those of what was read, and other bytes are refused")
    func damaged() {
        var random = SeededGenerator(seed: 1)
        for signal in Self.signals {
            let bytes = signal.encoded()
            for end in bytes.indices {
                #expect(throws: CodingFault.self) { try RelayedSignal(decoding: Array(bytes[..<end])) }
            }
            #expect(throws: CodingFault.trailingBytes) { try RelayedSignal(decoding: bytes + [0]) }
            for _ in 0..<2_000 {
                var damaged = bytes
                damaged[Int.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
                if let read = try? RelayedSignal(decoding: damaged) { #expect(read.encoded() == damaged) }
            }
        }
    }
}
