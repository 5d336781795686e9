import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// The connection ids and the rests of pages, each of at most `byteLimit` bytes.
private func read(_ pages: UnsentConnections?, byteLimit: Int = .max) throws -> (ids: [String], rests: [Int]) {
    var pages = try #require(pages)
    var (ids, rests): ([String], [Int]) = ([], [])
    while !pages.isEmpty {
        var bytes: [UInt8] = []
        pages.appendPage(byteLimit: byteLimit, to: &bytes, separatedFrom: 0)
        guard case .connections(let connections, let rest) = try decoded(text(bytes)) else {
            Issue.record("no page: \(text(bytes))")
            break
        }
        #expect(connections.count <= Limits.connectionPageCount && bytes.count <= Limits.connectionPageByteCount + 64)
        ids += connections.map(\.connectionId.rawValue)
        rests.append(rest)
    }
    return (ids, rests)
}

/// Joins with the option `connectionPages`.
private func joinForPages(_ name: String, _ session: inout SessionState) throws -> JoinResult {
    let request = JoinRequest(
        connectionId: client(name), socket: socket1, role: .publisher, data: "name=\(name)", getsPages: true,
        wallTime: WallTime(milliseconds: 0), secretHash: hash(name))
    guard case .joined(let result) = session.handle(.join(request)) else {
        Issue.record("\(name) did not join")
        throw SignalingError(.connectFailed, name)
    }
    return result
}

@Suite("The list of connections in pages")
struct ConnectionListTests {
    @Test("CON-11: the pages hold all other connections in the order of joining, and the last one has the rest 0")
    func pages() throws {
        var session = SessionState(connectionCount: 5_000)
        for number in 0..<2_500 { session.join("m\(number)") }
        let result = try joinForPages("ada", &session)
        #expect(result.connectionCount == 2_501)
        let all = try read(result.pages)
        #expect(all.ids == (0..<2_500).map { "m\($0)" })
        #expect(all.rests.count >= 3 && all.rests.last == 0 && all.rests == all.rests.sorted(by: >))
        let small = try read(result.pages, byteLimit: 20_000)
        #expect(small.ids == all.ids && small.rests.count > all.rests.count)
    }

