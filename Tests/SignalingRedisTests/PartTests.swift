import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedis
@testable import SignalingRedisCore

@Suite("Redis log: addresses")
struct AddressTests {
    @Test("host, port, database, user and password are read")
    func parts() throws {
        let full = try RedisAddress("redis://user:p%40ss%3A@redis.example:6380/2")
        #expect(full.host == "redis.example" && full.port == 6_380 && full.database == 2)
        #expect(full.user == "user" && full.password == "p@ss:")
        let short = try RedisAddress("redis://localhost")
        #expect(short.port == 6_379 && short.database == 0 && short.user == nil && short.password == nil)
        let withoutUser = try RedisAddress("redis://:secret@[::1]:7000")
        #expect(withoutUser.host == "::1" && withoutUser.port == 7_000)
        #expect(withoutUser.user == nil && withoutUser.password == "secret")
    }

    @Test("no description contains the password")
    func description() throws {
        let address = try RedisAddress("redis://user:secret@[::1]/3")
        #expect(address.description == "redis://[::1]:6379/3")
        #expect("\(address)" == address.description)
    }

    @Test(
        "a malformed address is refused, without its text",
        arguments: [
            "", "localhost:6379", "http://localhost", "redis://", "redis://:secret@", "redis://host:0",
            "redis://host:x",
            "redis://host:65536", "redis://host/x", "redis://host/-1", "redis://secret@host", "redis://:%zz@host",
            "redis://[::1", "redis://[::1]x", "redis://host?secret", "redis://ho st",
        ])
    func malformed(text: String) {
        let fault = #expect(throws: CommandLogFault.self) { try RedisAddress(text) }
        #expect(fault?.code == .badAddress)
        #expect(fault?.message.contains("secret") == false)
    }

    @Test("an address with TLS says what to do")
    func tls() {
        let fault = #expect(throws: CommandLogFault.self) { try RedisAddress("rediss://host") }
        #expect(fault?.message.contains("TLS tunnel") == true)
    }
}

@Suite("Redis log: parts")
struct PartTests {
    private let run = RunID(1)

    private func entry(_ number: UInt64, _ run: UInt64 = 1, counter: UInt64? = nil) -> FeedEntry {
        FeedEntry(
            position: LogPosition(number: number, id: CommandID(run: RunID(run), counter: counter ?? number)),
            time: MonotonicInstant(nanoseconds: Int64(number)), bytes: [UInt8(number)])
    }

    private func delivered(_ feed: inout SessionFeed, now: Int64 = 0) -> [UInt64] {
        var numbers: [UInt64] = []
        while let entry = feed.next(now: MonotonicInstant(nanoseconds: now)) { numbers.append(entry.position.number) }
        return numbers
    }

