import SignalingCore
import SignalingCryptography
import SignalingProtocol

extension ResumeSecretHash {
    /// Without salt: 128 random bits need none.
    init(of secret: ResumeSecret) {
        self.init(bytes: HashFunction.sha256.digest(of: Array(secret.rawValue.utf8)))
    }
}

extension TokenFingerprint {
    /// Of the signed content, so that a client cannot make one token count as many by writing it in other ways.
    init(_ digest: JoinControl.TokenDigest) { self.init(digest.high) }
}
