import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("The archive in SQLite")
struct ArchiveContractTests {
    @Test(
        "HIS-2, HIS-3, HIS-6, HIS-9, CHG-8: it fulfils the contract of every archive",
        arguments: MessageArchiveContract.Promise.allCases)
    func contract(_ promise: MessageArchiveContract.Promise) throws {
        // The contract opens several archives one after the other.
        var benches: [ArchiveBench] = []
        try MessageArchiveContract { bounds in
            let bench = try ArchiveBench()
            benches.append(bench)
            let files = try DatabaseFiles(folder: bench.folder.path, name: DatabaseFiles.archive)
            return MessageArchiveContract.Subject(
                archive: try bench.start(bounds: bounds),
                counts: { sessions in
                    let byteCount = sessions.joined().reduce(0) { $0 + $1.byteCount }
                    return try SQLiteArchive.summary(files)?.byteCount ?? 0 == byteCount
                },
                run: { try bench.loop.run(until: $0) })
        }.check(promise)
    }
}
