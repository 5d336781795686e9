import JSONText
import TestSupport
import Testing

@testable import SignalingTransport

@Suite("A body in chunks")
struct ChunkedBodyTests {
    @Test("REST-5: each body of the vectors is read or refused, at once and byte by byte")
    func vectors() throws {
        var malformedCount = 0
        for one in try Vectors.cases("http/chunks.json") {
            let bytes = try #require(one.bytes, "\(one)")
            var whole = ChunkedBody(limit: 1000)
            var pieces = ChunkedBody(limit: 1000)
            let outcome = whole.append(bytes)
            var last = ChunkedBody.Outcome.wantsMore
            for byte in bytes where last == .wantsMore { last = pieces.append([byte]) }
            #expect(last == outcome, "\(one)")
            if let body = one["body"]?.stringValue {
                #expect(
                    outcome == .complete && whole.bytes == Array(body.utf8) && pieces.bytes == whole.bytes, "\(one)")
            } else {
                #expect(one["malformed"] == true && outcome == .malformed, "\(one): \(outcome)")
                malformedCount += 1
            }
        }
        #expect(malformedCount >= 40)
    }
}
