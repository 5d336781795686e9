import JSONText
import TestSupport
import Testing

@Suite("JSON under random and hostile input")
struct PropertyTests {
    @Test("random values are read as they were written", arguments: [1, 2, 3, 4] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var parser = JSONParser()
        for _ in 0..<500 {
            let value = randomValue(depth: 4, &random)
            let bytes = value.encoded()
            let again = try parser.parse(bytes)
            #expect(again == value)
            #expect(again.encoded() == bytes)
        }
    }

    @Test(
        "mutated texts are read or refused, and a value that is read can be written and read again",
        arguments: [5, 6, 7] as [UInt64])
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let seeds = try (Vectors.cases("json/accepted.json") + Vectors.cases("json/refused.json")).compactMap(\.bytes)
        var parser = JSONParser()
        var readCount = 0
        for _ in 0..<5_000 {
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0...Int.random(in: 0..<4, using: &random) { mutate(&bytes, &random) }
            do throws(JSONError) {
                let value = try parser.parse(bytes)
                readCount += 1
                let again = try parser.parse(value.encoded())
                #expect(again == value)
            } catch {
                #expect(error.offset.map { (0...bytes.count).contains($0) } == true, "\(error) \(bytes)")
                #expect(error.kind != .outOfMemory, "\(bytes)")
            }
        }
        #expect(readCount > 50)
    }

    @Test(
        "a hostile megabyte is refused in time in proportion to its length",
        arguments: ["[", "{\"a\":", "\"", "\\", "1", "[0,", " ", "\"\\ud83d\\ude00", "é", "-", "/*", "{\"a\":1,"])
    func longInput(_ piece: String) {
        let bytes = Array(String(repeating: piece, count: 1_048_576 / piece.utf8.count).utf8)
        let clock = ContinuousClock()
        let elapsed = clock.measure {
            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes, limits: JSONLimits(depth: 256)) }
        }
        #expect(elapsed < .seconds(60))
    }

    @Test("many members and a long number are read in time in proportion to their length")
    func longValid() throws {
        let clock = ContinuousClock()
        let count = 50_000
        let members = "{" + (0..<count).map { "\"name\($0)\":\($0)" }.joined(separator: ",") + "}"
        let twice = members.dropLast() + #","name7":0}"#
        let digits = "0." + String(repeating: "1", count: 1_000_000)
        let start = clock.now
        #expect(try JSONValue(parsing: members)["name49999"] == 49_999)
        #expect(throws: JSONError(.duplicateName, at: members.utf8.count)) { try JSONValue(parsing: String(twice)) }
        let number = try #require(try JSONValue(parsing: digits).doubleValue)
        #expect(abs(number - 1.0 / 9) < 1e-12)
        let elapsed = clock.now - start
        #expect(elapsed < .seconds(60))
    }

    private func randomValue(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: return nil
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random))
        case 3:
            let number = Double(bitPattern: random.next())
            return .double(number.isFinite ? number : -0.0)
        case 4, 5: return .string(randomText(&random))
        case 6, 7:
            return .array(
                (0..<Int.random(in: 0..<6, using: &random)).map { _ in randomValue(depth: depth - 1, &random) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0..<24, using: &random) {
                let name = randomText(&random).filter { $0 != "\0" }
                object.append(name.unicodeScalars.contains("\0") ? "" : name, randomValue(depth: depth - 1, &random))
            }
            return .object(object)
        }
    }

    private func randomText(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0..<8, using: &random) {
            let range: ClosedRange<UInt32> =
                [0...0x1F, 0x20...0x7E, 0x22...0x22, 0x5C...0x5C, 0x7F...0x7FF, 0x800...0xFFFF, 0x1_0000...0x10_FFFF]
                .randomElement(using: &random) ?? 0...0
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// Changes, adds or removes something at random.
func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let index = Int.random(in: 0...bytes.count, using: &random)
    let special = Array(#"{}[],:"\/'+-.0123456789eEutfnINa"#.utf8) + [0x00, 0x1F, 0x80, 0xC0, 0xED, 0xF4, 0xFF]
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.insert(special.randomElement(using: &random) ?? 0, at: index)
    case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
    case 2 where index < bytes.count: bytes.remove(at: index)
    case 3 where index < bytes.count: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 4: bytes.insert(contentsOf: bytes.suffix(from: index), at: index)
    default: break
    }
}
