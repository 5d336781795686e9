import Foundation
import Testing

@testable import SignalingServer

@Suite("The tested versions of the C libraries")
struct TestedLibrariesTests {
    private static let document = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/operations/install.md").standardized

    @Test("docs/operations/install.md has the same table")
    func documented() throws {
        var text = try String(contentsOf: Self.document, encoding: .utf8)
        #if !SIGNALBOX_JSONC
            text.replace(#/\| json-c \|.*\n/#, with: "")
        #endif
        let rows = TestedLibraries.all.map { "| \($0.name) | \($0.versions.joined(separator: ", ")) |" }
        let table = (["| library | tested versions |", "| --- | --- |"] + rows).joined(separator: "\n")
        #expect(text.contains("\n\n" + table + "\n\n"), "The table should be:\n\n\(table)\n")
    }

    @Test("every library tells a version")
    func present() {
        for library in TestedLibraries.all {
            #expect(library.present.wholeMatch(of: /\d+\.\d+(\.\d+)?/) != nil, "\(library)")
        }
    }

    @Test("another version is a warning that names it and the tested ones; a tested one is none")
    func warning() {
        typealias Library = TestedLibraries.Library
        let tested = Library(name: "a", versions: ["1", "2"], present: "2")
        #expect(TestedLibraries.warning(about: [tested]) == nil)
        let others = [
            Library(name: "b", versions: ["1", "2"], present: "3"), Library(name: "c", versions: ["4"], present: "5"),
        ]
        let warning = TestedLibraries.warning(about: [tested] + others)
        #expect(warning?.contains("not tested with b 3 (tested: 1, 2), c 5 (tested: 4). ") == true)
    }
}
