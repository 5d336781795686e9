import SignalingProtocol

/// A Vonage application as its backend sees it: an ID, and the private key that signs for it.
///
/// A server needs only the application's ``project``. The private key appears in no description, dump or log.
public struct Application: Sendable {
    /// The application's ID and public key, with which a server verifies it.
    public let project: Project
    let privateKey: RSAPrivateKey

    /// - Parameter id: a UUID; returns `nil` for any other text.
    public init?(id: String, privateKey: RSAPrivateKey) {
        guard let project = Project(applicationID: id, publicKey: privateKey.publicKey) else { return nil }
        self.project = project
        self.privateKey = privateKey
    }
}
