import DequeModule
import SignalingProtocol

/// What a session's archive has not been told, or has not confirmed: kept signals and erasures, in their order.
///
/// It is part of the replicated state. So a message is in the state, in the archive, or in both, and a crash, a change
/// of the keeper or an archive that cannot be written loses none (HIS-3).
struct Unarchived: Sendable {
    struct Item: Sendable {
        enum Content: Sendable {
            case message(EncodedLine)
            /// A message of the state that was erased before the archive had it.
            case erased(EncodedLine)
            case erasure(Erasure)
            /// What a message says since a change, as the line of the message (CHG-8).
            case form(of: Seq, EncodedLine)
            /// How many users react to a message since then (CHG-13).
            case reactions(to: Seq, [ReactionCount])
            /// What only the feed tells: presence and moderation, as ``FeedEvent/members``.
            case event([UInt8])
            /// Events from this seq on that nothing kept, since too much waited already (FEED-4).
            case missed(from: Seq)
            /// A form that a later one replaces, or that was erased.
            case nothing
        }

        let seq: Seq
        let time: MonotonicInstant
        var content: Content

        var isErasure: Bool { if case .erasure = content { true } else { false } }
        /// Whether it changes messages in the archive.
        var isChange: Bool {
            switch content {
            case .erasure, .form, .reactions: true
            case .message, .erased, .event, .missed, .nothing: false
            }
        }
        var isMessage: Bool {
            switch content {
            case .message, .erased: true
            case .erasure, .form, .reactions, .event, .missed, .nothing: false
            }
        }

        var byteCount: Int {
            switch content {
            case .message(let line), .erased(let line), .form(_, let line):
                line.byteCount + (line.insertion?.bytes.count ?? 0)
            case .reactions(_, let counts): counts.reduce(16) { $0 + $1.key.utf8.count + 32 }
            case .event(let members): 16 + members.count
            case .erasure, .missed, .nothing: 16
            }
        }
    }

    /// The bounds of what waits for the archive. Beyond them a signal that would be kept is refused: an acknowledged one
    /// is never left out.
    static let countLimit = 16_384
    static let byteLimit = 8 << 20

    private(set) var items: Deque<Item> = []
    private(set) var byteCount = 0
    private var erasureCount = 0
    /// The messages that the archive is to get, and their bytes.
    private(set) var messageCount = 0
    private(set) var messageByteCount = 0
    /// The greatest seq that was ever kept: the archive may have messages. Zero before the first.
    private(set) var lastKept: Seq
    /// The seq of the last erasure; zero before the first.
    private(set) var lastErasure = Seq.zero

    init(lastKept: Seq = .zero) { self.lastKept = lastKept }

    /// As they were kept.
    init(items: Deque<Item>, lastKept: Seq, lastErasure: Seq) {
        self.items = items
        self.lastKept = lastKept
        self.lastErasure = lastErasure
        for item in items { count(item, 1) }
    }

    private mutating func count(_ item: Item, _ sign: Int) {
        byteCount += sign * item.byteCount
        if item.isErasure { erasureCount += sign }
        if item.isMessage {
            messageCount += sign
            messageByteCount += sign * item.byteCount
        }
    }

    /// Whether the archive is to erase something.
    var hasErasure: Bool { erasureCount > 0 }
    /// The last erasure, if the archive may not have carried it out.
    var newestErasure: ErasureScope? {
        guard lastErasure > .zero, let item = items.last(where: { $0.seq <= lastErasure }), item.seq == lastErasure,
            case .erasure(let erasure) = item.content
        else { return nil }
        return ErasureScope(erasure, at: item.seq)
    }
    /// Changes whenever the history does, except by trimming and by changes of messages.
    var mark: Seq { max(lastKept, lastErasure) }
    var isEmpty: Bool { items.isEmpty }
    var isFull: Bool { items.count >= Self.countLimit || byteCount >= Self.byteLimit }
    var isHalfFull: Bool { items.count >= Self.countLimit / 2 || byteCount >= Self.byteLimit / 2 }
    /// Whether what waits is worth a transaction.
    func isWorthBatch(of count: Int, _ byteCount: Int) -> Bool {
        messageCount >= count || messageByteCount >= byteCount || isHalfFull
    }

    mutating func keep(_ entry: LogEntry) {
        append(Item(seq: entry.seq, time: entry.appendedAt, content: .message(entry.line)))
        lastKept = entry.seq
    }

