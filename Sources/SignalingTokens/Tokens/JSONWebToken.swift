import Crypto
import FoundationEssentials
import JSONText
import JWTKit

/// JSON Web Tokens (RFC 7515, RFC 7519) in HS256 and RS256, made and read synchronously.
///
/// jwt-kit provides the parser, the coding of claims and the protocol for algorithms. Two of its types are not used.
/// `JWTKeyCollection` is an actor, and in debug builds it traps for secrets under 32 bytes, which OpenTok permits.
/// `JWTHeader` traps on a header with a number over 64 bits; ``Header`` replaces it.
enum JSONWebToken {
    /// Verifies the token's signature and returns its claims.
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
        // Sorted, so that the same claims always give the same token.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The three parts of a token, not verified yet.
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
                // Foundation's decoder takes one of two members with the same name, and other readers may take the
                // other one. Strict JSON has none (TOK-8).
                for part in [header, payload] { _ = try JSONValue(parsing: part) }
                self.header = try JSONDecoder().decode(Header.self, from: Data(header))
                self.payload = payload
                self.signed = parts.header + [UInt8(ascii: ".")] + parts.payload
                self.signature = signature
            } catch {
                throw .malformed
            }
        }

        /// `ist` in the header, where OpenTok's Ruby SDK writes it. The signature covers the header, too.
        var issuerType: String? { header.ist }

        /// Verifies the signature. The project decides the algorithm, never the token (RFC 8725 section 3.1; TOK-8). A
        /// `kid` has no effect: a project has so few keys that each is tried.
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

        /// The token's claims. Before ``verify(by:)`` use them only to choose the project to verify with.
        func claims() throws(TokenError) -> Claims {
            do { return try JSONDecoder().decode(Claims.self, from: Data(payload)) } catch { throw .malformed }
        }
    }

    struct Header: Codable {
        var alg: String?
        var typ: String?
        /// Extensions that the reader must understand (RFC 7515 section 4.1.11). This package knows none.
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
            // The standard does not define `ist`, so other tokens may have any type there.
            ist = try? header.decode(String.self, forKey: .ist)
        }
    }
}

/// HMAC with SHA-256 as an algorithm for jwt-kit. Compares in constant time.
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
