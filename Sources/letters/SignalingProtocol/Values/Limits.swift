/// Every size, count and time limit of the protocol, each with its unit and its reason.
///
/// The fixed limits are part of the protocol (`docs/PROTOCOL.md`, section 12), so every client knows them.
public enum Limits {
    /// Longest signal type, in UTF-16 units. Its characters are ASCII, so it has as many bytes (OpenTok, "Signaling").
    public static let typeLength = 128

    /// Longest signal data, in UTF-16 units of the raw string. OpenTok's own clients send no more.
    public static let dataLength = 8192

    /// Longest connection data that the server accepts in a token, in UTF-16 units.
    ///
    /// OpenTok documents 1000, and its Node SDK issues up to 1024.
    public static let connectionDataLength = 1024

    /// Longest connection data that this package writes into a token, in UTF-16 units (OpenTok's documented limit).
    public static let connectionDataIssued = 1000

    /// Longest connection ID that a client sends, in bytes: no server issues a longer one.
    public static let connectionIDByteCount = 255

    /// Longest user ID, in UTF-16 units (USR-1).
    public static let userIDLength = 128

    /// Most streams that one connection announces (STR-1).
    public static let streamCountPerConnection = 8

    /// Most streams of a session (STR-1): `connected` lists them all.
    public static let streamCountPerSession = 256

    /// Most bytes of JSON that the streams of a session take in `connected` (STR-1): each client that asks for streams gets
    /// them, and may not read.
    public static let streamByteCountPerSession = 65_536

    /// Longest ID of a stream, in bytes (STR-1). OpenTok's are UUIDs.
    public static let streamIDByteCount = 64

    /// Longest name of a stream, in bytes of UTF-8 (STR-1).
    public static let streamNameByteCount = 256

    /// Longest reason of a restriction, in UTF-16 units (MOD-1).
    public static let reasonLength = 256

    /// Longest time that a restriction holds, in seconds, unless it holds until it is lifted (MOD-1): a year.
    public static let restrictionSeconds = 31_536_000

    /// Most revocations of a project (REST-8).
    public static let revocationCount = 10_000

    /// Most restrictions of a session (MOD-9), and most actions of moderators that a session records (MOD-7).
    public static let restrictionCount = 256

    /// Largest WebSocket message that the server accepts, in bytes (WIRE-10).
    ///
    /// The largest valid signal is 8192 control characters, six bytes each in JSON (49,152), plus its envelope. The
    /// largest valid connect has a token of ``tokenByteCount``.
    public static let messageByteCount = 65_536

    /// Largest WebSocket message that a client must accept, in bytes (WIRE-11), since the list of connections may be
    /// long.
    public static let clientMessageByteCount = 16 * 1_048_576

    /// Largest WebSocket message that the server accepts before `connected`, in bytes (CON-13): a connect with the
    /// longest token and session ID, in JSON.
    public static let connectMessageByteCount = 20_480

    /// Most messages in one page of a session's history (HIS-6).
    public static let historyPageCount = 200

    /// Largest list of messages in one page of a session's history, in bytes of JSON, unless a single message is larger
    /// (HIS-6). Below ``waitingByteCount``, so that a page alone does not make its client count as slow.
    public static let historyPageByteCount = 49_152

    /// The maximum length of a reaction's key, in UTF-16 units (CHG-11).
    public static let reactionKeyLength = 32

    /// The maximum number of keys of one user's reactions to a message, and of all users' (CHG-11).
    public static let reactionKeysPerUser = 8
    public static let reactionKeysPerMessage = 32

    /// The maximum number of users in an answer about reactions (CHG-14).
    public static let reactorCount = 50

    /// Unread messages are counted up to this number (READ-3).
    public static let unreadCount = 100

    /// In a session of more connections, nobody learns of other users' read markers (READ-3).
    public static let readerCount = 100

    /// Most connections in one page of the list of connections (CON-11).
    public static let connectionPageCount = 1_000

    /// Largest list in one page, in bytes of JSON (CON-11).
    public static let connectionPageByteCount = 262_144

    /// Largest list of connections within `connected`, in bytes of JSON, for clients that do not take pages (CON-11).
    /// With it `connected` stays well below ``clientMessageByteCount``.
    public static let connectionListByteCount = 4 * 1_048_576

    /// Most fragments in one WebSocket message (WIRE-10). Real clients send one or a few; thousands are an attack.
    public static let fragmentCount = 64

    /// Longest token, in bytes.
    ///
    /// A T1 token with the longest connection data has 12,288 bytes for that data (1024 units, each three bytes of
    /// UTF-8, three bytes each when percent-encoded, all in base64: 1024 · 9 · 4/3), plus its other fields.
    public static let tokenByteCount = 16_384

    /// Longest session ID, in bytes (OpenTok: 255 characters).
    public static let sessionIDByteCount = 255

    /// Deepest nesting of JSON, in levels (WIRE-4).
    public static let jsonDepth = 32

    /// Most JSON values in one line from a client, containers included (WIRE-4). The largest known message has 17.
    public static let jsonValueCount = 1000

    /// Most JSON values in one request body, containers included (REST-6). A body needs three. Parsing a thousand takes
    /// several times as long as the rest of the request.
    public static let bodyValueCount = 100

    /// Largest HTTP request body, in bytes: room for the largest valid signal (REST-3).
    public static let bodyByteCount = 65_536

    /// Largest HTTP request header block, in bytes: room for the longest token.
    public static let headerByteCount = 16_384

    /// How long after a socket opens the server waits for an accepted connect (CON-2).
    public static let connectTimeout = Duration.seconds(10)

    /// How long an HTTP request may take, from its first header byte to its last body byte.
    public static let requestTimeout = Duration.seconds(10)

    /// The default time between two pings of the server (HB-1). A side that receives nothing for two of these treats
    /// the socket as lost (HB-3).
    public static let heartbeat = Duration.seconds(10)

    /// Most unanswered requests of one connection (WIRE-13), and how many answers the server keeps for requests that a
    /// client repeats after a resume (RES-9).
    public static let unansweredRequests = 256

    /// The server stops reading from a client with more unsent responses than this, in bytes (WIRE-13).
    ///
    /// Well below the size of a session's log, so that a client that only sends too fast does not overrun the log.
    public static let waitingByteCount = 65_536

    /// The default time that a connection continues without a socket (RES-2). OpenTok's web client reconnects for as
    /// long.
    public static let resumeWindow = Duration.seconds(60)

    /// The default time after the loss of its socket in which a client can fetch missed broadcasts (RES-2).
    public static let recoveryWindow = Duration.seconds(300)

    /// How long after the loss of its socket a connection is told away (PRES-4).
    public static let awayDelay = Duration.seconds(10)

    /// Most connections of a session that are told away at a time (PRES-4).
    public static let awayCount = 1_000

    /// Longest `reconnectAfter` that a client follows (RES-13).
    public static let longestReconnectWait = Duration.seconds(60)

    /// Longest `reconnectAfter` of a client whose session did not answer its connect in time (CON-2).
    public static let longestBusyWait = Duration.seconds(5)
}
