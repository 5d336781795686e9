import SignalingTransport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Needs a TLS WebSocket server that echoes and speaks `signalbox.v1`: `SIGNALBOX_TEST_WSS_URL` (with a name that the
/// certificate is for) and `SIGNALBOX_TEST_WSS_CA`, the PEM file with that certificate.
@Suite("A client over TLS", .enabled(if: variable("SIGNALBOX_TEST_WSS_URL") != nil), .timeLimit(.minutes(1)))
struct SecureClientTests {
    @Test("echoes with a trusted certificate, and refuses an unknown one")
    func trust() async throws {
        let url = try #require(variable("SIGNALBOX_TEST_WSS_URL"))
        let loop = LoopThread(name: "tls", logger: quietLogger)
        try loop.start()
        for file in [variable("SIGNALBOX_TEST_WSS_CA"), nil] {
            let events = EventLog<ClientEvent>()
            let text = String(repeating: "s", count: 200_000)
            let socket = try await loop.run {
                let handler = RecordingClient(events: events)
                handler.onOpened = { socket in
                    let frame = OutboundFrame()
                    frame.append(contentsOf: text.utf8)
                    socket.write(frame)
                }
                var options = ClientSocket.Options()
                options.trustedCertificatesFile = file
                return LoopConfined(
                    try ClientSocket.connect(loop: loop, url: url, options: options, handler: handler), to: loop)
            }
            if file != nil {
                try await events.first { $0 == .message(200_000, String(text.prefix(50))) }
                try await loop.run { socket.value.close(code: 1000, reason: "goodbye") }
                try await events.first { $0 == .closed(nil, "") }
            } else {
                try await events.first { $0 == .failed(.connectFailed) || $0 == .failed(.handshakeRefused) }
            }
        }
        await loop.stop()
    }
}
