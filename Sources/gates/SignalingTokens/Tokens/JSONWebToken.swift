import FoundationEssentials
import JSONText
import SignalingCryptography

/// JSON Web Tokens (RFC 7515, RFC 7519) in HS256 and RS256.
enum JSONWebToken {
    private static let hs256 = "HS256"
    private static let rs256 = "RS256"

    /// A key that signs, and with it the algorithm.
    enum Signer {
        /// HMAC with SHA-256 (RFC 7518 section 3.2).
        case hs256(Secret)
        /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
        case rs256(RSASigningKey)
    }

    /// Verifies the token's signature and returns its claims.
    static func open(_ token: String, project: Project) throws(TokenError) -> Claims {
        let parts = try Parts(token)
        try parts.verify(by: project)
        return try parts.claims()
    }

    static func sign(_ claims: Claims, with signer: Signer) throws(TokenError) -> String {
        do {
            return switch signer {
            case .hs256(let secret): try token(claims, hs256) { secret.code(.sha256, of: $0) }
            case .rs256(let key): try token(claims, rs256, key.signature)
            }
        } catch {
            throw .malformed
        }
    }

    private static func token(
        _ claims: Claims, _ algorithm: String, _ sign: ([UInt8]) throws -> [UInt8]
    ) throws -> String {
        let header = Base64.urlSafe(Array(try encoder.encode(Header(alg: algorithm, typ: "JWT"))))
        let signed = header + "." + Base64.urlSafe(Array(try encoder.encode(claims)))
        return signed + "." + Base64.urlSafe(try sign(Array(signed.utf8)))
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
                let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                guard parts.count == 3, let header = Base64.decoded(parts[0]), let payload = Base64.decoded(parts[1]),
                    let signature = Base64.decoded(parts[2])
                else { throw TokenError.malformed }
                // Foundation's decoder takes one of two members with the same name, and other readers may take the
                // other one. Strict JSON has none (TOK-8).
                for part in [header, payload] { _ = try JSONValue(parsing: part) }
                self.header = try JSONDecoder().decode(Header.self, from: Data(header))
                self.payload = payload
                self.signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
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
            case .secrets(let secrets):
                try verify(hs256) { secrets.contains { $0.verifies(signature, .sha256, of: signed) } }
            case .application(let key): try verify(rs256) { key.key.verifies(signature, of: signed) }
            }
        }

        private func verify(_ algorithm: String, _ isSigned: () -> Bool) throws(TokenError) {
            guard header.crit == nil, header.alg == algorithm else { throw .wrongAlgorithm }
            guard isSigned() else { throw .wrongSignature }
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
