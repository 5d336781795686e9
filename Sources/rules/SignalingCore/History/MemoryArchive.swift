import DequeModule
import SignalingProtocol

/// The archive of a process that keeps its sessions in memory. It answers within each call.
public final class MemoryArchive: MessageArchive, MessageFeed {
    /// What a message takes beside the bytes of its head and its content, and a session beside its messages, the state in
    /// which it sleeps included: measured, see docs/PERFORMANCE.md.
    static let (messageCost, sessionCost) = (160, 1_400)

    public private(set) var byteCount = 0
    public private(set) var messageCount = 0
    private var bounds: HistoryBounds
    private let projectOf: ProjectOfSession
    private var sessions: [SessionID: Session] = [:]
    private var projects: [ProjectShare] = []
    private var projectIndexes: [APIKey?: Int] = [:]
    private var largestProjects = LargestFirst<Int>()
    private var feeds: [APIKey: MemoryFeed] = [:]
    public var onAnnounced: ((SessionID) -> Void)?
    /// The date, for positions of feeds.
    private let date: () -> WallTime

    /// - Parameter projectOf: reads the project of a session.
    public init(
        bounds: HistoryBounds = HistoryBounds(), projectOf: @escaping ProjectOfSession = { _ in nil },
        date: @escaping () -> WallTime = { WallTime(milliseconds: 0) }
    ) {
        self.bounds = bounds
        self.date = date
        self.projectOf = projectOf
    }

    public var isEmpty: Bool { sessions.isEmpty }

    private struct Session {
        /// The index of its project.
        let project: Int
        /// In the order of their seqs.
        var messages: Deque<ArchivedMessage> = []
        /// By ``ArchivedMessage/byteCount``.
        var byteCount = 0
        /// The greatest seq that there ever was.
        var last = Seq.zero
        /// Messages up to this seq are trimmed or erased, and do not come back.
        var goneThrough = Seq.zero

        /// What it takes. An empty session is gone after the next sweep.
        var storedByteCount: Int {
            messages.isEmpty ? 0 : sessionCost + messages.count * messageCost + byteCount
        }

        /// The index of the first message with a greater seq.
        func index(after seq: Seq) -> Int {
            // Nearly every message is newer than all others.
            guard let newest = messages.last, seq < newest.seq else { return messages.count }
            var (low, high) = (0, messages.count)
            while low < high {
                let middle = (low + high) / 2
                if messages[middle].seq <= seq { low = middle + 1 } else { high = middle }
            }
            return low
        }

        mutating func add(_ message: ArchivedMessage) {
            guard message.seq > goneThrough else { return }
            let index = index(after: message.seq)
            guard index == 0 || messages[index - 1].seq != message.seq else { return }
            messages.insert(message, at: index)
            last = max(last, message.seq)
            byteCount += message.byteCount
        }

        /// The index of the message with this seq.
        func index(of seq: Seq) -> Int? {
            let index = index(after: seq) - 1
            return index >= 0 && messages[index].seq == seq ? index : nil
        }

        mutating func put(_ form: ArchivedForm) {
            if let index = index(of: form.seq), let changed = messages[index].changed(to: form) {
                replace(at: index, with: changed)
            }
        }

        mutating func eraseContent(at index: Int) { replace(at: index, with: messages[index].erased) }

        private mutating func replace(at index: Int, with message: ArchivedMessage) {
            byteCount += message.byteCount - messages[index].byteCount
            messages[index] = message
        }

        mutating func removeOldest() {
            guard let oldest = messages.popFirst() else { return }
            byteCount -= oldest.byteCount
            goneThrough = max(goneThrough, oldest.seq)
        }

        mutating func trim(to bounds: HistoryBounds) {
            while messages.count > bounds.messageCount || byteCount > bounds.byteCount { removeOldest() }
        }
    }

    private struct ProjectShare {
        /// What its sessions take.
        var byteCount = 0
        /// Those that have messages.
        var sessionCount = 0
        var largestSessions = LargestFirst<SessionID>()
    }

    public func append(
        _ messages: [ArchivedMessage], to session: SessionID,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        change(session) { kept in
            for message in messages { kept.add(message) }
            kept.trim(to: bounds)
        }
        trimToTotal()
        answer(.success(()))
    }

