import JSONText
import TestSupport
import Testing

@Suite("CHAT: the vectors of sending, which JavaScript reads, too", .timeLimit(.minutes(5)))
@MainActor
struct SendingVectorTests {
    @Test("a component sends by itself", arguments: try Vectors.folder("sending"))
    func script(_ vector: VectorCase) async throws {
        let script = SendingScript(vector)
        try await script.run(vector)
        let expected = vector["outcomes"]?.objectValue ?? JSONObject()
        #expect(script.outcomes.count == expected.count, "\(script.outcomes)")
        for (localID, outcome) in expected { #expect(script.outcomes[localID] == outcome.stringValue, "\(localID)") }
    }
}
