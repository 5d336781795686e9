import CLibcurl
import EventLoop
import SignalingCryptography
import Synchronization

/// Posts to HTTP servers on one thread of its own, and reports the status of the responses. It ignores their bodies.
///
/// Posts run beside each other; their number is the caller's. Connections are kept for later posts. If a kept connection
/// turns out to be closed, libcurl repeats the post on a new one. So a receiver that ends a connection without a response
/// may get a post twice.
package final class HTTPPoster: Sendable {
    /// Identifies a post of one poster.
    package struct PostID: Hashable, Sendable {
        fileprivate let rawValue: Int
    }

    /// Called once for each post, on the poster's thread. Must not block it.
    package typealias Completion = @Sendable (PostOutcome) -> Void

    private let mailbox: PostMailbox

    /// - Throws: ``EventLoopError`` when the system has no thread, memory or descriptors left.
    package init() throws(EventLoopError) {
        guard Self.isLibraryReady, let multi = CurlMulti() else { throw .outOfMemory }
        let mailbox = PostMailbox(multi)
        try EventLoop.startThread(name: "signalbox-posts") { started in
            started()
            TransferLoop(mailbox, multi).run()
        }
        self.mailbox = mailbox
    }

    /// Cancels all posts, and ends the thread.
    deinit { mailbox.close() }

    /// Begins a post, from any thread.
    package func post(_ post: HTTPPost, completion: @escaping Completion) -> PostID {
        mailbox.append(post, completion)
    }

    /// Ends a post, from any thread, unless it has ended. Its connection is cut.
    package func cancel(_ id: PostID) { mailbox.append(cancellationOf: id) }

    private static let isLibraryReady: Bool = {
        // libcurl uses OpenSSL.
        OpenSSLCleanup.turnOff()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}

/// What other threads want of the poster's thread.
final class PostMailbox: Sendable {
    enum Command: Sendable {
        case begin(HTTPPost, HTTPPoster.PostID, HTTPPoster.Completion)
        case cancel(HTTPPoster.PostID)
    }

    private struct Content {
        var commands: [Command] = []
        var lastID = 0
        var isClosed = false
    }

    private let content = Mutex(Content())
    private let multi: CurlMulti

    init(_ multi: CurlMulti) { self.multi = multi }

    func append(_ post: HTTPPost, _ completion: @escaping HTTPPoster.Completion) -> HTTPPoster.PostID {
        let id = content.withLock { content in
            content.lastID += 1
            let id = HTTPPoster.PostID(rawValue: content.lastID)
            content.commands.append(.begin(post, id, completion))
            return id
        }
        multi.wake()
        return id
    }

    func append(cancellationOf id: HTTPPoster.PostID) {
        content.withLock { $0.commands.append(.cancel(id)) }
        multi.wake()
    }

    func close() {
        content.withLock { $0.isClosed = true }
        multi.wake()
    }

    /// The commands since the last call, and whether there will be no more.
    func removeAll() -> (commands: [Command], isClosed: Bool) {
        content.withLock { content in
            defer { content.commands = [] }
            return (content.commands, content.isClosed)
        }
    }
}