    public func put(
        _ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        guard sessions[session] != nil else { return answer(.success(())) }
        change(session) { kept in
            for form in forms { kept.put(form) }
            kept.trim(to: bounds)
        }
        trimToTotal()
        answer(.success(()))
    }

    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        guard let kept = sessions[session], let first = kept.messages.first, let last = kept.messages.last else {
            return answer(.success(ArchivePage(range: nil, more: false, messages: [])))
        }
        var room = PageRoom(limit: request.limit)
        var page = ArchivePage(range: first.seq...last.seq, more: false, messages: [])
        func add(_ messages: some Sequence<ArchivedMessage>) {
            for message in messages {
                guard room.admits(message) else { return page.more = true }
                page.messages.append(message)
            }
        }
        switch request.position {
        // A list of changes is read as pages of one message (``ChangeList``).
        case .newest, .changedAfter: add(kept.messages.reversed())
        case .before(let seq): add(kept.messages[..<(seq > .zero ? kept.index(after: seq.previous) : 0)].reversed())
        case .after(let seq):
            add(kept.messages[kept.index(after: seq)...])
            return answer(.success(page))
        }
        page.messages.reverse()
        answer(.success(page))
    }

    public func erase(
        _ scope: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        guard sessions[session] != nil, let erasure = scope.limited else { return answer(.success(())) }
        change(session) { kept in
            switch erasure {
            case .message(let seq):
                if let index = kept.index(of: seq) { kept.eraseContent(at: index) }
            case .user:
                for index in kept.messages.indices where scope.covers(kept.messages[index]) {
                    kept.eraseContent(at: index)
                }
            case .through(let seq):
                while let oldest = kept.messages.first, oldest.seq <= seq { kept.removeOldest() }
                kept.goneThrough = max(kept.goneThrough, min(seq, kept.last))
            }
        }
        answer(.success(()))
    }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        if let project = projectOf(session) { add(entries, of: session, to: project) }
        answer(.success(()))
        onAnnounced?(session)
    }

    public func announce(
        _ entries: [FeedEntry], of session: SessionID, in feed: APIKey,
        answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        add(entries, of: session, to: feed)
        answer(.success(()))
    }

    private func add(_ entries: [FeedEntry], of session: SessionID, to feed: APIKey) {
        feeds[feed, default: MemoryFeed(at: date())].append(
            entries, of: session, at: date(), atMost: bounds.feedEntryCount)
    }

    public var feed: any MessageFeed { self }

    public func read(
        _ project: APIKey, from start: FeedStart, limit: Int,
        answer: @escaping (Result<FeedReading, ArchiveFault>) -> Void
    ) {
        answer(.success(feeds[project]?.read(from: start, limit: limit) ?? FeedReading(ofEmptyFeedFrom: start)))
    }

    public func keepCursor(
        _ offset: FeedOffset, of project: APIKey, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        feeds[project, default: MemoryFeed(at: date())].cursor = offset
        answer(.success(()))
    }

    public func cursor(of project: APIKey, answer: @escaping (Result<FeedOffset?, ArchiveFault>) -> Void) {
        answer(.success(feeds[project]?.cursor))
    }

    public func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        answer(.success(sessions[session]?.last))
    }

    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        let oldest = bounds.oldestTime(at: now)
        for id in Array(sessions.keys) {
            change(id) { kept in
                while let first = kept.messages.first,
                    first.time < oldest || kept.messages.count > bounds.messageCount
                        || kept.byteCount > bounds.byteCount
                { kept.removeOldest() }
            }
        }
        trimToTotal()
        for project in Array(feeds.keys) { feeds[project]?.trim(before: oldest, atMost: bounds.feedEntryCount) }
        let empty = sessions.filter(\.value.messages.isEmpty).map(\.key).sorted()
        for id in empty { sessions[id] = nil }
        answer(.success(empty))
    }

    public func changeBounds(to new: HistoryBounds) { bounds = new }

    // MARK: - Sizes

    private func change(_ id: SessionID, _ body: (inout Session) -> Void) {
        let (count, old) = (sessions[id]?.messages.count ?? 0, sessions[id]?.storedByteCount ?? 0)
        body(&sessions[id, default: Session(project: projectIndex(of: id))])
        guard let kept = sessions[id] else { return }
        let (new, project) = (kept.storedByteCount, kept.project)
        messageCount += kept.messages.count - count
        guard new != old else { return }
        byteCount += new - old
        projects[project].byteCount += new - old
        projects[project].sessionCount += (new > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
        largestProjects.note(projects[project].byteCount, of: project, among: projects.count) {
            projects[$0].byteCount
        }
        guard new > 0 else { return }
        let sessionCount = projects[project].sessionCount
        projects[project].largestSessions.note(new, of: id, among: sessionCount) { sessions[$0]?.storedByteCount }
    }

    private func projectIndex(of session: SessionID) -> Int {
        let project = projectOf(session)
        if let index = projectIndexes[project] { return index }
        projectIndexes[project] = projects.count
        projects.append(ProjectShare())
        return projects.count - 1
    }

    /// Trims the largest session of the project that has the most, one message at a time.
    private func trimToTotal() {
        while byteCount > bounds.totalByteCount,
            let project = largestProjects.popLargest({ projects[$0].byteCount })
        {
            guard
                let session = projects[project].largestSessions.popLargest({ sessions[$0]?.storedByteCount })
            else { continue }
            change(session) { $0.removeOldest() }
        }
    }
}

extension HistoryBounds {
    /// Messages before this time are trimmed.
    public func oldestTime(at now: WallTime) -> WallTime {
        let (time, overflow) = now.milliseconds.subtractingReportingOverflow(age.wholeMilliseconds)
        return WallTime(milliseconds: overflow ? .min : time)
    }
}
