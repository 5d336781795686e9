import JSONText
import TestSupport
import Testing

@Suite("Strict parsing")
struct StrictnessTests {
    @Test("WIRE-4: well-formed texts are accepted", arguments: try Vectors.cases("json/accepted.json"))
    func accepted(_ vector: VectorCase) throws {
        let bytes = try #require(vector.bytes)
        let value = try JSONValue(parsing: bytes)
        if let written = vector["written"]?.stringValue { #expect(value.encodedText() == written) }
        #expect(try JSONValue(parsing: value.encoded()) == value)
    }

    @Test(
        "WIRE-4: other texts are refused, with the kind of fault and its offset",
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

    @Test("WIRE-4: the first of several equal names is refused, unless a fault of the grammar follows")
    func severalEqualNames() {
        #expect(throws: JSONError(.duplicateName, at: 12)) { try JSONValue(parsing: #"{"a":{"b":1,"b":2},"a":3}"#) }
        #expect(throws: JSONError(.unexpectedCharacter, at: 13)) { try JSONValue(parsing: #"{"a":1,"a":2,}"#) }
    }

    @Test("no proper prefix of a text is accepted", arguments: [#"{"a":[1.5,"\ud83d\ude00é",true],"b":null}"#])
    func prefixes(_ text: String) {
        for length in 0..<text.utf8.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: text.utf8.prefix(length)) }
        }
    }

    @Test("a text of the permitted size is accepted, and one byte more is refused")
    func size() throws {
        let limits = JSONLimits(byteCount: 4)
        #expect(try JSONValue(parsing: "1234", limits: limits) == 1234)
        #expect(throws: JSONError(.tooLarge, at: 4)) { try JSONValue(parsing: "12345", limits: limits) }
    }

    @Test("WIRE-4: each permitted depth is accepted, and one level more is refused", arguments: [0, 1, 2, 32, 33, 256])
    func depth(_ depth: Int) throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + (count > 0 ? "" : "1") + String(repeating: "]", count: count)
        }
        let limits = JSONLimits(depth: depth)
        _ = try JSONValue(parsing: nested(depth), limits: limits)
        #expect(throws: JSONError(.tooDeep, at: depth)) { try JSONValue(parsing: nested(depth + 1), limits: limits) }
    }

    @Test(
        "WIRE-4, G5: as many values as permitted are accepted, and the first one more is refused",
        arguments: [
            ("[[],[],[]]", 4, 7), (#"{"a":{"b":1},"c":[2]}"#, 5, 18), (#"["x",null,true,1.5,{}]"#, 6, 19), ("1", 1, 0),
        ])
    func values(_ text: String, _ count: Int, _ lastOffset: Int) throws {
        _ = try JSONValue(parsing: text, limits: JSONLimits(valueCount: count))
        if count > 1 {
            #expect(throws: JSONError(.tooManyValues, at: lastOffset)) {
                try JSONValue(parsing: text, limits: JSONLimits(valueCount: count - 1))
            }
        }
    }

    @Test("limits out of range are clamped")
    func clamping() {
        #expect(JSONLimits(depth: .max, byteCount: .max) == JSONLimits(depth: 256, byteCount: 1 << 30))
        #expect(
            JSONLimits(depth: -1, byteCount: -1, valueCount: -1) == JSONLimits(depth: 0, byteCount: 0, valueCount: 1))
    }

    @Test("an error's description contains nothing of the text")
    func safeDescription() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: #"{"secret-name":1,"secret-name":2}"#) }
        #expect(error?.description == "duplicate member name at byte 17")
    }

    @Test("a parser can be used again after a refused text")
    func reuse() throws {
        var parser = JSONParser()
        for text in ["[", "[[[[", #"{"a":"#, "tru", "", #"{"a":1,"a":1}"#, "\"\\ud8"] {
            do throws(JSONError) {
                _ = try parser.parse(text.utf8)
                Issue.record("\(text) was accepted")
            } catch {}
            let value = try parser.parse(#"{"a":[1,2]}"#.utf8)
            #expect(value == ["a": [1, 2]])
        }
    }
}
