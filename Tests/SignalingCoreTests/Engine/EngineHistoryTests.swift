import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// An archive whose writes are answered when the test says so, and may fail.
final class HeldArchive: MessageArchive {
    let kept = MemoryArchive(projectOf: { _ in APIKey("p") })
    var holdsWrites = false
    var fails = false
    /// Whether the question for the last seq waits, as for an archive on another machine.
    var holdsReads = false
    /// Whether a page is read at once, and answered later.
    var holdsPages = false
    var lostOrderCount = 0
    private var waiting: [(_ fails: Bool) -> Void] = []
    private(set) var appends: [[Int64]] = []
    private(set) var eraseCount = 0

    /// Lets go of what waits.
    ///
    /// - Parameter isFailed: whether the write of this index fails.
    func release(failing isFailed: (Int) -> Bool = { _ in false }) {
        let waiting = waiting
        self.waiting = []
        for (index, write) in waiting.enumerated() { write(isFailed(index)) }
    }

    /// Lets go of one write.
    func release(at index: Int) { waiting.remove(at: index)(false) }

    private func write(
        _ answer: @escaping (Result<Void, ArchiveFault>) -> Void,
        _ body: @escaping (@escaping (Result<Void, ArchiveFault>) -> Void) -> Void
    ) {
        if fails { return answer(.failure(ArchiveFault("no"))) }
        guard holdsWrites else { return body(answer) }
        waiting.append { fails in if fails { answer(.failure(ArchiveFault("no"))) } else { body(answer) } }
    }

    func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        appends.append(messages.map(\.seq.rawValue))
        write(answer) { self.kept.append(messages, to: session, answer: $0) }
    }

    func put(_ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        write(answer) { self.kept.put(forms, of: session, answer: $0) }
    }

    func erase(_ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        eraseCount += 1
        write(answer) { self.kept.erase(erasure, of: session, answer: $0) }
    }

    func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        kept.page(request, of: session) { page in
            if self.holdsPages { self.waiting.append { _ in answer(page) } } else { answer(page) }
        }
    }

    func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        if fails { return answer(.failure(ArchiveFault("no"))) }
        if holdsReads {
            waiting.append { _ in self.kept.lastSeq(of: session, answer: answer) }
        } else {
            kept.lastSeq(of: session, answer: answer)
        }
    }

    func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        kept.sweep(now: now, answer: answer)
    }

    func changeBounds(to new: HistoryBounds) { kept.changeBounds(to: new) }
    var feed: any MessageFeed { kept }
    var isEmpty: Bool { !fails && kept.isEmpty }
    var byteCount: Int { kept.byteCount }
    var messageCount: Int { kept.messageCount }
}

/// A process with an engine over a log and an archive.
final class Host: SessionEngineObserver {
    let log: MemoryCommandLog
    let archive: HeldArchive
    let engine: LocalEngine
    var now: MonotonicInstant
    private(set) var outcomes: [String] = []
    private(set) var welcomes: [JoinResult] = []
    private(set) var lost: [SessionID] = []
    private(set) var renewed: [SessionID] = []
    private let run: UInt64
    private var requestCount: Int64 = 0

    init(
        log: MemoryCommandLog = MemoryCommandLog(), archive: HeldArchive = HeldArchive(), run: UInt64 = 1,
        now: MonotonicInstant = .seconds(0), kept: KeptCommands? = nil, hasFeed: Bool = false
    ) {
        (self.log, self.archive, self.run, self.now) = (log, archive, run, now)
        var epochs = 0
        let bounds = SessionState.Bounds(resumeWindow: .seconds(5), recoveryWindow: .seconds(5))
        var policy = HistoryPolicy(standard: .only(["chat"]), changes: [.edit])
        policy.readMarkers = .shared
        policy.feed = hasFeed
        engine = LocalEngine(
            log: log, run: RunID(run), bounds: bounds, history: EngineHistory(policy: policy, archive: archive),
            now: now
        ) {
            epochs += 1
            return Epoch("epoch \(run).\(epochs)")
        }
        engine.observer = self
        engine.onRenewal = { [unowned self] in renewed.append($0) }
        if let kept { _ = engine.restore(kept) }
    }

