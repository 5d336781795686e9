import Testing

@testable import SignalingTransport

@Suite("The release of memory")
struct MemoryReleaseTests {
    private func planned() -> MemoryRelease {
        var release = MemoryRelease()
        for _ in 1..<MemoryRelease.endCount { #expect(release.noteEnds() == nil) }
        #expect(release.noteEnds() == .seconds(2))
        return release
    }

    @Test("G5: after much has ended and little more ends, memory is released within 10 s, and once more")
    func storm() {
        var release = planned()
        #expect(release.noteEnds(5_000) == nil, "it is planned already")
        #expect(release.look() == .wait(.seconds(2)), "much still ends")
        #expect(release.look() == .release(thenAfter: .seconds(5)))
        #expect(release.look() == .release(thenAfter: nil))
    }

    @Test("G5: a few ends all the time, as on a busy server, do not delay the release")
    func busy() {
        var release = planned()
        #expect(release.noteEnds(MemoryRelease.quietCount - 1) == nil)
        #expect(release.look() == .release(thenAfter: .seconds(5)))
    }

    @Test("G5: what ends later, such as the sessions of the connections, releases memory again")
    func steps() {
        var release = planned()
        for _ in 0..<3 {
            #expect(release.look() == .release(thenAfter: .seconds(5)))
            #expect(release.noteEnds(400) == nil, "not worth the work")
            #expect(release.look() == .release(thenAfter: nil))
            #expect(release.noteEnds(600) == .seconds(2))
        }
    }

    @Test("ends between the two releases plan their own")
    func between() {
        var release = planned()
        #expect(release.look() == .release(thenAfter: .seconds(5)))
        #expect(release.noteEnds(1_000) == .seconds(2))
        #expect(release.look() == .release(thenAfter: .seconds(5)))
    }
}
