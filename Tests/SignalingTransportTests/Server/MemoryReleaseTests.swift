import Testing

@testable import SignalingTransport

@Suite("The release of memory")
struct MemoryReleaseTests {
    @Test("after many connections have ended and no more end, memory is released, and some times later again")
    func storm() {
        var release = MemoryRelease()
        for _ in 1..<MemoryRelease.endCount { #expect(release.noteEnd() == nil) }
        #expect(release.noteEnd() == .seconds(2))
        #expect(release.look() == .wait(.seconds(2)))
        #expect(release.noteEnd() == nil, "it is planned already")
        #expect(release.look() == .wait(.seconds(2)), "connections still end")
        #expect(release.look() == .release(thenAfter: .seconds(8)))
        for pause in [32, 128, 512] { #expect(release.look() == .release(thenAfter: .seconds(pause))) }
        #expect(release.look() == .release(thenAfter: nil))
    }

    @Test("a later storm begins anew, and a few ended connections do not")
    func again() {
        var release = MemoryRelease()
        for _ in 0..<2 {
            for _ in 1..<MemoryRelease.endCount { #expect(release.noteEnd() == nil) }
            #expect(release.noteEnd() == MemoryRelease.firstPause)
            #expect(release.look() == .wait(.seconds(2)))
            #expect(release.look() == .release(thenAfter: .seconds(8)))
            #expect(release.look() == .release(thenAfter: .seconds(32)))
        }
    }
}
