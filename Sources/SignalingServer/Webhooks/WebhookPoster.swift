import Foundation
import FoundationNetworking
import Synchronization

/// Posts, and says which status came back. It follows no redirect, sends no cookie, keeps no answer: the status is all that
/// is looked at.
final class WebhookPoster: NSObject, URLSessionDataDelegate, Sendable {
    /// The status, or nil and why there is none.
    typealias Completion = @Sendable (Int?, String) -> Void

    private struct Post {
        let completion: Completion
        var status: Int?
        var byteCount = 0
    }

    /// More of an answer is not read.
    private static let answerLimit = 64 << 10
    private let posts = Mutex<[Int: Post]>([:])

    /// The session keeps its delegate until it is invalidated, so it cannot be a member.
    static func makeSession(postTime: Duration) -> (URLSession, WebhookPoster) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // Whoever waits gives up earlier; this is for what it has forgotten.
        configuration.timeoutIntervalForRequest = TimeInterval(postTime.components.seconds + 5)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let poster = WebhookPoster()
        return (URLSession(configuration: configuration, delegate: poster, delegateQueue: queue), poster)
    }

    /// - Parameter completion: called once, on another thread, cancelled or not.
    func post(_ request: URLRequest, over session: URLSession, completion: @escaping Completion) -> URLSessionDataTask {
        let task = session.dataTask(with: request)
        posts.withLock { $0[task.taskIdentifier] = Post(completion: completion) }
        task.resume()
        return task
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        posts.withLock { $0[task.taskIdentifier]?.status = response.statusCode }
        completionHandler(nil)
    }

    /// Unanswered, a challenge would keep the post waiting.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let status = (challenge.failureResponse as? HTTPURLResponse)?.statusCode
        posts.withLock { $0[task.taskIdentifier]?.status = status }
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode
        posts.withLock { $0[dataTask.taskIdentifier]?.status = status }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooMuch = posts.withLock { posts in
            posts[dataTask.taskIdentifier]?.byteCount += data.count
            return posts[dataTask.taskIdentifier].map { $0.byteCount > Self.answerLimit } ?? false
        }
        if isTooMuch { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let post = posts.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        post.completion(post.status, post.status.map { "status \($0)" } ?? Self.words(error))
    }

    private static let noTrust = "its certificate is not trusted, or TLS failed"

    /// Without the URL, which may be a secret.
    private static func words(_ error: (any Error)?) -> String {
        guard let error = error as? URLError else { return "no answer" }
        switch error.code {
        case .timedOut, .cancelled: return "no answer in time"
        case .cannotFindHost, .dnsLookupFailed: return "its name is not known"
        case .cannotConnectToHost: return "it cannot be reached"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            return Self.noTrust
        default:
            // On Linux the HTTP client has no code for this, only words.
            let isAboutTrust = ["SSL", "certificate"].contains { error.localizedDescription.contains($0) }
            return isAboutTrust ? Self.noTrust : "no answer (URLError \(error.code.rawValue))"
        }
    }
}
