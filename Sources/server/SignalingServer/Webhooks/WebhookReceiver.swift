import FoundationEssentials
import Glibc
import OutgoingHTTP
import SignalingCore
import SignalingProtocol
import SignalingTokens

/// The URL that receives a project's events, and the secret that signs them.
///
/// The description has only the scheme, host and port: the rest of the URL may be a secret.
public struct WebhookReceiver: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let url: URL
    /// Nil: posts are not signed.
    let signer: WebhookSigner?
    /// The types of the messages in the batches that it gets (FEED-5); `nil`: it gets single presence events.
    let types: KeptTypes?

    /// - Throws: ``ConfigurationError`` when the URL is not http or https, has no host, or has a user name or password;
    ///   or when the secret is empty or, after `whsec_`, not base64. The message contains neither.
    public init(url text: String, secret: String?, types: KeptTypes? = nil) throws {
        self.types = types
        guard text.utf8.count <= 2048, let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", url.host?.isEmpty == false
        else {
            throw ConfigurationError(
                "the webhook URL is not valid. Use a URL that begins with http:// or https:// and names a host.")
        }
        guard url.user == nil, url.password == nil else {
            throw ConfigurationError(
                "the webhook URL has a user name or a password. Remove them, and use a webhook secret to sign the posts."
            )
        }
        self.url = url
        guard let secret else {
            signer = nil
            return
        }
        guard let signer = WebhookSigner(secret: secret) else {
            throw ConfigurationError(
                "the webhook secret is not valid. Use text that is not empty, or whsec_ and base64.")
        }
        self.signer = signer
    }

    /// The receiver that the two settings describe; nil when neither is given.
    static func read(url: String?, secret: String?, types: String?) throws -> WebhookReceiver? {
        guard let url else {
            if secret == nil, types == nil { return nil }
            let given = secret == nil ? "webhookTypes" : "a webhook secret"
            throw ConfigurationError("\(given) is given without its URL. Add --webhook-url or webhookUrl.")
        }
        return try WebhookReceiver(
            url: url, secret: secret, types: try types.flatMap { try KeptTypes(setting: $0) })
    }

    /// A post of this body now, with its signature.
    ///
    /// - Parameter id: the same for each attempt.
    func request(_ body: [UInt8], id: String, timeLimit: Duration) -> HTTPPost {
        let timestamp = WallTime.current.milliseconds / 1000
        var headers = [
            (name: "Content-Type", value: "application/json"), (name: "User-Agent", value: "signalbox"),
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: "\(timestamp)"),
        ]
        if let signer {
            let signature = signer.signature(id: id, timestamp: timestamp, body: body)
            headers.append((name: "webhook-signature", value: signature))
        }
        return HTTPPost(url: address, headers: headers, body: body, timeLimit: timeLimit)
    }

    /// The whole URL, which may be a secret.
    var address: String { url.absoluteString }

    public var description: String {
        "\(url.scheme ?? "")://\(url.host ?? "")" + (url.port.map { ":\($0)" } ?? "")
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
