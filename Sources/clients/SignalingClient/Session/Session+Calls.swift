import SignalingProtocol

/// Calls that return at once, for programs that do not wait in tasks. They reach the server in their order.
///
/// The session calls `completion` once, on the library's thread, in the order of the server's answers. It calls it at
/// once if the call cannot begin.
extension Session {
    package typealias Completion<Value> = @Sendable (Result<Value, SignalingError>) -> Void

    package func connect(token: String, completion: @escaping Completion<Void>) {
        let (request, options) = (connectRequest(token: token), options)
        let address: ServerAddress
        do throws(SignalingError) { address = try ServerAddress(server) } catch { return completion(.failure(error)) }
        driver.post(completion) { driver, completion in
            _ = driver.connect(
                request, to: address, trustedCertificatesFile: options.trustedCertificatesFile, completion: completion)
        }
    }

    package func send(
        _ request: SignalRequest, retryAfterReconnect: Bool, completion: @escaping Completion<Seq?>
    ) {
        do throws(SignalingError) { try Self.check(request) } catch { return completion(.failure(error)) }
        driver.post(completion) { driver, completion in
            _ = driver.call(
                { .signal(request, $0, retriesAfterReconnect: retryAfterReconnect) }, completion: completion)
        }
    }

    package func forceDisconnect(_ connection: ConnectionID, completion: @escaping Completion<Seq?>) {
        do throws(SignalingError) { try Self.check(target: connection) } catch { return completion(.failure(error)) }
        driver.post(completion) { driver, completion in
            _ = driver.call({ .forceDisconnect(connection, $0) }, completion: completion)
        }
    }

    /// The session is kept until its connection has ended, so that its events also have the end.
    package func beginDisconnect() {
        driver.post({ (_: Result<Void, SignalingError>) in withExtendedLifetime(self) {} }) { driver, completion in
            driver.disconnect { completion(.success(())) }
        }
    }
}

extension SessionDriver {
    /// Posts a call to the loop.
    fileprivate func post<Value>(
        _ completion: @escaping Session.Completion<Value>,
        _ start: @escaping @Sendable (SessionDriver, @escaping Session.Completion<Value>) -> Void
    ) {
        do throws(SignalingError) { try environment.start() } catch { return completion(.failure(error)) }
        environment.post { start(self, completion) }
    }
}
