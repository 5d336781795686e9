import JSONText
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingServer

@Suite("The bodies of webhooks")
struct WebhookBodyTests {
    @Test(
        "USR-2: each event has OpenTok's members, and the user of its connection",
        arguments: try Vectors.cases("webhooks/bodies.json"))
    func bodies(_ vector: VectorCase) throws {
        let connection = vector["connection"].map { value in
            Connection(
                connectionId: ConnectionID(value["connectionId"]?.stringValue ?? ""),
                creationTime: WallTime(milliseconds: value["creationTime"]?.integerValue ?? 0),
                data: value["data"]?.stringValue ?? "", user: value["user"]?.stringValue.map { UserID($0) })
        }
        let event: PresenceEvent =
            switch try #require(vector["event"]?.stringValue) {
            case "sessionCreated": .sessionCreated
            case "connectionCreated": .connectionCreated(try #require(connection))
            case "connectionDestroyed":
                .connectionDestroyed(
                    try #require(connection),
                    try #require(vector["reason"]?.stringValue.flatMap(DisconnectReason.init(rawValue:))))
            default: .sessionDestroyed
            }
        let owner: WebhookBody.Owner =
            if let project = vector["projectId"]?.stringValue {
                .project(APIKey(project))
            } else {
                .application(APIKey(try #require(vector["applicationId"]?.stringValue)))
            }
        let body = WebhookBody.encode(
            event, of: SessionID("1_MX4xMDB-fn4"), ownedBy: owner,
            happenedAt: WallTime(milliseconds: 1_700_000_000_123))
        #expect(text(body) == vector["body"]?.stringValue)
    }
}
