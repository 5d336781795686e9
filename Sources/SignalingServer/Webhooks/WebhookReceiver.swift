import Foundation
import SignalingTokens

/// Where webhooks go, and how they are signed.
///
/// Its description names the server alone: the rest of the URL may be a secret.
public struct WebhookReceiver: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let url: URL
    /// Nil: they are not signed.
    let signer: WebhookSigner?

    /// - Throws: ``ConfigurationError`` unless the URL is one of http or https with a host, and without a name and a password; or
    ///   when the secret is empty or, behind `whsec_`, not base64. Neither is in the message.
    public init(url text: String, secret: String?) throws {
        guard text.utf8.count <= 2048, let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", url.host?.isEmpty == false
        else { throw ConfigurationError("the webhook URL has to begin with http:// or https:// and name a host") }
        guard url.user == nil, url.password == nil else {
            throw ConfigurationError(
                "the webhook URL must not have a name and a password in it: a webhook secret signs")
        }
        self.url = url
        guard let secret else {
            signer = nil
            return
        }
        guard let signer = WebhookSigner(secret: secret) else {
            throw ConfigurationError("the webhook secret has to be text, or whsec_ and base64; and not empty")
        }
        self.signer = signer
    }

    /// Both settings of one place, or nothing.
    static func read(url: String?, secret: String?) throws -> WebhookReceiver? {
        guard let url else {
            if secret == nil { return nil }
            throw ConfigurationError("a webhook secret without its URL: give --webhook-url, too")
        }
        return try WebhookReceiver(url: url, secret: secret)
    }

    public var description: String {
        "\(url.scheme ?? "")://\(url.host ?? "")" + (url.port.map { ":\($0)" } ?? "")
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
