import Foundation
import Logging
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore
@testable import SignalingSQLite

@Suite("The archive in SQLite")
struct SQLiteArchiveContractTests {
    @Test(
        "HIS-2, HIS-3, HIS-6, HIS-9: it fulfils the contract of every archive",
        arguments: MessageArchiveContract.Promise.allCases)
    func contract(_ promise: MessageArchiveContract.Promise) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var opened: [SQLiteArchive] = []
        defer { for archive in opened { archive.close() } }
        try MessageArchiveContract { bounds in
            let part = folder.appending(path: "\(opened.count)")
            try FileManager.default.createDirectory(
                at: part, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let loop = TestLoop()
            let archive = try SQLiteArchive(
                folder: part.path, bounds: bounds, logger: Logger(label: "test"), post: loop.post)
            opened.append(archive)
            return MessageArchiveContract.Subject(archive: archive) { try loop.run(until: $0) }
        }.check(promise)
    }
}
