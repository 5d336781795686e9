import Foundation
import FuzzTargets
import TestSupport
import Testing

/// Random changes of the committed inputs. libFuzzer finds more, since it sees which code an input reaches, but it needs
/// a build of its own (scripts/fuzz). These run in every test run.
@Suite("Random changes of the fuzz targets' inputs", .serialized)
struct MutationTests {
    /// `SIGNALBOX_FUZZ_SECONDS` chooses another time for each target. scripts/test runs each for 2 s.
    private static let time = Duration.seconds(number("SIGNALBOX_FUZZ_SECONDS") ?? 1)
    /// `SIGNALBOX_FUZZ_SEED` repeats a run, up to the input that broke a rule.
    private static let seed = number("SIGNALBOX_FUZZ_SEED") ?? UInt64.random(in: .min ... .max)
    private static let longest = 4_096

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) }
    }

    @Test("inputs with random changes keep the rules", arguments: FuzzTarget.allCases)
    func mutate(target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(target)
        var random = SeededGenerator(seed: Self.seed)
        // A broken rule ends the program, so this line comes first.
        print("\(target.rawValue): SIGNALBOX_FUZZ_SEED=\(Self.seed)")
        let end = ContinuousClock.now.advanced(by: Self.time)
        var count = 0
        while ContinuousClock.now < end {
            for _ in 0..<100 {
                mutation(of: inputs, using: &random).withUnsafeBytes(target.run)
                count += 1
            }
        }
        print("\(target.rawValue): \(count) inputs")
        #expect(count > 0)
    }

    private func mutation(of inputs: [[UInt8]], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = inputs.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let through = min(bytes.count, at + Int.random(in: 0...16, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: at)
            case 1: bytes.removeSubrange(at..<through)
            case 2: bytes.insert(contentsOf: bytes[at..<through], at: at)
            case 3:
                // The end of another input behind the beginning of this one.
                let other = inputs.randomElement(using: &random) ?? []
                bytes.replaceSubrange(at..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
            case 4:
                // Bytes at which parsers decide.
                let special: [UInt8] = [0, 9, 10, 13, 32, 34, 44, 47, 58, 92, 123, 125, 127, 128, 192, 237, 244, 255]
                if at < bytes.count { bytes[at] = special.randomElement(using: &random) ?? 0 }
            default: if at < bytes.count { bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            }
        }
        return Array(bytes.prefix(Self.longest))
    }
}
