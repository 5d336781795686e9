import Foundation
import FuzzTargets
import Testing

@Suite("The corpora of the fuzz targets")
struct CorpusTests {
    private static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fuzz/Corpora/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }.sorted { $0.0 < $1.0 }
    }

    @Test(
        "each input, and each of its prefixes and single-bit changes, keeps the rules", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(inputs.count >= 5)
        for (_, bytes) in inputs {
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
