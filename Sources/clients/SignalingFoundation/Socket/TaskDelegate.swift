import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Posts the callbacks of a session to its ``TaskSocket``'s loop. The session keeps it until it is invalidated.
final class TaskDelegate: NSObject, URLSessionWebSocketDelegate {
    private let reference: TaskSocketReference
    private let loop: DispatchLoop
    private let trust: TrustedCertificates?

    init(socket: TaskSocket, loop: DispatchLoop, trust: TrustedCertificates?) {
        reference = TaskSocketReference(socket)
        self.loop = loop
        self.trust = trust
    }

    private func post(_ event: TaskSocketState.Event) {
        loop.post { [reference] in reference.socket.handle(event) }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol agreed: String?
    ) { post(.opened(subprotocol: agreed)) }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith code: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { post(.closeReceived(code: UInt16(clamping: code.rawValue))) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode
        let failure = error.map { error in
            let error = error as NSError
            return TaskFailure(
                code: error.domain == NSURLErrorDomain ? error.code : nil, status: status,
                description: error.localizedDescription)
        }
        let code = (task as? URLSessionWebSocketTask)?.closeCode.rawValue ?? 0
        post(.completed(failure, closeCode: code == 0 ? nil : UInt16(clamping: code)))
    }

    /// A redirected handshake would show the token to another server, so it is refused with its status.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }

    #if canImport(Security)
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let trust, let server = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            if trust.accepts(server) {
                completionHandler(.useCredential, URLCredential(trust: server))
            } else {
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    #endif
}
