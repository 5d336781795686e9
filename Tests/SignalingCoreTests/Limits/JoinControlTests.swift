import CoreTestSupport
import SignalingCore
import SignalingProtocol
import Testing

@Suite("The limits of projects and tokens")
struct JoinControlTests {
    private func key(_ project: String, _ token: UInt64) -> JoinControl.Key {
        JoinControl.Key(project: APIKey(project), token: TokenDigest(high: token, low: 0))
    }

    @Test("a project and a token have a limit each; leaving makes room, and other projects are not affected")
    func limits() {
        var control = JoinControl(limits: JoinLimits(perProject: 3, perToken: 2))
        let (ada, bob, cyd) = (key("100", 1), key("100", 2), key("200", 1))
        _ = control.join(ada, isResumed: false)
        #expect(control.refusal(of: ada) == nil)
        _ = control.join(ada, isResumed: false)
        #expect(control.refusal(of: ada) == .token)
        #expect(control.refusal(of: bob) == nil)
        _ = control.join(bob, isResumed: false)
        #expect(control.refusal(of: bob) == .project)
        #expect(control.refusal(of: key("200", 2)) == nil)
        #expect(control.refusal(of: cyd) == .token, "the same token")
        control.leave(ada)
        #expect(control.refusal(of: bob) == nil && control.refusal(of: ada) == nil)
        control.leave(ada)
        control.leave(bob)
        control.leave(bob)
        for _ in 0..<2 {
            #expect(control.refusal(of: ada) == nil)
            _ = control.join(ada, isResumed: false)
        }
        #expect(control.refusal(of: ada) == .token)
    }

    @Test("CON-3: a client that replaces its own socket may come to a full project, and must go if it has not resumed")
    func replacement() {
        var control = JoinControl(limits: JoinLimits(perProject: 1))
        let (ada, bob) = (key("100", 1), key("100", 2))
        #expect(control.join(ada, isResumed: false) == nil)
        #expect(control.refusal(of: bob) == .project)
        #expect(control.refusal(of: bob, replacesSocket: true) == nil)
        #expect(control.join(bob, isResumed: true) == nil)
        control.leave(ada)
        #expect(control.join(ada, isResumed: false) == .project, "its secret was wrong")
        control.leave(ada)
        control.leave(bob)
        #expect(control.refusal(of: ada) == nil, "a connection that must go counts until it has left")
    }
}