    /// The process is killed, and another one continues.
    func restarted(keeping count: Int = .max) -> Host {
        let kept = log.crash(keeping: min(count, log.inFlightCount), lostAt: now)
        return Host(log: log, archive: archive, run: run + 1, now: now, kept: kept)
    }

    /// Turns of the loop until nothing is on its way.
    func settle() {
        for _ in 0..<12 {
            engine.advance(to: now)
            log.confirm()
        }
    }

    func pass(_ seconds: Double) {
        now = now.advanced(by: .seconds(seconds))
        settle()
    }

    func submit(_ command: SessionCommand) {
        requestCount += 1
        engine.submit(
            command, to: room, ticket: CommandTicket(origin: 1, request: RequestID(requestCount)), now: now)
    }

    func join(_ name: String, user: UserID? = nil, role: Role = .moderator) {
        submit(
            .join(
                JoinRequest(
                    connectionId: client(name), socket: socket1, role: role, data: "", user: user,
                    wallTime: .init(milliseconds: 0), secretHash: hash(name))))
    }

    /// Comes back with the ticket of a connection, and with the events up to a seq.
    func comeBack(_ name: String, to epoch: Epoch?, after seq: Int64, secret: String? = nil) {
        let claim = Resumption(
            connectionId: client(name), secretHash: hash(secret ?? name), epoch: epoch ?? Epoch(""), after: Seq(seq))
        submit(
            .join(
                JoinRequest(
                    connectionId: client("\(name) \(requestCount)"), socket: socket1, role: .moderator, data: "",
                    wallTime: .init(milliseconds: 0), secretHash: hash("\(name) \(requestCount)"), resumption: claim)))
    }

    func say(_ data: String, _ name: String = "ada") {
        submit(.signal(.connection(SocketBinding(client(name), socket1), nil), SignalRequest(type: "chat", data: data)))
    }

    func edit(_ ref: Int64, _ data: String) {
        let request = ChangeRequest(Seq(ref), .edit(data: data, isJSON: false))
        submit(.change(.connection(SocketBinding(client("ada"), socket1), nil), request))
    }

    func mark(_ seq: Seq, _ name: String) {
        submit(.read(SocketBinding(client(name), socket1), through: seq))
    }

    func leave(_ name: String) { submit(.leave(SocketBinding(client(name), socket1), .clientDisconnected)) }

    func erase(_ erasure: Erasure, _ name: String) {
        submit(.erase(.connection(SocketBinding(client(name), socket1), nil), erasure))
    }

    /// Ada joins, writes one message, and leaves. Nobody is left.
    func putToSleep() {
        join("ada")
        say("one")
        settle()
        leave("ada")
        settle()
    }

    /// Everything that the session's history has, in order.
    var history: [String] {
        var page: [String] = []
        read { page = $0 }
        return page
    }

    func read(_ position: HistoryRequest.Position = .newest, answer: @escaping ([String]) -> Void) {
        engine.readHistory(HistoryRequest(position, limit: 200), of: room) { result in
            guard case .success(let read) = result else { return answer(["unreadable"]) }
            answer(
                read.messages.map { message in
                    let content = message.content.map { text($0) } ?? "erased"
                    return "\(message.seq) " + content.replacing(#","type":"chat","data":"#, with: "")
                })
        }
    }

    var isHosted: Bool { engine.state(of: room) != nil }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        outcomes.append(outcome.testDescription)
        if case .joined(let welcome) = outcome { welcomes.append(welcome) }
    }
    func engine(sessionChanged session: SessionID) {}
    func engine(_ session: SessionID, caused effect: SessionEffect) {}
    func engine(lost session: SessionID) { lost.append(session) }
}

@Suite("The history of an engine over a log")
struct EngineHistoryTests {
    @Test(
        "LOG-17: fifty readers of ten messages a second cost one entry a second, and what a reader marks last is kept")
    func readMarkers() {
        func entries(marking: Bool) -> (count: Int, host: Host) {
            let host = Host()
            for number in 0..<50 { host.join("m\(number)", user: UserID("u\(number)")) }
            host.settle()
            let before = host.log.appendCount
            for tick in 0..<100 {
                host.say("\(tick)", "m0")
                host.settle()
                let last = host.engine.state(of: room)?.log.lastSeq ?? .zero
                if marking { for number in 0..<50 { host.mark(last, "m\(number)") } }
                host.pass(0.1)
            }
            return (host.log.appendCount - before, host)
        }
        let (without, _) = entries(marking: false)
        let (with, host) = entries(marking: true)
        #expect(with > without && with <= without + 11, "\(without) and \(with)")
        host.say("the last", "m0")
        host.settle()
        let last = host.engine.state(of: room)?.log.lastSeq
        host.mark(last ?? .zero, "m7")
        host.leave("m7")
        host.settle()
        #expect(host.engine.state(of: room)?.readState(for: "u7")?.through == last)
    }

