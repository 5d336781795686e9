import Crypto
import SignalingCore
import SignalingProtocol

extension ResumeSecretHash {
    /// Without salt: 128 random bits need none.
    init(of secret: ResumeSecret) { self.init(bytes: Array(SHA256.hash(data: Array(secret.rawValue.utf8)))) }
}
