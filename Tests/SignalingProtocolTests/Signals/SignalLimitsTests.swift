import JSONText
import SignalingProtocol
import TestSupport
import Testing

@Suite("The limits of a signal")
struct SignalLimitsTests {
    @Test(
        "SIG-2, SIG-3, SIG-4, SIG-5: type, data and target at their limits and over them",
        arguments: try Vectors.cases("limits/signal.json"))
    func vectors(_ vector: VectorCase) throws {
        let signal = try #require(vector["signal"])
        let request = SignalRequest(
            type: try signal["type"].map(written), data: try signal["data"].map(written),
            to: try signal["to"].map { ConnectionID(try written($0)) })
        let refused = vector["refused"]?.integerValue
        do throws(SignalingError) {
            try request.validate()
            #expect(refused == nil)
        } catch {
            #expect(error.code.number == refused.map { Int($0) })
            #expect(error.code.name == "OT_INVALID_PARAMETER")
        }
    }

    @Test("WIRE-10, SIG-3: the largest valid signal fits into a message, however it is escaped")
    func largest() throws {
        let target = ConnectionID(String(repeating: "f", count: 36))
        for (piece, escaped) in [("\u{1}", "\\u0001"), ("€", "\\u20ac"), ("\"", "\\u0022")] {
            let request = SignalRequest(
                type: String(repeating: "t", count: Limits.typeLength),
                data: String(repeating: piece, count: Limits.dataLength), to: target, isOnlineOnly: true)
            try request.validate()
            let line = ClientMessage.signal(RequestID(.min), request).encoded()
            #expect(line.count < Limits.messageByteCount)
            let plain = text(JSONValue.string(piece).encoded().dropFirst().dropLast())
            let clumsy = text(line).replacing(plain, with: escaped)
            #expect(clumsy.utf8.count < Limits.messageByteCount)
            #expect(try readClient(clumsy) == .signal(RequestID(.min), request))
        }
    }

    private func written(_ value: JSONValue) throws -> String {
        if let text = value.stringValue { return text }
        let pair = try #require(value["repeat"]?.arrayValue)
        return String(repeating: try #require(pair[0].stringValue), count: Int(try #require(pair[1].integerValue)))
    }
}
