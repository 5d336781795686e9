import SignalingProtocol

/// What a chat reads of its session's history, and when: the newest page after the first connect, the messages that
/// were missed in an absence, and earlier messages when the user wants them. It asks for one page at a time. It knows
/// neither a channel nor the rows.
///
/// Two rules make it exact. A page that reaches the end of the history and the events from that connect on leave
/// nothing out between them (HIS-4). And a new connection continues the order of the former one as long as the epoch
/// stays (HIS-3): all that may be missing then is behind the last event.
struct HistoryReader {
    /// A page that was asked for.
    struct Errand: Equatable {
        enum Purpose { case newest, missed, earlier }

        let purpose: Purpose
        let request: HistoryRequest
        /// Tells it from former ones, whose answers come too late.
        let number: Int
    }

    private enum State {
        case down
        case up
        /// The channel tries to get the same connection back.
        case recovering
    }

    /// A page that fills a gap has the most messages that a server sends (HIS-6).
    private static let gapLimit = Limits.historyPageCount
    private static let pageLimit = HistoryRequest.standardLimit

    /// The last connection that the channel had.
    private(set) var connection: ConnectionID?
    private(set) var hasHistory = false
    /// The newest page of this order was read, so that the chat knows what there is.
    private(set) var hasRead = false
    /// The user wants earlier messages, and they have not come yet.
    private(set) var isLoadingEarlier = false
    /// The last failure; nil after a success.
    private(set) var error: SignalingError?

    /// The oldest message of the history, as the last page said; nil: it has none, or none was read.
    private(set) var oldest: Seq?

    private var state = State.down
    private var epoch: Epoch?
    /// Up to this seq the chat has all messages that it will get without asking.
    private var position = Seq(0)
    /// Behind this seq messages may be missing. After several losses it is the first: pages may repeat.
    private var gap: Seq?
    /// The first event behind the last loss. A page that reaches it leaves nothing out.
    private var liveFrom: Seq?
    /// A page could not be read. The chat tries again after the next connect.
    private var isStalled = false
    private var underway: Errand?
    /// What was erased since: a page that is on its way may still have it.
    private var erasures: [(erasure: Erasure, seq: Seq?)] = []
    private var lastNumber = 0

    /// Where messages may be missing, if they could not be read.
    var unreadGap: Seq? { isStalled ? gap : nil }

    /// The greatest seq of this order that the chat knows.
    var lastSeq: Seq { position }

    // MARK: Events

    /// Handles the connection that the channel has now.
    ///
    /// - Returns: whether a new order begins: seqs do not continue those before.
    mutating func enter(_ connection: ConnectionID, hasHistory: Bool, epoch: Epoch?) -> Bool {
        if case .up = state, connection == self.connection { return false }
        let isFirst = self.connection == nil
        let isAnother = connection != self.connection
        let isRecovered = if case .recovering = state { true } else { false }
        let isSameOrder = hasHistory && self.hasHistory && epoch != nil && epoch == self.epoch
        state = .up
        self.connection = connection
        self.hasHistory = hasHistory
        self.epoch = epoch
        underway = nil
        isStalled = false
        if isSameOrder {
            if !isRecovered, !isFirst { miss() }
        } else {
            hasRead = false
            position = Seq(0)
            oldest = nil
            gap = nil
            liveFrom = nil
            isLoadingEarlier = false
        }
        return isAnother && !isFirst && !isSameOrder
    }

    mutating func reconnecting() {
        state = .recovering
        // Nobody answers a request of a lost socket (HIS-7).
        underway = nil
    }

    /// The same connection, or a recovered one, continues.
    mutating func reconnected() {
        guard connection != nil else { return }
        state = .up
        isStalled = false
    }

    mutating func disconnected() {
        state = .down
        underway = nil
        isLoadingEarlier = false
    }

    /// Events are missing.
    ///
    /// - Returns: the seq behind which they are; nil: a new order begins, as without a history.
    mutating func lost() -> Seq? {
        guard hasHistory else { return nil }
        miss()
        return position
    }

    private mutating func miss() {
        gap = gap ?? position
        liveFrom = nil
        underway = nil
    }

    /// An event of the session's order has arrived.
    mutating func received(_ seq: Seq) {
        position = max(position, seq)
        liveFrom = liveFrom ?? seq
    }

    mutating func erased(_ erasure: Erasure, seq: Seq?) {
        if underway != nil { erasures.append((erasure, seq)) }
    }

    // MARK: Requests

    /// Returns whether a page is being read, or will be.
    mutating func loadEarlier() -> Bool {
        if case .down = state { return false }
        guard hasHistory else { return false }
        isLoadingEarlier = true
        if !hasRead { isStalled = false }
        return true
    }

    /// The page to ask for now.
    ///
    /// - Parameter floor: the oldest seq that the chat has read.
    mutating func next(floor: Seq?) -> Errand? {
        guard case .up = state, hasHistory, underway == nil else { return nil }
        if !hasRead {
            if !isStalled { begin(.newest, HistoryRequest(limit: Self.pageLimit)) }
        } else if let gap, !isStalled {
            begin(.missed, HistoryRequest(.after(gap), limit: Self.gapLimit))
        } else if isLoadingEarlier {
            begin(.earlier, HistoryRequest(floor.map { .before($0) } ?? .newest, limit: Self.pageLimit))
        }
        return underway
    }

