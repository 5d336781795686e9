import JSONText
import TestSupport
import Testing

@testable import SignalingServer

@Suite("The addresses of the script")
struct ScriptAddressTests {
    @Test(
        "a path is the library, an address that a page mistook for it, or neither",
        arguments: try Vectors.cases("scripts/addresses.json"))
    func address(_ vector: VectorCase) throws {
        let path = try #require(vector["path"]?.stringValue)
        switch ScriptAddress(path: path) {
        case .library(let bundle): #expect(vector["bundle"]?.stringValue == bundle.rawValue)
        case .unknown(let bundle): #expect(vector["use"]?.stringValue == bundle.address)
        case nil: #expect(vector["bundle"] == nil && vector["use"] == nil)
        }
    }
}
