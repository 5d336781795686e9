import SignalingProtocol
import TestSupport
import Testing

@Suite("The limit of log lines")
struct LogLineLimitTests {
    @Test("each kind has one line in ten seconds, with the number of those without a line")
    func limit() {
        var limit = LogLineLimit<String>()
        #expect(limit.note("full", now: .seconds(0)) == 0)
        #expect(limit.note("full", now: .seconds(1)) == nil)
        #expect(limit.note("full", now: .seconds(9)) == nil)
        #expect(limit.note("token", now: .seconds(9)) == 0)
        #expect(limit.note("full", now: .seconds(10)) == 2)
        #expect(limit.note("full", now: .seconds(30)) == 0)
    }
}
