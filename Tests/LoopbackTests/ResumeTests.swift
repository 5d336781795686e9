import SignalingClient
import SignalingCore
import SignalingProtocol
import SignalingServer
import TestSupport
import Testing
import VerificationTools

@Suite("A Swift client whose sockets are cut", .timeLimit(.minutes(5)))
struct ResumeTests {
    @Test("G1, G3, G7: over many losses each client receives every signal once, in order, and no presence event")
    func cuts() async throws {
        try await LocalServer.run { local in
            let relay = try NetworkRelay(to: local.address.port)
            defer { relay.stop() }
            let far = "http://127.0.0.1:\(relay.port)"
            let ada = try await local.join(data: "Ada")
            let bob = try await local.join(data: "Bob", server: far)
            let count = 200
            let sender = bob.session
            let sending = Task {
                for number in 0..<count {
                    try await sender.signal(type: "n", string: String(number))
                    if number.isMultiple(of: 20) { relay.cut(.abrupt) }
                }
            }
            for (client, isBob) in [(ada, false), (bob, true)] {
                var numbers: [String] = []
                while numbers.count < count {
                    switch try await client.events.next() {
                    case .signal(let signal): numbers.append(signal.data ?? "")
                    case .connectionCreated(let peer): #expect(!isBob && peer.data == "Bob")
                    case .reconnecting: #expect(isBob)
                    case .reconnected(let outcome, _): #expect(isBob && outcome == .resumed)
                    case .connectionDestroyed, .connectionAway, .connectionBack, .history, .changed, .reactions,
                        .reacted, .read, .erased, .userJoined, .userLeft, .moderated, .restricted, .unrestricted,
                        .disconnected, .overflowed:
                        Issue.record("a client disconnected")
                    }
                }
                #expect(numbers == (0..<count).map(String.init))
            }
            try await sending.value
        }
    }

    @Test("G4: after a restart of the server its clients learn that events may be missing")
    func restarted() async throws {
        // A server that starts again on its port could find that another program has it.
        let (first, second) = (try await LocalServer(), try await LocalServer())
        let relay = try NetworkRelay(to: first.address.port)
        defer { relay.stop() }
        let ada = try await first.join(data: "Ada", server: "http://127.0.0.1:\(relay.port)")
        let own = ada.session.connection
        relay.retarget(to: second.address.port)
        await first.server.stop()
        #expect(try await ada.events.next() == .reconnecting)
        #expect(try await ada.events.next() == .reconnected(.lost))
        #expect(ada.session.connection != own)
        #expect(ada.session.connections == [ada.session.connection])
        try await ada.session.signal(type: "x", string: "still here")
        await second.server.stop()
    }
}