    @Test("H1, HIS-3, HIS-4: an acknowledged message is in the history at once, before and after the archive has it")
    func atOnce() {
        let host = Host()
        host.join("ada")
        host.say("one")
        host.settle()
        #expect(host.history == [#"2 "one""#] && host.archive.appends.isEmpty, "one message is not worth a write")
        host.pass(61)
        #expect(host.archive.appends == [[2]], "it has waited for long")
        #expect(host.history == [#"2 "one""#])
        #expect(host.engine.state(of: room)?.unarchived.isEmpty == true)
        for number in 1...70 { host.say("\(number)") }
        host.settle()
        #expect(host.archive.appends.count == 2 && host.history.count == 71)
    }

    @Test("HIS-3: a room that everybody has left sleeps, and the next join finds its epoch and its history")
    func sleepAndWake() {
        let host = Host()
        host.putToSleep()
        #expect(host.archive.appends == [[2]], "before it sleeps")
        #expect(!host.isHosted && host.log.sleepingSessions == [room] && host.log.keptSessions.isEmpty)
        #expect(host.history == [#"2 "one""#], "a sleeper's history is read without waking it")
        #expect(!host.isHosted)
        host.join("bob")
        host.settle()
        #expect(host.isHosted && host.log.sleepingSessions.isEmpty)
        #expect(host.welcomes.map(\.epoch) == [Epoch("epoch 1.1"), Epoch("epoch 1.1")])
        #expect(host.welcomes.last?.seq == Seq(4) && host.welcomes.last?.hasHistory == true)
        host.say("two", "bob")
        host.settle()
        #expect(host.history == [#"2 "one""#, #"5 "two""#])
        // And once more, by the next process, which has other counters.
        host.leave("bob")
        host.settle()
        let next = host.restarted()
        next.join("eve")
        next.settle()
        #expect(next.welcomes.map(\.epoch) == [Epoch("epoch 1.1")] && next.history == host.history)
    }

    @Test("HIS-4, HIS-9: what reaches a room while it falls asleep is in its history before it sleeps")
    func behindTheEnd() {
        let host = Host()
        host.join("ada")
        host.say("one")
        host.settle()
        host.pass(61)
        host.leave("ada")
        host.engine.advance(to: host.now)
        host.log.confirm()
        host.engine.advance(to: host.now)
        #expect(host.log.inFlightCount == 1, "its end")
        host.submit(.signal(.server, SignalRequest(type: "chat", data: "night")))
        host.submit(.erase(.server, .message(Seq(2))))
        host.archive.holdsWrites = true
        host.settle()
        #expect(host.history.first == "2 erased" && host.history.last?.hasSuffix(#""night""#) == true)
        host.archive.holdsWrites = false
        host.archive.release()
        host.settle()
        #expect(!host.isHosted && host.log.sleepingSessions == [room])
        #expect(host.history.first == "2 erased" && host.history.last?.hasSuffix(#""night""#) == true)
    }

    @Test("HIS-1: a signal by REST wakes a sleeping room; to a room that never was it gets 404")
    func byREST() {
        let host = Host()
        host.submit(.signal(.server, SignalRequest(type: "chat", data: "early")))
        host.settle()
        #expect(host.outcomes == ["refused 404 OT_NOT_FOUND"] && !host.isHosted)
        host.putToSleep()
        host.submit(.signal(.server, SignalRequest(type: "chat", data: "night")))
        host.settle()
        #expect(host.outcomes.last == "signalled 4")
        #expect(host.history == [#"2 "one""#, #"4 "night""#])
        host.pass(10)
        #expect(!host.isHosted && host.log.sleepingSessions == [room], "it sleeps again")
    }

