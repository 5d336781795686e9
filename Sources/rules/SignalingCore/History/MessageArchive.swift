import SignalingProtocol

/// The port to the component that keeps the messages of sessions for a long time (HIS-1 to HIS-6).
///
/// A session's state carries each kept signal until a command of its log says that the archive has it
/// (``LoggedCommand/archived(through:)``). So a message may reach the archive twice, and never less than once. Every
/// archive gives the following guarantees, which the contract tests check:
///
/// - *Kept.* After a successful answer to ``append(_:to:answer:)`` the messages are there, also in the next process if
///   the archive outlives this one, until they are trimmed or erased.
/// - *Once.* A message that is there already stays as it is (HIS-3). An erased or trimmed one does not come back.
/// - *Newest form.* Of the forms of a message the one with the greatest version stays, in whatever order they come.
/// - *Order.* Pages are in the order of seqs, without regard to the order of appending.
/// - *Bounded.* See ``HistoryBounds``.
/// - *One thread.* The caller calls every method on one thread, and gets answers there, from within the call or later.
///   Answers to reads and to writes may overtake each other.
public protocol MessageArchive: AnyObject {
    /// The most messages of a session in one call of ``carryOut(_:of:answer:)``.
    var largestBatchCount: Int { get }

    /// Carries out several steps of one session in their order, and answers when all are kept. After a fault some of them
    /// may be: the caller then repeats all.
    func carryOut(
        _ steps: [ArchiveStep], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Adds messages of one session, in the order of their seqs.
    func append(
        _ messages: [ArchivedMessage], to session: SessionID,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Replaces the content of messages that were edited (CHG-8), where the form is newer than what is there. Adds no
    /// message, and brings no erased or trimmed one back. Like `append` it then trims what is over the bounds: an edit can
    /// make a message longer.
    func put(
        _ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// Reads a page: at most as many messages as asked for, and at most ``Limits/historyPageByteCount`` bytes of
    /// ``ArchivedMessage/byteCount``, but at least one message if there is one.
    func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void)

    /// Erases messages (HIS-9). Of one message, and of those of a user, the head and the time stay; messages up to a seq go
    /// altogether. The content does not come back with a later `append`.
    ///
    /// - Parameter erasure: concerns no message from its own seq on, however late the archive learns of it.
    func erase(
        _ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void)

    /// The feeds of the projects, which announce what the archive has (FEED-1).
    var feed: any MessageFeed { get }

    /// The greatest seq that a session's history ever had, trimmed and erased messages included; `nil` if the archive
    /// does not know the session.
    func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void)

    /// Trims what is over the bounds, and forgets the sessions that are empty afterwards.
    ///
    /// - Parameter answer: gets the forgotten sessions: they need not sleep any longer (HIS-3).
    func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void)

    /// Replaces the bounds. The next `append`, `put` or `sweep` applies them.
    func changeBounds(to new: HistoryBounds)

    /// Whether the archive surely knows no session. Then no session can have a history.
    var isEmpty: Bool { get }
    /// What the histories take on the disk or in memory, as far as is known. ``HistoryBounds/totalByteCount`` bounds it.
    var byteCount: Int { get }
    /// The number of all messages, as far as is known, for metrics.
    var messageCount: Int { get }
    /// Why nothing can be written at present; `nil` while it can. Messages wait in the states of their sessions meanwhile.
    var fault: CommandLogFault? { get }

    /// How often all sessions have lost their orders. A session of which the archive has nothing may have had messages
    /// before, so it begins above as many steps of HIS-3.
    var lostOrderCount: Int { get }

    /// The time of the last sweep at opening, if the archive outlives its process.
    var lastSweep: WallTime? { get }
}

extension MessageArchive {
    /// What one transaction of a database should have.
    public var largestBatchCount: Int { 128 }
    public var fault: CommandLogFault? { nil }
    public var lastSweep: WallTime? { nil }
    public var lostOrderCount: Int { 0 }

    /// One step after the other.
    public func carryOut(
        _ steps: [ArchiveStep], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        carryOut(steps[...], of: session, answer)
    }

