import SignalingProtocol

/// The port to the feeds of an archive: for each project one list of what the archive was told (FEED-1).
///
/// Entries have increasing positions, which no feed gives twice, also after the loss of some. Threads and answers are those
/// of the ``MessageArchive``.
public protocol MessageFeed: AnyObject {
    /// Adds entries to the feed of the session's project, behind all that it has. What they announce is in the archive
    /// already. A caller that gets no answer repeats them: then the feed may have them twice.
    func announce(
        _ entries: [FeedEntry], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Adds entries to another feed than that of the session's project. A feed has any name.
    func announce(
        _ entries: [FeedEntry], of session: SessionID, in feed: APIKey,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Reads the feed of a project: everything behind the start up to the page's end.
    ///
    /// - Parameter limit: the most entries of each part of the archive.
    func read(
        _ project: APIKey, from start: FeedStart, limit: Int,
        answer: @escaping (Result<FeedReading, ArchiveFault>) -> Void)

    /// Keeps how far the receiver of a project has got, in the place of what was kept before.
    func keepCursor(
        _ offset: FeedOffset, of project: APIKey, answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Reads what was kept last; `nil` if nothing was.
    func cursor(of project: APIKey, answer: @escaping (Result<FeedOffset?, ArchiveFault>) -> Void)

    /// Lets this process post the feed of a project for a while, unless another node does (FEED-5).
    func claim(_ project: APIKey, for time: Duration, answer: @escaping (Result<FeedClaim, ArchiveFault>) -> Void)

    /// Called when the feed of a session's project has new entries. Those of other nodes come without a call.
    var onAnnounced: ((SessionID) -> Void)? { get set }
    /// How often to look for the entries of other nodes while somebody waits; `nil` if there are none.
    var pollInterval: Duration? { get }
}

extension MessageFeed {
    public var pollInterval: Duration? { nil }

    /// No other process has the archive.
    public func claim(
        _ project: APIKey, for time: Duration, answer: @escaping (Result<FeedClaim, ArchiveFault>) -> Void
    ) {
        cursor(of: project) { answer($0.map { .granted(cursor: $0) }) }
    }
}

/// The answer to ``MessageFeed/claim(_:for:answer:)``.
public enum FeedClaim: Hashable, Sendable {
    /// The receiver has everything up to the cursor; `nil` before the first post.
    case granted(cursor: FeedOffset?)
    /// Another node posts the feed.
    case taken
}
