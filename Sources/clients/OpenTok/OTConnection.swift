import Foundation
import SignalingClient

/// The connection of a client to a session. Two connections are equal if their IDs are.
public final class OTConnection: NSObject, Sendable {
    public let connectionId: String
    /// When it was created, by the server's clock. Strictly increasing within a session.
    public let creationTime: Date
    /// The connection data of the client's token, or `""`.
    public let data: String?

    init(_ connection: Connection) {
        connectionId = connection.connectionId.rawValue
        creationTime = Date(timeIntervalSince1970: Double(connection.creationTime.milliseconds) / 1000)
        data = connection.data
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? OTConnection)?.connectionId == connectionId
    }

    public override var hash: Int { connectionId.hashValue }
    public override var description: String { "connection \(connectionId)" }
}
