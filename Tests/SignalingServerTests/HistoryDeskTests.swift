import SignalingCore
import SignalingProtocol
import SignalingTokens
import Testing

@testable import SignalingServer

/// A room in memory whose clients ask for pages.
private final class Room {
    static let session = SessionID("1_room")
    let engine: MemoryEngine
    let desk: HistoryDesk
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private(set) var answers: [PageBytes] = []
    private(set) var errors: [SignalingError] = []
    var pages: [String] { answers.map { String(decoding: $0.members, as: UTF8.self) } }
    private let binding = SocketBinding(ConnectionID("ada"), SocketID(1))

    init() {
        engine = MemoryEngine(history: HistoryPolicy(standard: .all)) { Epoch("e") }
        desk = HistoryDesk(engine: engine)
        let join = JoinRequest(
            connectionId: binding.connectionId, socket: binding.socket, role: .moderator, data: "",
            wallTime: WallTime(milliseconds: 0), secretHash: ResumeSecretHash(bytes: []))
        submit(.join(join))
    }

    private func submit(_ command: SessionCommand) {
        engine.submit(
            command, to: Self.session, ticket: CommandTicket(origin: 1, request: nil), now: now)
    }

    func say(_ data: String) { submit(.signal(.connection(binding, nil), SignalRequest(data: data))) }
    func erase(_ seq: Int64) { submit(.erase(.server, .message(Seq(seq)))) }

    func read(_ request: HistoryRequest = HistoryRequest(), upTo last: Seq? = nil) {
        desk.read(request, of: Self.session, upTo: last, now: now) { result in
            switch result {
            case .success(let page): self.answers.append(page)
            case .failure(let error): self.errors.append(error)
            }
        }
    }
}

@Suite("Pages of history for many clients")
struct HistoryDeskTests {
    @Test("HIS-7: clients that ask for the newest page at the same time share one read of it")
    func shared() {
        let room = Room()
        room.say("a")
        for _ in 0..<5_000 { room.read(HistoryRequest(.newest, limit: 50)) }
        #expect(room.desk.counts.read == 1 && room.desk.counts.shared == 4_999)
        #expect(Set(room.pages).count == 1 && room.pages.count == 5_000)
        room.read(HistoryRequest(.newest, limit: 3))
        room.read(HistoryRequest(.before(Seq(9)), limit: 50))
        room.read(HistoryRequest(.before(Seq(9)), limit: 50))
        #expect(room.desk.counts.read == 4, "another page is another read")
        room.now = room.now.advanced(by: .seconds(2))
        room.read(HistoryRequest(.newest, limit: 50))
        #expect(room.desk.counts.read == 5, "what was trimmed meanwhile must not be shown for ever")
    }

    @Test("HIS-4, HIS-9: a message or an erasure after the last read is in the next page")
    func fresh() {
        let room = Room()
        room.say("alpha")
        room.read()
        room.say("beta")
        room.read()
        room.erase(2)
        room.read()
        #expect(room.pages.map { $0.contains("beta") } == [false, true, true])
        #expect(room.pages.map { $0.contains("alpha") } == [true, true, false])
        #expect(room.pages[2].contains(#""erased":true"#))
    }

    @Test(
        "HIS-5: the page of a connect has no message after `connected.seq`, and the newest page is shared if it has none"
    )
    func upToTheConnect() {
        let room = Room()
        for text in ["a", "b", "c", "d"] { room.say(text) }
        func seqs() -> [Int64] { room.answers.last?.source.messages.map(\.seq.rawValue) ?? [] }
        room.read(HistoryRequest(.newest, limit: 2), upTo: Seq(3))
        #expect(seqs() == [2, 3] && room.answers.last?.source.more == false)
        room.read(HistoryRequest(.newest, limit: 2), upTo: Seq(4))
        #expect(seqs() == [3, 4] && room.answers.last?.source.more == true)
        room.read(HistoryRequest(.after(Seq(2)), limit: 50), upTo: Seq(4))
        #expect(seqs() == [3, 4] && room.answers.last?.source.more == false)
        let count = room.desk.counts.read
        for _ in 0..<9 { room.read(HistoryRequest(.newest, limit: 2), upTo: Seq(5)) }
        #expect(seqs() == [4, 5] && room.desk.counts.read == count)
        room.read(HistoryRequest(.newest, limit: 2), upTo: Seq(1))
        #expect(seqs() == [])
    }

    @Test("HIS-10: the answer by REST has the members of a history line except ev and id")
    func byREST() throws {
        let room = Room()
        room.say("alpha")
        room.read()
        let page = try #require(room.answers.first)
        let body = String(decoding: page.body, as: UTF8.self)
        #expect(body.hasPrefix(#"{"first":2,"last":2,"more":false,"messages":[{"seq":2,"#))
        let line = String(decoding: page.line(answering: RequestID(7)).bytes, as: UTF8.self)
        #expect(line == #"{"ev":"history","id":7,"# + body.dropFirst())
    }

    @Test("HIS-8: what is switched off is read no more, by who is connected, either")
    func switchedOff() {
        let room = Room()
        room.say("alpha")
        room.read()
        room.engine.changeLimits(to: SessionState.Bounds(), HistoryPolicy.none, now: room.now)
        room.read()
        #expect(room.pages.count == 1 && room.errors.map(\.code) == [.notFound])
    }

    @Test("HIS-6, HIS-10: each integer in a query is a position; a limit is 1 or more")
    func query() throws {
        func request(_ query: [String: String]) throws -> HistoryRequest {
            try HistoryRequest(query: { query[$0] })
        }
        #expect(try request([:]) == HistoryRequest())
        #expect(try request(["before": "-1"]) == HistoryRequest(.before(.zero)))
        #expect(try request(["before": "9007199254740993", "limit": "201"]) == HistoryRequest(.newest, limit: 200))
        #expect(try request(["after": "9223372036854775807"]) == HistoryRequest(.after(.greatest)))
        for wrong in [
            ["before": "1", "after": "1"], ["after": "9223372036854775808"], ["after": "1.0"], ["before": ""],
            ["limit": "0"], ["limit": "-1"],
        ] {
            #expect(throws: SignalingError.self) { try request(wrong) }
        }
    }

    @Test("HIS-8: who may read follows from the token's claim and the server's setting")
    func access() {
        #expect(HistoryReading.role.access(of: nil) == .granted)
        #expect(HistoryReading.claim.access(of: nil) == .denied)
        for reading in HistoryReading.allCases {
            #expect(reading.access(of: .all) == .granted)
            #expect(reading.access(of: HistoryClaim.none) == .denied)
        }
    }
}
