import Locking
import SignalingProtocol

/// The entry points for tasks. Each posts to the loop and waits for the completion there.
extension SessionDriver {
    func connect(
        _ request: ConnectRequest, to address: ServerAddress, trustedCertificatesFile: String?
    ) async throws(SignalingError) {
        try await perform(orFail: SignalingError(.connectFailed, "the connect was cancelled before it began")) {
            let attempt = self.connect(
                request, to: address, trustedCertificatesFile: trustedCertificatesFile, completion: $0)
            return { self.cancelConnect(attempt) }
        }
    }

    func call(
        _ input: @escaping @Sendable (ClientState.CallID) -> ClientState.Input
    ) async throws(SignalingError) -> Seq? {
        try await perform(orFail: SignalingError(.notConnected, "the request was cancelled before it was sent")) {
            let call = self.call(input, completion: $0)
            return { self.withdraw(call) }
        }
    }

    func read(_ request: HistoryRequest) async throws(SignalingError) -> HistoryPage {
        try await perform(orFail: SignalingError(.notConnected, "the request was cancelled before it was sent")) {
            let call = self.read(request, completion: $0)
            return { self.withdraw(call) }
        }
    }

    func read(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors] {
        try await perform(orFail: SignalingError(.notConnected, "the request was cancelled before it was sent")) {
            let call = self.read(request, completion: $0)
            return { self.withdraw(call) }
        }
    }

    func readRestrictions() async throws(SignalingError) -> [RestrictionRecord] {
        try await perform(orFail: SignalingError(.notConnected, "the request was cancelled before it was sent")) {
            let call = self.readRestrictions(completion: $0)
            return { self.withdraw(call) }
        }
    }

    /// - Parameters:
    ///   - error: the result if the task is cancelled before the loop begins the call.
    ///   - start: begins the call with its completion, and returns what ends it when the task is cancelled. An ended
    ///     call completes, too.
    private func perform<Value: Sendable>(
        orFail error: SignalingError,
        _ start: @escaping @Sendable (_ completion: @escaping (Result<Value, SignalingError>) -> Void) -> () -> Void
    ) async throws(SignalingError) -> Value {
        try environment.start()
        let cancellation = Cancellation()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                environment.post {
                    let hasBegun = cancellation.begin { start { continuation.resume(returning: $0) } }
                    if !hasBegun { continuation.resume(returning: .failure(error)) }
                }
            }
        } onCancel: {
            cancellation.request()
            environment.post { cancellation.carryOut() }
        }
        return try result.get()
    }

    func disconnect() async {
        guard (try? environment.start()) != nil else { return }
        await withCheckedContinuation { continuation in
            environment.post { self.disconnect { continuation.resume() } }
        }
    }

    /// A stream of the moments at which the network or the app is back.
    func makeReturnStream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = returns.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.returns.withLock { $0.remove(id) } }
        return stream
    }

    /// Can be called from any thread.
    func note(_ change: DeviceLife) {
        if change != .background { for stream in returns.withLock({ $0.all }) { stream.yield() } }
        guard (try? environment.start()) != nil else { return }
        environment.post { self.lifeChanged(change) }
    }

    /// Called when the application has released its session: ends the streams, and the connection if there is one.
    func abandon() {
        for stream in streams.withLock({ $0.removeAll() }) { stream.finish() }
        for stream in returns.withLock({ $0.all }) { stream.finish() }
        guard (try? environment.start()) != nil else { return }
        environment.post { self.disconnect {} }
    }
}
