import SignalingTransport
import Testing

@testable import SignalingServer

/// The page and the browser library as a part of the program.
@Suite struct TarArchiveTests {
    /// The head and the content of a file, each filled up to whole blocks.
    private static func entry(_ name: String, in folder: String = "", _ content: String, size: String? = nil) -> [UInt8]
    {
        var head = [UInt8](repeating: 0, count: 512)
        let octal = String(content.utf8.count, radix: 8)
        let size = size ?? String(repeating: "0", count: 11 - octal.count) + octal
        for (place, text) in [(0, name), (124, size), (257, "ustar"), (345, folder)] {
            head.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
        }
        let filled = (content.utf8.count + 511) / 512 * 512
        return head + Array(content.utf8) + [UInt8](repeating: 0, count: filled - content.utf8.count)
    }

    private static func archive(_ bytes: [UInt8]) -> TarArchive { bytes.withUnsafeBytes { TarArchive($0) } }

    @Test func filesHaveTheirNamesAndContents() {
        let end = [UInt8](repeating: 0, count: 1024)
        let long = String(repeating: "x", count: 512)
        let archive = Self.archive(
            Self.entry("a.js", "one") + Self.entry("empty.css", "") + Self.entry("b.js", in: "dist/deep", long) + end)
        #expect(archive.files.map(\.name) == ["a.js", "empty.css", "dist/deep/b.js"])
        #expect(archive.files.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "", long])
    }

    @Test(arguments: ["77777777777", "-1", "zzz", ""])
    func aSizeThatCannotBeEndsTheArchive(size: String) {
        let archive = Self.archive(Self.entry("a.js", "one") + Self.entry("b.js", "two", size: size))
        #expect(archive.files.map(\.name) == ["a.js"])
    }

    @Test func eachBeginningOfAnArchiveIsRead() {
        let whole = Self.entry("a.js", "one") + Self.entry("b.js", "two")
        for count in 0...whole.count {
            #expect(Self.archive(Array(whole.prefix(count))).files.count == (count < 515 ? 0 : count < 1539 ? 1 : 2))
        }
    }

    @Test func aServerSendsTheFilesOfAnArchive() throws {
        let archive = Self.archive(
            Self.entry("index.html", "raw") + Self.entry("dist/page.html", "page")
                + Self.entry("dist/page.html.gz", "small") + Self.entry("test/a.js", "no") + Self.entry("LICENSE", "no")
        )
        let files = StaticFiles(archive: archive)
        #expect(files.response(at: "/", ifNoneMatch: nil).body == Array("page".utf8))
        #expect(files.response(at: "/", ifNoneMatch: nil, acceptEncoding: "gzip").body == Array("small".utf8))
        for path in ["/test/a.js", "/LICENSE"] { #expect(files.file(at: path) == nil) }
    }

    @Test func aServerWithoutFilesSaysHowToGetThem() {
        let body = String(decoding: StaticFiles().response(at: "/", ifNoneMatch: nil).body, as: UTF8.self)
        #expect(body.contains("this server has no page") && body.contains("--web-root"))
    }
}
