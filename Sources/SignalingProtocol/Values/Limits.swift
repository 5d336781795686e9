/// Every size, count and wait of the protocol in one place, with its unit and its reason.
///
/// The fixed ones are part of the protocol (`docs/PROTOCOL.md`, section Limits) and known to every client.
public enum Limits {
    /// Longest signal type, in UTF-16 units; its characters are ASCII, so bytes are the same (OpenTok, "Signaling").
    public static let typeLength = 128

    /// Longest signal data, in UTF-16 units of the raw string: accepts all that OpenTok's own clients let through.
    public static let dataLength = 8192

    /// Longest connection data, in UTF-16 units. OpenTok documents 1000 and its Node SDK issues up to 1024: we issue at
    /// most `connectionDataIssued`, and accept this.
    public static let connectionDataLength = 1024

    /// Longest connection data that our own tools put into a token, in UTF-16 units.
    public static let connectionDataIssued = 1000

    /// Largest WebSocket message that the server takes, in bytes.
    ///
    /// The largest legal signal is 8192 control characters, six bytes each in JSON (49,152), plus its envelope; the
    /// largest legal connect carries a token of `tokenByteCount`.
    public static let messageByteCount = 65_536

    /// Largest WebSocket message that a client has to take, in bytes: the list of who is here may be long.
    public static let clientMessageByteCount = 16 * 1_048_576

    /// Most fragments in one WebSocket message. Honest clients send one or a few; thousands of tiny ones are an attack.
    public static let fragmentCount = 64

    /// Longest token, in bytes.
    ///
    /// A T1 token with connection data of the largest size, each unit three bytes of UTF-8, three bytes each when
    /// percent-encoded, and all that in base64, has 12,288 (1024 · 9 · 4/3), and its other fields.
    public static let tokenByteCount = 16_384

    /// Longest session id, in bytes (OpenTok: 255 characters).
    public static let sessionIDByteCount = 255

    /// Deepest nesting of JSON.
    public static let jsonDepth = 32

    /// Largest HTTP request body, in bytes: the largest legal signal, and room.
    public static let bodyByteCount = 65_536

    /// Largest HTTP request header block, in bytes: a token of the largest size, and room.
    public static let headerByteCount = 16_384

    /// How long a new socket may stay without having sent its connect.
    public static let connectTimeout = Duration.seconds(10)

    /// How long an HTTP request may take from its first header to its last byte.
    public static let requestTimeout = Duration.seconds(10)

    /// How often the server sends a ping. Who hears nothing for two of these has lost the connection.
    public static let heartbeat = Duration.seconds(10)

    /// Most requests of one connection that may be unanswered at a time if it wants to resume: of so many the server
    /// remembers how it answered (RES-9).
    public static let unansweredRequests = 256

    /// Bytes that wait to be sent on a connection's own account, above which the server does not read from it (WIRE-13).
    /// It stays well below what a session's log holds, so that a client who asks too fast does not fall off it by itself.
    public static let waitingByteCount = 65_536

    /// How long a connection goes on without a socket (OpenTok's web client gives up after the same time).
    public static let resumeWindow = Duration.seconds(60)

    /// How long after the loss of its socket a client can fetch the broadcasts that it missed.
    public static let recoveryWindow = Duration.seconds(300)

    /// Longest wait before coming back that a client follows (RES-13).
    public static let longestReconnectWait = Duration.seconds(60)
}