    private mutating func begin(_ purpose: Errand.Purpose, _ request: HistoryRequest) {
        lastNumber += 1
        underway = Errand(purpose: purpose, request: request, number: lastNumber)
        erasures = []
    }

    /// Handles the answer to an errand.
    ///
    /// - Parameter knows: whether the chat shows a message up to this seq.
    /// - Returns: where the page belongs; nil: the answer comes too late.
    mutating func answer(_ errand: Errand, _ page: HistoryPage, knows: (Seq) -> Bool) -> HistoryPlace? {
        guard errand == underway else { return nil }
        underway = nil
        error = nil
        let last = page.messages.last?.seq
        oldest = page.range?.lowerBound
        var page = page
        page.messages = page.messages.compactMap(withoutErased)
        switch errand.purpose {
        case .newest: return readNewest(page, more: page.more, knows: knows)
        case .missed: return readMissed(page, last: last, knows: knows)
        case .earlier:
            isLoadingEarlier = false
            var place = HistoryPlace(page)
            place.floor = page.messages.first?.seq
            place.isBeginning = !page.more || page.messages.isEmpty
            place.isEarlier = true
            return place
        }
    }

    /// Handles the page that the connect asked for. It does not say whether it is the newest, or follows a message.
    mutating func answerToConnect(_ page: HistoryPage, knows: (Seq) -> Bool) -> HistoryPlace {
        oldest = page.range?.lowerBound
        if let range = page.range {
            guard let last = page.messages.last?.seq, last >= range.upperBound else { return HistoryPlace(page) }
        }
        if underway?.purpose == .newest { underway = nil }
        let hasEarlier = page.range.map { range in page.messages.first.map { $0.seq > range.lowerBound } ?? false }
        return readNewest(page, more: hasEarlier ?? false, knows: knows)
    }

    /// - Returns: false if the answer comes too late.
    mutating func fail(_ errand: Errand, _ error: SignalingError) -> Bool {
        guard errand == underway else { return false }
        underway = nil
        self.error = error
        if errand.purpose != .earlier { isStalled = true }
        if errand.purpose != .missed { isLoadingEarlier = false }
        return true
    }

    private mutating func readNewest(_ page: HistoryPage, more: Bool, knows: (Seq) -> Bool) -> HistoryPlace {
        hasRead = true
        isLoadingEarlier = false
        var place = HistoryPlace(page)
        place.floor = page.messages.first?.seq
        place.isBeginning = !more
        if let gap {
            let reaches = page.messages.first.map { $0.seq.rawValue - 1 <= gap.rawValue } ?? false
            let joins = gap == Seq(0) || reaches || !more
            let isForgotten = hasForgotten(after: gap, page, knows: knows)
            if joins, !isForgotten { place.closes = .init(from: gap, through: nil) }
            if joins || isForgotten { self.gap = nil }
        }
        advance(to: page)
        return place
    }

    /// - Parameter last: the last message of the page, erased or not.
    private mutating func readMissed(_ page: HistoryPage, last: Seq?, knows: (Seq) -> Bool) -> HistoryPlace {
        var place = HistoryPlace(page)
        place.countsUnread = true
        guard let gap else { return place }
        let through = max(gap, last ?? gap)
        let isFilled = !page.more || through == gap || liveFrom.map { through >= $0 } ?? false
        // The gap stays for good where the history has forgotten what was missed.
        let isForgotten = hasForgotten(after: gap, page, knows: knows)
        place.closes = .init(from: isForgotten ? Seq(gap.rawValue + 1) : gap, through: isFilled ? nil : through)
        self.gap = isFilled ? nil : through
        place.gapAt = self.gap
        advance(to: page)
        return place
    }

    private mutating func advance(to page: HistoryPage) {
        if let last = page.messages.last?.seq { position = max(position, last) }
    }

    /// Whether messages behind `gap` are in no history any more: the chat knows older ones than the history has.
    private func hasForgotten(after gap: Seq, _ page: HistoryPage, knows: (Seq) -> Bool) -> Bool {
        let isBehind = page.range.map { $0.lowerBound.rawValue - 1 > gap.rawValue } ?? true
        return isBehind && knows(gap)
    }

    private func withoutErased(_ message: HistoryMessage) -> HistoryMessage? {
        var message = message
        for (erasure, seq) in erasures where erasure.covers(message.seq, of: message.from?.user) {
            switch erasure {
            case .message: message.content = .erased
            case .user: if seq.map({ message.seq < $0 }) ?? true { message.content = .erased }
            case .through: return nil
            }
        }
        return message
    }
}

/// Where a page of the history belongs in a ``ChatTimeline``.
struct HistoryPlace {
    /// Seqs from one on, up to another; nil: all behind it.
    struct Stretch {
        var from: Seq
        var through: Seq?
    }

    let messages: [HistoryMessage]
    /// From this seq on the chat has all messages.
    var floor: Seq?
    /// The history has nothing before the page.
    var isBeginning = false
    /// The user has asked for it.
    var isEarlier = false
    /// Its messages are new to the user.
    var countsUnread = false
    /// Gaps that begin behind these seqs are filled.
    var closes: Stretch?
    /// Behind this seq messages may still be missing.
    var gapAt: Seq?

    init(_ page: HistoryPage) { messages = page.messages }
}
