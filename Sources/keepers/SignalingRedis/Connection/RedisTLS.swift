import SignalingCore
import SignalingCryptography
import SignalingRedisCore

/// TLS for connections to Redis. What it has read of the files serves until a TLS connection fails: so a renewed file is
/// found, and a Redis that is away costs no reading. Confined to one thread.
final class RedisTLS {
    private let access: RedisAccess
    private var context: TLSContext?

    init(_ access: RedisAccess) { self.access = access }

    /// The client's side of a connection to a host.
    func client(for host: String) throws(TLSFailure) -> TLSClient {
        let server = access.serverName ?? host
        if let context { return try TLSClient(context, server: server) }
        let context = try TLSContext(access.files)
        self.context = context
        return try TLSClient(context, server: server)
    }

    func forget() { context = nil }
}

extension RedisAccess {
    fileprivate var files: TLSContext.Files {
        TLSContext.Files(trusted: trustedFile, certificate: certificateFile, key: keyFile)
    }

    /// Reads the files, and keeps nothing.
    ///
    /// - Throws: ``CommandLogFault`` `.badAddress`, which says what is wrong with a file.
    public func check() throws(CommandLogFault) {
        do throws(TLSFailure) { _ = try TLSContext(files) } catch {
            throw CommandLogFault(error, from: "Redis")
        }
    }
}

extension CommandLogFault {
    /// - Parameter redis: the address, without its password.
    init(_ failure: TLSFailure, from redis: String) {
        switch failure {
        case .file(let path, let reason):
            self.init(
                .badAddress,
                "Cannot use \(path) for TLS to Redis: \(ForeignText.line(reason)). It must be a PEM file that the server "
                    + "may read, and a key must belong to the certificate and have no passphrase.")
        case .untrusted(let distrust, let reason):
            let step =
                switch distrust {
                case .unknownIssuer: "Give the file with the certificate of its CA: --redis-tls-ca."
                case .expired: "Renew the certificate of Redis."
                case .notYetValid: "Check the clock of this machine."
                case .otherName:
                    "Use a name that is in the certificate, or give that name with --redis-tls-server-name."
                case .other: "Replace the certificate of Redis."
                }
            self.init(.untrusted, "\(redis) has a certificate that cannot be trusted: \(reason). \(step)")
        case .notTLS:
            self.init(
                .untrusted,
                "\(redis) does not answer as a TLS server does. Use the TLS port of Redis; if it has none, begin the "
                    + "address with redis://.")
        case .refused(let reason):
            self.init(
                .untrusted,
                "\(redis) refuses the TLS connection: \(ForeignText.line(reason)). Check the certificate that Redis wants "
                    + "of its clients: --redis-tls-cert and --redis-tls-key.")
        case .other(let reason):
            self.init(.untrusted, "TLS to \(redis) has failed: \(ForeignText.line(reason)).")
        }
    }
}
