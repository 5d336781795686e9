import Testing

@testable import SignalingServer

@Suite("The nearest name")
struct NearestNameTests {
    @Test(
        "a misspelt name finds the one that is meant",
        arguments: [
            ("prot", "port"), ("PORT", "port"), ("webroot", "webRoot"), ("hots", "host"), ("webhookURI", "webhookUrl"),
        ])
    func near(_ name: String, _ meant: String) {
        #expect(NearestName.of(name, among: ["host", "port", "webRoot", "webhookUrl", "webhookSecret"]) == meant)
    }

    @Test("a name that is too different finds none", arguments: ["", "x", "colour", "apiKey"])
    func far(_ name: String) {
        #expect(NearestName.of(name, among: ["host", "port", "webRoot"]) == nil)
    }
}
