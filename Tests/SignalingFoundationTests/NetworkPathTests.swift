import SignalingFoundation
import SignalingProtocol
import Testing

@Suite("The paths of a network")
struct NetworkPathTests {
    @Test("a network is back after a time without one, and when another interface is the best")
    func changes() {
        var path = NetworkPath()
        #expect(path.update(["wifi"]) == nil, "the first report is no change")
        #expect(path.update(["wifi"]) == nil)
        #expect(path.update(["wifi", "cellular"]) == nil)
        #expect(path.update(["cellular"]) == .networkBack)
        #expect(path.update([]) == nil)
        #expect(path.update([]) == nil)
        #expect(path.update(["cellular"]) == .networkBack)
    }

    @Test("a program that starts without a network learns of its first one")
    func startsOffline() {
        var path = NetworkPath()
        #expect(path.update([]) == nil)
        #expect(path.update(["wifi"]) == .networkBack)
    }
}
