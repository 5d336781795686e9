import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("The streams of a session's events", .timeLimit(.minutes(5)))
struct EventStreamsTests {
    private func stream(_ streams: inout EventStreams) -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingOldest(EventStreams.bufferCount))
        _ = streams.add(continuation)
        return stream
    }

    @Test("each listener receives every event, in order")
    func everybody() async {
        var streams = EventStreams()
        let listeners = [stream(&streams), stream(&streams)]
        for reason in DisconnectReason.allCases { #expect(streams.yield(.disconnected(reason)).isEmpty) }
        for ended in streams.removeAll() { ended.finish() }
        for listener in listeners {
            var heard: [SessionEvent] = []
            for await event in listener { heard.append(event) }
            #expect(heard == DisconnectReason.allCases.map { .disconnected($0) })
        }
    }

    @Test("G4, G5: a listener that does not read ends with overflowed; the others go on")
    func overflow() async {
        var streams = EventStreams()
        let slow = stream(&streams)
        var endedCount = 0
        for number in 0..<EventStreams.bufferCount + 10 {
            let signal = Signal(type: nil, data: "\(number)", from: nil, seq: nil, isDirected: false)
            for ended in streams.yield(.signal(signal)) {
                ended.finish()
                endedCount += 1
            }
        }
        var heard: [SessionEvent] = []
        for await event in slow { heard.append(event) }
        #expect(endedCount == 1)
        #expect(heard.count == EventStreams.bufferCount)
        #expect(heard.last == .overflowed)
        #expect(heard.dropLast().last.map { $0 != .overflowed } == true)
        let late = stream(&streams)
        #expect(streams.yield(.disconnected(.clientDisconnected)).isEmpty)
        for ended in streams.removeAll() { ended.finish() }
        var heardLate = 0
        for await _ in late { heardLate += 1 }
        #expect(heardLate == 1)
    }
}
