import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingRedisCore

@Suite("Sentinel: the search for the primary")
struct SentinelSearchTests {
    private let one = RedisEndpoint(host: "10.0.0.1", port: 6_379)
    private let two = RedisEndpoint(host: "10.0.0.2", port: 6_379)
    private let silent = CommandLogFault(.unreachable, "The Sentinel cannot be reached")
    private let start = MonotonicInstant(nanoseconds: 0)

    private func after(_ milliseconds: Int64) -> MonotonicInstant { start.advanced(by: .milliseconds(milliseconds)) }

    private func search(_ count: Int = 3) -> SentinelSearch {
        SentinelSearch(name: "room", sentinelCount: count, redis: "redis+sentinel://a,b,c/room")
    }

    /// A search whose link uses a Redis that all Sentinels name.
    private func settled(on endpoint: RedisEndpoint) -> SentinelSearch {
        var search = search()
        _ = search.begin(now: start)
        for index in 0..<3 { _ = search.answered(index, .primary(endpoint), now: start) }
        return search
    }

    private func switchMessage(_ name: String = "room", to endpoint: RedisEndpoint) -> String {
        "\(name) 10.0.0.9 6379 \(endpoint.host) \(endpoint.port)"
    }

    private func code(_ step: SentinelSearch.Step?) -> CommandLogFault.Code? {
        if case .giveUp(let fault) = step { fault.code } else { nil }
    }

    @Test("all Sentinels are asked at once, and the address that most of them name is used")
    func majority() {
        var search = search()
        #expect(search.begin(now: start) == [.ask(sentinel: 0), .ask(sentinel: 1), .ask(sentinel: 2)])
        #expect(search.answered(0, .primary(one), now: start) == nil)
        #expect(search.answered(2, .primary(two), now: start) == nil)
        #expect(search.answered(1, .primary(two), now: start) == .connect(two))
    }

    @Test("a Sentinel that is away holds nothing up: after half a second the others decide")
    func patience() {
        var search = search()
        _ = search.begin(now: start)
        #expect(search.answered(1, .primary(one), now: start) == nil)
        #expect(search.tick(now: after(499)) == [])
        #expect(search.tick(now: after(500)) == [.connect(one)])
    }

    @Test("without a name, the search waits for the Sentinels that have not answered")
    func noName() {
        var search = search()
        _ = search.begin(now: start)
        #expect(search.lost(0, silent, now: start) == nil)
        #expect(search.tick(now: after(900)) == [])
        #expect(search.answered(1, .primary(two), now: after(950)) == .connect(two))
    }

    @Test("one Sentinel is enough, and says what is wrong when it fails")
    func single() {
        var search = search(1)
        _ = search.begin(now: start)
        #expect(search.answered(0, .primary(one), now: start) == .connect(one))
        search.end()
        _ = search.begin(now: after(10))
        #expect(code(search.lost(0, silent, now: after(10))) == .unreachable)
        search.end()
        _ = search.begin(now: after(20))
        #expect(code(search.answered(0, .unknownName, now: after(20))) == .unsuitable)
    }

    @Test("+switch-master ends the link, and the next one goes to the new primary without asking first")
    func switched() {
        var search = settled(on: one)
        #expect(code(search.announced(by: 2, switchMessage(to: two))) == .readOnly)
        search.end()
        #expect(search.begin(now: after(50)).last == .connect(two))
        // Sentinels that have not heard of it yet do not bring the old one back.
        #expect(search.answered(0, .primary(one), now: after(60)) == nil)
        #expect(search.announced(by: 1, switchMessage(to: two)) == nil)
    }

    @Test("an announcement for another name, of the present primary, or that is malformed changes nothing")
    func otherAnnouncements() {
        var search = settled(on: one)
        for text in [
            switchMessage("other", to: two), switchMessage(to: one), "", "room", "room 1 2 3", "room a 1 b 0",
            "room a 1 b 65536", "room a 1 b x", "room a 1 b 2 3",
        ] {
            #expect(search.announced(by: 0, text) == nil)
        }
    }

    @Test("an announcement of the search's own time decides it")
    func announcedWhileSearching() {
        var search = search()
        _ = search.begin(now: start)
        #expect(search.answered(0, .primary(one), now: start) == nil)
        #expect(search.announced(by: 0, switchMessage(to: two)) == .connect(two))
    }

    @Test("an announced primary that is of no use is forgotten: the Sentinels decide again")
    func announcedInVain() {
        var search = settled(on: one)
        _ = search.announced(by: 0, switchMessage(to: two))
        search.end()
        _ = search.begin(now: after(10))
        search.end()
        #expect(search.begin(now: after(20)) == [.ask(sentinel: 0), .ask(sentinel: 1), .ask(sentinel: 2)])
        _ = search.answered(0, .primary(one), now: after(30))
        #expect(search.answered(1, .primary(one), now: after(30)) == .connect(one))
    }

    @Test("a Sentinel whose connection is lost is asked again, and a switch that nothing has heard is found")
    func missedSwitch() {
        var search = settled(on: one)
        for index in 0..<3 { #expect(search.lost(index, silent, now: start) == nil) }
        #expect(search.tick(now: after(4_999)) == [])
        #expect(search.tick(now: after(5_000)).count == 3)
        #expect(search.answered(0, .primary(two), now: after(5_010)) == nil)
        #expect(code(search.answered(1, .primary(two), now: after(5_010))) == .readOnly)
    }

    @Test("nothing follows while no link is wanted")
    func idle() {
        var search = settled(on: one)
        search.end()
        #expect(search.tick(now: after(60_000)) == [])
        #expect(search.answered(0, .primary(two), now: after(60_000)) == nil)
    }

    @Test("what a Sentinel answers")
    func answers() {
        func answer(_ reply: RedisReply) -> SentinelSearch.Answer { .init(reply, of: "The Sentinel a:1") }
        func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }
        func fault(_ reply: RedisReply) -> CommandLogFault? {
            if case .failed(let fault) = answer(reply) { fault } else { nil }
        }
        #expect(answer(.array([text("10.0.0.1"), text("6379")])) == .primary(one))
        #expect(answer(.null) == .unknownName)
        for reply in [
            .array([]), .array([text("10.0.0.1")]), .array([text(""), text("1")]), .array([text("a"), text("x")]),
            .array([text("a"), text("0")]), .integer(1), text("a"),
        ] as [RedisReply] {
            #expect(fault(reply)?.code == .failing)
        }
        #expect(fault(.failure(RedisFailure("NOAUTH Authentication required.")))?.code == .refused)
        #expect(fault(.failure(RedisFailure("ERR AUTH called without any password configured")))?.code == .refused)
        let unknown = fault(.failure(RedisFailure("ERR unknown command 'SENTINEL'")))
        #expect(unknown?.message.contains("does not answer as a Sentinel does") == true)
    }
}
