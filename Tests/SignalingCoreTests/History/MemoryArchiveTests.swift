import CoreTestSupport
import SignalingProtocol
import Testing

@testable import SignalingCore

@Suite("The archive in memory")
struct MemoryArchiveTests {
    @Test(
        "HIS-2, HIS-3, HIS-6, HIS-9, CHG-8: it fulfils the contract of every archive",
        arguments: MessageArchiveContract.Promise.allCases)
    func contract(_ promise: MessageArchiveContract.Promise) throws {
        try MessageArchiveContract { bounds in
            let archive = MemoryArchive(bounds: bounds, projectOf: MessageArchiveContract.project)
            return MessageArchiveContract.Subject(
                archive: archive, counts: { $0.reduce(0) { $0 + size($1) } == archive.byteCount },
                run: { isDone in #expect(isDone(), "it answers from within the call") })
        }.check(promise)
    }

    @Test("HIS-2: the bytes of all sessions are bounded at every append, and the session with the most is trimmed")
    func total() throws {
        let bound = 40 * size([archived(1)]) + size((1...10).map { archived($0) })
        let archive = MemoryArchive(bounds: HistoryBounds(totalByteCount: bound))
        for seq in 1...40 as ClosedRange<Int64> {
            archive.append([archived(seq)], to: "large") { _ in }
            archive.append([archived(seq)], to: SessionID(rawValue: "small-\(seq)")) { _ in }
            #expect(archive.byteCount <= bound)
        }
        #expect(archive.messageCount == 50)
        archive.page(HistoryRequest(limit: 200), of: "large") { #expect((try? $0.get())?.messages.count == 10) }
    }

    @Test("HIS-2, CHG-8: an edit that makes a message longer is bounded, too")
    func totalAtAnEdit() throws {
        let bound = size((1...10).map { archived($0) })
        let archive = MemoryArchive(bounds: HistoryBounds(totalByteCount: bound))
        archive.append((1...10).map { archived($0) }, to: "session") { _ in }
        archive.put([archivedForm(10, version: 20, byteCount: 500)], of: "session") { _ in }
        #expect(archive.byteCount <= bound && archive.messageCount == 8)
        archive.page(HistoryRequest(limit: 1), of: "session") {
            #expect((try? $0.get())?.messages.first?.version == Seq(20))
        }
    }

    /// What a session with these messages takes.
    private func size(_ messages: [ArchivedMessage]) -> Int {
        messages.reduce(MemoryArchive.sessionCost) { $0 + MemoryArchive.messageCost + $1.byteCount }
    }
}
