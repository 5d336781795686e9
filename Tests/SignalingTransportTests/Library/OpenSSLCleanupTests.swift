import CLibwebsockets
import SignalingCryptography
import SignalingTransport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("The end of a process", .timeLimit(.minutes(5)))
struct OpenSSLCleanupTests {
    enum FirstUse: CaseIterable, Codable { case loop, checkOfCertificate, hash, code, key }

    @Test("exit leaves OpenSSL usable: a loop may be making a TLS context", arguments: FirstUse.allCases)
    func loopsGoOn(first: FirstUse) async {
        await #expect(processExitsWith: .exitCode(7)) { [first] in
            // The handler that comes first runs last.
            atexit { _exit(SSL_CTX_new(TLS_server_method()) == nil ? 1 : 7) }
            switch first {
            case .loop:
                let loop = LoopThread(name: "exit", logger: quietLogger)
                try loop.start()
                try await loop.run {
                    _ = try TransportServer(
                        loop: loop, options: .init(), handler: TestServer.Handler(events: EventLog()))
                }
            case .checkOfCertificate: try Certificates.server.check()
            case .hash: _ = HashFunction.sha256.digest(of: [])
            case .code: _ = Secret([1]).code(.sha256, of: [])
            case .key: _ = try? RSAVerificationKey(der: [])
            }
            exit(2)
        }
    }
}
