import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// A connected client, whose pages are read when the test says so.
private struct Reader {
    var state: ConnectionState
    var said: [String] = []
    var now = MonotonicInstant.seconds(2)

    /// - Parameter option: the page that the client asks for with its connect.
    init(
        _ access: HistoryAccess = .granted, keeps: Bool = true, outcome: Welcome.Outcome = .new,
        option: HistoryRequest? = nil, inputRate: RateLimit? = nil
    ) {
        state = ConnectionState(openedAt: .seconds(0), inputRate: inputRate)
        var connect = ConnectRequest.test
        connect.history = option
        _ = state.handle(.received(.connect(RequestID(1), connect)), now: .seconds(1))
        var admission = ConnectionState.Admission.test
        admission.historyAccess = access
        _ = state.handle(.authenticated(.success(admission)), now: .seconds(1))
        var result = JoinResult.test
        result.hasHistory = keeps
        result.outcome = outcome
        handle(.answered(RequestID(1), .joined(result)))
    }

    mutating func handle(_ input: ConnectionState.Input) {
        said += state.handle(input, now: now).map(\.testDescription)
    }

    mutating func ask(_ id: Int64, _ request: HistoryRequest = HistoryRequest()) {
        handle(.received(.history(RequestID(id), request), byteCount: 40))
    }

    mutating func read(_ id: Int64, byteCount: Int = 20) {
        let line = EncodedLine(bytes: Array(repeating: UInt8(ascii: "x"), count: byteCount), insertion: nil)
        handle(.pageRead(RequestID(id), .success(line ?? .nothing)))
    }

    /// What was said since the last call.
    mutating func new() -> [String] {
        defer { said = [] }
        return said
    }
}

@Suite("Reading history on a connection")
struct HistoryReadTests {
    @Test("HIS-5: the page that the connect asks for is read after `connected`, and only by who may read")
    func option() {
        var reader = Reader(option: HistoryRequest(.newest, limit: 7))
        let effects = reader.new()
        #expect(effects.map { $0.prefix(5) } == ["enter", "read "])
        #expect(effects.last?.hasPrefix("read newest up to \(JoinResult.test.seq)") == true, "\(effects)")
        reader.read(1)
        #expect(reader.new() == ["send " + String(repeating: "x", count: 20)])
        for (access, keeps, outcome) in [
            (HistoryAccess.denied, true, Welcome.Outcome.new), (.granted, false, .new), (.granted, true, .resumed),
        ] {
            var other = Reader(access, keeps: keeps, outcome: outcome, option: HistoryRequest())
            #expect(other.new().allSatisfy { !$0.hasPrefix("read") }, "\(access) \(keeps) \(outcome)")
        }
        var recovered = Reader(outcome: .recovered, option: HistoryRequest())
        #expect(recovered.new().contains { $0.hasPrefix("read") })
    }

    @Test("HIS-5: a page that cannot be read ends nothing; a request gets an error, the option a `history`")
    func unreadable() {
        var reader = Reader(option: HistoryRequest())
        reader.ask(5)
        _ = reader.new()
        let fault = SignalingError(.notConnected, "later")
        reader.handle(.pageRead(RequestID(1), .failure(fault)))
        let answers = reader.new()
        #expect(answers[0].hasPrefix(#"send {"ev":"history","id":1,"error":{"code":500"#))
        reader.handle(.pageRead(RequestID(5), .failure(fault)))
        #expect(reader.new() == ["send error 5 500 OT_NOT_CONNECTED"])
        #expect(!reader.state.isClosing)
    }

    @Test("HIS-8: 403 for who may not read, 404 where nothing is kept, 500 before the connect")
    func refused() {
        var denied = Reader(.denied)
        _ = denied.new()
        denied.ask(5)
        #expect(denied.new() == ["send error 5 403 OT_PERMISSION_DENIED"])
        var none = Reader(keeps: false)
        _ = none.new()
        none.ask(5)
        #expect(none.new() == ["send error 5 404 OT_NOT_FOUND"])
        var early = ConnectionState(openedAt: .seconds(0))
        let answer = early.handle(.received(.history(RequestID(3), HistoryRequest())), now: .seconds(1))
        #expect(answer.map(\.testDescription) == ["send error 3 500 OT_NOT_CONNECTED"])
    }

    @Test("HIS-7: one page of a client at a time, the others in their order; no answer waits for a page")
    func oneAtATime() {
        var reader = Reader()
        _ = reader.new()
        for id in 5...7 as ClosedRange<Int64> { reader.ask(id) }
        #expect(reader.new().count == 1)
        reader.handle(.received(.signal(RequestID(8), SignalRequest())))
        reader.handle(.answered(RequestID(8), .signalled(Seq(9))))
        #expect(reader.new() == ["submit signal - of ada to 1_room as 8", "send ack 8 9"])
        reader.read(6)
        #expect(reader.new() == [], "nobody has asked for it yet")
        reader.read(5)
        reader.read(6)
        #expect(reader.new().count == 4)
        reader.read(7)
        #expect(reader.new().count == 1)
    }

    @Test("WIRE-13, G5: a client that does not read its pages gets no further ones, and is read from no more")
    func backPressure() {
        var reader = Reader()
        _ = reader.new()
        for id in 5...400 as ClosedRange<Int64> { reader.ask(id) }
        #expect(reader.new().contains("pause reading"), "too many unanswered requests")
        reader.handle(.backlog(waitingByteCount: 100_000, acknowledgedByteCount: 0))
        reader.read(5)
        #expect(reader.new().count == 1, "the next page waits until the client has read")
        reader.handle(.backlog(waitingByteCount: 0, acknowledgedByteCount: 100_000))
        #expect(reader.new().map { $0.prefix(4) } == ["read"], "it goes on, although nothing is read from the client")
        var resumedAt: Int64?
        for id in 6...400 as ClosedRange<Int64> {
            reader.read(id)
            if reader.new().contains("resume reading") { resumedAt = id }
        }
        #expect(resumedAt == 272, "when 128 requests are left")
    }

    @Test("WIRE-15: a page counts like the lines that it is long")
    func lineRate() {
        var reader = Reader(inputRate: RateLimit(perSecond: 1, burst: 50))
        _ = reader.new()
        reader.ask(5)
        reader.read(5, byteCount: 40 * 1024)
        #expect(!reader.state.isOverLineRate)
        reader.ask(6)
        reader.read(6, byteCount: 40 * 1024)
        #expect(reader.state.isOverLineRate)
        #expect(reader.new().contains("pause reading"))
    }
}
