import Foundation
import SignalingClient

/// One client in a session. Two are equal when their ids are.
public final class OTConnection: NSObject, Sendable {
    public let connectionId: String
    /// When it joined, by the server's clock: the same for everybody, and strictly increasing within a session.
    public let creationTime: Date
    /// What the token's maker said of this client; `""` when nothing.
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