    @Test("CON-11: the first client has no list to wait for, nor has one that resumes or suppresses presence")
    func none() throws {
        var session = SessionState()
        let first = try joinForPages("ada", &session)
        #expect(first.connectionCount == nil && first.pages == nil && first.connections.count == 1)
        var request = JoinRequest(
            connectionId: client("bob"), socket: SocketID(2), role: .publisher, data: "", suppressesPresence: true,
            getsPages: true, wallTime: WallTime(milliseconds: 0), secretHash: hash("bob"))
        guard case .joined(let suppressed) = session.handle(.join(request)) else { return #expect(Bool(false)) }
        #expect(suppressed.connectionCount == nil && suppressed.connections == [suppressed.connection])
        request.suppressesPresence = false
        request.resumption = Resumption(
            connectionId: client("bob"), secretHash: hash("bob"), epoch: Epoch("e"), after: Seq(2))
        guard case .joined(let resumed) = session.handle(.join(request)) else { return #expect(Bool(false)) }
        #expect(resumed.outcome == .resumed && resumed.connectionCount == nil)
        #expect(resumed.connections == [resumed.connection])
    }

    @Test("CON-11, CON-6: a list that a client reads late is still the list of its join")
    func readLate() throws {
        var session = SessionState()
        for name in ["ada", "bob", "eve"] { session.join(name) }
        let result = try joinForPages("dora", &session)
        session.leave("bob")
        session.join("fay")
        #expect(try read(result.pages).ids == ["ada", "bob", "eve"])
        #expect(try read(joinForPages("gil", &session).pages).ids == ["ada", "eve", "dora", "fay"])
    }

    @Test("CON-11: after any joins and departures the list is that of the roster", arguments: [81, 82, 83])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var roster = Roster(listBlockByteCount: Int.random(in: 1...2_000, using: &random))
        for step in 0..<2_000 {
            if Int.random(in: 0..<10, using: &random) < (step % 500 < 250 ? 8 : 2) {
                roster.append(.listed(step, data: String(repeating: "é\"", count: step % 20)))
            } else if let id = roster.connections.randomElement(using: &random)?.connectionId {
                _ = roster.remove(id)
            }
            guard step.isMultiple(of: 50) || roster.count < 3 else { continue }
            let read = try read(UnsentConnections(roster.list))
            #expect(read.ids == roster.connections.map(\.connectionId.rawValue), "seed \(seed), step \(step)")
            #expect(roster.list.count == roster.count)
            #expect(roster.list.byteCount == roster.members.reduce(0) { $0 + $1.encodedConnection.count - 13 })
        }
    }

    @Test("G5, CON-11: clients that have not read their lists share the encoded connections")
    func shared() throws {
        var roster = Roster()
        var unread: [UnsentConnections] = []
        for step in 0..<2_000 {
            unread.append(UnsentConnections(roster.list))
            roster.append(.listed(step, data: String(repeating: "x", count: 100)))
        }
        // All blocks are shared but the last, to which later clients were added.
        #expect(unread.map(\.count) == Array(0..<2_000))
        for (earlier, later) in zip(unread, unread.dropFirst()) {
            #expect(later.unsharedByteCount(with: earlier) <= ConnectionList.blockByteCount)
        }
    }

    @Test("CON-11, WIRE-11: without pages a list over 4 MiB has the oldest connections that fit, and then the own one")
    func bounded() throws {
        var session = SessionState(connectionCount: 10_000)
        let data = String(repeating: "\u{1}", count: 1_000)
        for number in 0..<800 {
            let request = JoinRequest(
                connectionId: client("m\(number)"), role: .publisher, data: data, wallTime: WallTime(milliseconds: 0))
            guard case .joined(let result) = session.handle(.join(request)) else { return #expect(Bool(false)) }
            guard number.isMultiple(of: 100) || number == 799 else { continue }
            let connections = result.connections
            #expect(connections.last == result.connection)
            guard let count = result.connectionCount else {
                #expect(connections.count == number + 1)
                continue
            }
            #expect(count == number + 1 && connections.count < count)
            guard number == 799 else { continue }
            let others = connections.dropLast()
            #expect(others.elementsEqual(session.connections.prefix(others.count)))
            let byteCount = connections.reduce(0) { $0 + EncodedLine.encode($1).count }
            // Whole blocks are listed.
            #expect((4_194_304 - 25_000...4_194_304).contains(byteCount), "\(byteCount) bytes")
        }
        #expect(session.connectionCount == 800)
    }

    @Test("G5, CON-11: without pages a long list is one line, which comes in small parts before everything else")
    func parts() throws {
        var session = SessionState(connectionCount: 2_000)
        for number in 0..<1_500 { session.join("m\(number)") }
        guard case .joined(let result) = session.join("ada") else { return #expect(Bool(false)) }
        let welcome = Welcome(
            connection: result.connection, connections: [result.connection], role: .publisher, epoch: result.epoch,
            seq: result.seq, outcome: result.outcome,
            resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
        var outbox = Outbox(welcome, answering: RequestID(1), ClientEntry(others: result.others))
        #expect(outbox.waitingByteCount < 1_000, "WIRE-13: the list is no response")
        session.signal(from: "m1")
        var parts: [[UInt8]] = []
        var progress = Outbox.Progress.partial
        while progress == .partial {
            var bytes: [UInt8] = []
            progress = outbox.dequeue(from: session.log, onlineOnly: [], byteLimit: 65_536, into: &bytes)
            #expect(outbox.isWithinMessage == (progress == .partial), "only the list comes in parts")
            parts.append(bytes)
        }
        #expect(progress == .complete && !outbox.hasPrivateLines && outbox.waitingByteCount == 0)
        #expect(parts.count > 5 && parts.allSatisfy { $0.count < 20_000 })
        let all = lines(parts.flatMap(\.self))
        #expect(all.count == 2 && all[1].hasPrefix(#"{"ev":"signal","seq":1"#))
        guard case .connected(_, let read) = try decoded(all[0]) else { return #expect(Bool(false)) }
        #expect(read.connections == session.connections && read.connectionCount == nil)
    }

    @Test("a session that ends while its list is being sent leaves the client a complete message")
    func ended() throws {
        var session = SessionState(connectionCount: 2_000)
        for number in 0..<1_000 { session.join("m\(number)") }
        guard case .joined(let result) = session.join("ada") else { return #expect(Bool(false)) }
        for partCount in 0..<3 {
            let welcome = Welcome(
                connection: result.connection, connections: [result.connection], role: .publisher, epoch: result.epoch,
                seq: result.seq, outcome: result.outcome,
                resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
            var outbox = Outbox(welcome, answering: RequestID(1), ClientEntry(others: result.others))
            var bytes: [UInt8] = []
            for _ in 0..<partCount {
                _ = outbox.dequeue(from: session.log, onlineOnly: [], byteLimit: 65_536, into: &bytes)
            }
            outbox.dequeuePrivateLines(into: &bytes)
            #expect(!outbox.isWithinMessage && !outbox.hasPrivateLines)
            guard case .connected(_, let read) = try decoded(text(bytes)) else { return #expect(Bool(false)) }
            #expect(read.connections.last == result.connection && (read.connections.count > 1) == (partCount > 0))
        }
    }

    @Test("CON-11, RES-4: pages come after connected and before the replay, newer events and answers")
    func order() throws {
        var session = SessionState(connectionCount: 2_000)
        for number in 0..<1_500 { session.join("m\(number)") }
        let result = try joinForPages("ada", &session)
        let welcome = Welcome(
            connection: result.connection, connections: [result.connection], connectionCount: result.connectionCount,
            role: .publisher, epoch: result.epoch, seq: result.seq, outcome: result.outcome,
            resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .zero, recoveryWindow: .zero))
        var outbox = Outbox(welcome, answering: RequestID(1), ClientEntry(others: result.others))
        let waiting = outbox.waitingByteCount
        #expect(waiting > 0 && waiting < 1_000, "WIRE-13: the pages are no responses")
        session.signal(from: "m1")
        outbox.append(EncodedLine(.ack(RequestID(2), nil)), after: session.log.lastSeq)
        var messages: [[String]] = []
        var progress = Outbox.Progress.partial
        while progress == .partial {
            var bytes: [UInt8] = []
            progress = outbox.dequeue(from: session.log, onlineOnly: [], byteLimit: 20_000, into: &bytes)
            messages.append(lines(bytes).map { String($0.prefix(22)) })
        }
        #expect(progress == .complete && !outbox.hasPrivateLines && outbox.waitingByteCount == 0)
        #expect((4...10).contains(messages.count), "parts of about 20,000 bytes")
        let words = messages.flatMap(\.self)
        #expect(words.first == #"{"ev":"connected","id""#)
        #expect(words.dropFirst().dropLast(2).allSatisfy { $0 == #"{"ev":"connections","c"# } && words.count >= 5)
        #expect(words.suffix(2) == [#"{"ev":"signal","seq":1"#, #"{"ev":"ack","id":2}"#])
    }
}

extension Roster.Member {
    fileprivate static func listed(_ number: Int, data: String) -> Roster.Member {
        let connection = Connection(
            connectionId: client("\(number)"), creationTime: WallTime(milliseconds: Int64(number)), data: data)
        return Roster.Member(
            connection: connection, role: .publisher, encodedConnection: EncodedLine.encode(connection),
            suppressesPresence: false, isToldAbsences: false, attachment: .attached(socket1, node: RunID(0)),
            ticket: ResumeTicket(
                connectionId: connection.connectionId, role: .publisher, data: data, user: nil, begin: .zero,
                joined: .zero,
                secrets: ValidSecrets(hash("secret"))))
    }
}
