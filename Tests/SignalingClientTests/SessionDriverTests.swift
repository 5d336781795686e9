import Locking
import Logging
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

/// A ``ClientEnvironment`` on the test's own thread: the test moves the clock and speaks for the server.
///
/// Unchecked: a test uses it on one thread.
private final class ManualEnvironment: ClientEnvironment, @unchecked Sendable {
    final class Timer: ClientTimer {
        let fire: () -> Void
        var deadline: MonotonicInstant?
        init(fire: @escaping () -> Void) { self.fire = fire }
        func schedule(at deadline: MonotonicInstant) { self.deadline = deadline }
        func cancel() { deadline = nil }
    }

    final class Link: ClientLink {
        let onEvent: (ClientLinkEvent) -> Void
        var isBacklogged = false
        var written: [String] = []
        var closeCode: UInt16?
        init(onEvent: @escaping (ClientLinkEvent) -> Void) { self.onEvent = onEvent }
        func write(_ message: ArraySlice<UInt8>) { written.append(String(decoding: message, as: UTF8.self)) }
        func close(code: UInt16) { closeCode = code }
        func receive(_ text: String) { Array(text.utf8).withUnsafeBytes { onEvent(.received($0)) } }
    }

    var now = at(0)
    var wallTime = WallTime(milliseconds: 1_700_000_000_000)
    var work: [@Sendable () -> Void] = []
    var timers: [Timer] = []
    var links: [Link] = []
    var openError: SignalingError?

    var link: Link { links[links.count - 1] }

    func start() throws(SignalingError) {}
    func post(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }
    func random() -> Double { 0.5 }
    func makeTimer(_ fire: @escaping () -> Void) -> any ClientTimer {
        timers.append(Timer(fire: fire))
        return timers[timers.count - 1]
    }
    func openLink(
        url: String, trustedCertificatesFile: String?, onEvent: @escaping (ClientLinkEvent) -> Void
    ) throws(SignalingError) -> any ClientLink {
        if let openError { throw openError }
        links.append(Link(onEvent: onEvent))
        return link
    }

    /// The end of a turn of the loop.
    func endTurn() {
        let posted = work
        work = []
        for each in posted { each() }
    }

    func advance(to seconds: Double) {
        now = at(seconds)
        for timer in timers {
            guard let deadline = timer.deadline, deadline <= now else { continue }
            timer.deadline = nil
            timer.fire()
        }
    }
}

@Suite("A session's driver")
struct SessionDriverTests {
    private let environment = ManualEnvironment()
    private let driver: SessionDriver
    private let connected =
        #"{"ev":"connected","id":1,"connection":{"connectionId":"bob","creationTime":2,"data":"Bob"},"#
        + #""connections":[{"connectionId":"bob","creationTime":2,"data":"Bob"}],"role":"publisher","epoch":"e","seq":2,"#
        + #""outcome":"new","resume":{"secret":"s","resumeSeconds":60,"recoverySeconds":300},"heartbeatSeconds":10}"#

    init() { driver = SessionDriver(environment: environment) }

    /// The results from a driver's completions and journal.
    private final class Record {
        var connects: [Result<Void, SignalingError>] = []
        var calls: [Result<Seq?, SignalingError>] = []
        var disconnectCount = 0
    }

    private let record = Record()

    private func connect() throws {
        driver.connect(.test, to: try ServerAddress("http://127.0.0.1:1")) { record.connects.append($0) }
    }

    private func connectFully() throws {
        try connect()
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(connected)
        _ = try #require(record.connects.last).get()
    }

    private func signal(_ data: String) {
        driver.call({ .signal(SignalRequest(type: nil, data: data), $0) }) { record.calls.append($0) }
    }