    /// Erases messages here, and notes that the archive must.
    mutating func erase(_ erasure: Erasure, at seq: Seq, _ now: MonotonicInstant) {
        let scope = ErasureScope(erasure, at: seq)
        for index in items.indices {
            switch items[index].content {
            case .message(let line) where scope.covers(items[index].seq, from: line.insertion?.bytes ?? []):
                replace(index, by: .erased(line.withoutContent))
            case .form(let ref, let line) where scope.covers(ref, from: line.insertion?.bytes ?? []):
                replace(index, by: .nothing)
            case .reactions(let ref, _) where scope.covers(ref, from: []): replace(index, by: .nothing)
            case .message, .form, .reactions, .erased, .erasure, .event, .missed, .nothing: break
            }
        }
        append(Item(seq: seq, time: now, content: .erasure(erasure)))
        lastErasure = seq
    }

    /// A message has another content now. It stands at the change's own seq: a batch that is on its way to the archive may
    /// have the message as it was, and is confirmed up to that.
    ///
    /// - Parameters:
    ///   - line: of the message, with what it says now.
    ///   - previous: the seq of its last change, whose form need not be told any more. Its item keeps the waiting time.
    mutating func change(
        _ message: Seq, to line: EncodedLine, at seq: Seq, replacing previous: Seq?, _ now: MonotonicInstant
    ) {
        if let previous, let index = index(of: previous), case .form = items[index].content {
            replace(index, by: .nothing)
        }
        append(Item(seq: seq, time: now, content: .form(of: message, line)))
    }

    /// How many users react to a message. It stands at the seq of its event, too.
    ///
    /// - Parameter previous: the seq of the message's last change: if that told reactions, it need not be told any more.
    mutating func react(
        _ message: Seq, _ counts: [ReactionCount], at seq: Seq, replacing previous: Seq?, _ now: MonotonicInstant
    ) {
        if let previous, let index = index(of: previous), case .reactions = items[index].content {
            replace(index, by: .nothing)
        }
        append(Item(seq: seq, time: now, content: .reactions(to: message, counts)))
    }

    /// Keeps an event for the feed. When too much waits, the feed tells that it lacks the event.
    mutating func announce(_ event: FeedEvent, at seq: Seq, _ now: MonotonicInstant) {
        guard isFull else { return append(Item(seq: seq, time: now, content: .event(event.members))) }
        guard let last = items.last, case .missed = last.content else {
            return append(Item(seq: seq, time: now, content: .missed(from: seq)))
        }
        count(last, -1)
        items.removeLast()
        append(Item(seq: seq, time: last.time, content: last.content))
    }

    /// What was to be told of the reactions to some messages is told anew, or never.
    mutating func forgetReactions(where isForgotten: (Seq) -> Bool) {
        for index in items.indices {
            if case .reactions(let ref, _) = items[index].content, isForgotten(ref) { replace(index, by: .nothing) }
        }
    }

    private func index(of seq: Seq) -> Int? {
        let index = firstIndex { $0 >= seq }
        return index < items.count && items[index].seq == seq ? index : nil
    }

    /// The first item whose seq is great enough.
    private func firstIndex(where isGreat: (Seq) -> Bool) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if isGreat(items[middle].seq) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The items behind a seq; all of them without one.
    private func items(after seq: Seq?) -> Deque<Item>.SubSequence {
        items[(seq.map { seq in firstIndex { $0 > seq } } ?? 0)...]
    }

    /// The first item behind a seq; the first of all without one.
    func first(after seq: Seq?) -> Item? { items(after: seq).first }

    private mutating func replace(_ index: Int, by content: Item.Content) {
        count(items[index], -1)
        items[index].content = content
        count(items[index], 1)
    }

    /// The archive has everything up to this seq.
    mutating func archived(through seq: Seq) {
        while let first = items.first, first.seq <= seq {
            count(first, -1)
            items.removeFirst()
        }
    }

    private mutating func append(_ item: Item) {
        items.append(item)
        count(item, 1)
    }

    // MARK: - Reading

    /// The erasures that the archive may not have carried out, with the seq of each: it concerns messages before it.
    private var erasures: [ErasureScope] {
        items.compactMap { item in
            if case .erasure(let erasure) = item.content { ErasureScope(erasure, at: item.seq) } else { nil }
        }
    }

    private func isRemoved(_ message: ArchivedMessage, by erasures: [ErasureScope]) -> Bool {
        erasures.contains { scope in
            if case .through = scope.erasure { scope.covers(message) } else { false }
        }
    }

