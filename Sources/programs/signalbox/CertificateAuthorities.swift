import Glibc

/// Where the system has the certificates of the authorities that it trusts.
enum CertificateAuthorities {
    /// Debian and its kin, Fedora and its kin, openSUSE, others.
    private static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The portable program has Debian's OpenSSL inside, which looks where Debian has them. Names the system's own file,
    /// unless the user names one. Call it before there is a second thread.
    static func find() {
        guard EmbeddedFiles.isPortable, getenv("SSL_CERT_FILE") == nil,
            let file = files.first(where: { access($0, R_OK) == 0 })
        else { return }
        setenv("SSL_CERT_FILE", file, 1)
    }
}
