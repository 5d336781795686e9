import SignalingProtocol
import Testing

@testable import SignalingClient

extension Welcome {
    static func resuming(
        _ outcome: Outcome = .new, as own: Connection = bob, with others: [Connection] = [ada], secret: String = "s1",
        epoch: String = "e", seq: Int64 = 2, through: Int64? = nil
    ) -> Welcome {
        Welcome(
            connection: own, connections: others + [own], role: .publisher, epoch: Epoch(epoch), seq: Seq(seq),
            outcome: outcome, replayThrough: through.map { Seq($0) },
            resume: ResumeOffer(
                secret: ResumeSecret(secret), resumeWindow: .seconds(60), recoveryWindow: .seconds(300)))
    }
}

extension Driven {
    /// Connected, then cut off; the next socket is open and the resume has been sent.
    static func resuming(waiting: [UInt64] = []) -> Driven {
        var driven = Driven.connected(.resuming())
        for call in waiting { _ = driven.signal(call) }
        _ = driven.handle(.socketClosed(code: nil))
        _ = driven.advance(to: 0.125)
        _ = driven.handle(.socketOpened)
        return driven
    }
}

@Suite("A client reconnects")
struct ReconnectTests {
    private let eve = Connection(
        connectionId: ConnectionID("eve"), creationTime: WallTime(milliseconds: 3), data: "Eve")

