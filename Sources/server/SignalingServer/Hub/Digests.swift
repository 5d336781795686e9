import SignalingCore
import SignalingCryptography
import SignalingProtocol
import SignalingTokens

extension ResumeSecretHash {
    /// Without salt: 128 random bits need none.
    init(of secret: ResumeSecret) {
        self.init(bytes: HashFunction.sha256.digest(of: Array(secret.rawValue.utf8)))
    }
}

extension TokenDigest {
    /// - Parameter token: verified.
    init(of token: String) {
        let (high, low) = HashFunction.sha256.digest(of: SignedContent.of(token)).withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        self.init(high: high, low: low)
    }
}

extension TokenFingerprint {
    /// Of the signed content, so that a client cannot make one token count as many by writing it in other ways.
    init(_ digest: TokenDigest) { self.init(digest.high) }
}
