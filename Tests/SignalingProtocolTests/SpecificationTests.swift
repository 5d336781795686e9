import SignalingProtocol
import TestSupport
import Testing

/// Compares the tables of `docs/PROTOCOL.md` with the code, so that neither changes without the other.
@Suite("The tables of the specification equal the code")
struct SpecificationTests {
    private let text: ProtocolText
    init() throws { text = try ProtocolText.load() }

    @Test("ERR-1: the table of errors equals the code, in the same order")
    func errors() {
        let rows = text.table(after: "## 10. Errors").map { [$0[0], $0[1], $0[3]] }
        let codes = SignalingError.Code.all.map { code in
            // Whether a restriction ends by itself is no matter of the code.
            let isRetryable =
                code == .permissionDenied
                ? "no; yes for a restriction that ends by itself" : code.isRetryable ? "yes" : "no"
            return [String(code.number), code.name, isRetryable]
        }
        #expect(rows == codes)
    }

    @Test("CLOSE-1, LEAVE-4: the table of close codes equals the code, in the same order")
    func closeCodes() {
        let rows = text.table(after: "## 11. Close codes").map { [$0[0], $0[1], $0[3]] }
        let reasons = CloseReason.allCases.map { [String($0.rawValue), $0.text, $0.shouldReconnect ? "yes" : "no"] }
        #expect(rows == reasons)
    }

    @Test("CLOSE-1: codes from 4000 to 4499 and 1001 mean \"reconnect\", all others do not")
    func closeRanges() {
        for reason in CloseReason.allCases where reason.rawValue >= 4000 {
            #expect(reason.shouldReconnect == (reason.rawValue < CloseReason.firstFinalCode), "\(reason)")
        }
        for reason in CloseReason.allCases where reason.rawValue < 4000 {
            #expect(reason.shouldReconnect == (reason == .goingAway), "\(reason)")
        }
    }

    @Test("each close text fits in a close frame (RFC 6455 section 5.5)", arguments: CloseReason.allCases)
    func closeTexts(_ reason: CloseReason) {
        #expect((1...123).contains(reason.text.utf8.count))
    }

    @Test("CON-10: the table of roles equals the code")
    func roles() {
        let rows = text.table(after: "* **CON-10**")
        func digit(_ truth: Bool) -> String { truth ? "1" : "0" }
        let roles = Role.allCases.map { role in
            let may = role.capabilities
            return [
                role.rawValue, digit(may.publish), digit(may.subscribe), digit(may.forceDisconnect),
                role.maySignal ? "yes" : "no",
            ]
        }
        #expect(rows == roles)
        for role in Role.allCases {
            #expect(role.mayForceDisconnect == role.capabilities.forceDisconnect)
            #expect(role.capabilities.forceUnpublish == role.capabilities.forceDisconnect)
            #expect(role.capabilities.forceMute == role.capabilities.forceDisconnect)
        }
    }

