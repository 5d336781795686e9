import SignalingProtocol
import TestSupport
import Testing

@Suite("Identifiers, secrets and times")
struct IdentifierTests {
    @Test("a connection ID is a UUID v4 in lower-case hex, for any randomness")
    func uuid() {
        var seen: Set<ConnectionID> = []
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let id = ConnectionID(using: &random)
            #expect(id.rawValue.wholeMatch(of: form) != nil)
            seen.insert(id)
        }
        #expect(seen.count == 2_000)
        var zeros = Constant(bits: 0)
        var ones = Constant(bits: .max)
        #expect(ConnectionID(using: &zeros).rawValue == "00000000-0000-4000-8000-000000000000")
        #expect(ConnectionID(using: &ones).rawValue == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    }

    @Test("all 122 free bits of a connection ID come from the randomness")
    func uuidBits() {
        var changed = Set<Int>()
        let base = Array(idText(0, 0))
        for bit in 0..<64 {
            for (high, low) in [(UInt64(1) << bit, 0), (0, UInt64(1) << bit)] as [(UInt64, UInt64)] {
                let text = Array(idText(high, low))
                for index in text.indices where text[index] != base[index] {
                    guard let digit = text[index].hexDigitValue, let before = base[index].hexDigitValue else {
                        continue
                    }
                    changed.insert(index * 4 + (digit ^ before).trailingZeroBitCount)
                }
            }
        }
        #expect(changed.count == 122)
    }

    @Test("RES-6: an epoch is 64 random bits, a resume secret 128, with leading zeros")
    func lengths() {
        var zeros = Constant(bits: 0)
        #expect(Epoch(using: &zeros).rawValue == String(repeating: "0", count: 16))
        #expect(ResumeSecret(using: &zeros).rawValue == String(repeating: "0", count: 32))
        var random = SeededGenerator(seed: 1)
        let secrets = Set((0..<1_000).map { _ in ResumeSecret(using: &random) })
        #expect(secrets.count == 1_000)
        #expect(secrets.allSatisfy { $0.rawValue.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }

    @Test("no description of a message contains its resume secret or token")
    func secrecy() {
        let secret = ResumeSecret("hush-secret")
        let resume = ResumeRequest(
            connectionId: ConnectionID("c"), secret: secret, epoch: Epoch("e"), after: Seq(1))
        let request = ConnectRequest(
            apiKey: APIKey("100"), sessionId: SessionID("1_"), token: "hush-token", resume: resume)
        let offer = ResumeOffer(secret: secret, resumeWindow: .zero, recoveryWindow: .zero)
        let me = Connection(connectionId: ConnectionID("c"), creationTime: WallTime(milliseconds: 0), data: "")
        let welcome = Welcome(
            connection: me, connections: [me], role: .publisher, epoch: Epoch("e"), seq: Seq(1), outcome: .new,
            resume: offer)
        let holders: [Any] = [
            secret, resume, request, offer, welcome, ClientMessage.connect(RequestID(1), request),
            ServerMessage.connected(RequestID(1), welcome), [secret: request] as [ResumeSecret: ConnectRequest],
            Optional(secret) as Any,
        ]
        for holder in holders {
            for shown in [String(describing: holder), String(reflecting: holder), "\(holder)"] {
                #expect(!shown.contains("hush"))
            }
        }
    }

    @Test("ERR-1: an error's description is its message, name and number, and equality compares the code alone")
    func errors() {
        let error = SignalingError(.notFound, "the target has left")
        #expect(error.description == "the target has left (OT_NOT_FOUND 404)")
        #expect(error == SignalingError(.notFound, "something else"))
        #expect(error != SignalingError(.badTarget, "the target has left"))
        #expect(SignalingError.Code.invalidParameter != .tooLong, "the same name, another number")
        #expect(Set(SignalingError.Code.all).count == SignalingError.Code.all.count)
    }

    @Test("SIG-2: an empty type is an absent one")
    func emptyType() {
        #expect(SignalRequest(type: "") == SignalRequest())
    }

    @Test("moments saturate at the ends of the clock, and no duration between two overflows")
    func clockEnds() {
        let first = MonotonicInstant(nanoseconds: .min)
        let last = MonotonicInstant(nanoseconds: .max)
        #expect(last.advanced(by: .nanoseconds(1)) == last)
        #expect(first.advanced(by: .nanoseconds(-1)) == first)
        #expect(MonotonicInstant(nanoseconds: 1).advanced(by: .seconds(Int64.max)) == last)
        #expect(MonotonicInstant(nanoseconds: -1).advanced(by: .seconds(Int64.min)) == first)
        #expect(last.duration(since: first) > .zero)
        #expect(first.duration(since: last) < .zero)
        #expect(MonotonicInstant(nanoseconds: 5).advanced(by: .milliseconds(2)).nanoseconds == 2_000_005)
        #expect(MonotonicInstant(nanoseconds: 5).duration(since: MonotonicInstant(nanoseconds: 7)) == .nanoseconds(-2))
    }

    @Test("whole nanoseconds and milliseconds are rounded towards zero and saturate")
    func durations() {
        #expect(Duration.seconds(-1.5).wholeNanoseconds == -1_500_000_000)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).wholeNanoseconds == 1)
        #expect(Duration.microseconds(-1_999).wholeMilliseconds == -1)
        #expect(Duration.nanoseconds(Int64.max).wholeNanoseconds == .max)
        #expect((Duration.nanoseconds(Int64.max) + .nanoseconds(1)).wholeNanoseconds == .max)
        #expect((Duration.nanoseconds(Int64.min) - .nanoseconds(1)).wholeNanoseconds == .min)
        #expect((Duration.seconds(Int64.max) * 2).wholeNanoseconds == .max)
        #expect((Duration.seconds(Int64.min) * 2).wholeNanoseconds == .min)
        #expect((Duration.nanoseconds(Int64.min) + .nanoseconds(1)).wholeNanoseconds == .min + 1)
    }

    private func idText(_ high: UInt64, _ low: UInt64) -> String {
        var numbers = Listed(numbers: [low, high])
        return ConnectionID(using: &numbers).rawValue
    }

    private struct Constant: RandomNumberGenerator {
        let bits: UInt64
        func next() -> UInt64 { bits }
    }

    private struct Listed: RandomNumberGenerator {
        var numbers: [UInt64]
        mutating func next() -> UInt64 { numbers.removeLast() }
    }
}
