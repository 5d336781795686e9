import Crypto
import SignalingCore
import SignalingProtocol

extension ResumeSecretHash {
    /// Without salt: 128 random bits need none.
    init(of secret: ResumeSecret) { self.init(bytes: Array(SHA256.hash(data: Array(secret.rawValue.utf8)))) }
}

extension TokenFingerprint {
    init(of token: String) {
        self.init(SHA256.hash(data: Array(token.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
