import Foundation
import SignalingProtocol

#if canImport(Security)
    import Security
#endif

/// The certificates of a PEM file, which a program trusts beside the system's.
///
/// Unchecked: certificates are immutable.
struct TrustedCertificates: @unchecked Sendable {
    #if canImport(Security)
        private let anchors: [SecCertificate]
    #endif

    /// - Throws: ``SignalingError`` 400 if the file has no certificate, or the system cannot trust one by itself.
    init(_ file: String) throws(SignalingError) {
        #if canImport(Security)
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw SignalingError(.invalidParameter, "cannot read the certificates file \(file)")
            }
            anchors = PEMBlocks.blocks("CERTIFICATE", in: text).compactMap {
                SecCertificateCreateWithData(nil, $0 as CFData)
            }
            if anchors.isEmpty {
                throw SignalingError(.invalidParameter, "the file \(file) contains no certificate in PEM form")
            }
        #else
            throw SignalingError(
                .invalidParameter,
                "this form of the client trusts the system's certificates only: add \(file) to those of the system")
        #endif
    }

    #if canImport(Security)
        /// Whether the server's chain ends at one of the system's certificates or of these, for the host of the URL.
        func accepts(_ trust: SecTrust) -> Bool {
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, false)
            return SecTrustEvaluateWithError(trust, nil)
        }
    #endif
}

/// Reads the blocks of a PEM file (RFC 7468).
enum PEMBlocks {
    /// The content of each whole block with this label. A block that is not base64 is left out.
    static func blocks(_ label: String, in text: String) -> [Data] {
        text.components(separatedBy: "-----BEGIN \(label)-----").dropFirst().compactMap { part in
            guard let end = part.range(of: "-----END \(label)-----") else { return nil }
            return Data(base64Encoded: part[..<end.lowerBound].filter { !$0.isWhitespace })
        }
    }
}
