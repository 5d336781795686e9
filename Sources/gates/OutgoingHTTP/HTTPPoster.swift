import EventLoop

/// Posts to HTTP servers on one thread of its own, and reports the status of the responses. It ignores their bodies.
///
/// Posts run beside each other; their number is the caller's. Connections are kept for later posts. If a kept connection
/// turns out to be closed, libcurl repeats the post on a new one. So a receiver that ends a connection without a response
/// may get a post twice.
package final class HTTPPoster: Sendable {
    /// Identifies a post of one poster.
    package struct PostID: Hashable, Sendable {
        let rawValue: Int
    }

    /// Called once for each post, on the poster's thread. Must not block it.
    package typealias Completion = @Sendable (PostOutcome) -> Void

    private let mailbox: PostMailbox

    /// - Throws: ``EventLoopError`` when the system has no thread, memory or descriptors left.
    package init() throws(EventLoopError) {
        guard CurlEasy.isLibraryReady, let multi = CurlMulti() else { throw .outOfMemory }
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
}