    @Test("entries that arrive in any order, and several times, are delivered once and in order")
    func anyOrder() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var feed = SessionFeed()
            var arrivals = (1...20).map { UInt64($0) } + (0..<20).map { _ in UInt64.random(in: 1...20, using: &random) }
            arrivals.shuffle(using: &random)
            var numbers: [UInt64] = []
            for number in arrivals {
                let agrees = feed.receive(entry(number), now: MonotonicInstant(nanoseconds: 0))
                #expect(agrees)
                numbers += delivered(&feed)
            }
            #expect(numbers == Array(1...20), "seed \(seed)")
            #expect(feed.gapSince == nil)
        }
    }

    @Test("a gap is known since it began, and ends when it is filled")
    func gap() {
        var feed = SessionFeed()
        let start = MonotonicInstant(nanoseconds: 7)
        _ = feed.receive(entry(3), now: start)
        #expect(feed.gapSince == start)
        #expect(feed.missing.first == 1)
        #expect(feed.missing.last == 2)
        let none = delivered(&feed)
        #expect(none.isEmpty)
        for number: UInt64 in [1, 2] { _ = feed.receive(entry(number), now: start) }
        let all = delivered(&feed)
        #expect(all == [1, 2, 3])
        #expect(feed.gapSince == nil)
    }

    @Test("another id at a number that was delivered, or waits, is a contradiction")
    func contradiction() {
        var feed = SessionFeed()
        let now = MonotonicInstant(nanoseconds: 0)
        _ = feed.receive(entry(1), now: now)
        _ = delivered(&feed)
        let results = [entry(1), entry(1, 2), entry(5), entry(5, 2)].map { feed.receive($0, now: now) }
        #expect(results == [true, false, true, false])
    }

    @Test("own commands are sent in parts, and confirmed in their order")
    func ownCommands() {
        var own = OwnCommands()
        for counter in 1...600 { own.append(counter: UInt64(counter), bytes: [1], now: .seconds(0)) }
        let (first, second) = (own.takeForSending(), own.takeForSending())
        #expect(first?.count == 256)
        #expect(second?.first?.counter == 257)
        let early = own.confirm(counter: 2)
        #expect(early?.counter == nil)
        for counter in 1...300 {
            let confirmed = own.confirm(counter: UInt64(counter))
            #expect(confirmed?.bytes == [1])
        }
        let (third, fourth) = (own.takeForSending(), own.takeForSending())
        #expect(third?.first?.counter == 513)
        #expect(fourth?.count == nil)
        own.sendAgain()
        let again = own.takeForSending()
        #expect(again?.first?.counter == 301)
        #expect(own.byteCount == 300)
    }

    @Test("a large command is a call of its own")
    func largeCommands() {
        var own = OwnCommands()
        for counter in 1...3 {
            own.append(
                counter: UInt64(counter), bytes: [UInt8](repeating: 0, count: OwnCommands.callByteCount),
                now: .seconds(0))
        }
        let call = own.takeForSending()
        #expect(call?.count == 1)
    }

    @Test("a channel has one command on its way, and ends where it is wanted")
    func channels() {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var channel = ChannelSubscription()
            var onTheWay: [ChannelSubscription.Action] = []
            for _ in 0..<20 {
                if Bool.random(using: &random) {
                    if let action = channel.want(Bool.random(using: &random)) { onTheWay.append(action) }
                } else if let action = onTheWay.popLast() {
                    if let next = channel.confirmed(action == .subscribe) { onTheWay.append(next) }
                }
                #expect(onTheWay.count <= 1, "seed \(seed)")
            }
            while let action = onTheWay.popLast() {
                if let next = channel.confirmed(action == .subscribe) { onTheWay.append(next) }
            }
            #expect((channel.phase == .subscribed) == channel.isWanted, "seed \(seed)")
        }
    }

    @Test("a message of any bytes is read, or ignored")
    func messages() {
        func read(_ text: String, omitsOwn: Bool = true) -> ChannelMessage? {
            Array(text.utf8).withUnsafeBytes { ChannelMessage($0, reader: run, omitsOwn: omitsOwn) }
        }
        let other = "00000000000000ff"
        guard case .entries("g", let entries)? = read("e g 5 \(other) 7 9 2 0 1\nab\n") else {
            Issue.record("not read")
            return
        }
        #expect(entries.map(\.position.number) == [5, 6, 7])
        #expect(entries.map(\.position.id.counter) == [7, 8, 9])
        #expect(entries.map(\.bytes) == [[97, 98], [], [10]])
        #expect(entries[0].time == MonotonicInstant(nanoseconds: 9_000))
        guard case .entries(_, let own)? = read("e g 5 \(run.hexadecimal) 7 9 2\nab") else {
            Issue.record("not read")
            return
        }
        #expect(own[0].bytes == nil)
        #expect(read("x g") == .removed(generation: "g"))
        #expect(read("r \(other)\na\nb") == .relayed(from: RunID(0xff), Array("a\nb".utf8)))
        for text in [
            "", "\n", "e", "e g 5 \(other) 7 9 3\nab", "e g 5 \(other) 7 9 -1\nab", "e g x \(other) 7 9 2\nab",
            "e g 5 zz 7 9 2\nab", "r zz\nx", "x", "q 1",
            // Numbers that are not of Redis' functions.
            "e g \(UInt64.max) \(other) 7 9 1 1\nab", "e g 5 \(other) \(UInt64.max) 9 1 1\nab",
            "e g 5 \(other) 7 \(Int64.max) 2\nab", "e g 5 \(other) 7 -1 2\nab", "e g -5 \(other) 7 9 2\nab",
            "e g 5 \(other) 7 9 \(Int64.max)\nab",
        ] {
            #expect(read(text) == nil, "\(text)")
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = bytes.withUnsafeBytes { ChannelMessage($0, reader: run, omitsOwn: false) }
        }
    }

    @Test("a number above 2^53 is none of the log's, wherever Redis gives it")
    func largeNumbers() {
        let large = String(LogNumber.largest + 1)
        #expect(LogNumber.read("9007199254740992") == LogNumber.largest)
        #expect(LogNumber.read(large) == nil && LogNumber.read("-1") == nil && LogNumber.read("") == nil)
        #expect(RedisReply.integer(-1).logNumber == nil && RedisReply.integer(.max).logNumber == nil)
        #expect(RedisReply.bytes(Array(large.utf8)).logNumber == nil)
        #expect(CommandID(text: "\(run.hexadecimal):\(large)") == nil)
        #expect(MonotonicInstant(microseconds: large) == nil && MonotonicInstant(microseconds: "-1") == nil)
        let entry = RedisReply.array([
            .bytes(Array("\(UInt64.max)-0".utf8)),
            .array(["at", "9", "id", CommandID(run: run, counter: 1).text, "cmd", "x"].map { .bytes(Array($0.utf8)) }),
        ])
        #expect(CommandEntry(SessionID("1_s"), entry) == nil)
    }

    @Test("LOG-36: a further Redis moves only its share of the sessions")
    func jumpHash() {
        let sessions = (0..<10_000).map { SessionID(rawValue: "session-\($0)") }
        for count in 1...5 {
            let before = sessions.map { JumpHash.bucket(of: $0, count: count) }
            let after = sessions.map { JumpHash.bucket(of: $0, count: count + 1) }
            #expect(Set(before) == Set(0..<count))
            let moved = zip(before, after).filter { $0 != $1 }
            #expect(moved.allSatisfy { $0.1 == count })
            #expect(abs(moved.count - 10_000 / (count + 1)) < 500)
        }
        // The same in every process and version.
        #expect(JumpHash.fnv1a("session-1") == 0x1688_595d_cf49_184d)
    }

    @Test("LOG-32: a missing sign of life means a death only if Redis has answered without a pause")
    func registry() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        func second(_ value: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: value * 1_000_000_000) }
        let absent = NodeRegistry.Listed(run: run, lostAt: nil, hasSignOfLife: false, hasSessions: false)
        func overdue(after beats: some Sequence<Int64>) -> [RunID] {
            var last: Int64 = 0
            for beat in beats {
                _ = registry.update([absent], now: second(beat), logTime: second(beat))
                last = beat
            }
            return registry.overdue(now: second(last))
        }
        let early = overdue(after: 0...14)
        #expect(early.isEmpty)
        let late = overdue(after: 15...15)
        #expect(late == [run])
        // A pause of five seconds.
        let afterPause = overdue(after: 20...20)
        #expect(afterPause.isEmpty)
        let later = overdue(after: 21...35)
        #expect(later == [run])
        registry.interrupt()
        #expect(registry.overdue(now: second(35)).isEmpty)
        let lost = NodeRegistry.Listed(run: run, lostAt: second(9), hasSignOfLife: false, hasSessions: false)
        let news = registry.update([lost], now: second(36), logTime: second(36))
        #expect(news == [run])
        let old = registry.update([lost], now: second(37), logTime: second(37))
        #expect(old.isEmpty)
        #expect(registry.losses[run] == second(9))
    }

    @Test("LOG-32, G5: a loss that Redis has forgotten after a week is forgotten here, too")
    func oldLosses() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        let week = Duration.seconds(7 * 86_400)
        let lostAt = MonotonicInstant(nanoseconds: 0)
        let lost = NodeRegistry.Listed(run: run, lostAt: lostAt, hasSignOfLife: false, hasSessions: false)
        _ = registry.update([lost], now: lostAt, logTime: lostAt.advanced(by: week))
        #expect(registry.losses[run] != nil)
        _ = registry.update([], now: lostAt, logTime: lostAt.advanced(by: week + .seconds(1)))
        #expect(registry.losses.isEmpty)
    }

    @Test("LOG-32: a run that Redis has forgotten, or does not know, is suspected until it registers or is lost")
    func forgottenRuns() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        func second(_ value: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: value * 1_000_000_000) }
        let alive = NodeRegistry.Listed(run: run, lostAt: nil, hasSignOfLife: true, hasSessions: true)
        let unknown = RunID(77)
        _ = registry.update([alive], now: second(0), logTime: second(0))
        for beat in 1...20 { _ = registry.update([], now: second(Int64(beat)), logTime: second(Int64(beat))) }
        registry.suspect(unknown)
        #expect(registry.overdue(now: second(20)) == [run, unknown].sorted { $0.rawValue < $1.rawValue })
        _ = registry.update([alive], now: second(21), logTime: second(21))
        #expect(registry.overdue(now: second(21)) == [unknown])
        let isNews = registry.lose(unknown, at: second(22))
        #expect(isNews)
        registry.suspect(unknown)
        _ = registry.update([alive], now: second(23), logTime: second(23))
        #expect(registry.overdue(now: second(23)).isEmpty)
    }

    @Test("what Redis says about itself decides whether it is suitable")
    func facts() throws {
        func fault(_ lines: String...) -> CommandLogFault.Code? {
            ServerFacts(info: (["redis_version:7.0.15", "role:master"] + lines).joined(separator: "\r\n"))
                .fault(at: "redis://host")?.code
        }
        #expect(fault() == nil)
        #expect(fault("maxmemory:10", "used_memory:9", "maxmemory_policy:noeviction") == nil)
        #expect(fault("maxmemory:10", "used_memory:10", "maxmemory_policy:noeviction") == .full)
        #expect(fault("maxmemory:10", "used_memory:9", "maxmemory_policy:volatile-ttl") == .unsuitable)
        #expect(fault("cluster_enabled:1") == .unsuitable)
        #expect(fault("loading:1") == .loading)
        #expect(fault("role:slave") == .readOnly)
        #expect(ServerFacts(info: "").fault(at: "redis://host")?.code == .unsuitable)
        let promoted = ServerFacts(info: "master_replid2:00a0")
        #expect(promoted.hasTakenOver)
        #expect(!ServerFacts(info: "master_replid2:0000").hasTakenOver)
    }
}
