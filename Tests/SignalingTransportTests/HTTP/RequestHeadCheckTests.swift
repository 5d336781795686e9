import JSONText
import TestSupport
import Testing

@testable import SignalingTransport

@Suite("The check of a request's raw head")
struct RequestHeadCheckTests {
    private static func cases() throws -> [VectorCase] { try Vectors.cases("http/heads.json") }

    @Test("REST-5: each head of the vectors is accepted with its length, or refused with its status")
    func vectors() throws {
        var acceptedCount = 0
        var refusedCount = 0
        for one in try Self.cases() {
            let bytes = try #require(one.bytes, "\(one)")
            switch RequestHeadCheck.verdict(on: bytes) {
            case .accept(let count):
                acceptedCount += 1
                #expect(one["headByteCount"] == .integer(Int64(count)), "\(one)")
            case .refuse(let fault):
                refusedCount += 1
                #expect(one["status"] == .integer(Int64(fault.response.status)), "\(one): \(fault)")
            case .incomplete: Issue.record("\(one): incomplete")
            }
        }
        #expect(acceptedCount >= 40 && refusedCount >= 150)
    }

    @Test("REST-5: a head with an absolute target has an origin form, with the target's host; no other head has one")
    func originForms() throws {
        for one in try Self.cases() {
            let bytes = try #require(one.bytes, "\(one)")
            let form = bytes.withUnsafeBytes { RequestHeadCheck.inspect($0).originForm }
            #expect(form.map { String(decoding: $0, as: UTF8.self) } == one["originForm"]?.stringValue, "\(one)")
        }
    }

    @Test("a verdict does not depend on how the bytes arrive: each prefix is incomplete, or has the final verdict")
    func prefixes() throws {
        for one in try Self.cases() {
            let bytes = try #require(one.bytes, "\(one)")
            let final = RequestHeadCheck.verdict(on: bytes)
            for count in 0..<bytes.count {
                let verdict = RequestHeadCheck.verdict(on: bytes[..<count])
                guard verdict != .incomplete else { continue }
                #expect(verdict == final, "\(one), \(count) bytes")
                break
            }
        }
    }

    @Test("every single byte that is not ASCII text is refused wherever it replaces a byte of the request line")
    func everyByteOfTheRequestLine() {
        let head = Array("GET /a HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        for index in 0..<15 {
            for byte in Array(UInt8.min...0x20) + Array(UInt8(0x7F)...UInt8.max) where head[index] != byte {
                var changed = head
                changed[index] = byte
                guard case .refuse = RequestHeadCheck.verdict(on: changed) else {
                    // Nothing else may be read into it: a CR or LF splits the line.
                    Issue.record("byte \(byte) at \(index): \(RequestHeadCheck.verdict(on: changed))")
                    continue
                }
            }
        }
    }

    @Test("a fault's text can stand in JSON and names nothing of the request")
    func texts() {
        for fault in RequestFault.allCases {
            let body = String(decoding: fault.response.body, as: UTF8.self)
            #expect((400...505).contains(fault.response.status))
            #expect(body.hasPrefix(#"{"code":\#(fault.response.status),"message":""#) && body.hasSuffix(#""}"#))
            #expect(body.filter { $0 == "\"" }.count == 6 && !body.contains("\\"))
        }
    }
}
