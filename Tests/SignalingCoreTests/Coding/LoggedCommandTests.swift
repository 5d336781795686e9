import CoreTestSupport
import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Commands of the log in bytes")
struct LoggedCommandTests {
    /// One command of each kind, with each field set and unset. The names are those of `coding/commands.json`.
    static let commands: [(name: String, command: LoggedCommand)] = {
        let ada = SocketBinding("ada", 0x0123_4567_89AB_CDEF)
        var bounds = SessionState.Bounds(
            connectionCount: 7, logEventCount: 20, logByteCount: 3_000, resumeWindow: .seconds(5),
            recoveryWindow: .milliseconds(9_500), detachedCountPerToken: 2, recoverableCount: 3,
            signalRate: RateLimit(perSecond: 10, burst: 20), onlineOnlyRate: nil, onlineOnlyConnectionCount: 50)
        bounds.awayDelay = .seconds(1)
        bounds.listBlockByteCount = 300
        bounds.untoldEventCount = 8
        bounds.log.age = Duration(attoseconds: 1)
        var keeping = bounds
        keeping.history = .only(["TextChat", "text-chat"])
        let short = JoinRequest(
            connectionId: client("ada"), socket: SocketID(1), role: .subscriber, data: "",
            wallTime: WallTime(milliseconds: 1_700_000_000_000), secretHash: hash("one"))
        let long = JoinRequest(
            connectionId: client("ada"), socket: SocketID(.max), role: .publisherOnly, data: "name=é\n",
            user: "ü", suppressesPresence: true, getsPages: true, getsAbsences: true,
            wallTime: WallTime(milliseconds: -1),
            secretHash: hash("two"),
            resumption: Resumption(
                connectionId: client("bob"), secretHash: hash("three"), epoch: Epoch("e"), after: Seq(.min)),
            isUntimely: true, token: TokenFingerprint(9))
        func moderate(_ request: ModerationRequest) -> LoggedCommand {
            .session(
                .moderate(
                    .connection(ada, RequestID(9)), request,
                    Acceptance(date: WallTime(milliseconds: -1), moment: MonotonicInstant(nanoseconds: 7))
                ))
        }
        func signal(_ request: SignalRequest) -> LoggedCommand { .session(.signal(.connection(ada, nil), request)) }
        return [
            ("begin", .begin(Epoch("0123456789abcdef"), bounds, after: .zero)),
            ("begin with the default limits", .begin(Epoch(""), SessionState.Bounds(), after: Seq(1_000_000_042))),
            ("join", .session(.join(short))),
            ("join with everything", .session(.join(long))),
            ("leave", .session(.leave(ada, .clientDisconnected))),
            ("leave, forced", .session(.leave(ada, .forceDisconnected))),
            ("leave, network", .session(.leave(ada, .networkDisconnected))),
            ("detach", .session(.detach(ada))),
            ("heard", .session(.heard(ada))),
            ("signal with nothing", signal(SignalRequest())),
            ("signal with empty data", signal(SignalRequest(data: ""))),
            ("signal with empty data to nobody", signal(SignalRequest(data: "", to: client("")))),
            (
                "signal with everything",
                .session(
                    .signal(
                        .connection(ada, RequestID(-3)),
                        SignalRequest(
                            type: "chat", data: "{\"é\":1}", to: client("bob"), isOnlineOnly: true, isJSON: true)))
            ),
            ("signal by REST", .session(.signal(.server, SignalRequest(type: "chat", data: "\u{1F600}\u{0}")))),
            ("force-disconnect", .session(.forceDisconnect(.connection(ada, RequestID(.max)), client("bob")))),
            ("change what is kept", .changeLimits(keeping)),
            ("erase", .session(.erase(.connection(ada, RequestID(8)), .message(Seq(812))))),
            ("erase by REST", .session(.erase(.server, .through(Seq(900))))),
            ("archived", .archived(through: Seq(77))),
            ("react", .session(.react(.connection(ada, RequestID(8)), ReactRequest(Seq(812), keys: ["👍", "é"])))),
            ("marked", .marked([ReadMarker("ü", through: Seq(9)), ReadMarker("u", through: .zero)])),
            ("force-disconnect by REST", .session(.forceDisconnect(.server, client("bob")))),
            (
                "refresh token",
                .session(.refreshToken(ada, TokenClaims(role: .moderator, data: "d", expiry: TokenExpiry.none)))
            ),
            (
                "refresh token that ends",
                .session(
                    .refreshToken(
                        ada,
                        TokenClaims(
                            role: .publisher, data: "", expiry: TokenExpiry(deadline: .seconds(60)),
                            token: TokenFingerprint(9))))
            ),
            (
                "refresh token of a user",
                .session(.refreshToken(ada, TokenClaims(role: .publisher, data: "", user: "u", expiry: .none)))
            ),
            ("erase the messages of a user", .session(.erase(.server, .user("u")))),
            ("mute", moderate(.mute(.user("u"), ModerationRequest.Terms(seconds: 600, reason: "é")))),
            ("mute a connection", moderate(.mute(.connection(client("bob"))))),
            ("unmute", moderate(.unmute(.user("u")))),
            ("ban", moderate(.ban(.user("u"), ModerationRequest.Terms(reason: "")))),
            ("ban that erases", moderate(.ban(.connection(client("bob")), erasesMessages: true))),
            ("unban", moderate(.unban(.ref(Seq(901))))),
            ("freeze", moderate(.freeze(ModerationRequest.Terms(seconds: 1)))),
            (
                "unfreeze by REST",
                .session(
                    .moderate(.server, .unfreeze, Acceptance(date: WallTime(milliseconds: 1_700_000_000_000))))
            ),
            ("restrictions", .session(.restrictions(ada))),
            ("no streams", .session(.streams(.connection(ada, RequestID(9)), []))),
            (
                "streams",
                .session(
                    .streams(
                        .connection(ada, nil),
                        [
                            AnnouncedStream(
                                id: "s-1", name: "é", hasAudio: false, videoType: .screen,
                                creationTime: WallTime(milliseconds: 1_700_000_000_000)),
                            AnnouncedStream(id: "s-2", hasVideo: false, creationTime: WallTime(milliseconds: 0)),
                        ]))
            ),
            ("advance", .advance),
            ("change limits", .changeLimits(bounds)),
            ("all nodes lost", .nodeLost(nil, at: MonotonicInstant(nanoseconds: -2))),
            ("node lost", .nodeLost(RunID(0xFEDC_BA98_7654_3210), at: MonotonicInstant(nanoseconds: 3))),
            ("told", .told(through: 300)),
            ("end", .end),
        ]
    }()

