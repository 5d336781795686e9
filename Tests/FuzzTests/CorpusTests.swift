import Foundation
import FuzzTargets
import Testing

enum Corpus {
    /// The committed inputs of a target, by their names.
    static func inputs(_ target: FuzzTarget) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fuzz/Corpora/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }.map { Array(try Data(contentsOf: $0)) }
    }
}

@Suite("The corpora of the fuzz targets")
struct CorpusTests {
    @Test(
        "each input, and each of its prefixes and single-bit changes, keeps the rules", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(target)
        #expect(inputs.count >= 5)
        for bytes in inputs {
            bytes.withUnsafeBytes(target.run)
            for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 50)) {
                bytes[..<index].withUnsafeBytes(target.run)
                var changed = bytes
                changed[index] ^= 1 << (index % 8)
                changed.withUnsafeBytes(target.run)
            }
        }
    }
}