    @Test("a connect completes when the server has answered, on the loop alone")
    func connects() throws {
        try connect()
        #expect(record.connects.isEmpty)
        environment.link.onEvent(.opened)
        #expect(environment.link.written.isEmpty)
        environment.endTurn()
        #expect(
            environment.link.written == [
                #"{"op":"connect","id":1,"apiKey":"1","sessionId":"1_s","token":"t","#
                    + #""options":{"connectionPages":true}}"#
            ])
        environment.link.receive(connected)
        #expect(record.connects.count == 1)
        #expect(driver.snapshot.withLock { $0.connection?.data } == "Bob")
    }

    @Test("a program that waits hears that the network or the app is back, until the session ends")
    func returns() async {
        var listener = driver.makeReturnStream().makeAsyncIterator()
        for change in [DeviceLife.networkBack, .foreground] {
            driver.note(change)
            #expect(await listener.next() != nil)
        }
        driver.note(.background)
        driver.abandon()
        #expect(await listener.next() == nil)
    }

    @Test("ERR-1, MOD-4: a refusal tells what holds, and for how long by the server's clock")
    func refusedByRestriction() throws {
        try connectFully()
        func restriction(after seconds: Int64) -> Restriction? {
            let now = WallTime(milliseconds: environment.wallTime.milliseconds + seconds * 1000)
            return driver.snapshot.withLock { $0.restriction(at: now) }
        }
        #expect(restriction(after: 0) == nil)
        signal("a")
        environment.endTurn()
        // The client's clock is ahead: by it, the mute has ended.
        environment.link.receive(
            #"{"ev":"error","id":2,"code":403,"name":"OT_PERMISSION_DENIED","message":"","retryable":true,"#
                + #""restriction":{"kind":"mute","until":1600000000000},"retryAfter":2000}"#)
        #expect(throws: SignalingError(.permissionDenied, "")) { try record.calls.first?.get() }
        #expect(restriction(after: 1)?.kind == .mute)
        #expect(restriction(after: 2) == nil)
        environment.link.receive(#"{"ev":"unrestricted","seq":3,"kind":"mute"}"#)
        #expect(restriction(after: 1) == nil)
    }

    @Test("MOD-6: what a moderator has asked is read, or fails with the server's error")
    func readsRestrictions() throws {
        try connectFully()
        var answers: [Result<[RestrictionRecord], SignalingError>] = []
        for _ in 0..<2 { driver.readRestrictions { answers.append($0) } }
        environment.endTurn()
        #expect(
            environment.link.written.last == #"{"op":"restrictions","id":2}"# + "\n" + #"{"op":"restrictions","id":3}"#)
        environment.link.receive(
            #"{"ev":"restrictions","id":2,"restrictions":[{"kind":"freeze","ref":7,"time":1700000000000}]}"#)
        environment.link.receive(
            #"{"ev":"error","id":3,"code":403,"name":"OT_PERMISSION_DENIED","message":"","retryable":false}"#)
        #expect(try answers.first?.get().map(\.ref) == [Seq(7)])
        #expect(throws: SignalingError(.permissionDenied, "")) { try answers.last?.get() }
    }

    @Test("a second connect fails with 1015 while the first continues")
    func secondConnect() throws {
        try connect()
        try connect()
        #expect(throws: SignalingError(.illegalState, "")) { try record.connects.first?.get() }
        #expect(environment.links.count == 1)
    }

    @Test("a socket that cannot be opened fails the connect with the environment's error")
    func cannotOpen() throws {
        environment.openError = SignalingError(.invalidParameter, "")
        try connect()
        #expect(throws: SignalingError(.invalidParameter, "")) { try record.connects.first?.get() }
    }

    @Test("WIRE-3: requests of one turn leave as one text message, in their order")
    func coalesces() throws {
        try connectFully()
        for data in ["a", "b"] { signal(data) }
        environment.endTurn()
        #expect(
            environment.link.written.dropFirst()
                == [#"{"op":"signal","id":2,"data":"a"}"# + "\n" + #"{"op":"signal","id":3,"data":"b"}"#])
        environment.link.receive(#"{"ev":"ack","id":2,"seq":3}"# + "\n" + #"{"ev":"ack","id":3,"seq":4}"#)
        #expect(try record.calls.map { try $0.get() } == [Seq(3), Seq(4)])
    }

    @Test("requests over the server's message limit leave as several messages of whole lines")
    func splits() throws {
        try connectFully()
        let data = String(repeating: "x", count: Limits.dataLength)
        for _ in 0..<10 { signal(data) }
        environment.endTurn()
        let messages = environment.link.written.dropFirst()
        #expect(messages.count > 1)
        #expect(messages.allSatisfy { $0.utf8.count <= Limits.messageByteCount })
        let lines = messages.flatMap { $0.split(separator: "\n") }
        #expect(lines.count == 10)
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }

    @Test("a backlogged socket gets nothing until it has drained")
    func backlog() throws {
        try connectFully()
        environment.link.isBacklogged = true
        signal("a")
        environment.endTurn()
        #expect(environment.link.written.count == 1)
        environment.link.isBacklogged = false
        environment.link.onEvent(.drained)
        #expect(environment.link.written.count == 2)
    }

    private func isCancelled(_ result: Result<Seq?, SignalingError>?) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error.code == .notConnected && error.message.contains("cancelled")
    }

    @Test("a request that waits for the socket is withdrawn; one that was written is not")
    func withdraws() throws {
        try connectFully()
        signal("written")
        environment.endTurn()
        environment.link.isBacklogged = true
        for data in ["a", "b", "c"] { signal(data) }
        environment.endTurn()
        for call in [1, 2, 4, 4, 9] as [UInt64] { driver.withdraw(.init(rawValue: call)) }
        #expect(record.calls.map { isCancelled($0) } == [true, true])
        environment.link.isBacklogged = false
        environment.link.onEvent(.drained)
        #expect(environment.link.written.last == #"{"op":"signal","id":4,"data":"b"}"#)
        environment.link.receive(#"{"ev":"ack","id":2,"seq":3}"# + "\n" + #"{"ev":"ack","id":4,"seq":4}"#)
        #expect(try record.calls.dropFirst(2).map { try $0.get() } == [Seq(3), Seq(4)])
    }

    @Test("RES-9: a withdrawn request gives its place among the unanswered ones to the next")
    func withdrawnPlace() throws {
        try connectFully()
        environment.link.isBacklogged = true
        for number in 0...Limits.unansweredRequests { signal("\(number)") }
        environment.endTurn()
        driver.withdraw(.init(rawValue: 1))
        environment.link.isBacklogged = false
        environment.link.onEvent(.drained)
        environment.endTurn()
        let lines = environment.link.written.dropFirst().flatMap { $0.split(separator: "\n") }
        #expect(lines.count == Limits.unansweredRequests)
        #expect(lines.last?.contains(#""data":"\#(Limits.unansweredRequests)""#) == true)
    }

    @Test("G2: over a loss only a request is withdrawn of which no socket has got a byte")
    func withdrawsOverLoss() throws {
        try connectFully()
        signal("written")
        environment.endTurn()
        environment.link.isBacklogged = true
        signal("unwritten")
        environment.endTurn()
        environment.link.onEvent(.closed(code: nil))
        signal("waiting")
        for call in [1, 2, 3] as [UInt64] { driver.withdraw(.init(rawValue: call)) }
        #expect(record.calls.map { isCancelled($0) } == [true, true])
        environment.advance(to: 0.125)
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(
            connected.replacing(#""id":1"#, with: #""id":4"#).replacing(#""new""#, with: #""resumed""#))
        environment.endTurn()
        #expect(environment.link.written.last == #"{"op":"signal","id":2,"data":"written"}"#)
    }

    @Test("HIS-6: a read completes with its page or with the server's error, out of order, too")
    func reads() throws {
        try connectFully()
        var results: [Int: Result<HistoryPage, SignalingError>] = [:]
        for (number, position) in ([.before(Seq(9)), .newest, .newest] as [HistoryRequest.Position]).enumerated() {
            driver.read(HistoryRequest(position, limit: 20)) { results[number] = $0 }
        }
        environment.endTurn()
        #expect(
            environment.link.written.last?.split(separator: "\n").first
                == #"{"op":"history","id":2,"before":9,"limit":20}"#)
        environment.link.receive(
            #"{"ev":"history","id":3,"first":1,"last":8,"more":false,"messages":[{"seq":8,"from":null,"time":5}]}"#)
        environment.link.receive(#"{"ev":"error","id":2,"code":403,"name":"OT_PERMISSION_DENIED"}"#)
        environment.link.receive(#"{"ev":"history","id":4,"error":{"code":404,"name":"OT_NOT_FOUND"}}"#)
        #expect(
            results == [
                1: .success(
                    HistoryPage(
                        range: Seq(1)...Seq(8), more: false,
                        messages: [
                            HistoryMessage(
                                seq: Seq(8), from: nil, time: WallTime(milliseconds: 5),
                                content: .signal(type: nil, data: nil, isJSON: false))
                        ])),
                0: .failure(SignalingError(.permissionDenied, "")), 2: .failure(SignalingError(.notFound, "")),
            ])
    }

    @Test("RES-9: a cut read is sent anew, unless its task was cancelled meanwhile")
    func withdrawsReads() throws {
        try connectFully()
        var results: [Result<HistoryPage, SignalingError>] = []
        for limit in [10, 20] { driver.read(HistoryRequest(limit: limit)) { results.append($0) } }
        environment.endTurn()
        driver.withdraw(.init(rawValue: 1))
        #expect(results == [], "the request was written, so its answer completes it")
        environment.link.onEvent(.closed(code: nil))
        driver.withdraw(.init(rawValue: 1))
        #expect(results == [.failure(SignalingError(.notConnected, ""))])
        environment.advance(to: 0.125)
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(
            connected.replacing(#""id":1"#, with: #""id":4"#).replacing(#""new""#, with: #""resumed""#))
        environment.endTurn()
        #expect(environment.link.written.last == #"{"op":"history","id":5,"limit":20}"#)
    }

    @Test("HIS-5: hasHistory and epoch are those of the last connected, and end with the connection")
    func hasHistory() throws {
        func state() -> [String] { driver.snapshot.withLock { ["\($0.hasHistory)", $0.epoch?.rawValue ?? "-"] } }
        func comeBack(_ id: Int, at time: Double, _ outcome: String, epoch: String, history: Bool) {
            environment.link.onEvent(.closed(code: nil))
            environment.advance(to: time)
            environment.link.onEvent(.opened)
            environment.endTurn()
            environment.link.receive(
                connected.replacing(#""id":1"#, with: #""id":\#(id)"#).replacing(#""new""#, with: #""\#(outcome)""#)
                    .replacing(#""epoch":"e""#, with: #""epoch":"\#(epoch)","history":\#(history)"#))
        }
        try connectFully()
        #expect(state() == ["false", "e"])
        comeBack(2, at: 0.125, "resumed", epoch: "e", history: true)
        #expect(state() == ["true", "e"])
        comeBack(3, at: 0.25, "lost", epoch: "f", history: false)
        #expect(state() == ["false", "f"])
        comeBack(4, at: 0.375, "lost", epoch: "g", history: true)
        #expect(state() == ["true", "g"])
        environment.link.onEvent(.closed(code: 1000))
        #expect(state() == ["false", "-"])
    }

    @Test("a cancelled connect fails at once and closes its socket; a later connect is not affected")
    func cancelsConnect() throws {
        var attempts: [UInt64] = []
        for _ in 0..<2 {
            attempts.append(
                driver.connect(.test, to: try ServerAddress("http://127.0.0.1:1")) { record.connects.append($0) })
            driver.cancelConnect(attempts[0])
        }
        #expect(environment.links.map(\.closeCode) == [1000, nil])
        #expect(throws: SignalingError(.connectFailed, "")) { try record.connects[0].get() }
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(connected)
        driver.cancelConnect(attempts[1])
        #expect(throws: Never.self) { try record.connects[1].get() }
        #expect(record.connects.count == 2 && environment.link.closeCode == nil)
    }

    @Test("RES-13: after a loss the timer opens the next socket, and events of the older socket are ignored")
    func reconnects() throws {
        try connectFully()
        let old = environment.link
        old.onEvent(.closed(code: nil))
        environment.advance(to: 0.124)
        #expect(environment.links.count == 1)
        environment.advance(to: 0.125)
        #expect(environment.links.count == 2)
        old.onEvent(.opened)
        environment.endTurn()
        #expect(environment.link.written.isEmpty)
        environment.link.onEvent(.opened)
        environment.endTurn()
        #expect(environment.link.written.count == 1)
    }

    @Test("LEAVE-1: a disconnect completes with the server's close; without a connection it completes at once")
    func disconnects() throws {
        driver.disconnect { record.disconnectCount += 1 }
        #expect(record.disconnectCount == 1)
        try connectFully()
        driver.disconnect { record.disconnectCount += 1 }
        environment.endTurn()
        #expect(environment.link.written.last == #"{"op":"disconnect","id":2}"#)
        #expect(record.disconnectCount == 1)
        environment.link.onEvent(.closed(code: CloseReason.normal.rawValue))
        #expect(record.disconnectCount == 2)
        #expect(environment.timers.allSatisfy { $0.deadline == nil })
    }

    @Test("LEAVE-1: a connect while disconnecting completes the disconnect, and opens another socket")
    func connectsWhileDisconnecting() throws {
        try connectFully()
        let old = environment.link
        driver.disconnect { record.disconnectCount += 1 }
        try connect()
        #expect(record.disconnectCount == 1)
        #expect(old.closeCode == CloseReason.normal.rawValue)
        #expect(environment.links.count == 2)
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(connected)
        #expect(record.connects.count == 2)
        #expect(driver.snapshot.withLock { $0.connection } != nil)
    }

    @Test("HB-3: a message of a later protocol is a sign of life")
    func unknownMessage() throws {
        try connectFully()
        environment.advance(to: 15)
        environment.link.receive(#"{"ev":"somethingNew"}"#)
        environment.advance(to: 20)
        #expect(environment.link.closeCode == nil)
        environment.advance(to: 35)
        #expect(environment.link.closeCode == CloseReason.heartbeatMissed.rawValue)
    }

    // MARK: Log lines

    private func drive(_ driver: SessionDriver) throws {
        driver.connect(
            ConnectRequest(apiKey: APIKey("1"), sessionId: SessionID("1_s"), token: "secret-token"),
            to: try ServerAddress("http://127.0.0.1:1")
        ) { _ in }
        environment.link.onEvent(.opened)
        environment.endTurn()
        environment.link.receive(connected)
    }

    @Test("a session logs each step of its connection to the given logger, and never tokens or data")
    func logLines() throws {
        let lines = LogLines()
        let driver = SessionDriver(
            environment: environment, log: ClientLog(lines.logger, session: SessionID("1_s")))
        try drive(driver)
        driver.call({ .signal(SignalRequest(type: "secret-type", data: "secret-data"), $0) }) { _ in }
        environment.link.receive(#"{"ev":"error","id":2,"code":403,"name":"OT_X","message":"no","retryable":false}"#)
        environment.link.onEvent(.closed(code: nil))
        environment.advance(to: 0.125)
        environment.link.receive("{")
        #expect(
            lines.all == [
                "debug connecting", "info connected", "debug request refused", "info the socket is lost; reconnecting",
                "debug connecting", "error the server's message breaks the protocol", "warning disconnected",
            ])
        #expect(lines.metadata.contains("session=1_s"))
        #expect(lines.metadata.contains("connection=bob"))
        #expect(lines.metadata.contains("code=403"))
        for secret in ["secret-token", "secret-type", "secret-data", "Bob"] {
            #expect(!lines.metadata.contains(secret), "\(secret)")
        }
    }

    @Test("the end that the client asked for is no warning")
    func logOfDisconnect() throws {
        let lines = LogLines()
        let driver = SessionDriver(environment: environment, log: ClientLog(lines.logger))
        try drive(driver)
        driver.disconnect {}
        environment.link.onEvent(.closed(code: CloseReason.normal.rawValue))
        #expect(lines.all == ["debug connecting", "info connected", "debug disconnected"])
    }

    @Test("the journal records the driver's actions and events in order")
    func journal() throws {
        let entries = Lock<[String]>([])
        driver.keepJournal { entry in entries.withLock { $0.append("\(entry)".prefix { $0 != "(" }.description) } }
        try connectFully()
        signal("a")
        environment.link.receive(
            #"{"ev":"signal","seq":3,"from":"bob","data":"a"}"# + "\n" + #"{"ev":"ack","id":2,"seq":3}"#)
        #expect(entries.withLock { $0 } == ["opening", "welcomed", "sent", "heard", "answered"])
    }
}
