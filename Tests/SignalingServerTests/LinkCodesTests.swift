import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingServer

@Suite("Codes of links")
struct LinkCodesTests {
    private var codes = LinkCodes()
    private var randomness = SystemRandomNumberGenerator()
    private let start = MonotonicInstant(nanoseconds: 0)

    private func access(_ name: String, of project: String = "100") -> SessionAccess {
        SessionAccess(apiKey: APIKey(project), session: SessionID("1_room"), token: "token of \(name)")
    }

    private mutating func add(_ access: SessionAccess, for time: Duration = .seconds(3600)) -> String? {
        codes.add(access, until: start.advanced(by: time), now: start, using: &randomness)
    }

    private mutating func open(_ code: String, at time: Duration) -> SessionAccess? {
        codes.open(code, now: start.advanced(by: time))
    }

    @Test("REST-7: a code works until the token expires, and another text never")
    mutating func expiry() throws {
        let (ada, bob) = (try #require(add(access("Ada"))), try #require(add(access("Bob"))))
        #expect(ada != bob && ada.utf8.count == 32)
        #expect(open(ada, at: .seconds(3599)) == access("Ada"))
        #expect(open(bob, at: .seconds(3600)) == nil)
        #expect(open("", at: .zero) == nil && open(String(ada.dropLast()), at: .zero) == nil)
    }

    @Test("REST-7: a code that has been used works for five minutes more, however often it is used")
    mutating func use() throws {
        let code = try #require(add(access("Ada")))
        for second in [100, 200, 399] { #expect(open(code, at: .seconds(second)) == access("Ada")) }
        #expect(open(code, at: .seconds(400)) == nil)
        let short = try #require(add(access("Bob"), for: .seconds(60)))
        #expect(open(short, at: .seconds(30)) != nil && open(short, at: .seconds(60)) == nil)
    }

    @Test("REST-7: a project has at most 1000 codes, others have their own, and expired ones do not count")
    mutating func bound() throws {
        for index in 0..<LinkCodes.projectLimit { #expect(add(access("\(index)")) != nil) }
        #expect(add(access("one more")) == nil)
        #expect(add(access("Ada", of: "200")) != nil)
        let later = start.advanced(by: .seconds(3600))
        let code = codes.add(access("new"), until: later.advanced(by: .seconds(1)), now: later, using: &randomness)
        #expect(code != nil)
    }
}