    @Test("WIRE-10, WIRE-11, WIRE-13: the table of limits equals the code, and a client accepts 16 MiB")
    func limits() {
        let rows = Dictionary(uniqueKeysWithValues: text.table(after: "## 12. Limits").map { ($0[0], $0[1]) })
        func bytes(_ count: Int) -> String {
            let digits = String(count)
            return (count < 10_000 ? digits : "\(digits.dropLast(3)),\(digits.suffix(3))") + " bytes"
        }
        let limits = [
            "signal type": "\(Limits.typeLength) UTF-16 units",
            "signal data": "\(Limits.dataLength) UTF-16 units of the raw string",
            "connection data in a token":
                "\(Limits.connectionDataLength) UTF-16 units accepted, \(Limits.connectionDataIssued) issued",
            "token": bytes(Limits.tokenByteCount),
            "session id": bytes(Limits.sessionIDByteCount),
            "WebSocket message to the server": "\(bytes(Limits.messageByteCount)), \(Limits.fragmentCount) fragments",
            "WebSocket message before the connect is accepted": bytes(Limits.connectMessageByteCount),
            "lines before the connect is accepted": "9",
            "JSON depth": "\(Limits.jsonDepth) levels",
            "JSON values in a line": "\(Limits.jsonValueCount)",
            "JSON values in an HTTP body": "\(Limits.bodyValueCount)",
            "HTTP body": bytes(Limits.bodyByteCount),
            "HTTP header block": bytes(Limits.headerByteCount),
            "time from the TCP connection to the end of the HTTP header block, the TLS handshake included": "10 s",
            "time between two HTTP requests of a connection": "5 s",
            "connections of the server": "the limit of open files less 128, configurable",
            "connections of one address (IPv4, or IPv6 /64)": "500, configurable; none for loopback addresses",
            "connections of one address that have joined no session": "half of that",
            "new connections of one address": "a tenth of that per second, all of it at once",
            "connections of one project in its sessions": "all; half of them with several projects; configurable",
            "connections with one token in sessions": "half of the server's, configurable",
            "time to connect": "\(Limits.connectTimeout.components.seconds) s",
            "signals of one connection": "200 per second, 1,000 at once; configurable, none in development mode",
            "signals of all connections of a session with one token": "five times as many",
            "other lines of one connection, and of successive connections with one token":
                "200 per second, 200 at once; none where signals have no limit",
            "REST requests of one project": "1,000 per second, 5,000 at once; configurable, none in development mode",
            "connections of one token without a socket, per session": "1,000",
            "online-only signals of one connection": "1 per second, 5 at once",
            "connections in a session with online-only broadcasts": "100, configurable",
            "online-only signals that wait for delivery in a session": "256, 262,144 bytes",
            "connections in a session": "15,000, configurable",
            "connections of a session that only a recovery can continue": "1,024",
            "list of connections without pages": "\(Limits.connectionListByteCount / 1_048_576) MiB of JSON",
            "page of the list of connections":
                "1,000 connections, \(bytes(Limits.connectionPageByteCount)) of JSON",
            "connections of a session that are reported away at a time": "1,000",
            "unanswered requests of a connection that resumes": "\(Limits.unansweredRequests)",
            "unanswered requests of one connection": "\(Limits.unansweredRequests)",
            "unsent responses of one connection": bytes(Limits.waitingByteCount),
            "history of a session": "30 days, 10,000 messages, 16 MiB; configurable",
            "histories of all sessions": "4 GiB, configurable",
            "page of history":
                "\(Limits.historyPageCount) messages, \(bytes(Limits.historyPageByteCount)) of them, but at least one",
            "messages of a session that can be changed": "the newest 10,000",
            "key of a reaction": "\(Limits.reactionKeyLength) UTF-16 units",
            "keys of one user on a message, of a message":
                "\(Limits.reactionKeysPerUser), \(Limits.reactionKeysPerMessage)",
            "reactions to a message, in a session": "10,000, 20,000", "read markers of a session": "1,000 users",
            "feed of a project":
                "as many days as the history; 500,000 entries with a state folder, 50,000 in memory and in Redis",
            "events of an entry of a feed, of a post": "100",
            "readers that wait for an event, of all feeds": "1,000",
            "messages of a session that the server has not stored in its history yet": "16,384, 8 MiB",
            "streams of a connection, of a session":
                "\(Limits.streamCountPerConnection), \(Limits.streamCountPerSession) of "
                + "\(bytes(Limits.streamByteCountPerSession)) of JSON",
            "stream id, stream name": "\(bytes(Limits.streamIDByteCount)), \(bytes(Limits.streamNameByteCount))",
            "user id": "\(Limits.userIDLength) UTF-16 units",
            "restrictions of a session": "\(Limits.restrictionCount)",
            "reason of a restriction": "\(Limits.reasonLength) UTF-16 units",
            "recorded actions of moderators of a session": "\(Limits.restrictionCount)",
            "revocations of a project": "10,000",
            "token id (`jti`) of a revocation": "256 UTF-16 units",
            "time to resume a connection": "\(Limits.resumeWindow.components.seconds) s, configurable from 0 to 24 h",
            "time to fetch missed broadcasts":
                "\(Limits.recoveryWindow.components.seconds) s, configurable from 0 to 24 h",
        ]
        #expect(rows == limits)
        #expect(Limits.clientMessageByteCount == 16 * 1_048_576)
    }

    @Test("RES-1, RES-4, RES-9, CON-7: the example of a resume has every member, as the server and a client write it")
    func resumeExample() throws {
        let lines = text.example(after: "## 8. Resuming")
        try #require(lines.count == 6)
        let request = try readClient(lines[0])
        guard case .connect(_, let connect) = request, let resume = connect.resume else {
            Issue.record("the first line is no resume")
            return
        }
        #expect(lines[0].contains(#""options":{"connectionEventsSuppressed":false}"#))
        let plain = lines[0].replacing(#""options":{"connectionEventsSuppressed":false},"#, with: "")
        #expect(TestSupport.text(request.encoded()) == plain)
        for line in lines[1...3] + lines[5...] {
            let message = try #require(try readServer(line), "\(line)")
            #expect(TestSupport.text(message.encoded()) == line)
        }
        guard case .connected(_, let welcome)? = try readServer(lines[1]) else {
            Issue.record("the second line is no answer")
            return
        }
        #expect(welcome.outcome == .resumed && welcome.replayThrough != nil)
        #expect(welcome.seq == resume.after && welcome.connection.connectionId == resume.connectionId)
        #expect(welcome.resume.secret != resume.secret && welcome.epoch == resume.epoch)
        #expect(TestSupport.text(try readClient(lines[4]).encoded()) == lines[4])
    }

    @Test("a missing table is empty, so that no comparison with it passes")
    func missingTable() {
        #expect(text.table(after: "## 99. Nothing").isEmpty)
        #expect(ProtocolText("## a\ntext\n## b\n| x |\n| - |\n| y |").table(after: "## a").isEmpty)
        #expect(ProtocolText("## b\n| x | z |\n| - | - |\n| `y` | 1 |\n").table(after: "## b") == [["y", "1"]])
    }
}