    private func isErased(_ message: ArchivedMessage, by erasures: [ErasureScope]) -> Bool {
        erasures.contains { $0.covers(message) }
    }

    /// Up to this seq nothing is left, whatever the archive has.
    private static func removedThrough(_ erasures: [ErasureScope]) -> Seq? {
        erasures.compactMap { scope in
            if case .through(let last) = scope.erasure { min(last, scope.seq) } else { nil }
        }.max()
    }

    /// What to ask the archive for: a page of messages that it is still to remove would be an empty one, although others
    /// follow.
    func archiveRequest(for request: HistoryRequest) -> HistoryRequest {
        guard case .after(let seq) = request.position, let removed = Self.removedThrough(erasures), seq < removed else {
            return request
        }
        return HistoryRequest(.after(removed), limit: request.limit)
    }

    /// Adds what this state knows to a page of the archive. Take this value before the page is read: in the other order
    /// the page would lack the messages that move to the archive meanwhile.
    ///
    /// - Parameter later: what was erased since this value was taken.
    func complete(
        _ page: ArchivePage, for request: HistoryRequest, erasing later: [ErasureScope] = [],
        _ clock: (MonotonicInstant) -> WallTime
    ) -> ArchivePage {
        if items.isEmpty, later.isEmpty { return page }
        let erasures = erasures + later
        var found: [Seq: ArchivedMessage] = [:]
        for message in page.messages where !isRemoved(message, by: erasures) {
            found[message.seq] = isErased(message, by: erasures) ? message.erased : message
        }
        var range = Self.remaining(of: page.range, after: erasures)
        for message in messages(clock) where !isRemoved(message, by: erasures) {
            range =
                range.map { min($0.lowerBound, message.seq)...max($0.upperBound, message.seq) }
                ?? message.seq...message.seq
            if isWithin(message.seq, page, request) {
                found[message.seq] = isErased(message, by: later) ? message.erased : message
            }
        }
        for form in items.compactMap({ $0.form(clock) }) {
            if let changed = found[form.seq]?.changed(to: form) { found[form.seq] = changed }
        }
        // Everything before a removed message is removed, too.
        let isFirst = page.messages.first.map { isRemoved($0, by: erasures) } ?? false
        return Self.page(
            of: found.values.sorted { $0.seq < $1.seq }, request, range: range, more: page.more && !isFirst)
    }

    /// The range of the archive without what it is still to erase. Its first message is then not known, only where it
    /// cannot be.
    private static func remaining(
        of range: ClosedRange<Seq>?, after erasures: [ErasureScope]
    ) -> ClosedRange<Seq>? {
        guard let range, let removed = removedThrough(erasures), range.lowerBound <= removed else { return range }
        return range.upperBound > removed ? removed.next...range.upperBound : nil
    }

    private func messages(_ clock: (MonotonicInstant) -> WallTime) -> [ArchivedMessage] {
        items.compactMap { $0.message(clock) }
    }

    /// Whether a message belongs into the part of the history that the archive's page covers.
    private func isWithin(_ seq: Seq, _ page: ArchivePage, _ request: HistoryRequest) -> Bool {
        switch request.position {
        case .newest: !page.more || page.messages.first.map { seq > $0.seq } ?? true
        case .before(let limit): seq < limit && (!page.more || page.messages.first.map { seq > $0.seq } ?? true)
        case .after(let limit): seq > limit && (!page.more || page.messages.last.map { seq < $0.seq } ?? true)
        // A list of changes is read as pages of one message (``ChangeList``).
        case .changedAfter: false
        }
    }

    private static func page(
        of messages: [ArchivedMessage], _ request: HistoryRequest, range: ClosedRange<Seq>?, more: Bool
    ) -> ArchivePage {
        let kept: [ArchivedMessage]
        switch request.position {
        case .newest, .before: kept = Array(messages.reversed().withinPage(request.limit).reversed())
        case .after, .changedAfter: kept = Array(messages.withinPage(request.limit))
        }
        return ArchivePage(range: range, more: more || kept.count < messages.count, messages: kept)
    }

    // MARK: - Writing

    /// What the archive is told at once: the first items, as steps.
    struct Batch: Sendable {
        var steps: [ArchiveStep] = []
        /// The seq of the last item.
        var last = Seq.zero

