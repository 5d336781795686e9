import Dispatch
import Locking
import Testing

@testable import OpenTok
@testable import SignalingClient

// These tests fill queues of 10,000 elements, which takes a debug build some seconds.
@Suite("the bounds of OpenTok's session", .timeLimit(.minutes(5)))
struct BoundsTests {
    @Test("G5: 10,000 requests may wait for their answers; the next one fails at once with 1550")
    func waiting() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            // The loop answers nothing meanwhile.
            let gate = DispatchSemaphore(value: 0)
            try #require(ada.session.state.withLock { $0.channel }).driver.environment.post { gate.wait() }
            let refusals = (0..<OTSession.waitingLimit).compactMap { _ in ada.signal("chat", nil) }
            let last = ada.signal("chat", nil)
            gate.signal()
            #expect(refusals.isEmpty)
            #expect(last == .sessionUnableToSendSignal)
            ada.session.disconnect(nil)
            while try await ada.next() != .disconnected {}
            // After the end of the connection no request is waiting.
            ada.session.connect(withToken: try room.token("Ada"), error: nil)
            #expect(try await ada.next() == .connected)
            #expect(ada.signal("chat", "again") == nil)
            #expect(try await ada.next() == .signal(type: "chat", from: "Ada", string: "again"))
        }
    }

    @Test("G4: a delegate that falls 10,000 events behind gets 1022, then sessionDidDisconnect")
    func overflow() async throws {
        try await Room.run { room in
            let ada = try await room.join("Ada")
            let bob = try await room.join("Bob")
            #expect(try await ada.next() == .created("Bob"))
            #expect(try await bob.next() == .created("Ada"))
            // From now on Ada's delegate is not called.
            ada.session.apiQueue.suspend()
            // In batches that Bob's delegate keeps up with.
            for batch in 0..<11 {
                for number in 0..<1_000 { #expect(bob.signal("count", String(batch * 1_000 + number)) == nil) }
                for number in 0..<1_000 {
                    let string = String(batch * 1_000 + number)
                    try #require(try await bob.next() == .signal(type: "count", from: "Bob", string: string))
                }
            }
            ada.session.apiQueue.resume()
            var count = 0
            var event = try await ada.next()
            while case .signal(_, _, let string) = event {
                try #require(string == String(count))
                count += 1
                event = try await ada.next()
            }
            #expect((9_000..<11_000).contains(count))
            #expect(event == .failed(.connectionDropped))
            #expect(try await ada.next() == .disconnected)
            #expect(try await bob.next() == .destroyed("Ada"))
        }
    }
}
