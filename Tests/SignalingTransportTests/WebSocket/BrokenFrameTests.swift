import Testing

@testable import SignalingTransport

@Suite("What the server refuses in frames that the library accepts")
struct BrokenFrameTests {
    @Test(
        "WIRE-16: a close frame with half a code, a code that none may have, or a reason that is not UTF-8 is refused",
        arguments: [
            ([], nil), ([3], 1002), ([0x03, 0xE8], nil), ([0x13, 0x87], nil), ([0x13, 0x88], 1002),
            ([0xFF, 0xFF], 1002), ([0x0F, 0xA1] + Array("été".utf8), nil),
            ([0x03, 0xE8, 0xED, 0xA0, 0x80], 1007), ([0x03, 0xE8, 0xE2, 0x82], 1007),
        ] as [([UInt8], UInt16?)])
    func closeFrames(_ payload: [UInt8], _ code: UInt16?) {
        #expect(payload.withUnsafeBytes { CloseFrame.refusal(of: $0) } == code)
    }

    @Test("WIRE-16: a text is refused with the byte that it cannot become UTF-8 behind, once; the next text is read")
    func text() {
        var assembler = MessageAssembler(byteLimit: 100, fragmentLimit: 10)
        func outcome(_ bytes: [UInt8], isFirst: Bool = false, isFinal: Bool = false) -> String {
            let outcome = bytes.withUnsafeBytes {
                assembler.append(
                    MessageAssembler.Piece(
                        bytes: $0, isFirst: isFirst, isFinal: isFinal, isBinary: false, remainingInFrame: 0))
            }
            return switch outcome {
            case .incomplete: "incomplete"
            case .wholePiece: "whole"
            case .joined(let bytes, _): String(decoding: bytes, as: UTF8.self)
            case .violation(let violation): "\(violation)"
            }
        }
        #expect(outcome(Array("κόσμε".utf8), isFirst: true) == "incomplete")
        #expect(outcome([0xF4]) == "incomplete", "it may begin a character")
        #expect(outcome([0x90]) == "invalidUTF8", "above U+10FFFF, whatever follows")
        #expect(outcome([0x90], isFinal: true) == "incomplete", "the rest is dropped")
        #expect(outcome([0xC3], isFirst: true) == "incomplete")
        #expect(outcome([0xA9], isFinal: true) == "é", "a character may be split")
        #expect(outcome([0xC3], isFirst: true, isFinal: true) == "invalidUTF8", "a text ends within a character")
    }
}
