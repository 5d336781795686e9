import JSONText
import SignalingProtocol

/// What a client needs to join one session.
struct SessionAccess: Hashable {
    let apiKey: APIKey
    let session: SessionID
    let token: String

    var json: JSONValue {
        ["apiKey": .string(apiKey.rawValue), "sessionId": .string(session.rawValue), "token": .string(token)]
    }
}
