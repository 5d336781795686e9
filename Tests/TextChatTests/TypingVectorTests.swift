import JSONText
import SignalingProtocol
import TestSupport
import Testing
import TextChat

@Suite("TYP: the vectors of typing, which JavaScript reads, too")
struct TypingVectorTests {
    @Test("scripts", arguments: try TypingVector.all(in: "typing", kind: "script"))
    func script(_ test: TypingVector) throws {
        let run = try TypingScript(test.vector)
        #expect(JSONValue.array(run.signals) == test.vector["signals"])
        #expect(JSONValue.array(run.snapshots) == test.vector["snapshots"])
        #expect(run.unexpected == [])
        #expect(run.requests.allSatisfy { $0.isOnlineOnly })
        #expect(run.numbers == Array(1...Int64(run.numbers.count + 1)).dropLast())
    }

    @Test("a component", arguments: try TypingVector.all(in: "typing", kind: "component"))
    @MainActor
    func component(_ test: TypingVector) throws {
        let run = try ComponentScript(test.vector)
        #expect(JSONValue.array(run.signals) == test.vector["signals"])
        #expect(JSONValue.array(run.snapshots) == test.vector["snapshots"])
    }

    @Test("Layer's numbers", arguments: try TypingVector.all(in: "typing", kind: "values"))
    func values(_ test: TypingVector) throws {
        let action = try #require(test.vector["word"]?.stringValue.flatMap(TypingAction.init(word:)))
        #expect(action.rawValue == test.vector["value"]?.integerValue.map { Int($0) })
    }

    @Test("signals as they are read", arguments: try TypingVector.all(in: "typing", kind: "read"))
    func read(_ test: TypingVector) {
        let found = TypingSignal(
            Signal(type: test.vector["type"]?.stringValue, data: test.vector["data"]?.stringValue))
        let expected = test.vector["read"]
        #expect(found?.action.word == expected?["action"]?.stringValue)
        #expect(found?.n == expected?["n"]?.integerValue)
    }

    @Test("signals as they are written", arguments: try TypingVector.all(in: "typing", kind: "write"))
    func write(_ test: TypingVector) throws {
        let vector = test.vector
        let form = try #require(vector["wireForm"]?.stringValue.flatMap(TypingWireForm.init(rawValue:)))
        let action = try #require(vector["action"]?.stringValue.flatMap(TypingAction.init(word:)))
        let to = vector["to"]?.stringValue.map { ConnectionID($0) }
        #expect(
            TypingSignal(action, n: vector["n"]?.integerValue, to: to).request(form)
                == SignalRequest(
                    type: vector["type"]?.stringValue, data: vector["data"]?.stringValue, to: to, isOnlineOnly: true))
    }

    @Test("settings", arguments: try TypingVector.all(in: "typing", kind: "policy"))
    func policy(_ test: TypingVector) throws {
        let vector = test.vector
        let base = try TypingScript.preset(try #require(vector["preset"]?.stringValue))
        let settings = try TypingScript.settings(base, try #require(vector["changes"]?.objectValue))
        var refused: TypingPolicyError?
        do throws(TypingPolicyError) {
            let policy = try TypingPolicy(settings, isStrict: vector["strict"]?.boolValue ?? false)
            #expect(policy.settings == settings)
        } catch { refused = error }
        #expect(refused?.code.name == vector["refused"]?.stringValue)
        #expect(refused?.setting == vector["setting"]?.stringValue)
    }

    @Test("presets", arguments: try TypingVector.all(in: "typing", kind: "preset"))
    func preset(_ test: TypingVector) throws {
        let preset = try TypingScript.preset(test.vector.name)
        #expect(TypingScript.written(preset.settings) == test.vector["settings"]?.objectValue)
    }

    @Test("every preset has a vector")
    func presetNames() throws {
        let names = try TypingVector.all(in: "typing", kind: "preset").map(\.vector.name)
        #expect(names == ["standard", "layer", "layerWeb", "easemob"])
    }

    @Test("sentences", arguments: try TypingVector.all(in: "phrases", kind: "phrase"))
    func phrase(_ test: TypingVector) {
        let phrase = TypingPhrase(
            names: Self.names(test.vector), count: test.vector["count"]?.integerValue.map { Int($0) },
            limits: Self.limits(test.vector))
        #expect(phrase.key.rawValue == test.vector["key"]?.stringValue)
        #expect(phrase.names == test.vector["shown"]?.arrayValue?.compactMap(\.stringValue))
        #expect(Int64(phrase.count) == test.vector["others"]?.integerValue)
        #expect(phrase.text() == test.vector["en"]?.stringValue)
        #expect(phrase.text(.matching("zh-Hans-CN")) == test.vector["zh"]?.stringValue)
    }

    @Test("sentences from the longest to the shortest", arguments: try TypingVector.all(in: "phrases", kind: "ladder"))
    func ladder(_ test: TypingVector) {
        let steps = TypingPhrase.ladder(names: Self.names(test.vector), limits: Self.limits(test.vector))
        #expect(steps.map { $0.text(.matching("en")) } == test.vector["steps"]?.arrayValue?.compactMap(\.stringValue))
    }

    @Test("every file has a kind that this suite runs")
    func kinds() throws {
        for folder in ["typing", "phrases"] {
            for file in try Vectors.files(in: folder) {
                let kind = file.value["kind"]?.stringValue ?? "none"
                #expect(
                    ["script", "component", "values", "read", "write", "policy", "preset", "phrase", "ladder"].contains(
                        kind),
                    "\(file.path)")
                #expect(file.value["case"]?.integerValue != nil, "\(file.path)")
            }
        }
    }

    @Test("limits of a phrase that are set later are kept in their ranges, too")
    func limitsInRange() {
        var limits = TypingPhrase.Limits()
        limits.names = -1
        limits.people = -1
        limits.nameLength = 0
        #expect(limits == TypingPhrase.Limits(names: 0, people: 0, nameLength: 1))
        limits.names = 9
        #expect(limits.names == 3)
        #expect(!TypingPhrase.ladder(names: ["Ada"], limits: limits).isEmpty)
    }

    private static func names(_ vector: VectorCase) -> [String] {
        (vector["names"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    private static func limits(_ vector: VectorCase) -> TypingPhrase.Limits {
        let standard = TypingPhrase.Limits()
        func number(_ name: String) -> Int? { vector["limits"]?[name]?.integerValue.map { Int($0) } }
        return TypingPhrase.Limits(
            names: number("names") ?? standard.names, people: number("people") ?? standard.people,
            nameLength: number("nameLength") ?? standard.nameLength)
    }
}