    private func isSame(_ left: LoggedCommand, _ right: LoggedCommand) -> Bool { portrait(left) == portrait(right) }

    @Test("a command of each kind is read as it was written", arguments: commands)
    func roundTrip(name: String, command: LoggedCommand) throws {
        let read = try LoggedCommand(decoding: command.encoded())
        #expect(isSame(read, command), "\(name)")
        #expect(read.encoded() == command.encoded())
    }

    @Test("random commands are read as they were written", arguments: 1...8 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var history = RandomHistory(seed: seed)
        var session = history.session()
        for _ in 0..<300 {
            let command = history.next(for: session)
            #expect(isSame(try LoggedCommand(decoding: command.encoded()), command), "seed \(seed)")
            var effects: [SessionEffect] = []
            _ = carryOut(command, at: history.position, on: &session, now: history.now, effects: &effects)
        }
    }

    @Test("LOG-7: the bytes of each version of the rules are read, and written by it")
    func golden() throws {
        let files = [
            ("commands.json", RulesVersion.first), ("commands-3.json", .history), ("commands-4.json", .moderation),
            ("commands-5.json", .newerTokens), ("commands-6.json", .streams),
        ]
        for (file, rules) in files {
            let cases = try Vectors.cases("coding/\(file)")
            for one in cases {
                let kept = try #require(one.bytes)
                var command = try #require(Self.commands.first { $0.name == one.name }?.command)
                if rules < .history, case .begin(let epoch, let bounds, _) = command {
                    command = .begin(epoch, bounds, after: .zero)
                }
                if rules < .moderation, case .session(.join(var request)) = command {
                    request.user = nil
                    command = .session(.join(request))
                }
                if rules < .newerTokens { command = command.olderThanNewerTokens }
                #expect(Hexadecimal.text(command.encoded(by: rules)) == Hexadecimal.text(kept), "\(one.name)")
                #expect(isSame(try LoggedCommand(decoding: kept), command), "\(one.name)")
            }
            let names = Set(cases.map(\.name))
            #expect(rules < .current || Self.commands.allSatisfy { names.contains($0.name) })
        }
    }

    @Test("a command that ends at any other place than its end is refused", arguments: commands)
    func truncated(name: String, command: LoggedCommand) {
        let bytes = command.encoded()
        for end in bytes.indices {
            #expect(throws: CodingFault.truncated, "\(name), \(end)") {
                try LoggedCommand(decoding: Array(bytes[..<end]))
            }
        }
        #expect(throws: CodingFault.trailingBytes) { try LoggedCommand(decoding: bytes + [0]) }
    }

    @Test("another version is refused by its number")
    func otherVersion() {
        for version in [0, 8, 255] as [UInt8] {
            #expect(throws: CodingFault.version(version)) { try LoggedCommand(decoding: [version, 3]) }
        }
        #expect(CodingFault.version(2).description.contains("version 2"))
    }

    @Test(
        "any bytes are refused, or are the bytes of the command that is read", arguments: 1...4 as ClosedRange<UInt64>)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var readCount = 0
        for step in 0..<20_000 {
            var bytes = Self.commands[step % Self.commands.count].command.encoded()
            if step % 3 == 0 {
                bytes = [.random(in: 1...2, using: &random), UInt8.random(in: 0...9, using: &random)]
                for _ in 0..<Int.random(in: 0..<60, using: &random) { bytes.append(.random(in: 0...8, using: &random)) }
            } else {
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
                }
            }
            guard let command = try? LoggedCommand(decoding: bytes) else { continue }
            readCount += 1
            #expect(command.encoded().dropFirst() == bytes.dropFirst(), "seed \(seed), step \(step)")
        }
        #expect(readCount > 100)
    }
}

extension LoggedCommand {
    /// Without what version 5 of the rules has added.
    fileprivate var olderThanNewerTokens: LoggedCommand {
        switch self {
        case .session(.moderate(let sender, let request, let acceptance)):
            .session(.moderate(sender, request, Acceptance(date: acceptance.date)))
        case .session(.refreshToken(let binding, let claims)):
            .session(
                .refreshToken(
                    binding,
                    TokenClaims(role: claims.role, data: claims.data, user: claims.user, expiry: claims.expiry)))
        default: self
        }
    }
}
