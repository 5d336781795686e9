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
        var waiting: [(file: RevocationFile, steps: [RevocationFile.Step]?, done: (FileFault?) -> Void)] = []
        let lines = LogLines()
        var hasFile = true

        func store(_ kept: [APIKey: Revocations]? = nil) -> FileRevocations {
            FileRevocations(
                kept.map { RevocationFile(revocations: $0) }, logger: lines.logger,
                check: { [unowned self] done in done(hasFile) }
            ) {
                [unowned self] file, steps, done in waiting.append((file, steps, done))
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

    @Test("REST-8, G5: a change writes what has changed, however much is revoked, and now and then the whole")
    func steps() throws {
        let disk = Disk()
        let count = 3_000
        let store = disk.store([project: Revocations((0..<count).map { .token("kept-\($0)") })])
        var wholeCount = 0
        for number in 0..<2 * count {
            let subject = Revocation.Subject.token("kept-\(number % 7)")
            let change = number % 14 < 7 ? RevocationChange.remove(subject) : .add(Revocation(subject, before: 0))
            store.carryOut(change, of: project) { _ in }
            let write = try #require(disk.waiting.first)
            if let steps = write.steps {
                #expect(steps == [RevocationFile.Step(project: project, change: change)])
            } else {
                wholeCount += 1
            }
            disk.finish()
        }
        #expect(wholeCount == 2)
        // What cannot be appended may have left a part of a line.
        store.carryOut(.add(.token("a")), of: project) { _ in }
        #expect(disk.waiting.first?.steps != nil)
        disk.finish(FileFault("No space left on device"))
        store.carryOut(.add(.token("b")), of: project) { _ in }
        #expect(disk.waiting.first?.steps == nil)
        disk.finish()
    }

    @Test("TOK-10: a file with changes has what they make of the list; only its last line may be a part of one")
    func changes() throws {
        let steps: [RevocationFile.Step] = [
            .init(project: project, change: .add(.token("Zoë \u{2028}\n"))),
            .init(project: APIKey("101"), change: .add(.everything(before: 5))),
            .init(project: project, change: .remove(.token("t"))),
            .init(project: APIKey("101"), change: .remove(.everything)),
        ]
        let list = RevocationFile(revocations: [project: Revocations([.token("t"), .everything(before: 7)])]).bytes
        let first = RevocationFile.line(Array(steps[..<3]))
        let bytes = list + first + RevocationFile.line([steps[3]])
        var expected = [project: Revocations([.everything(before: 7), .token("Zoë \u{2028}\n")])]
        let file = try RevocationFile(bytes)
        #expect(file.revocations == expected && file.changeCount == 4)
        expected[APIKey("101")] = Revocations([.everything(before: 5)])
        for count in list.count + first.count + 1..<bytes.count {
            let cut = try RevocationFile(Array(bytes.prefix(count)))
            #expect(cut.revocations == expected && cut.changeCount == nil)
        }
        #expect(try RevocationFile(Array(bytes.prefix(list.count + first.count))).changeCount == 3)
        var damaged = bytes
        damaged[list.count + 5] = 0
        #expect(throws: FileFault.self) { try RevocationFile(damaged) }
        // A person may lay the list out.
        let laidOut = #"{"version": 1,"# + "\n" + #""projects": [{"apiKey": "1", "revocations": [{"jti": "t"}]}]}"#
        #expect(try RevocationFile(Array(laidOut.utf8)).revocations == [APIKey("1"): Revocations([.token("t")])])
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
            #expect(try folder.revocations() == nil)
            try folder.write(RevocationFile(revocations: kept))
        }
        #expect(try StateFolder(path: path).revocations()?.revocations == kept)
        try Data("{".utf8).write(to: URL(filePath: path + "/revocations.json"))
        let error = #expect(throws: StateFolderError.self) { try StateFolder(path: path).revocations() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("revocations.json"))
    }

    @Test("TOK-10: a state folder appends changes to the file that it has written, and replaces every other one")
    func appending() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "revoked-\(UUID().uuidString)").path
        let name = path + "/revocations.json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try StateFolder(path: path)
        var file = RevocationFile(revocations: [:])
        func add(_ id: String) throws {
            let step = RevocationFile.Step(project: project, change: .add(.token(id)))
            _ = file.revocations.carryOut(step.change, of: project)
            try folder.write(file, appending: [step])
        }
        func lineCount() throws -> Int { try Data(contentsOf: URL(filePath: name)).count { $0 == 10 } }
        for id in ["a", "b", "c"] { try add(id) }
        #expect(try lineCount() == 3, "the first write is a whole")
        #expect(folder.hasRevocations)
        #expect(try folder.revocations()?.revocations == file.revocations)
        // A copy of the folder was put back.
        try Data(RevocationFile(revocations: [:]).bytes).write(to: URL(filePath: name))
        try add("d")
        #expect(try lineCount() == 1)
        #expect(try folder.revocations()?.revocations == file.revocations)
        try FileManager.default.removeItem(atPath: name)
        try add("e")
        #expect(try folder.revocations()?.revocations[project]?.count == 5)
        #expect(try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int == 0o600)
    }
}
