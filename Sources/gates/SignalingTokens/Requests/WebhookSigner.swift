import SignalingCryptography

/// Signs webhook requests by Standard Webhooks (standardwebhooks.com): HMAC-SHA256 over the ID, the time of the attempt
/// and the body. Receivers can verify them with that project's libraries.
///
/// The secret appears in no description, dump or log.
public struct WebhookSigner: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let key: Secret

    /// Returns `nil` for an empty secret, and for one with `whsec_` and invalid base64.
    ///
    /// - Parameter secret: `whsec_` and the key in base64. The bytes of any other text are the key.
    public init?(secret: String) {
        let prefix = "whsec_"
        let bytes = secret.hasPrefix(prefix) ? Base64.decoded(secret.utf8.dropFirst(prefix.count)) : Array(secret.utf8)
        guard let bytes, !bytes.isEmpty else { return nil }
        key = Secret(bytes)
    }

    /// The value of the header `webhook-signature`: `v1,` and the code in base64.
    ///
    /// - Parameter timestamp: the time of the attempt, in seconds since 1970.
    public func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var signed = Array("\(id).\(timestamp).".utf8)
        signed += body
        return "v1," + Base64.standard(key.code(.sha256, of: signed))
    }

    public var description: String { "webhook signer" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