    private func carryOut(
        _ steps: ArraySlice<ArchiveStep>, of session: SessionID,
        _ answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        guard let step = steps.first else { return answer(.success(())) }
        let proceed = { [weak self] (result: Result<Void, ArchiveFault>) in
            guard case .success = result, let self else { return answer(result) }
            carryOut(steps.dropFirst(), of: session, answer)
        }
        switch step {
        case .append(let messages): append(messages, to: session, answer: proceed)
        case .put(let forms): put(forms, of: session, answer: proceed)
        case .erase(let scope): erase(scope, of: session, answer: proceed)
        case .announce(let entries): feed.announce(entries, of: session, answer: proceed)
        }
    }
}

/// One of the things that an archive is told of a session.
public enum ArchiveStep: Sendable {
    case append([ArchivedMessage])
    case put([ArchivedForm])
    case erase(ErasureScope)
    /// What the steps before have is told in the feed (FEED-1).
    case announce([FeedEntry])
}

/// A message in an archive, as parts of the JSON object that clients get (HIS-6).
public struct ArchivedMessage: Hashable, Sendable {
    public let seq: Seq
    /// When the server accepted the signal.
    public let time: WallTime
    /// `{"seq":…,"from":…` and the sender's connection, which stay after an erasure.
    public let head: [UInt8]
    /// `,"type":…,"data":…`, of an edited message as in ``ArchivedForm/content``; `nil` once it is erased.
    public let content: [UInt8]?

    public init(seq: Seq, time: WallTime, head: [UInt8], content: [UInt8]?) {
        self.seq = seq
        self.time = time
        self.head = head
        self.content = content
    }

    /// The message without its content.
    public var erased: ArchivedMessage { ArchivedMessage(seq: seq, time: time, head: head, content: nil) }

    /// What the message counts for a page, and for the bound of its session: about the bytes of its object in a page.
    public var byteCount: Int { head.count + (content?.count ?? 15) + 24 }

    /// Appends the message's object to a page.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: content ?? Self.erasedContent)
        bytes.append(contentsOf: #","time":"#.utf8)
        bytes.append(contentsOf: String(time.milliseconds).utf8)
        bytes.append(UInt8(ascii: "}"))
    }

    private static let erasedContent = Array(#","erased":true"#.utf8)
}

/// A part of a session's archive, oldest message first.
public struct ArchivePage: Sendable {
    /// The oldest and the newest message of the session; `nil` if it has none.
    public var range: ClosedRange<Seq>?
    /// Whether other messages follow in the direction of the request.
    public var more: Bool
    public var messages: [ArchivedMessage]
    /// How far a list of changes reaches (CHG-9); `nil` for a page of messages.
    public var changes: HistoryPage.Changes?

    public init(
        range: ClosedRange<Seq>?, more: Bool, messages: [ArchivedMessage], changes: HistoryPage.Changes? = nil
    ) {
        self.range = range
        self.more = more
        self.messages = messages
        self.changes = changes
    }
}

/// How much history is kept (HIS-2). The oldest messages go first. Each bound is at least 1.
public struct HistoryBounds: Hashable, Sendable {
    /// How long a message is kept.
    public var age: Duration
    /// The messages of one session.
    public var messageCount: Int
    /// The bytes of one session, by ``ArchivedMessage/byteCount``.
    public var byteCount: Int
    /// What the histories of all sessions take on the disk or in memory. Over it the project that has the most loses
    /// messages of its largest sessions. So a project that has less than the bound divided by the number of projects loses
    /// none because of the others.
    public var totalByteCount: Int

    public init(
        age: Duration = .seconds(30 * 86_400), messageCount: Int = 10_000, byteCount: Int = 16 << 20,
        totalByteCount: Int = 4 << 30
    ) {
        self.age = age
        self.messageCount = messageCount
        self.byteCount = byteCount
        self.totalByteCount = totalByteCount
    }

    /// The entries of a project's feed (FEED-4), which go with the age, too.
    public var feedEntryCount = 500_000

    /// Smaller, since memory is.
    public static let inMemory = HistoryBounds(totalByteCount: 256 << 20).withFeedEntries(50_000)

    /// Smaller, since Redis has every message in memory.
    public static let inRedis = HistoryBounds(age: .seconds(7 * 86_400), messageCount: 1_000).withFeedEntries(50_000)

    private func withFeedEntries(_ count: Int) -> HistoryBounds {
        var copy = self
        copy.feedEntryCount = count
        return copy
    }
}

/// Why an archive cannot be read or written to. The caller may try again.
public struct ArchiveFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for the operator. Contains nothing that a client said.
    public let description: String

    public init(_ description: String) { self.description = description }
}
