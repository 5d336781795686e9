import Foundation
import FoundationNetworking
import Synchronization

/// Posts events and reports the status of the responses. It follows no redirects, sends no cookies and ignores response
/// bodies.
final class WebhookPoster: NSObject, URLSessionDataDelegate, Sendable {
    /// The status, or nil without a response; and a description for the log.
    typealias Completion = @Sendable (Int?, String) -> Void

    private struct Exchange {
        let completion: Completion
        var status: Int?
        var byteCount = 0
    }

    /// The poster cancels a response with a larger body.
    private static let responseByteCount = 64 << 10
    private let exchanges = Mutex<[Int: Exchange]>([:])

    /// Not a member: a session retains its delegate until it is invalidated.
    static func makeSession(postTime: Duration) -> (URLSession, WebhookPoster) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // The queue abandons a post earlier. This limit ends tasks that the queue no longer tracks.
        configuration.timeoutIntervalForRequest = TimeInterval(postTime.components.seconds + 5)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let poster = WebhookPoster()
        return (URLSession(configuration: configuration, delegate: poster, delegateQueue: queue), poster)
    }

    /// - Parameter completion: called once, on another thread, cancelled or not.
    func post(_ request: URLRequest, over session: URLSession, completion: @escaping Completion) -> URLSessionDataTask {
        let task = session.dataTask(with: request)
        exchanges.withLock { $0[task.taskIdentifier] = Exchange(completion: completion) }
        task.resume()
        return task
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        exchanges.withLock { $0[task.taskIdentifier]?.status = response.statusCode }
        completionHandler(nil)
    }

    /// Rejects the challenge, which would otherwise delay the end of the post.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let status = (challenge.failureResponse as? HTTPURLResponse)?.statusCode
        exchanges.withLock { $0[task.taskIdentifier]?.status = status }
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode
        exchanges.withLock { $0[dataTask.taskIdentifier]?.status = status }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooMuch = exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier]?.byteCount += data.count
            return exchanges[dataTask.taskIdentifier].map { $0.byteCount > Self.responseByteCount } ?? false
        }
        if isTooMuch { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.completion(exchange.status, exchange.status.map { "status \($0)" } ?? Self.describe(error))
    }

    private static let noTrust = "its certificate is not trusted, or TLS failed"

    /// Does not name the URL, which may be a secret.
    private static func describe(_ error: (any Error)?) -> String {
        guard let error = error as? URLError else { return "no response" }
        switch error.code {
        case .timedOut, .cancelled: return "no response in time"
        case .cannotFindHost, .dnsLookupFailed: return "its host name is unknown"
        case .cannotConnectToHost: return "it cannot be reached"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            return Self.noTrust
        default:
            // On Linux the HTTP client has no code for this, only a description.
            let isAboutTrust = ["SSL", "certificate"].contains { error.localizedDescription.contains($0) }
            return isAboutTrust ? Self.noTrust : "no response (URLError \(error.code.rawValue))"
        }
    }
}
