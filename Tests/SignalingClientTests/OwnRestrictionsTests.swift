import JSONText
import SignalingProtocol
import TestSupport
import Testing

@Suite("MOD-5: what keeps a client from signalling")
struct OwnRestrictionsTests {
    @Test("each step of the shared vectors", arguments: try Vectors.folder("restrictions"))
    func vector(_ vector: VectorCase) throws {
        var own = OwnRestrictions()
        for step in vector["steps"]?.arrayValue ?? [] {
            let now = WallTime(milliseconds: try #require(step["at"]?.integerValue))
            switch step["do"]?.stringValue {
            case "entered":
                own = OwnRestrictions(
                    try (step["restrictions"]?.arrayValue ?? []).map(Self.restriction),
                    isModerator: step["moderator"]?.boolValue ?? false)
            case "restricted": own.restrict(try Self.restriction(step["restriction"] ?? .null))
            case "unrestricted":
                own.lift(try #require(step["kind"]?.stringValue.flatMap(Restriction.Kind.init(rawValue:))))
            case "refused":
                own.refused(
                    by: try Self.restriction(step["restriction"] ?? .null),
                    retryAfter: step["retryAfter"]?.integerValue.map { .milliseconds($0) }, now: now)
            case "time": break
            default: Issue.record("no such step: \(step)")
            }
            if let holds = step["holds"]?.arrayValue {
                #expect(own.holding(at: now) == (try holds.map(Self.restriction)), "\(step)")
            }
            if let next = step["next"] {
                #expect(own.nextEnd(after: now)?.milliseconds == next.integerValue, "\(step)")
            }
        }
    }

    private static func restriction(_ value: JSONValue) throws -> Restriction {
        let kind = try #require(value["kind"]?.stringValue.flatMap(Restriction.Kind.init(rawValue:)))
        return Restriction(
            kind, until: value["until"]?.integerValue.map { WallTime(milliseconds: $0) },
            reason: value["reason"]?.stringValue)
    }
}
