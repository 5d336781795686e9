import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// What the reader makes of the bytes: a value, or a fault.
func read<Value>(
    _ bytes: [UInt8], _ body: (inout ByteReader) throws(CodingFault) -> Value
) -> Result<Value, CodingFault> {
    var reader = ByteReader(bytes)
    do throws(CodingFault) {
        let value = try body(&reader)
        try reader.end()
        return .success(value)
    } catch { return .failure(error) }
}

@Suite("Values in bytes")
struct ByteCodingTests {
    private func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter(capacity: 0)
        body(&writer)
        return writer.bytes
    }

    @Test("integers of every length are read as they were written, and small ones are short")
    func integers() {
        var values: [UInt64] = [0, .max]
        for shift in 0..<64 as Range<UInt64> { values += [1 << shift, (1 << shift) - 1, (1 << shift) + 1] }
        for value in values {
            let bytes = written { $0.write(unsigned: value) }
            #expect(bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7))
            #expect(read(bytes) { (reader) throws(CodingFault) in try reader.unsigned() } == .success(value))
            let signed = Int64(bitPattern: value)
            let others = written { $0.write(signed: signed) }
            #expect(read(others) { (reader) throws(CodingFault) in try reader.signed() } == .success(signed))
            let fixed = written { $0.write(fixed: value) }
            #expect(fixed.count == 8)
            #expect(read(fixed) { (reader) throws(CodingFault) in try reader.fixed() } == .success(value))
        }
        #expect(written { $0.write(signed: -1) } == [1])
        #expect(written { $0.write(unsigned: 300) } == [0xAC, 2])
        #expect(written { $0.write(fixed: 0x0102) } == [2, 1, 0, 0, 0, 0, 0, 0])
    }

    @Test("an integer has one form: one that is cut, too long or too large is refused")
    func oneForm() {
        func fault(_ bytes: [UInt8]) -> CodingFault? {
            if case .failure(let fault) = read(bytes, { (reader) throws(CodingFault) in try reader.unsigned() }) {
                return fault
            }
            return nil
        }
        #expect(fault([]) == .truncated)
        #expect(fault([0x80]) == .truncated)
        #expect(fault([0x80, 0]) == .malformed)
        #expect(fault([1, 1]) == .trailingBytes)
        let nine = [UInt8](repeating: 0xFF, count: 9)
        #expect(fault(nine + [1]) == nil)
        #expect(fault(nine + [2]) == .malformed)
        #expect(fault(nine + [0x81, 0]) == .malformed)
        #expect(fault(nine) == .truncated)
    }

    @Test("text keeps every scalar, is not normalized, and must be UTF-8")
    func text() {
        for text in RandomHistory.texts.compactMap(\.self) {
            let bytes = written { $0.write(text: text) }
            guard case .success(let found) = read(bytes, { (reader) throws(CodingFault) in try reader.text() }) else {
                Issue.record("\(text.debugDescription) is refused")
                continue
            }
            // Compared in bytes: two strings are equal if they look the same.
            #expect(Array(found.utf8) == Array(text.utf8))
        }
        // An encoded surrogate, an overlong form, and a sequence that is cut.
        for invalid in [[0xED, 0xA0, 0x80], [0xC0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            let bytes = written { $0.write(bytes: invalid) }
            #expect(read(bytes) { (reader) throws(CodingFault) in try reader.text() } == .failure(.malformed))
            #expect(read(bytes) { (reader) throws(CodingFault) in try reader.byteArray() } == .success(invalid))
        }
    }

    @Test("a claim of more values than the bytes have room for is refused before any of them is read")
    func claims() {
        for claim in [6, 1 << 31, 1 << 62, .max] as [UInt64] {
            let bytes = written { $0.write(unsigned: claim) } + [1, 2, 3, 4, 5]
            #expect(read(bytes) { (reader) throws(CodingFault) in try reader.byteArray() } == .failure(.truncated))
            #expect(read(bytes) { (reader) throws(CodingFault) in try reader.text() } == .failure(.truncated))
            #expect(
                read(bytes) { (reader) throws(CodingFault) in try reader.values(Epoch.self, ofAtLeast: 1) }
                    .isFailure(.truncated))
        }
        let three = written { $0.write(count: 3) } + [1, 2, 3, 4, 5]
        #expect(read(three) { (reader) throws(CodingFault) in try reader.count(ofAtLeast: 2) } == .failure(.truncated))
    }

    @Test("a duration keeps its value, whatever its length and precision")
    func durations() {
        for duration in [
            .zero, .seconds(60), .milliseconds(-1), .nanoseconds(1), Duration(attoseconds: 1),
            Duration(attoseconds: .max), Duration(attoseconds: .min),
        ] as [Duration] {
            let bytes = written { $0.write(duration) }
            #expect(
                read(bytes) { (reader) throws(CodingFault) in try reader.value(Duration.self) } == .success(duration))
        }
    }

    @Test("an optional value is absent or present, and nothing else")
    func optional() {
        for epoch in [nil, Epoch(""), Epoch("e")] {
            let bytes = written { $0.write(epoch) }
            #expect(
                read(bytes) { (reader) throws(CodingFault) in try reader.optional(Epoch.self) } == .success(epoch))
        }
        #expect(read([2]) { (reader) throws(CodingFault) in try reader.optional(Epoch.self) } == .failure(.malformed))
    }
}

extension Result where Failure == CodingFault {
    fileprivate func isFailure(_ expected: CodingFault) -> Bool {
        if case .failure(expected) = self { true } else { false }
    }
}
