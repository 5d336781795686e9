import JSONText
import Testing

@Suite("JSON values")
struct ValueTests {
    @Test("an integer and a number with a fraction are different values")
    func integers() throws {
        #expect(try JSONValue(parsing: "1") == .integer(1))
        #expect(try JSONValue(parsing: "1.0") == .double(1))
        #expect(JSONValue.integer(1) != .double(1))
        #expect(JSONValue.double(1).integerValue == nil)
        #expect(JSONValue.integer(1).doubleValue == 1)
    }

    @Test("WIRE-4: NUL and the line separators are permitted in a string")
    func awkwardText() throws {
        let text: JSONValue = ["a\0b\u{2028}c\u{2029}\u{7F}"]
        #expect(text.encodedText() == "[\"a\\u0000b\u{2028}c\u{2029}\u{7F}\"]")
        #expect(try JSONValue(parsing: text.encoded()) == text)
    }

    @Test("WIRE-3: written text contains no line break")
    func oneLine() {
        let value: JSONValue = ["\n": "\r\n\u{85}", "b": ["\u{B}", "\u{1F}"]]
        #expect(!value.encoded().contains { $0 < 0x20 })
    }

    @Test("members are written in the order in which they were added")
    func order() throws {
        var object = JSONObject()
        for name in ["z", "a", "m"] { object.append(name, 1) }
        object["a"] = 2
        #expect(JSONValue.object(object).encodedText() == #"{"z":1,"a":2,"m":1}"#)
        object["z"] = nil
        #expect(object.map(\.name) == ["a", "m"])
    }

    @Test("equality and hashing ignore the order of members")
    func equality() {
        let one: JSONValue = ["a": 1, "b": [2]]
        let other: JSONValue = ["b": [2], "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != ["a": 1])
        #expect(one != ["a": 1, "b": [3]])
        #expect(one != ["a": 1, "c": [2]])
    }

    @Test("an object of many members finds, replaces and removes each of them", arguments: [1, 16, 17, 18, 100])
    func manyMembers(_ count: Int) {
        var object = JSONObject()
        for number in 0..<count { object.append("n\(number)", .integer(Int64(number))) }
        for number in 0..<count {
            #expect(object["n\(number)"] == .integer(Int64(number)))
            object["n\(number)"] = "new"
        }
        #expect(object.count == count)
        for number in 0..<count {
            object["n\(number)"] = nil
            #expect(object["n\(number)"] == nil)
            #expect(object.allSatisfy { object[$0.name] == "new" })
        }
        #expect(object.isEmpty)
    }

    @Test("names are compared by their bytes, not by canonical equivalence", arguments: [0, 40])
    func names(_ others: Int) throws {
        var object = JSONObject()
        for number in 0..<others { object.append("n\(number)", 0) }
        object.append("\u{E9}", 1)
        object.append("e\u{301}", 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(try JSONValue(parsing: JSONValue.object(object).encoded())["e\u{301}"] == 2)
    }

    @Test("a null member is present, and an absent member is nil")
    func nullMember() {
        let value: JSONValue = ["a": nil]
        #expect(value["a"] == JSONValue.null)
        #expect(value["b"] == nil)
        #expect(JSONValue.integer(1)["a"] == nil)
    }

    @Test("infinities and NaN are written as null")
    func notANumber() {
        let value = JSONValue.array([.double(.nan), .double(.infinity), .double(-.infinity)])
        #expect(value.encodedText() == "[null,null,null]")
    }

    @Test("integers are written in decimal digits")
    func decimalDigits() {
        var numbers: [Int64] = [0, -1, .min, .min + 1, .max, .max - 1]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1, -power, 1 - power]
        }
        for number in numbers {
            var writer = JSONWriter()
            writer.value(number)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == String(number))
            #expect(JSONValue.integer(number).encodedText() == String(number))
        }
    }

    @Test("the writer adds the commas")
    func writer() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ev", "signal")
        writer.member("seq", 42 as Int64)
        writer.member("isOn", true)
        writer.name("list")
        writer.beginArray()
        writer.value(1)
        writer.beginObject()
        writer.endObject()
        writer.null()
        writer.value("\"\\\u{1}\u{1F}")
        writer.endArray()
        writer.member("any", ["x": 1.5])
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                {"ev":"signal","seq":42,"isOn":true,"list":[1,{},null,"\\"\\\\\\u0001\\u001f"],"any":{"x":1.5}}
                """)
    }
}
