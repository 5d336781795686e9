import Foundation
import SignalingProtocol
import Testing

@testable import SignalingFoundation

/// The shell around the rules. Where the system's library has no WebSockets, as on Linux, each socket fails to open:
/// that the failure arrives on the loop, once and with words, can be seen here all the same.
@Suite("A socket of URLSession")
struct TaskSocketTests {
    private let loop = DispatchLoop(label: "test")

    @Test("a URL or a certificates file that cannot be used is the caller's error")
    func callersFaults() {
        for (url, file) in [("no url", nil), ("ws://127.0.0.1:1/v1/signaling", "/nonexistent.pem")]
            as [(String, String?)]
        {
            #expect(throws: SignalingError(.invalidParameter, "")) {
                _ = try TaskSocket(loop: loop, url: url, trustedCertificatesFile: file) { _ in }
            }
        }
    }

    @Test("a timer fires on the loop, never before its deadline, and not after a cancel", .timeLimit(.minutes(5)))
    func timer() async {
        let loop = loop
        let isLate = await withCheckedContinuation { continuation in
            loop.post {
                let deadline = loop.now.advanced(by: .milliseconds(20))
                var timers: [DispatchTimer] = []
                let cancelled = DispatchTimer(loop: loop) { continuation.resume(returning: false) }
                cancelled.schedule(at: loop.now.advanced(by: .milliseconds(1)))
                cancelled.cancel()
                timers.append(cancelled)
                timers.append(
                    DispatchTimer(loop: loop) {
                        dispatchPrecondition(condition: .onQueue(loop.queue))
                        continuation.resume(returning: loop.now >= deadline)
                        timers = []
                    })
                timers[1].schedule(at: deadline)
            }
        }
        #expect(isLate)
    }

    @Test("a PEM file's certificates are its whole blocks")
    func pem() {
        let text = """
            a comment
            -----BEGIN CERTIFICATE-----
            AQID
            BAU=
            -----END CERTIFICATE-----
            -----BEGIN PRIVATE KEY-----
            AQID
            -----END PRIVATE KEY-----
            -----BEGIN CERTIFICATE-----
            not base64!
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            AQID
            """
        #expect(PEMBlocks.blocks("CERTIFICATE", in: text) == [Data([1, 2, 3, 4, 5])])
    }
}
