import Foundation
import Testing
import TextChatFoundation

@Suite("An outbox in a file")
struct FileOutboxTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func inFolder(_ body: (FileOutbox) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(FileOutbox(url: folder.appendingPathComponent("outbox")))
    }

    @Test("it reads what was written last, for its user only; without a file there is nothing")
    func writes() throws {
        try inFolder { outbox in
            #expect(try outbox.read() == nil)
            try outbox.write([1, 2, 3])
            try outbox.write([4])
            #expect(try FileOutbox(url: outbox.url).read() == [4])
            try outbox.write([])
            #expect(try outbox.read() == [])
            let mode = try FileManager.default.attributesOfItem(atPath: outbox.url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("a write that was cut short leaves the old bytes")
    func cutShort() throws {
        try inFolder { outbox in
            try outbox.write([1])
            try Data([9]).write(to: URL(fileURLWithPath: outbox.url.path + ".new"))
            #expect(try outbox.read() == [1])
            try outbox.write([2])
            #expect(try outbox.read() == [2])
        }
    }

    @Test("a damaged file is kept beside it")
    func setsAside() throws {
        try inFolder { outbox in
            try outbox.write([1])
            try outbox.setAside()
            #expect(try outbox.read() == nil)
            #expect(try Data(contentsOf: URL(fileURLWithPath: outbox.url.path + ".damaged")) == Data([1]))
        }
    }

    @Test("a file that cannot be read or written is an error with its path")
    func fails() {
        let outbox = FileOutbox(url: folder.appendingPathComponent("missing/outbox"))
        #expect { try outbox.write([1]) } throws: { "\($0)".contains("missing/outbox") }
        #expect(throws: FileOutbox.Failure.self) { try FileOutbox(url: URL(fileURLWithPath: "/")).read() }
    }
}
