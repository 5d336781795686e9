import Foundation
import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@testable import SignalingServer

@Suite("What keeps revocations")
struct RevocationStoreTests {
    /// Writes as slowly as the test wants.
    private final class Disk {
        var waiting: [(file: RevocationFile, done: (FileFault?) -> Void)] = []
        let lines = LogLines()
        var hasFile = true

        func store(_ kept: [APIKey: Revocations] = [:]) -> FileRevocations {
            FileRevocations(kept, logger: lines.logger, check: { [unowned self] done in done(hasFile) }) {
                [unowned self] file, done in waiting.append((file, done))
            }
        }

        func finish(_ fault: FileFault? = nil) { waiting.removeFirst().done(fault) }
    }

    private let project = APIKey("100")

    @Test("REST-8: a change takes effect and is answered when the file is on the disk")
    func durable() {
        let disk = Disk()
        let store = disk.store()
        var (changeCount, outcomes) = (0, [RevocationOutcome]())
        store.onChange = { changeCount += 1 }
        store.carryOut(.add(.user(UserID("u"), before: 5)), of: project) {
            if case .success(let outcome) = $0 { outcomes.append(outcome) }
        }
        #expect(store.revocations.isEmpty && outcomes.isEmpty)
        disk.finish()
        #expect(outcomes == [.added(.user(UserID("u"), before: 5))])
        #expect(store.revocations[project]?.list == [.user(UserID("u"), before: 5)])
        #expect(changeCount == 1)
    }

    @Test("REST-8, G5: what arrives during a write is written together")
    func together() {
        let disk = Disk()
        let store = disk.store()
        var outcomes: [RevocationOutcome] = []
        for number in 0..<1_000 {
            store.carryOut(.add(.token("t\(number)")), of: project) {
                if case .success(let outcome) = $0 { outcomes.append(outcome) }
            }
        }
        #expect(disk.waiting.count == 1)
        disk.finish()
        #expect(outcomes.count == 1)
        #expect(disk.waiting.count == 1)
        disk.finish()
        #expect(outcomes.count == 1_000)
        #expect(disk.waiting.isEmpty)
        #expect(store.revocations[project]?.count == 1_000)
    }

    @Test("REST-8: a file that was removed is written again, and one that is there is not")
    func removed() {
        let disk = Disk()
        let kept = [project: Revocations([.token("t")])]
        let store = disk.store(kept)
        store.keepFile()
        #expect(disk.waiting.isEmpty)
        disk.hasFile = false
        store.keepFile()
        store.keepFile()
        #expect(disk.waiting.map(\.file.revocations) == [kept])
        disk.finish()
        #expect(disk.lines.contain("it is written again"))
        let empty = disk.store()
        empty.keepFile()
        #expect(disk.waiting.isEmpty)
    }

    @Test("REST-8: a disk that refuses changes nothing, and the next change is written")
    func refused() {
        let disk = Disk()
        let store = disk.store()
        var results: [Result<RevocationOutcome, RevocationFault>] = []
        store.carryOut(.add(.everything(before: 5)), of: project) { results.append($0) }
        disk.finish(FileFault("No space left on device"))
        #expect(results == [.failure(.notKept)])
        #expect(store.revocations.isEmpty)
        #expect(disk.lines.contain("No space left on device"))
        store.carryOut(.add(.everything(before: 6)), of: project) { results.append($0) }
        disk.finish()
        #expect(results.last == .success(.added(.everything(before: 6))))
    }

    @Test("REST-8: what changes nothing is answered without a write")
    func unchanged() {
        let disk = Disk()
        let store = disk.store([project: Revocations([.everything(before: 9)])])
        var results: [Result<RevocationOutcome, RevocationFault>] = []
        store.carryOut(.add(.everything(before: 5)), of: project) { results.append($0) }
        store.carryOut(.remove(.token("t")), of: project) { results.append($0) }
        store.carryOut(.remove(.token("t")), of: APIKey("101")) { results.append($0) }
        #expect(results == [.success(.added(.everything(before: 9))), .success(.absent), .success(.absent)])
        #expect(disk.waiting.isEmpty)
        #expect(store.revocations.count == 1)
    }

    @Test("REST-8: a store that closes answers what waits")
    func closing() {
        let disk = Disk()
        let store = disk.store()
        var results: [Result<RevocationOutcome, RevocationFault>] = []
        for number in 0..<2 { store.carryOut(.add(.token("\(number)")), of: project) { results.append($0) } }
        store.close()
        #expect(results == [.failure(.notKept)])
        disk.finish()
        #expect(results.count == 2)
        store.carryOut(.remove(.everything), of: project) { results.append($0) }
        #expect(results.last == .failure(.notKept))
    }

    @Test("TOK-10: the file has everything, also texts that JSON escapes, and a damaged file is refused")
    func file() throws {
        let file = RevocationFile(revocations: [
            project: Revocations([
                .everything(before: 7), .user(UserID("Zoë \"😀\" \u{202E}"), before: 8), .token("\u{0}"),
            ]),
            APIKey("101"): Revocations([.token("t")]),
        ])
        let bytes = file.bytes
        #expect(try RevocationFile(bytes) == file)
        for count in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: FileFault.self) { try RevocationFile(Array(bytes.prefix(count))) }
        }
        for text in [#"{"version":2,"projects":[]}"#, #"{"version":1}"#, #"{"version":1,"projects":[{"apiKey":"1"}]}"#]
        {
            #expect(throws: FileFault.self) { try RevocationFile(Array(text.utf8)) }
        }
    }

    @Test("TOK-10: a state folder keeps revocations for the next server, and does not lose them quietly")
    func folder() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "revoked-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let kept = [project: Revocations([.user(UserID("u"), before: 5)])]
        do {
            let folder = try StateFolder(path: path)
            #expect(try folder.revocations().isEmpty)
            try folder.write(RevocationFile(revocations: kept))
        }
        #expect(try StateFolder(path: path).revocations() == kept)
        try Data("{".utf8).write(to: URL(filePath: path + "/revocations.json"))
        let error = #expect(throws: StateFolderError.self) { try StateFolder(path: path).revocations() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("revocations.json"))
    }
}
