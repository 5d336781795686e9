import SignalingProtocol

/// How a message breaks the rules of WebSocket or a limit.
public enum ProtocolViolation: Sendable, Hashable {
    /// A binary message; the protocol is text (close with 1003).
    case binaryMessage
    /// A message over the limit in bytes (1009).
    case messageTooBig
    /// A message over the limit in fragments (1009).
    case tooManyFragments
    /// A text message that is not UTF-8 (1007).
    case invalidUTF8

    /// The reason to close the socket with.
    var closeReason: CloseReason {
        switch self {
        case .binaryMessage: .unsupportedData
        case .messageTooBig, .tooManyFragments: .messageTooBig
        case .invalidUTF8: .invalidPayload
        }
    }
}
