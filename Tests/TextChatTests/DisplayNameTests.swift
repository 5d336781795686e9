import JSONText
import TestSupport
import Testing
import TextChat

@Suite("Names")
struct DisplayNameTests {
    @Test("a connection has the name that its data holds in any common form", arguments: try Vectors.folder("names"))
    func name(_ vector: VectorCase) throws {
        let data = try #require(vector["data"]?.stringValue)
        let shown = try #require(vector["shown"]?.stringValue)
        // Compared by scalars: Swift's strings are equal by canonical equivalence.
        let name = DisplayName.text(data: data, connectionID: vector["connectionId"]?.stringValue)
        #expect(Array(name.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test("a connection without an ID is a guest without a number")
    func nobody() {
        #expect(DisplayName.text(data: nil, connectionID: nil) == "Guest")
        #expect(DisplayName.read(from: " \u{3164}") == nil)
    }
}
