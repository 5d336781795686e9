import Synchronization

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
