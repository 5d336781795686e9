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

    /// The phase of the channel's connection, with what it needs.
    private enum Phase {
        /// There is none. Next: `up`.
        case away
        /// The channel tries to get the same one back. Next: `up`, `away`.
        case returning(wantsEarlier: Bool)
        /// With the page that was asked for. Next: `returning`, `away`.
        case up(wantsEarlier: Bool, Underway?)
    }

    /// The order of the last connection, and what the chat has of it.
    private struct Order {
        let connection: ConnectionID
        let epoch: Epoch?
        let hasHistory: Bool
        /// The newest page was read, so that the chat knows what there is.
        var hasRead = false
        /// Behind it messages may be missing. After several losses it is the first: pages may repeat.
        var gap: Gap?
        /// A page could not be read. The chat tries again after the next connect.
        var isStalled = false
        /// Up to this seq the chat has all messages that it will get without asking.
        var position = Seq(0)
        var oldest: Seq?

        mutating func advance(to seq: Seq?) { if let seq { position = max(position, seq) } }
    }

    private struct Gap {
        var after: Seq
        /// The first event behind the last loss. A page that reaches it leaves nothing out.
        var liveFrom: Seq?
    }

    private struct Underway {
        let errand: Errand
        /// What was erased since: the page may still have it.
        var erasures: [(erasure: Erasure, seq: Seq?)] = []

        func withoutErased(_ message: HistoryMessage) -> HistoryMessage? {
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

    /// A page that fills a gap has the most messages that a server sends (HIS-6).
    private static let gapLimit = Limits.historyPageCount
    private static let pageLimit = HistoryRequest.standardLimit

    private var phase = Phase.away
    /// Nil: the channel had no connection yet.
    private var order: Order?
    /// The last failure; nil after a success.
    private(set) var error: SignalingError?
    private var lastNumber = 0

    /// The last connection that the channel had.
    var connection: ConnectionID? { order?.connection }
    /// The greatest seq of this order that the chat knows.
    var lastSeq: Seq { order?.position ?? Seq(0) }
    /// The oldest message of the history, as the last page said; nil: it has none, or none was read.
    var oldest: Seq? { order?.oldest }
    var hasHistory: Bool { order?.hasHistory ?? false }
    /// The newest page of this order was read.
    var hasRead: Bool { hasHistory && order?.hasRead == true }
    /// Where messages may be missing, if they could not be read.
    var unreadGap: Seq? { order?.isStalled == true ? order?.gap?.after : nil }

    /// The user wants earlier messages, and they have not come yet.
    private(set) var isLoadingEarlier: Bool {
        get {
            switch phase {
            case .away: false
            case .returning(let wantsEarlier), .up(let wantsEarlier, _): wantsEarlier
            }
        }
        set {
            switch phase {
            case .away: break
            case .returning: phase = .returning(wantsEarlier: newValue)
            case .up(_, let underway): phase = .up(wantsEarlier: newValue, underway)
            }
        }
    }

    private var underway: Underway? {
        get { if case .up(_, let underway) = phase { underway } else { nil } }
        set { if case .up(let wantsEarlier, _) = phase { phase = .up(wantsEarlier: wantsEarlier, newValue) } }
    }

    // MARK: Events

    /// Handles the connection that the channel has now.
    ///
    /// - Returns: whether a new order begins: seqs do not continue those before.
    mutating func enter(_ connection: ConnectionID, hasHistory: Bool, epoch: Epoch?) -> Bool {
        let former = order
        let isRecovered: Bool
        switch phase {
        case .up where connection == former?.connection: return false
        case .returning: isRecovered = true
        case .up, .away: isRecovered = false
        }
        let continues = hasHistory && self.hasHistory && epoch != nil && epoch == former?.epoch
        var order = Order(connection: connection, epoch: epoch, hasHistory: hasHistory)
        if continues, let former {
            (order.hasRead, order.gap) = (former.hasRead, former.gap)
            (order.position, order.oldest) = (former.position, former.oldest)
        }
        self.order = order
        phase = .up(wantsEarlier: continues && isLoadingEarlier, nil)
        if continues, !isRecovered { miss() }
        return former != nil && former?.connection != connection && !continues
    }

    mutating func reconnecting() {
        // Nobody answers a request of a lost socket (HIS-7).
        if order != nil { phase = .returning(wantsEarlier: isLoadingEarlier) }
    }

    /// The same connection, or a recovered one, continues.
    mutating func reconnected() {
        guard order != nil else { return }
        phase = .up(wantsEarlier: isLoadingEarlier, underway)
        order?.isStalled = false
    }

    mutating func disconnected() { phase = .away }

    /// Events are missing.
    ///
    /// - Returns: the seq behind which they are; nil: a new order begins, as without a history.
    mutating func lost() -> Seq? {
        guard hasHistory else { return nil }
        miss()
        return lastSeq
    }

    private mutating func miss() {
        let after = order?.gap?.after ?? lastSeq
        order?.gap = Gap(after: after)
        underway = nil
    }

    /// An event of the session's order has arrived.
    mutating func received(_ seq: Seq) {
        order?.advance(to: seq)
        if order?.gap?.liveFrom == nil { order?.gap?.liveFrom = seq }
    }

    mutating func erased(_ erasure: Erasure, seq: Seq?) { underway?.erasures.append((erasure, seq)) }

    // MARK: Requests

    /// Returns whether a page is being read, or will be.
    mutating func loadEarlier() -> Bool {
        if case .away = phase { return false }
        guard hasHistory else { return false }
        isLoadingEarlier = true
        if !hasRead { order?.isStalled = false }
        return true
    }

    /// The page to ask for now.
    ///
    /// - Parameter floor: the oldest seq that the chat has read.
    mutating func next(floor: Seq?) -> Errand? {
        guard case .up(let wantsEarlier, nil) = phase, let order, order.hasHistory else { return nil }
        if !order.hasRead { return order.isStalled ? nil : ask(.newest, HistoryRequest(limit: Self.pageLimit)) }
        if let gap = order.gap, !order.isStalled {
            return ask(.missed, HistoryRequest(.after(gap.after), limit: Self.gapLimit))
        }
        guard wantsEarlier else { return nil }
        return ask(.earlier, HistoryRequest(floor.map { .before($0) } ?? .newest, limit: Self.pageLimit))
    }

    private mutating func ask(_ purpose: Errand.Purpose, _ request: HistoryRequest) -> Errand {
        lastNumber += 1
        let errand = Errand(purpose: purpose, request: request, number: lastNumber)
        underway = Underway(errand: errand)
        return errand
    }

    /// Handles the answer to an errand.
    ///
    /// - Parameter knows: whether the chat shows a message up to this seq.
    /// - Returns: where the page belongs; nil: the answer comes too late.
    mutating func answer(_ errand: Errand, _ page: HistoryPage, knows: (Seq) -> Bool) -> HistoryPlace? {
        guard let underway, settle(errand) else { return nil }
        error = nil
        let last = page.messages.last?.seq
        order?.oldest = page.range?.lowerBound
        var page = page
        page.messages = page.messages.compactMap(underway.withoutErased)
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
        order?.oldest = page.range?.lowerBound
        if let range = page.range {
            guard let last = page.messages.last?.seq, last >= range.upperBound else { return HistoryPlace(page) }
        }
        if underway?.errand.purpose == .newest { underway = nil }
        let hasEarlier = page.range.map { range in page.messages.first.map { $0.seq > range.lowerBound } ?? false }
        return readNewest(page, more: hasEarlier ?? false, knows: knows)
    }

    /// - Returns: false if the answer comes too late.
    mutating func fail(_ errand: Errand, _ error: SignalingError) -> Bool {
        guard settle(errand) else { return false }
        self.error = error
        if errand.purpose != .earlier { order?.isStalled = true }
        if errand.purpose != .missed { isLoadingEarlier = false }
        return true
    }

    /// - Returns: false if another page, or none, is being read.
    private mutating func settle(_ errand: Errand) -> Bool {
        guard errand == underway?.errand else { return false }
        underway = nil
        return true
    }

    private mutating func readNewest(_ page: HistoryPage, more: Bool, knows: (Seq) -> Bool) -> HistoryPlace {
        isLoadingEarlier = false
        var place = HistoryPlace(page)
        place.floor = page.messages.first?.seq
        place.isBeginning = !more
        var left: Gap?
        if let gap = order?.gap {
            let reaches = page.messages.first.map { $0.seq.rawValue - 1 <= gap.after.rawValue } ?? false
            let joins = gap.after == Seq(0) || reaches || !more
            let isForgotten = hasForgotten(after: gap.after, page, knows: knows)
            if joins, !isForgotten { place.closes = .init(from: gap.after, through: nil) }
            if !joins, !isForgotten { left = gap }
        }
        order?.hasRead = true
        leave(left)
        order?.advance(to: page.messages.last?.seq)
        return place
    }

    /// - Parameter last: the last message of the page, erased or not.
    private mutating func readMissed(_ page: HistoryPage, last: Seq?, knows: (Seq) -> Bool) -> HistoryPlace {
        var place = HistoryPlace(page)
        place.countsUnread = true
        // The page of the connect may have closed the gap.
        guard let gap = order?.gap else { return place }
        let through = max(gap.after, last ?? gap.after)
        let isFilled = !page.more || through == gap.after || gap.liveFrom.map { through >= $0 } ?? false
        // The gap stays for good where the history has forgotten what was missed.
        let isForgotten = hasForgotten(after: gap.after, page, knows: knows)
        place.closes = .init(
            from: isForgotten ? Seq(gap.after.rawValue + 1) : gap.after, through: isFilled ? nil : through)
        place.gapAt = isFilled ? nil : through
        leave(isFilled ? nil : Gap(after: through, liveFrom: gap.liveFrom))
        order?.advance(to: page.messages.last?.seq)
        return place
    }

    /// A page has come, and left this gap.
    private mutating func leave(_ gap: Gap?) {
        order?.gap = gap
        if gap == nil { order?.isStalled = false }
    }

    /// Whether messages behind `gap` are in no history any more: the chat knows older ones than the history has.
    private func hasForgotten(after gap: Seq, _ page: HistoryPage, knows: (Seq) -> Bool) -> Bool {
        let isBehind = page.range.map { $0.lowerBound.rawValue - 1 > gap.rawValue } ?? true
        return isBehind && knows(gap)
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
