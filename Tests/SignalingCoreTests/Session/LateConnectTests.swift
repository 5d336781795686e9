import CoreTestSupport
import SignalingProtocol
import Testing

@testable import SignalingCore

/// A client that comes back again and again, and everything that is on its way between the client and the session.
/// Sockets are numbered; an item that never arrives is lost.
private struct Journey {
    enum Step {
        /// The client opens the next socket and sends its connect.
        case attempt
        /// The client gives up its socket.
        case giveUp
        /// The session receives the connect of this socket.
        case connectArrives(UInt64)
        /// The client receives the answer on this socket.
        case answerArrives(UInt64)
        /// The session receives the client's line on this socket.
        case lineArrives(UInt64)
        /// The session notices the end of this socket.
        case endArrives(UInt64)
    }

    static let ada = client("ada")
    /// The number of the last socket. More sockets find nothing new, and take minutes.
    static let lastSocket: UInt64 = 5

    var session = SessionState(connectionCount: 100)
    private var newestSocket: UInt64 = 1
    /// The socket that the client uses; nil after it was lost or given up.
    private var socket: UInt64?
    /// The newest secret that the client has received.
    private var secret = "ada-1"
    private var connects: [UInt64: String] = [:]
    private var answers: Set<UInt64> = []
    private var lines: Set<UInt64> = []
    private var ends: Set<UInt64> = [1]
    private(set) var path: [Step] = []

    init() { session.join("ada") }

    /// Everything that decides what can follow. Two journeys with the same situation have the same future.
    struct Situation: Hashable {
        var newestSocket: UInt64
        var socket: UInt64?
        var secret: String
        var connects: [UInt64: String]
        var answers: Set<UInt64>
        var lines: Set<UInt64>
        var ends: Set<UInt64>
        var secrets: ValidSecrets?
        var attachment: SocketID?
    }

    var situation: Situation {
        let member = session.roster[Self.ada]
        let attachment: SocketID? = if case .attached(let socket, _)? = member?.attachment { socket } else { nil }
        return Situation(
            newestSocket: newestSocket, socket: socket, secret: secret, connects: connects, answers: answers,
            lines: lines, ends: ends, secrets: member?.ticket.secrets, attachment: attachment)
    }

    var possibleSteps: [Step] {
        var steps: [Step] = socket == nil ? (newestSocket < Self.lastSocket ? [.attempt] : []) : [.giveUp]
        steps += connects.keys.map(Step.connectArrives) + answers.map(Step.answerArrives)
        return steps + lines.map(Step.lineArrives) + ends.map(Step.endArrives)
    }

    mutating func take(_ step: Step) {
        path.append(step)
        switch step {
        case .attempt:
            newestSocket += 1
            socket = newestSocket
            connects[newestSocket] = secret
        case .giveUp:
            if let socket { ends.insert(socket) }
            socket = nil
        case .connectArrives(let number):
            guard let claimed = connects.removeValue(forKey: number) else { return }
            if connect(on: number, with: claimed) == .resumed { answers.insert(number) }
        case .answerArrives(let number):
            answers.remove(number)
            guard number == socket else { return }
            secret = "ada-\(number)"
            lines.insert(number)
        case .lineArrives(let number):
            lines.remove(number)
            _ = session.handle(.heard(SocketBinding("ada", number)))
        case .endArrives(let number):
            // The close follows the connect on the same socket.
            guard connects[number] == nil else { return }
            ends.remove(number)
            _ = session.handle(.detach(SocketBinding("ada", number)))
        }
    }

    /// The outcome of one more attempt that arrives at once.
    func outcomeOfReturn() -> Welcome.Outcome? {
        var journey = self
        return journey.connect(on: 99, with: secret)
    }

    mutating func connect(on number: UInt64, with claimed: String) -> Welcome.Outcome? {
        let claim = Resumption(
            connectionId: Self.ada, secretHash: hash(claimed), epoch: session.epoch, after: session.log.lastSeq)
        var request = JoinRequest(
            connectionId: client("ada\(number)"), role: .publisher, data: "name=ada",
            wallTime: WallTime(milliseconds: 0), socket: number, resumption: claim)
        request.secretHash = hash("ada-\(number)")
        guard case .joined(let join) = session.handle(.join(request)) else { return nil }
        return join.outcome
    }
}

@Suite("Late connects")
struct LateConnectTests {
    @Test("RES-6, RES-8, G3: in every order in which connects, answers, lines and ends arrive, a return is resumed")
    func everyOrder() {
        var waiting = [Journey()]
        var seen: Set<Journey.Situation> = [waiting[0].situation]
        while let journey = waiting.popLast() {
            guard journey.outcomeOfReturn() == .resumed else {
                Issue.record("not resumed after \(journey.path)")
                return
            }
            for step in journey.possibleSteps {
                var next = journey
                next.take(step)
                if seen.insert(next.situation).inserted { waiting.append(next) }
            }
        }
        #expect(seen.count > 10_000, "\(seen.count) situations")
    }

    @Test("RES-8: a late connect takes over an unconfirmed socket, and the client comes back with its newest secret")
    func lateTakeover() {
        var journey = Journey()
        // The session handles attempt 3 before attempt 2, which the client has given up.
        for step in [
            .attempt, .giveUp, .attempt, .connectArrives(3), .answerArrives(3), .connectArrives(2),
        ] as [Journey.Step] { journey.take(step) }
        #expect(journey.outcomeOfReturn() == .resumed)
    }

    @Test("RES-8: a late connect with a replaced secret begins no connection that nobody owns")
    func lateWithReplacedSecret() throws {
        var journey = Journey()
        for step in [
            .attempt, .giveUp, .attempt, .connectArrives(3), .answerArrives(3), .lineArrives(3),
        ] as [Journey.Step] { journey.take(step) }
        let before = journey.session.log.lastSeq
        journey.session = try SessionState(decoding: journey.session.encoded())
        journey.take(.connectArrives(2))
        #expect(journey.session.connectionCount == 1 && journey.session.log.lastSeq == before)
        #expect(journey.outcomeOfReturn() == .resumed, "the client's own socket is not affected")
        // A copy of a tab has no other secret. It is told once, and begins a connection then.
        var copy = journey
        #expect(copy.connect(on: 50, with: "ada") == .lost)
        #expect(copy.session.connectionCount == 2)
    }

    @Test("G5, RES-8: of replaced secrets, four are known")
    func replacedSecrets() {
        var secrets = ValidSecrets(hash("0"))
        for number in 1...9 {
            secrets.issue(hash("\(number)"), claimed: hash("\(number - 1)"))
            secrets.confirm()
        }
        #expect(secrets.superseded == ["5", "6", "7", "8"].map { hash($0) })
        #expect(secrets.takeSuperseded(hash("6")) && !secrets.takeSuperseded(hash("6")))
        #expect(!secrets.takeSuperseded(hash("9")) && secrets.contains(hash("9")))
    }
}
