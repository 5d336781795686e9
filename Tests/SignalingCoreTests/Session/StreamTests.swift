import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

private func stream(_ id: String, name: String = "") -> AnnouncedStream {
    AnnouncedStream(id: id, name: name, creationTime: WallTime(milliseconds: 5))
}

extension SessionState {
    @discardableResult
    fileprivate mutating func announce(_ ids: [String], by name: String, socket: UInt64 = 1) -> String {
        announce(streams: ids.map { stream($0) }, by: name, socket: socket)
    }

    @discardableResult
    fileprivate mutating func announce(streams: [AnnouncedStream], by name: String, socket: UInt64 = 1) -> String {
        let outcome = handle(.streams(.connection(SocketBinding(name, socket), nil), streams)).testDescription
        #expect(violation == nil)
        return outcome
    }

    fileprivate var announced: [[String]] { streamAnnouncements.map { $0.streams.map(\.id) } }
}

/// A session of ada, bob and eve, who joined at 1, 2 and 3.
private func threeMembers(signalRate: RateLimit? = nil) -> SessionState {
    var session = SessionState(signalRate: signalRate)
    for name in ["ada", "bob", "eve"] { session.join(name) }
    return session
}

@Suite("Streams")
struct StreamTests {
    @Test("STR-1: each request replaces the whole list of its connection")
    func replaces() {
        var session = threeMembers()
        #expect(session.announce(["a", "b"], by: "ada") == "announced 4")
        #expect(session.announce(["c"], by: "bob") == "announced 5")
        #expect(session.announced == [["a", "b"], ["c"]])
        #expect(session.announce(["b"], by: "ada") == "announced 6")
        #expect(session.announced == [["b"], ["c"]])
        session.announce([], by: "ada")
        #expect(session.announced == [["c"]])
        session.announce(["a"], by: "ada")
        #expect(session.announced == [["c"], ["a"]])
    }

    @Test("STR-1: too many, too long, unreadable or repeated streams are refused, and change nothing")
    func refused() {
        var session = threeMembers()
        session.announce(["kept"], by: "ada")
        session.announce(["bobs"], by: "bob")
        let eight = (0..<8).map { "s\($0)" }
        let refusals: [([AnnouncedStream], String)] = [
            ((eight + ["s8"]).map { stream($0) }, "400 OT_INVALID_PARAMETER"),
            ([stream("x"), stream("x")], "400 OT_INVALID_PARAMETER"),
            ([stream("bobs")], "400 OT_INVALID_PARAMETER"), ([stream("")], "400 OT_INVALID_PARAMETER"),
            ([stream("a b")], "400 OT_INVALID_PARAMETER"), ([stream("é")], "400 OT_INVALID_PARAMETER"),
            ([stream(String(repeating: "x", count: 65))], "400 OT_INVALID_PARAMETER"),
            ([stream("a", name: String(repeating: "é", count: 129))], "413 OT_INVALID_PARAMETER"),
        ]
        let before = session.encoded()
        for (streams, refusal) in refusals {
            #expect(session.announce(streams: streams, by: "ada") == "refused \(refusal)")
            #expect(session.encoded() == before)
        }
        #expect(session.announce(["bobs"], by: "eve", socket: 2) == "refused 500 OT_NOT_CONNECTED", "an older socket")
        let longest = stream(String(repeating: "x", count: 64), name: String(repeating: "é", count: 128))
        #expect(session.announce(streams: [longest], by: "ada") == "announced 6")
        #expect(session.announce(eight, by: "ada") == "announced 7", "its own former IDs are free")
    }

    @Test("STR-1: a session has at most 256 streams, and room again once some have ended")
    func full() {
        var session = SessionState()
        for number in 0..<33 { session.join("c\(number)") }
        for number in 0..<32 { session.announce((0..<8).map { "s\(number)-\($0)" }, by: "c\(number)") }
        #expect(session.announce(["more"], by: "c32") == "refused 1605 OT_STREAM_LIMIT_EXCEEDED")
        #expect(session.announce(["other"], by: "c31").hasPrefix("announced"), "it replaces eight")
        #expect(session.announce(["more"], by: "c32").hasPrefix("announced"))
    }

