import SignalingProtocol
import TestSupport
import Testing

@Suite("Names, secrets and times")
struct IdentifierTests {
    @Test("a connection id is a UUID v4 in lower-case hex, whatever the randomness")
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

    @Test("all 122 free bits of a connection id come from the randomness")
    func uuidBits() {
        var changed = Set<Int>()
        let base = Array(idText(0, 0))
        for bit in 0..<64 {
            for (high, low) in [(UInt64(1) << bit, 0), (0, UInt64(1) << bit)] as [(UInt64, UInt64)] {
                let text = Array(idText(high, low))
                for place in text.indices where text[place] != base[place] {
                    guard let digit = text[place].hexDigitValue, let before = base[place].hexDigitValue else {
                        continue
                    }
                    changed.insert(place * 4 + (digit ^ before).trailingZeroBitCount)
                }
            }
        }
        #expect(changed.count == 122)
    }

    @Test("an epoch is 64 random bits, a resume secret 128, leading zeros kept")
    func lengths() {
        var zeros = Constant(bits: 0)
        #expect(Epoch(using: &zeros).rawValue == String(repeating: "0", count: 16))
        #expect(ResumeSecret(using: &zeros).rawValue == String(repeating: "0", count: 32))
        var random = SeededGenerator(seed: 1)
        let secrets = Set((0..<1_000).map { _ in ResumeSecret(using: &random) })
        #expect(secrets.count == 1_000)
        #expect(secrets.allSatisfy { $0.rawValue.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }

    @Test("neither a resume secret nor a token stands in any description of what holds it")
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

    @Test("an error's description is its sentence, name and number; equality looks at the code alone")
    func errors() {
        let error = SignalingError(.notFound, "nobody is there")
        #expect(error.description == "nobody is there (OT_NOT_FOUND 404)")
        #expect(error == SignalingError(.notFound, "something else"))
        #expect(error != SignalingError(.badTarget, "nobody is there"))
        #expect(SignalingError.Code.invalidParameter != .tooLong, "the same name with two numbers")
        #expect(Set(SignalingError.Code.all).count == SignalingError.Code.all.count)
    }

    @Test("an empty type is an absent one (SIG-2)")
    func emptyType() {
        #expect(SignalRequest(type: "") == SignalRequest())
    }

    @Test("moments at the ends of the clock stay there, and no distance between two overflows")
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

    @Test("a duration in whole nanoseconds and milliseconds is rounded towards zero, and saturates")
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
