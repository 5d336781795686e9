import FoundationEssentials
import Glibc
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

    /// - Throws: ``ConfigurationError`` when the URL is not http or https, has no host, or has a user name or password;
    ///   or when the secret is empty or, after `whsec_`, not base64. The message contains neither.
    public init(url text: String, secret: String?) throws {
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
    static func read(url: String?, secret: String?) throws -> WebhookReceiver? {
        guard let url else {
            if secret == nil { return nil }
            throw ConfigurationError("a webhook secret is given without its URL. Add --webhook-url or webhookUrl.")
        }
        return try WebhookReceiver(url: url, secret: secret)
    }

    /// The whole URL, which may be a secret.
    var address: String { url.absoluteString }

    public var description: String {
        "\(url.scheme ?? "")://\(url.host ?? "")" + (url.port.map { ":\($0)" } ?? "")
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