    @Test("STR-1: the streams of a session have a size, too, since every client that asks gets them")
    func tooLong() {
        var session = SessionState()
        // In JSON such a name is six times as long.
        let name = String(repeating: "\u{1}", count: 256)
        for number in 0..<6 { session.join("c\(number)") }
        let rest = String(repeating: "x", count: 50)
        func streams(_ number: Int) -> [AnnouncedStream] {
            (0..<8).map { stream("s\(number)-\($0)-\(rest)", name: name) }
        }
        for number in 0..<4 {
            #expect(session.announce(streams: streams(number), by: "c\(number)").hasPrefix("announced"))
        }
        #expect(session.announce(streams: streams(4), by: "c4") == "refused 1605 OT_STREAM_LIMIT_EXCEEDED")
        #expect(session.announce(["short"], by: "c4").hasPrefix("announced"))
        session.announce([], by: "c0")
        #expect(session.announce(streams: streams(5), by: "c5").hasPrefix("announced"))
        #expect(session.streamAnnouncements.reduce(0) { $0 + $1.byteCount } <= Limits.streamByteCountPerSession)
    }

    @Test(
        "STR-1: only a role that may publish announces, at the rate of signals; whoever is muted may only end streams")
    func permitted() {
        var session = SessionState(signalRate: RateLimit(perSecond: 1, burst: 2))
        for role in Role.allCases { session.join(role.rawValue, role) }
        #expect(session.announce(["a"], by: "subscriber") == "refused 1500 OT_PERMISSION_DENIED")
        for role in [Role.publisher, .moderator, .publisherOnly] {
            #expect(session.announce([role.rawValue], by: role.rawValue).hasPrefix("announced"))
        }
        #expect(session.signal(from: "publisher").testDescription.hasPrefix("signalled"))
        #expect(session.announce(["b"], by: "publisher") == "refused 429 OT_RATE_LIMIT_EXCEEDED")

        var room = ModeratedRoom.usual()
        func announce(_ ids: [String]) -> String {
            room.submit(.streams(.connection(room.binding("bob"), nil), ids.map { stream($0) })).testDescription
        }
        #expect(announce(["a"]).hasPrefix("announced"))
        _ = room.submit(
            .moderate(
                .connection(room.binding("mod"), nil), .mute(.user("u"), .init(seconds: nil, reason: nil)),
                Acceptance(date: room.wallTime)))
        #expect(announce(["b"]) == "refused 403 OT_PERMISSION_DENIED")
        #expect(announce([]).hasPrefix("announced"))
    }

    private let event =
        #"{"ev":"streams","seq":4,"connection":{"connectionId":"ada","creationTime":0,"data":"name=ada"},"#
        + #""streams":[{"streamId":"a","name":"Ada","hasAudio":true,"hasVideo":true,"creationTime":5}]}"#

    @Test("STR-2: the event reaches those who asked for streams; the others get the same bytes as without streams")
    func receivers() {
        var session = threeMembers()
        session.announce(streams: [stream("a", name: "Ada")], by: "ada")
        session.signal(from: "ada")
        for suppressesPresence in [false, true] {
            var asked = Outbox(
                owner: client("bob"), suppressesPresence: suppressesPresence, cursor: Seq(3), getsStreams: true)
            var plain = Outbox(owner: client("eve"), suppressesPresence: suppressesPresence, cursor: Seq(3))
            var batch = SharedBatch(log: session.log, after: Seq(3), onlineOnly: [])
            #expect(batch.bytes(for: &asked, log: session.log) == nil, "it has bytes of its own")
            let shared = batch.bytes(for: &plain, log: session.log).map(lines) ?? []
            #expect(shared.count == 1 && shared[0].contains("signal"))
            let own = dequeueAll(&asked, session.log)
            #expect(own == [event] + shared)
            #expect(asked.cursor == plain.cursor)
        }
    }

