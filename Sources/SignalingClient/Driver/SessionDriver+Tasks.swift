import SignalingProtocol
import Synchronization

/// The entry points for tasks. Each posts to the loop and waits for the completion there.
extension SessionDriver {
    func connect(
        _ request: ConnectRequest, to address: ServerAddress, trustedCertificatesFile: String?
    ) async throws(SignalingError) {
        try environment.start()
        let result = await withCheckedContinuation { continuation in
            environment.post {
                self.connect(request, to: address, trustedCertificatesFile: trustedCertificatesFile) {
                    continuation.resume(returning: $0)
                }
            }
        }
        try result.get()
    }

    func call(
        _ input: @escaping @Sendable (ClientState.CallID) -> ClientState.Input
    ) async throws(SignalingError) -> Seq? {
        try environment.start()
        let result = await withCheckedContinuation { continuation in
            environment.post { self.call(input) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    func disconnect() async {
        guard (try? environment.start()) != nil else { return }
        await withCheckedContinuation { continuation in
            environment.post { self.disconnect { continuation.resume() } }
        }
    }

    /// Called when the application has released its session: ends the streams, and the connection if there is one.
    func abandon() {
        for stream in streams.withLock({ $0.removeAll() }) { stream.finish() }
        guard (try? environment.start()) != nil else { return }
        environment.post { self.disconnect {} }
    }
}