    @Test(
        "RES-1, RES-13: after a loss and a wait, a client asks to resume after the last seq that it has seen")
    func asks() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.received(event(5, "x")))
        _ = driven.handle(.received(.ping(Seq(7))))
        #expect(driven.handle(.socketClosed(code: 1006)) == ["reconnecting"])
        #expect(driven.state.nextDeadline == at(0.125))
        #expect(driven.advance(to: 0.125) == ["open"])
        #expect(
            driven.handle(.socketOpened) == [
                #"send {"op":"connect","id":2,"apiKey":"1","sessionId":"1_s","token":"t","#
                    + #""options":{"connectionPages":true},"#
                    + #""resume":{"connectionId":"bob","secret":"s1","epoch":"e","after":7}}"#
            ])
        #expect(driven.state.connection == bob, "the connection continues meanwhile")
    }

    @Test("RES-9: unanswered requests are sent again in order with their ids, before the requests made meanwhile")
    func retries() {
        var driven = Driven.resuming(waiting: [1, 2])
        #expect(driven.signal(3) == [])
        #expect(driven.handle(.forceDisconnect(ConnectionID("ada"), ClientState.CallID(rawValue: 4))) == [])
        #expect(
            driven.handle(.received(.connected(RequestID(4), .resuming(.resumed, with: [], secret: "s2", through: 4))))
                == [
                    "still bob", "reconnected resumed", #"send {"op":"signal","id":2,"type":"chat"}"#,
                    #"send {"op":"signal","id":3,"type":"chat"}"#, #"send {"op":"signal","id":5,"type":"chat"}"#,
                    #"send {"op":"forceDisconnect","id":6,"connectionId":"ada"}"#,
                ])
        #expect(driven.handle(.received(event(3, "missed"))) == ["signal missed from Ada"], "the peers are kept")
        #expect(driven.handle(.received(.ack(RequestID(2), Seq(3)))) == ["call 1 done 3"])
        #expect(driven.handle(.socketClosed(code: nil)) == ["reconnecting"])
        #expect(driven.advance(to: 0.25) == ["open"])
        #expect(driven.handle(.socketOpened).first?.contains(#""secret":"s2""#) == true, "RES-6: the newest secret")
    }

    @Test("1.2 of OpenTok's signals: without retryAfterReconnect a signal fails with the loss, and while reconnecting")
    func perishable() {
        var driven = Driven.connected(.resuming())
        let once = SignalRequest(type: "once")
        #expect(
            driven.handle(.signal(once, ClientState.CallID(rawValue: 1), retriesAfterReconnect: false)).count == 1)
        let typing = SignalRequest(type: "typing", isOnlineOnly: true)
        #expect(driven.handle(.signal(typing, ClientState.CallID(rawValue: 2))).count == 1)
        _ = driven.signal(3)
        #expect(
            driven.handle(.socketClosed(code: nil)) == ["reconnecting", "call 1 failed 500", "call 2 failed 500"])
        #expect(
            driven.handle(.signal(once, ClientState.CallID(rawValue: 4), retriesAfterReconnect: false))
                == ["call 4 failed 500"])
        #expect(
            driven.handle(.signal(typing, ClientState.CallID(rawValue: 5))) == ["call 5 failed 500"], "G6: never late")
        _ = driven.advance(to: 1)
        _ = driven.handle(.socketOpened)
        #expect(
            driven.handle(.received(.connected(RequestID(5), .resuming(.resumed, with: [], through: 2))))
                == ["still bob", "reconnected resumed", #"send {"op":"signal","id":4,"type":"chat"}"#])
    }

    @Test(
        "RES-2, G4: recovered and lost are another connection; presence events come first, then the outcome")
    func replaced() {
        for (outcome, word) in [(Welcome.Outcome.recovered, "recovered"), (.lost, "lost"), (.new, "lost")] {
            var driven = Driven.resuming(waiting: [1])
            #expect(driven.signal(2) == [])
            let dora = Connection(
                connectionId: ConnectionID("dora"), creationTime: WallTime(milliseconds: 9), data: "Dora")
            let epoch = outcome == .recovered ? "e" : "f"
            let welcome = Welcome.resuming(outcome, as: dora, with: [eve], epoch: epoch, seq: 2, through: 4)
            #expect(
                driven.handle(.received(.connected(RequestID(3), welcome))) == [
                    "now dora", "destroyed Ada networkDisconnected", "created Eve", "reconnected \(word)",
                    "call 1 failed 500", #"send {"op":"signal","id":4,"type":"chat"}"#,
                ], "the fate of the first is unknown; the second was never sent")
            #expect(driven.state.connection == dora)
            #expect(driven.handle(.received(event(3, "missed", from: "eve"))) == ["signal missed from Eve"])
        }
    }

    @Test(
        "RES-13: waits double up to five seconds; after the recovery window the client gives up and fails pending calls"
    )
    func givesUp() {
        var driven = Driven.connected(.resuming())
        _ = driven.signal(1)
        _ = driven.handle(.socketClosed(code: nil))
        var waits: [Double] = []
        var now = 0.0
        while true {
            guard let deadline = driven.state.nextDeadline, deadline < at(300) else { break }
            let next = Double(deadline.nanoseconds) / 1e9
            waits.append(next - now)
            now = next
            #expect(driven.advance(to: now) == ["open"])
            #expect(driven.handle(.socketFailed(SignalingError(.connectFailed, ""))) == [])
        }
        #expect(waits.prefix(6).elementsEqual([0.125, 0.25, 0.5, 1, 2, 2.5]) { abs($0 - $1) < 1e-6 })
        #expect(waits.dropFirst(6).allSatisfy { abs($0 - 2.5) < 1e-6 })
        #expect(
            driven.advance(to: 300) == ["call 1 failed 500", "disconnected networkDisconnected"])
    }

    @Test(
        "an attempt without an answer is closed after 15 s with a code that keeps the connection, and the next follows")
    func attemptTimesOut() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.socketClosed(code: nil))
        _ = driven.advance(to: 1)
        #expect(driven.state.nextDeadline == at(16))
        #expect(driven.advance(to: 16) == ["close 4001"])
        #expect(driven.state.nextDeadline == at(16.25))
        #expect(driven.advance(to: 16.25) == ["open"])
        _ = driven.handle(.socketOpened)
        #expect(driven.advance(to: 31.25) == ["close 4001"])
    }

    @Test(
        "CLOSE-1: the close code says whether a client reconnects",
        arguments: [
            (nil, true), (1000, false), (1001, true), (1002, false), (1003, false), (1005, true), (1006, true),
            (1007, false), (1008, false), (1009, false), (1011, false), (1012, true), (1013, true), (1014, true),
            (2999, false), (3000, true), (3999, true), (4000, true), (4001, true), (4002, true), (4003, true),
            (4004, true), (4005, true), (4499, true), (4500, false), (4502, false), (4999, false),
        ] as [(UInt16?, Bool)])
    func closeCodes(_ code: UInt16?, _ comesBack: Bool) {
        var driven = Driven.connected(.resuming())
        let reason = code == 4502 ? "forceDisconnected" : "networkDisconnected"
        #expect(
            driven.handle(.socketClosed(code: code)) == [comesBack ? "reconnecting" : "disconnected \(reason)"])
    }

    @Test("LEAVE-4, RES-13: disconnected counts more than the close code that follows")
    func farewell() {
        var driven = Driven.connected(.resuming())
        #expect(
            driven.handle(.received(.disconnected(.networkDisconnected, .after(.seconds(9)))))
                == ["close 4001", "reconnecting"])
        #expect(driven.state.nextDeadline == at(9))
        driven = .connected(.resuming())
        #expect(
            driven.handle(.received(.disconnected(.networkDisconnected, .never)))
                == ["close 1000", "disconnected networkDisconnected"])
        #expect(driven.handle(.socketClosed(code: 1001)) == [])
    }

    @Test("a refused reconnect ends the connection, unless the error is retryable")
    func refused() {
        var driven = Driven.resuming(waiting: [1])
        #expect(
            driven.handle(.received(.error(RequestID(3), SignalingError(.connectionLimitExceeded, ""))))
                == ["close 4001"])
        driven = .resuming(waiting: [1])
        #expect(
            driven.handle(.received(.error(RequestID(3), SignalingError(.authenticationError, ""))))
                == ["close 1000", "call 1 failed 500", "disconnected networkDisconnected"])
    }

    @Test("LEAVE-1: disconnect while reconnecting ends the connection at once")
    func leaves() {
        var driven = Driven.resuming(waiting: [1])
        #expect(driven.handle(.disconnect) == ["close 1000", "call 1 failed 500", "disconnected clientDisconnected"])
        #expect(driven.state.nextDeadline == nil)
    }

    @Test("HB-3: silence of two heartbeats starts a reconnect")
    func silence() {
        var driven = Driven.connected(.resuming())
        #expect(driven.advance(to: 20) == ["close 4001", "reconnecting"])
    }
}
