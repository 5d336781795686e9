import SignalingCore
import SignalingProtocol
import Testing

@Suite("The lines that the connections with a token have left")
struct LineRateLedgerTests {
    private func token(_ number: UInt64) -> TokenDigest { TokenDigest(high: number, low: 0) }

    private func at(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 0).advanced(by: .milliseconds(milliseconds))
    }

    @Test("WIRE-15: a connection begins with the least allowance that another one with its token has left")
    func lineRates() {
        var ledger = LineRateLedger()
        let (ada, bob) = (token(1), token(2))
        #expect(ledger.fullAt(ada, now: at(0)) == nil)
        for moment in [500, 900, 700] { ledger.note(ada, fullAt: at(moment), now: at(0)) }
        ledger.note(bob, fullAt: at(0), now: at(0))
        #expect(ledger.count == 1, "a whole allowance is not kept")
        #expect(ledger.fullAt(bob, now: at(0)) == nil)
        for now in [0, 899] { #expect(ledger.fullAt(ada, now: at(now)) == at(900)) }
        #expect(ledger.fullAt(ada, now: at(900)) == nil && ledger.count == 0)
    }

    @Test("the ledger forgets tokens whose allowances are whole")
    func lineRatesOfManyTokens() {
        var ledger = LineRateLedger()
        for number in UInt64(0)..<5_000 {
            let now = MonotonicInstant(nanoseconds: 0).advanced(by: .seconds(Int(number)))
            ledger.note(token(number), fullAt: now.advanced(by: .milliseconds(500)), now: now)
        }
        #expect(ledger.count <= 1_024)
    }
}
