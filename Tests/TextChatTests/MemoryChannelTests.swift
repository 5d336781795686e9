import Foundation
import SignalingProtocol
import Testing
import TextChatTesting

@Suite("A channel in memory", .timeLimit(.minutes(5)))
struct MemoryChannelTests {
    @Test("waitUntilSent returns with the awaited signal")
    func sent() async throws {
        let channel = MemorySession().connect()
        async let wait: Void = channel.waitUntilSent(2)
        try await channel.send(SignalRequest(type: "a"))
        try await channel.send(SignalRequest(type: "b"))
        try await wait
        #expect(channel.sent.map(\.type) == ["a", "b"])
    }

    @Test("readers of events get all of them, each once")
    func events() async throws {
        let session = MemorySession()
        let channel = session.connect()
        #expect(try await channel.nextEvents() == [.connected(channel.connection.connectionId)])
        async let types = {
            var types: [String?] = []
            while types.count < 100 {
                for case .signal(let signal) in try await channel.nextEvents() { types.append(signal.type) }
            }
            return types
        }()
        for n in 0..<100 { session.signal(SignalRequest(type: String(n))) }
        #expect(try await types == (0..<100).map(String.init))
        #expect(channel.removeEvents().isEmpty)
    }

    @Test("a wait ends when it is cancelled, before its start or later")
    func cancelled() async {
        let channel = MemorySession().connect()
        _ = channel.removeEvents()
        for isEarly in [true, false] {
            let (begun, begin) = AsyncStream<Void>.makeStream()
            let waits = Task {
                // Cancelled before, it finds that out by itself.
                if isEarly { while !Task.isCancelled { await Task.yield() } }
                begin.finish()
                await #expect(throws: CancellationError.self) { try await channel.waitUntilSent(1) }
                await #expect(throws: CancellationError.self) { try await channel.nextEvents() }
            }
            if isEarly { waits.cancel() }
            for await _ in begun {}
            waits.cancel()
            await waits.value
        }
        #expect(channel.sent.isEmpty)
    }
}
