import JSONText
import TestSupport
import Testing

@Suite("What is taken as JSON")
struct StrictnessTests {
    @Test("WIRE-4: well-formed texts are taken", arguments: try Vectors.cases("json/accepted.json"))
    func accepted(_ vector: VectorCase) throws {
        let bytes = try #require(vector.bytes)
        let value = try JSONValue(parsing: bytes)
        if let written = vector["written"]?.stringValue { #expect(value.encodedText() == written) }
        #expect(try JSONValue(parsing: value.encoded()) == value)
    }

    @Test(
        "WIRE-4: everything else is refused, with the kind of fault and where it begins",
        arguments: try Vectors.cases("json/refused.json"))
    func refused(_ vector: VectorCase) throws {
        let bytes = try #require(vector.bytes)
        let fault = try #require(vector["fault"]?.stringValue)
        let offset = try #require(vector["offset"]?.integerValue)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.kind.description == fault)
        #expect(error?.offset == Int(offset))
    }

    @Test("WIRE-4: a lone surrogate escape is refused with its offset")
    func loneSurrogate() {
        #expect(throws: JSONError(.loneSurrogate, at: 6)) { try JSONValue(parsing: #"{"a":"\ud800"}"#) }
    }

    @Test("no prefix of a text is taken for the whole", arguments: [#"{"a":[1.5,"\ud83d\ude00é",true],"b":null}"#])
    func prefixes(_ text: String) {
        for length in 0..<text.utf8.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: text.utf8.prefix(length)) }
        }
    }

    @Test("a text of exactly the permitted size is taken, one byte more is not")
    func size() throws {
        let limits = JSONLimits(byteCount: 4)
        #expect(try JSONValue(parsing: "1234", limits: limits) == 1234)
        #expect(throws: JSONError(.tooLarge, at: 4)) { try JSONValue(parsing: "12345", limits: limits) }
    }

    @Test("each permitted depth is taken, one level more is not", arguments: [0, 1, 2, 32, 33, 256])
    func depth(_ depth: Int) throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + (count > 0 ? "" : "1") + String(repeating: "]", count: count)
        }
        let limits = JSONLimits(depth: depth)
        _ = try JSONValue(parsing: nested(depth), limits: limits)
        #expect(throws: JSONError(.tooDeep, at: depth)) { try JSONValue(parsing: nested(depth + 1), limits: limits) }
    }

    @Test("limits beyond what can be kept are brought back into bounds")
    func clamping() {
        #expect(JSONLimits(depth: .max, byteCount: .max) == JSONLimits(depth: 256, byteCount: 1 << 30))
        #expect(JSONLimits(depth: -1, byteCount: -1) == JSONLimits(depth: 0, byteCount: 0))
    }

    @Test("an error's description shows nothing of the text")
    func safeDescription() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: #"{"secret-name":1,"secret-name":2}"#) }
        #expect(error?.description == "duplicate member name at byte 17")
    }

    @Test("a parser that has refused a text reads the next one")
    func reuse() throws {
        var parser = JSONParser()
        for text in ["[", "[[[[", #"{"a":"#, "tru", "", #"{"a":1,"a":1}"#, "\"\\ud8"] {
            do throws(JSONError) {
                _ = try parser.parse(text.utf8)
                Issue.record("\(text) was taken")
            } catch {}
            let value = try parser.parse(#"{"a":[1,2]}"#.utf8)
            #expect(value == ["a": [1, 2]])
        }
    }
}