        var hasErasure: Bool { steps.contains { if case .erase = $0 { true } else { false } } }
        /// Whether it changes no message.
        var isAddition: Bool {
            steps.allSatisfy { step in
                switch step {
                case .append, .announce: true
                case .put, .erase: false
                }
            }
        }
    }

    /// A batch ends with the step that reaches this number: a moderator may erase one message after the other.
    private static let stepLimit = 256

    /// The batch with at most this many of the first items; `nil` without any.
    ///
    /// - Parameters:
    ///   - announces: whether the feed of the project tells of it, too (FEED-1).
    ///   - told: the items up to this seq are left out, and what follows the first change.
    func nextBatch(
        atMost count: Int, announces: Bool = false, additionsAfter told: Seq? = nil,
        _ clock: (MonotonicInstant) -> WallTime
    ) -> Batch? {
        let items = items(after: told)
        guard let first = items.first, told == nil || !first.isChange else { return nil }
        var batch = Batch()
        var announced = AnnouncementList()
        var (messages, forms): ([ArchivedMessage], [ArchivedForm]) = ([], [])
        // A form comes behind its message, and an erasure concerns what is before it.
        func endStep() {
            if !messages.isEmpty { batch.steps.append(.append(messages)) }
            if !forms.isEmpty { batch.steps.append(.put(forms)) }
            (messages, forms) = ([], [])
        }
        var rest = count
        for item in items {
            if told != nil, item.isChange { break }
            if announces { item.announce(in: &announced, clock) }
            switch item.content {
            case .nothing, .event, .missed:
                batch.last = item.seq
                continue
            case .message, .erased:
                if let message = item.message(clock) { messages.append(message) }
            case .form, .reactions:
                if let form = item.form(clock) { forms.append(form) }
            case .erasure(let erasure):
                endStep()
                batch.steps.append(.erase(ErasureScope(erasure, at: item.seq)))
            }
            batch.last = item.seq
            rest -= 1
            if rest <= 0 || batch.steps.count >= Self.stepLimit { break }
        }
        endStep()
        // Behind what it announces: a reader finds it there.
        let entries = announced.take()
        if !entries.isEmpty { batch.steps.append(.announce(entries)) }
        return batch
    }
}

extension Unarchived.Item {
    fileprivate func announce(in list: inout AnnouncementList, _ clock: (MonotonicInstant) -> WallTime) {
        switch content {
        case .message, .erased: list.add(message: seq)
        case .form(let ref, _), .reactions(let ref, _): list.add(.change(of: ref))
        case .erasure(let erasure): list.add(FeedEvent.erased(seq, erasure).members, at: clock(time))
        case .event(let members): list.add(members, at: clock(time))
        case .missed(let first): list.add(FeedEvent.gap(from: first, through: seq).members, at: clock(time))
        case .nothing: break
        }
    }

    fileprivate func message(_ clock: (MonotonicInstant) -> WallTime) -> ArchivedMessage? {
        switch content {
        case .message(let line), .erased(let line):
            guard let parts = line.historyParts else { return nil }
            let isErased = if case .erased = content { true } else { false }
            return ArchivedMessage(
                seq: seq, time: clock(time), head: parts.head, content: isErased ? nil : parts.content)
        case .erasure, .form, .reactions, .event, .missed, .nothing: return nil
        }
    }

    fileprivate func form(_ clock: (MonotonicInstant) -> WallTime) -> ArchivedForm? {
        switch content {
        case .form(let ref, let line):
            line.historyParts.map {
                ArchivedForm(seq: ref, content: $0.content, version: seq, editedAt: clock(time))
            }
        case .reactions(let ref, let counts): ArchivedForm(seq: ref, counts, reacted: seq)
        case .message, .erased, .erasure, .event, .missed, .nothing: nil
        }
    }
}

/// How much of a page is left (HIS-6).
public struct PageRoom: Sendable {
    private let limit: Int
    private var count = 0
    private var byteCount = 0

    public init(limit: Int) { self.limit = limit }

    /// Whether the next message fits: the first one always does.
    public mutating func admits(_ message: ArchivedMessage) -> Bool {
        guard count == 0 || (count < limit && byteCount + message.byteCount <= Limits.historyPageByteCount) else {
            return false
        }
        count += 1
        byteCount += message.byteCount
        return true
    }
}

extension Sequence<ArchivedMessage> {
    /// The first messages that fit into a page.
    func withinPage(_ limit: Int) -> [ArchivedMessage] {
        var room = PageRoom(limit: limit)
        return Array(prefix { room.admits($0) })
    }
}
