import SignalingProtocol
import SignalingTransport
import Testing

@testable import SignalingServer
@testable import SignalingTransport

@Suite("Guesses of the admin token")
struct TokenGuessesTests {
    private var guesses = TokenGuesses()
    private let attacker = PeerAddress(number: 1)

    private mutating func guess(
        _ isRight: Bool, _ address: PeerAddress, connection: UInt64 = 1, at seconds: Double = 0
    ) -> TokenGuesses.Verdict {
        guesses.verdict(
            isRight: isRight, from: address, on: connection,
            now: MonotonicInstant(nanoseconds: Int64(seconds * 1e9)))
    }

    @Test("after ten wrong tokens an address gets no answer, right or wrong, until it has waited for a second")
    mutating func slowed() {
        for _ in 0..<10 { #expect(guess(false, attacker) == .wrong) }
        #expect(guess(false, attacker) == .tooMany)
        // Otherwise a guess would cost nothing: the right token would still show itself.
        #expect(guess(true, attacker) == .tooMany)
        #expect(guess(true, attacker, at: 0.9) == .tooMany)
        #expect(guess(true, attacker, at: 1) == .right)
        #expect(guess(false, attacker, at: 1) == .wrong)
        #expect(guess(false, attacker, at: 1) == .tooMany)
    }

    @Test("other addresses, and connections that have shown the right token, do not notice")
    mutating func others() {
        #expect(guess(true, attacker, connection: 2) == .right)
        for _ in 0..<1_000 { _ = guess(false, attacker) }
        #expect(guess(true, PeerAddress(number: 2), connection: 3) == .right)
        #expect(guess(true, attacker, connection: 2) == .right)
        #expect(guess(false, attacker, connection: 2) == .tooMany)
        #expect(guess(true, attacker, connection: 4) == .tooMany)
    }

    @Test("right tokens are not limited")
    mutating func right() {
        for connection in 0..<1_000 { #expect(guess(true, attacker, connection: UInt64(connection)) == .right) }
    }

    @Test("addresses whose wrong tokens are long ago take no memory")
    mutating func memory() {
        for number in 0..<50_000 { _ = guess(false, PeerAddress(number: number), at: Double(number) / 10) }
        #expect(guesses.addressCount <= 1_100)
    }
}

extension PeerAddress {
    fileprivate init(number: Int) {
        let bytes = [10, number >> 16, number >> 8 & 255, number & 255].map { UInt8($0) }
        guard let address = PeerAddress(networkOrder: bytes) else { preconditionFailure("four bytes are an address") }
        self = address
    }
}
