import Crypto
import FoundationEssentials
import JWTKit

/// JSON Web Tokens (RFC 7515, RFC 7519) in HS256 and RS256, made and opened without waiting for anybody.
///
/// jwt-kit gives the parts, the claims' coding and the shape of an algorithm. Its `JWTKeyCollection` is not used: it is
/// an actor, and in debug builds it stops the program for secrets under 32 bytes, which OpenTok permits. Nor is its
/// `JWTHeader`, which traps on a header with a number over 64 bits; the header is read into ``Header`` instead.
enum JSONWebToken {
    /// A token whose signature has been found good.
    static func open(_ token: String, project: Project) throws(TokenError) -> Claims {
        let parts = try Parts(token)
        try parts.verify(by: project)
        return try parts.claims()
    }

    static func sign(_ claims: Claims, with algorithm: some JWTAlgorithm) throws(TokenError) -> String {
        do {
            let serializer = DefaultJWTSerializer(jsonEncoder: encoder)
            let header = Base64.urlSafe(Array(try encoder.encode(Header(alg: algorithm.name, typ: "JWT"))))
            let signed = header + "." + String(decoding: try serializer.serialize(claims), as: UTF8.self)
            let signature = try algorithm.sign(Array(signed.utf8))
            return signed + "." + Base64.urlSafe(signature)
        } catch {
            throw .malformed
        }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        // The same claims give the same token, whatever the order of a dictionary today.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The three parts of a token, nothing of it believed yet.
    struct Parts {
        private let header: Header
        private let payload: [UInt8]
        private let signed: [UInt8]
        private let signature: [UInt8]

        init(_ token: String) throws(TokenError) {
            do {
                let parts = try DefaultJWTParser().getTokenParts(Array(token.utf8))
                guard let header = Base64.decoded(parts.header), let payload = Base64.decoded(parts.payload),
                    let signature = Base64.decoded(parts.signature)
                else { throw TokenError.malformed }
                self.header = try JSONDecoder().decode(Header.self, from: Data(header))
                self.payload = payload
                self.signed = parts.header + [UInt8(ascii: ".")] + parts.payload
                self.signature = signature
            } catch {
                throw .malformed
            }
        }

        /// `ist` where OpenTok's Ruby SDK says it; it is signed there, too.
        var issuerType: String? { header.ist }

        /// The algorithm is the project's to say, never the token's (RFC 8725 section 3.1). A key id changes nothing: a
        /// project's keys are so few that each is tried.
        func verify(by project: Project) throws(TokenError) {
            switch project.key {
            case .secrets(let secrets): try verify(with: secrets.map(HS256.init))
            case .application(let key): try verify(with: [RS256(key: key)])
            }
        }

        private func verify<Algorithm: JWTAlgorithm>(with algorithms: [Algorithm]) throws(TokenError) {
            guard header.crit == nil, algorithms.contains(where: { $0.name == header.alg }) else {
                throw .wrongAlgorithm
            }
            let isGood = algorithms.contains { algorithm in
                (try? algorithm.verify(signature, signs: signed)) ?? false
            }
            guard isGood else { throw .wrongSignature }
        }

        /// What the token claims; without ``verify(by:)`` only good for choosing the project to verify it by.
        func claims() throws(TokenError) -> Claims {
            do { return try JSONDecoder().decode(Claims.self, from: Data(payload)) } catch { throw .malformed }
        }
    }

    struct Header: Codable {
        var alg: String?
        var typ: String?
        /// Extensions that must be understood (RFC 7515 section 4.1.11); we know none.
        var crit: [String]?
        var ist: String?

        init(alg: String, typ: String) {
            self.alg = alg
            self.typ = typ
        }

        init(from decoder: any Decoder) throws {
            let header = try decoder.container(keyedBy: CodingKeys.self)
            alg = try header.decodeIfPresent(String.self, forKey: .alg)
            typ = try header.decodeIfPresent(String.self, forKey: .typ)
            crit = try header.decodeIfPresent([String].self, forKey: .crit)
            // Nothing of the standard's: elsewhere it may have any shape.
            ist = try? header.decode(String.self, forKey: .ist)
        }
    }
}

/// HMAC with SHA-256 as jwt-kit's algorithm; compares in constant time.
struct HS256: JWTAlgorithm {
    static let name = "HS256"
    let secret: SymmetricKey

    var name: String { Self.name }

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
        Array(HMAC<Crypto.SHA256>.authenticationCode(for: plaintext, using: secret))
    }

    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool {
        HMAC<Crypto.SHA256>.isValidAuthenticationCode(Array(signature), authenticating: plaintext, using: secret)
    }
}