    @Test(
        "HIS-9, MOD-1: a user's messages are erased wherever they are: in the archive, on the way there, and in the log"
    )
    func erasesUser() {
        let host = Host()
        host.join("bob", user: "u")
        host.join("ada", user: "m")
        host.say("old 1", "bob")
        host.say("old 2", "ada")
        host.settle()
        host.pass(61)
        #expect(host.archive.appends == [[3, 4]], "the first ones are in the archive")
        host.archive.holdsWrites = true
        host.say("new 1", "bob")
        host.say("new 2", "ada")
        host.settle()
        let sender = CommandSender.connection(SocketBinding(client("ada"), socket1), nil)
        host.submit(
            .moderate(sender, .ban(.user("u"), erasesMessages: true), Acceptance(date: WallTime(milliseconds: 0))))
        host.settle()
        let expected = ["3 erased", #"4 "old 2""#, "5 erased", #"6 "new 2""#]
        #expect(host.history == expected)
        #expect(host.engine.state(of: room).map { !text($0.encoded()).contains("new 1") } == true)
        let next = host.restarted()
        #expect(next.history == expected)
        next.archive.holdsWrites = false
        next.archive.release()
        next.pass(61)
        #expect(next.history == expected && !next.isHosted, "the session sleeps, so the archive has everything")
        var kept: [String] = []
        next.archive.page(HistoryRequest(.newest, limit: 50), of: room) { result in
            kept = ((try? result.get())?.messages ?? []).map { $0.content == nil ? "erased" : "kept" }
        }
        #expect(kept == ["erased", "kept", "erased", "kept"])
        next.join("bob", user: "u")
        next.settle()
        #expect(next.outcomes.last == "refused 1570 OT_USER_BANNED", "the ban has outlived the process")
    }

    @Test("MOD-9: a session without a history sleeps while a restriction holds, wakes as it was, and then goes")
    func sleepsRestricted() {
        let host = Host(archive: HeldArchive())
        host.engine.changeLimits(to: SessionState.Bounds(), .none, now: host.now)
        host.join("ada")
        host.submit(
            .moderate(
                .server, .ban(.user("u"), ModerationRequest.Terms(seconds: 100)),
                Acceptance(date: WallTime(milliseconds: 0))))
        host.settle()
        host.leave("ada")
        host.settle()
        #expect(!host.isHosted && host.log.sleepingSessions == [room])
        let next = host.restarted()
        next.engine.sweepHistory(now: WallTime(milliseconds: 0))
        next.settle()
        next.join("bob", user: "u")
        next.settle()
        #expect(next.outcomes.last == "refused 1570 OT_USER_BANNED")
        var reading: ModerationReading?
        next.engine.readModeration(of: room, now: next.now) { reading = $0 }
        next.settle()
        guard case .report(let report)? = reading else {
            Issue.record("\(String(describing: reading))")
            return
        }
        #expect(report.restrictions.map(\.testDescription) == ["2 ban user u"])
        next.pass(10)
        #expect(!next.isHosted && next.log.sleepingSessions == [room], "it sleeps again")
        next.pass(101)
        next.engine.sweepHistory(now: WallTime(milliseconds: 0))
        next.settle()
        #expect(next.log.sleepingSessions.isEmpty)
        next.join("bob", user: "u")
        next.settle()
        #expect(next.outcomes.last == "joined bob at 1")
    }

    @Test("HIS-3: whatever a crash leaves of the writes to the log, no message is missing, and none is there twice")
    func crashes() {
        for kept in 0...3 {
            for archived in [false, true] {
                let host = Host()
                host.join("ada")
                for number in 1...64 { host.say("\(number)") }
                host.settle()
                host.archive.holdsWrites = true
                for number in 65...130 { host.say("\(number)") }
                host.engine.advance(to: host.now)
                host.log.confirm()
                if archived { host.archive.release() }
                host.engine.advance(to: host.now)
                let next = host.restarted(keeping: kept)
                next.archive.holdsWrites = false
                next.settle()
                #expect(next.history.count == 130, "\(kept) \(archived)")
                next.pass(120)
                #expect(next.history.count == 130 && Set(next.history).count == 130, "\(kept) \(archived)")
            }
        }
    }

    @Test("HIS-3, G5: an archive that has failed is tried again also if another check was due before")
    func checkDuringTheDelay() {
        let host = Host()
        host.join("ada")
        host.settle()
        host.say("1")
        host.settle()
        // A minute after this message a check is due.
        host.pass(59.5)
        host.archive.fails = true
        for number in 2...64 { host.say("\(number)") }
        host.settle()
        #expect(host.archive.appends.count == 1)
        host.archive.fails = false
        host.pass(0.7)
        #expect(host.archive.appends.count == 1, "a second has not passed")
        host.pass(1)
        #expect(host.archive.appends.count == 2 && host.archive.appends.last?.count == 64)
        host.leave("ada")
        host.pass(30)
        #expect(!host.isHosted && host.history.count == 64)
    }

    @Test("HIS-3, G5: an archive that fails is tried again once a second, and loses nothing")
    func failures() {
        let host = Host()
        host.archive.fails = true
        // Before the archive answers, nobody knows where the session may begin.
        host.join("ada")
        host.settle()
        #expect(host.outcomes == ["unavailable"])
        host.archive.fails = false
        host.join("ada")
        host.settle()
        host.archive.fails = true
        for number in 1...100 {
            host.say("\(number)")
            host.settle()
        }
        #expect(host.archive.appends.count == 1, "not once for each message")
        host.pass(1.5)
        #expect(host.archive.appends.count == 2)
        #expect(host.history.count == 100)
        host.leave("ada")
        host.pass(30)
        #expect(host.isHosted, "it stays awake until the archive has everything")
        host.archive.fails = false
        host.pass(2)
        #expect(!host.isHosted && host.history.count == 100)
    }

    @Test("H2, HIS-3: after the order was lost, a session begins far above the seqs of its history")
    func lostOrder() {
        let host = Host()
        host.putToSleep()
        // The log is gone, and the archive is there.
        let next = Host(archive: host.archive, run: 2)
        next.join("bob")
        next.say("two", "bob")
        next.settle()
        #expect(next.welcomes.map(\.seq) == [Seq(1_000_000_003)])
        #expect(next.welcomes.map(\.epoch) == [Epoch("epoch 2.1")])
        #expect(next.history == [#"2 "one""#, #"1000000004 "two""#])
    }

    @Test("HIS-3: what a discarded session carried for its archive is salvaged")
    func salvage() {
        let host = Host()
        host.join("ada")
        host.say("one")
        host.say("two")
        host.settle()
        var kept = host.log.crash(keeping: .max, lostAt: host.now)
        (kept.discarded, kept.sessions) = (kept.sessions, [])
        let next = Host(archive: host.archive, run: 2, kept: kept)
        #expect(next.history == [#"2 "one""#, #"3 "two""#])
        next.join("bob")
        next.settle()
        #expect(next.welcomes.map(\.seq) == [Seq(1_000_000_004)])
    }

    @Test("HIS-3: a session of which the archive knows nothing begins far above zero after orders were lost")
    func unknownAfterALoss() {
        let archive = HeldArchive()
        archive.lostOrderCount = 2
        let host = Host(archive: archive)
        host.join("ada")
        host.say("one")
        host.settle()
        #expect(host.welcomes.map(\.seq) == [Seq(2_000_000_001)])
        #expect(host.history == [#"2000000002 "one""#])
    }

    @Test("HIS-3: an order begins above what was salvaged, also while the archive cannot be written to")
    func beginsBeforeTheSalvage() {
        let host = Host()
        host.join("ada")
        host.say("one")
        host.say("two")
        host.settle()
        var kept = host.log.crash(keeping: .max, lostAt: host.now)
        (kept.discarded, kept.sessions) = (kept.sessions, [])
        host.archive.holdsWrites = true
        let next = Host(archive: host.archive, run: 2, kept: kept)
        next.join("bob")
        next.say("three", "bob")
        next.settle()
        #expect(next.welcomes.map(\.seq) == [Seq(1_000_000_004)])
        host.archive.holdsWrites = false
        host.archive.release()
        next.settle()
        #expect(next.history == [#"2 "one""#, #"3 "two""#, #"1000000005 "three""#])
    }

    @Test("HIS-3, G4: a valid claim beyond the last event ends the epoch after a start, and the next is far above")
    func olderCopy() {
        let host = Host()
        host.join("ada")
        host.join("bob")
        host.say("one")
        host.submit(.moderate(.server, .freeze(), Acceptance(date: WallTime(milliseconds: 0))))
        host.settle()
        let epoch = host.welcomes.first?.epoch
        let next = host.restarted()
        next.settle()
        next.comeBack("ada", to: epoch, after: 90, secret: "wrong")
        next.settle()
        #expect(next.welcomes.map(\.outcome) == [.lost] && next.welcomes.last?.epoch == epoch)
        next.comeBack("bob", to: epoch, after: 90)
        next.settle()
        let renewed = next.welcomes.last
        #expect(renewed?.outcome == .lost && renewed?.epoch != epoch)
        #expect(renewed.map { $0.seq > Seq(1_000_000_000) } == true)
        #expect(next.lost == [room] && next.renewed == [room])
        #expect(next.engine.state(of: room)?.restrictions.hold(at: next.now) == true)
        #expect(next.history == [#"3 "one""#])
        // Only the first return since the start can prove it.
        next.comeBack("bob 1", to: renewed?.epoch, after: 2_000_000_000)
        next.settle()
        #expect(next.welcomes.last?.outcome == .lost && next.welcomes.last?.epoch == renewed?.epoch)
        let third = next.restarted()
        third.settle()
        #expect(third.engine.state(of: room)?.epoch == renewed?.epoch)
        #expect(third.engine.state(of: room).map { $0.log.lastSeq > Seq(1_000_000_000) } == true)
    }

    @Test("RES-3: a client that has come back since the start proves nothing by a claim beyond the last event")
    func liar() {
        let host = Host()
        host.join("ada")
        host.settle()
        let next = host.restarted()
        next.settle()
        next.comeBack("ada", to: host.welcomes.first?.epoch, after: 1)
        next.settle()
        next.comeBack("ada", to: host.welcomes.first?.epoch, after: 90, secret: "ada 0")
        next.settle()
        #expect(next.welcomes.map(\.outcome) == [.resumed, .lost])
        #expect(next.renewed == [] && Set(next.welcomes.map(\.epoch)).count == 1)
    }

    @Test("HIS-9: an erasure reaches the archive, and no page has the content from its entry on")
    func erasing() {
        let host = Host()
        host.join("ada")
        host.say("one")
        host.say("two")
        host.pass(61)
        host.archive.holdsWrites = true
        host.submit(.erase(.server, .message(Seq(2))))
        host.settle()
        #expect(host.history == ["2 erased", #"3 "two""#], "the archive has not erased it yet")
        host.pass(61)
        host.archive.holdsWrites = false
        host.archive.release()
        host.settle()
        #expect(host.engine.state(of: room)?.unarchived.isEmpty == true)
        #expect(host.history == ["2 erased", #"3 "two""#])
    }

    @Test(
        "HIS-9: what is erased while the archive reads a page is erased in the page", arguments: [false, true],
        [Erasure.message(Seq(3)), .user("u"), .through(Seq(3))])
    func erasedMeanwhile(isTold: Bool, erasure: Erasure) {
        let host = Host()
        host.join("bob", user: "u")
        host.say("old", "bob")
        host.say("older", "bob")
        if isTold { host.pass(61) } else { host.settle() }
        host.join("ada")
        host.say("one")
        host.settle()
        host.archive.holdsPages = true
        var pages: [[String]] = []
        host.read { pages.append($0) }
        host.read(.after(.zero)) { pages.append($0) }
        host.erase(erasure, "ada")
        // The archive is told, and answers, before it answers the page.
        host.pass(61)
        host.archive.holdsPages = false
        host.archive.release()
        let expected =
            switch erasure {
            case .message: [#"2 "old""#, "3 erased", #"5 "one""#]
            case .user: ["2 erased", "3 erased", #"5 "one""#]
            case .through: [#"5 "one""#]
            }
        #expect(pages == [expected, expected])
        #expect(host.history == expected)
    }

    /// A seed of the simulation found it.
    @Test(
        "HIS-9, CHG-9: what is erased while a list of changes is read is erased in the list",
        arguments: [Erasure.message(Seq(2)), .user("u"), .through(Seq(2))])
    func erasedWhileListed(erasure: Erasure) {
        let host = Host()
        host.join("ada", user: "u")
        for text in ["one", "two"] { host.say(text) }
        host.edit(2, "ONE")
        host.edit(3, "TWO")
        host.pass(61)
        host.archive.holdsPages = true
        var list: [String] = []
        host.read(.changedAfter(.zero)) { list = $0.map { String($0.prefix(8)) } }
        // The first message is read, and the second one is asked for.
        host.archive.release()
        host.erase(erasure, "ada")
        host.settle()
        host.archive.holdsPages = false
        host.archive.release()
        switch erasure {
        case .message: #expect(list == ["2 erased", #"3 "TWO","#])
        case .user: #expect(list == ["2 erased", "3 erased"])
        // The client loads anew.
        case .through: #expect(list == [])
        }
    }

    @Test("HIS-9: erasures share a snapshot, and what is refused or concerns nothing has none")
    func snapshotsOfErasures() {
        let host = Host()
        host.join("ada")
        host.join("sub", role: .subscriber)
        for text in ["one", "two", "three"] { host.say(text) }
        host.settle()
        for erasure in [Erasure.message(Seq(3)), .user("nobody"), .through(Seq(3))] { host.erase(erasure, "sub") }
        for erasure in [Erasure.message(Seq(90)), .message(Seq(1)), .user("nobody")] { host.erase(erasure, "ada") }
        host.settle()
        #expect(host.log.erasingSnapshotCount == 0)
        host.erase(.message(Seq(3)), "ada")
        host.settle()
        #expect(host.log.erasingSnapshotCount == 1)
        host.erase(.message(Seq(3)), "ada")
        host.pass(60)
        #expect(host.log.erasingSnapshotCount == 1, "it was erased already")
        for seq in 4...5 as ClosedRange<Int64> {
            host.erase(.message(Seq(seq)), "ada")
            host.pass(1)
        }
        #expect(host.log.erasingSnapshotCount == 2)
        host.pass(19)
        #expect(host.log.erasingSnapshotCount == 3, "HIS-9 gives a minute")
        host.pass(120)
        #expect(host.log.erasingSnapshotCount == 3)
    }

    @Test("G5, HIS-3: a client that comes and goes does not make a session sleep and wake each time")
    func comesAndGoes() {
        let host = Host()
        for turn in 0..<40 {
            host.join("ada")
            if turn == 0 { host.say("one") }
            host.settle()
            host.leave("ada")
            host.pass(0.1)
        }
        #expect(host.isHosted && host.log.snapshotCount == 1, "it has slept once")
        host.pass(10)
        #expect(!host.isHosted && host.log.snapshotCount == 2)
    }

    @Test("HIS-9: the log forgets erased content before its session sleeps, and before the process stops")
    func lastSnapshots() {
        for stops in [false, true] {
            let host = Host()
            host.join("ada")
            for text in ["one", "two"] { host.say(text) }
            host.settle()
            for seq in 2...3 as ClosedRange<Int64> {
                host.erase(.message(Seq(seq)), "ada")
                host.settle()
            }
            #expect(host.log.erasingSnapshotCount == 1)
            if stops { host.engine.endSessions() } else { host.leave("ada") }
            host.settle()
            #expect(host.log.erasingSnapshotCount == 2)
        }
    }

    @Test("MOD-7: what holds in a session that never was is no fault, although another one sleeps")
    func moderationOfNobody() {
        let host = Host()
        host.putToSleep()
        var readings: [ModerationReading] = []
        for session in ["never", room] as [SessionID] {
            host.engine.readModeration(of: session, now: host.now) { readings.append($0) }
        }
        host.settle()
        #expect(readings == [.absent, .report(ModerationReport(restrictions: [], actions: []))])
    }

    @Test("HIS-3: who looks at a sleeping session does not wake it, and sees who is restricted")
    func lookingAtSleepers() {
        let host = Host()
        host.join("ada")
        host.say("one")
        let terms = ModerationRequest.Terms(seconds: 100)
        for request in [.mute(.user("u"), terms), .ban(.user("v"), .init()), .freeze(.init())] as [ModerationRequest] {
            host.submit(.moderate(.server, request, Acceptance(date: WallTime(milliseconds: 0))))
        }
        host.settle()
        #expect(read(host.engine) == [], "somebody is in it")
        host.leave("ada")
        host.settle()
        let commands = host.log.appendCount
        #expect(read(host.engine) == ["1_room to 8: 3 restrictions, of u, v"])
        #expect(read(host.engine, in: .only("roof")) == [])
        var reading: ModerationReading?
        host.engine.readModeration(of: room, now: host.now) { reading = $0 }
        guard case .report(let report)? = reading else {
            Issue.record("\(String(describing: reading))")
            return
        }
        #expect(report.restrictions.count == 3)
        host.settle()
        #expect(!host.isHosted && host.log.appendCount == commands)
        host.pass(101)
        #expect(read(host.engine) == ["1_room to 8: 2 restrictions, of v"], "the mute has ended")
        host.submit(.moderate(.server, .mute(.user("w"), .init()), Acceptance(date: WallTime(milliseconds: 0))))
        host.settle()
        #expect(read(host.engine) == [], "the action has woken it")
        host.pass(10)
        #expect(read(host.engine) == ["1_room to 10: 3 restrictions, of v, w"])
    }

    private func read(_ engine: any InspectableEngine, in range: Range<SessionID> = .all) -> [String] {
        var found: [SleepingSession]?
        engine.readSleepers(in: range, atMost: 10) { found = (try? $0.get())?.decoded { _ in true } }
        return (found ?? []).map {
            let users = $0.restrictedUsers.map(\.rawValue).joined(separator: ", ")
            return "\($0.id) to \($0.lastSeq): \($0.restrictionCount) restrictions, of \(users)"
        }
    }

    @Test("HIS-9: a session that a killed process has left behind an erasure forgets the content")
    func snapshotAfterRestart() {
        let host = Host()
        host.join("ada")
        for text in ["one", "two"] { host.say(text) }
        host.settle()
        for seq in 2...3 as ClosedRange<Int64> { host.erase(.message(Seq(seq)), "ada") }
        host.settle()
        let count = host.log.erasingSnapshotCount
        let next = host.restarted()
        next.settle()
        #expect(next.log.erasingSnapshotCount == count + 1)
    }

    @Test("HIS-9: the archive is told of many erasures at once, and of messages as before")
    func erasuresShareABatch() {
        let host = Host()
        host.join("ada")
        for number in 1...40 { host.say("\(number)") }
        host.settle()
        host.pass(61)
        #expect(host.archive.appends.count == 1)
        for seq in 2...30 as ClosedRange<Int64> {
            host.erase(.message(Seq(seq)), "ada")
            host.pass(0.1)
        }
        #expect(host.archive.eraseCount == 1, "the first at once, and the others within 5 s")
        host.pass(5)
        #expect(host.archive.eraseCount == 29)
        #expect(host.history.filter { $0.hasSuffix("erased") }.count == 29)
    }

    @Test("HIS-2, HIS-3: a sleeper whose history is empty is forgotten")
    func sweeping() {
        let host = Host()
        host.putToSleep()
        let year = WallTime(milliseconds: host.log.time(at: host.now).date.milliseconds + 366 * 86_400_000)
        host.engine.sweepHistory(now: host.log.time(at: host.now).date)
        #expect(host.log.sleepingSessions == [room])
        host.engine.sweepHistory(now: year)
        #expect(host.log.sleepingSessions.isEmpty && host.history.isEmpty)
        host.join("bob")
        host.settle()
        #expect(host.welcomes.last?.seq == Seq(1))
    }

    @Test("LOG-6, HIS-1, HIS-8: a changed setting reaches a session that is there, and none is read at once")
    func changedSetting() {
        let host = Host()
        host.join("ada")
        host.settle()
        host.engine.changeLimits(to: .init(), HistoryPolicy(standard: .only(["other"])), now: host.now)
        host.settle()
        host.say("one")
        host.submit(
            .signal(.connection(SocketBinding(client("ada"), socket1), nil), SignalRequest(type: "other", data: "x")))
        host.settle()
        #expect(host.history == [#"3 ,"type":"other","data":"x""#])
        host.engine.changeLimits(to: .init(), .none, now: host.now)
        #expect(!host.engine.keepsHistory(room), "the session has yet to learn of it")
        host.settle()
        #expect(!host.engine.keepsHistory(room))
    }
}