    @Test("STR-2: connected lists the streams for a client that asks, and is as before for another; not after a resume")
    func welcome() {
        func connected(asks: Bool, _ outcome: Welcome.Outcome) -> Welcome? {
            var state = ConnectionState(openedAt: .seconds(0))
            var request = ConnectRequest.test
            request.streamEvents = asks
            _ = state.handle(.received(.connect(RequestID(1), request)), now: .seconds(0))
            _ = state.handle(.authenticated(.success(.test)), now: .seconds(0))
            var result = JoinResult.test
            result.outcome = outcome
            result.streams = [StreamAnnouncement(connection: result.connection, streams: [stream("a")])]
            for case .enter(_, let welcome, let entry) in state.handle(
                .answered(RequestID(1), .joined(result)), now: .seconds(0))
            {
                #expect(entry.getsStreams == asks)
                return welcome
            }
            return nil
        }
        let asked = connected(asks: true, .new)
        #expect(asked?.streams?.count == 1)
        #expect(connected(asks: true, .lost)?.streams?.count == 1)
        #expect(connected(asks: true, .resumed)?.streams == .some(nil), "it knows them, and the replay follows")
        var plain = asked
        plain?.streams = nil
        #expect(connected(asks: false, .new) == plain)

        var session = threeMembers()
        session.announce(["a"], by: "ada")
        guard case .joined(let result) = session.join("zoe") else { return #expect(Bool(false)) }
        #expect(result.streams == session.streamAnnouncements)
    }

    @Test("STR-3: a connection that leaves, expires or is forced out takes its streams with it, before its departure")
    func leaving() {
        for reason in [DisconnectReason.clientDisconnected, .networkDisconnected, .forceDisconnected] {
            var session = threeMembers()
            session.announce(["a"], by: "ada")
            switch reason {
            case .clientDisconnected: session.leave("ada", reason)
            case .forceDisconnected: session.forceDisconnect("ada", by: nil)
            case .networkDisconnected:
                _ = session.handle(.detach(SocketBinding("ada", 1)))
                #expect(session.announced == [["a"]], "it may come back")
                session.advance(to: .seconds(60))
            }
            let last = session.lines.suffix(2)
            #expect(last.first?.contains(#""streams":[],"reason":"\#(reason.rawValue)"}"#) == true)
            #expect(last.last?.contains(#""ev":"connectionDestroyed","seq":6"#) == true)
            #expect(session.announced == [] && session.violation == nil)
        }
    }

    @Test("STR-1: streams are part of the state from version 6 of the rules on, and not of an older one")
    func versions() throws {
        var session = threeMembers()
        // What later rules have follows the streams.
        session.rules = .streams
        session.announce(["a"], by: "ada")
        let copy = try SessionState(decoding: session.encoded())
        #expect(copy.streamAnnouncements == session.streamAnnouncements && copy.encoded() == session.encoded())
        for rules in [RulesVersion.moderation, .newerTokens] {
            var old = SessionState(id: room, epoch: Epoch("e"), rules: rules)
            old.join("ada")
            let bytes = old.encoded()
            #expect(bytes[0] == rules.rawValue)
            #expect(try SessionState(decoding: bytes).encoded() == bytes)
        }
        // A connection that has left cannot have streams.
        var gone = session
        gone.streams = SessionStreams()
        let stray =
            gone.encoded().dropLast()
            + session.encoded().suffix(
                session.encoded().count - gone.encoded().count + 1)
        #expect(try SessionState(decoding: Array(stray)).streamAnnouncements == session.streamAnnouncements)
        session.streams = SessionStreams()
        session.leave("ada")
        let bytes = Array(session.encoded().dropLast()) + Array(stray.suffix(stray.count - gone.encoded().count + 1))
        #expect(throws: CodingFault.malformed) { try SessionState(decoding: bytes) }
    }
}
