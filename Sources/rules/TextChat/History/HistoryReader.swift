import SignalingProtocol

/// What a chat reads of its session's history, and when: the newest page after the first connect, the messages that
/// were missed or changed in an absence, and earlier messages when the user wants them. It asks for one page at a time.
/// It knows no channel, and changes no rows.
///
/// Two rules make it exact. A page that reaches the end of the history and the events from that connect on leave
/// nothing out between them (HIS-4). And a new connection continues the order of the former one as long as the epoch
/// stays (HIS-3): all that may be missing then is behind the last event. Where the server tells changes, it says which of
/// the older messages have changed since then (CHG-10); what it cannot say, and another epoch, the chat reads again.
struct HistoryReader {
    /// A page that was asked for.
    struct Errand: Equatable {
        enum Purpose { case newest, missed, changed, again, earlier }

        let purpose: Purpose
        let request: HistoryRequest
        /// Tells it from former ones, whose answers come too late.
        let number: Int
    }

    /// The phase of the channel's connection, with what it needs.
    private enum Phase {
        /// There is none. Next: `up`.
        ///
        /// - Parameter isOther: the chat has another channel, perhaps of another session.
        case away(isOther: Bool)
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
        /// The server tells what has changed (CHG-9).
        let tellsChanges: Bool
        /// The newest page was read, so that the chat knows what there is.
        var hasRead = false
        /// Behind it messages may be missing. After several losses it is the first: pages may repeat.
        var gap: Gap?
        /// Behind it changes may be missing.
        var stale: Stale?
        /// Behind this seq the chat has to read what it shows once more.
        var again: Seq?
        /// A page could not be read. The chat tries again after the next connect.
        var isStalled = false
        /// Up to this seq the chat has all messages that it will get without asking.
        var position = Seq(0)
        /// Up to this seq the chat knows the changes of what it shows. A page may be ahead of the events, and tells those
        /// of its own messages only, so this is the last event, or how far the server has told changes.
        var heard = Seq(0)
        var oldest: Seq?

        mutating func advance(to seq: Seq?) { if let seq { position = max(position, seq) } }
    }

    private struct Gap {
        var after: Seq
        /// The first event behind the last loss. A page that reaches it leaves nothing out.
        var liveFrom: Seq?
    }

    private struct Stale {
        var after: Seq
        /// Perhaps one with this seq, of which the chat knows no more.
        var until: Seq
    }

    private struct Underway {
        let errand: Errand
        /// What the chat had, and knew of changes, when it asked.
        let position: Seq
        let until: Seq?
        /// What has changed since: the page may be older.
        var overlay = PageOverlay()
    }

    /// A page that fills a gap has the most messages that a server sends (HIS-6).
    private static let gapLimit = Limits.historyPageCount
    private static let pageLimit = HistoryRequest.standardLimit
    /// So many changes may come while a page is on its way. With more, the page is asked for anew (G5).
    private static let overlayLimit = 1000

    private var phase = Phase.away(isOther: false)
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
    mutating func enter(
        _ connection: ConnectionID, hasHistory: Bool, epoch: Epoch?, tellsChanges: Bool = false
    ) -> Bool {
        let former = order
        var (isRecovered, isOther) = (false, false)
        switch phase {
        case .up where connection == former?.connection: return false
        case .returning: isRecovered = true
        case .away(let other): isOther = other
        case .up: break
        }
        let continues = hasHistory && self.hasHistory && epoch != nil && epoch == former?.epoch
        let begins = former != nil && former?.connection != connection && !continues
        var order = Order(connection: connection, epoch: epoch, hasHistory: hasHistory, tellsChanges: tellsChanges)
        if continues, let former {
            (order.hasRead, order.gap) = (former.hasRead, former.gap)
            (order.stale, order.again) = (former.stale, former.again)
            (order.position, order.heard, order.oldest) = (former.position, former.heard, former.oldest)
        } else if begins, hasHistory, tellsChanges, former?.hasHistory == true, !isOther {
            order.again = Seq(0)
        }
        self.order = order
        phase = .up(wantsEarlier: continues && isLoadingEarlier, nil)
        if continues, !isRecovered { miss() }
        return begins
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

    /// - Parameter isOther: the chat has another channel.
    mutating func disconnected(isOther: Bool = false) { phase = .away(isOther: isOther) }

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
        age(after: order?.heard ?? Seq(0))
        underway = nil
    }

    private mutating func age(after seq: Seq, until: Seq = Seq(0)) {
        let stale = order?.stale
        order?.stale = Stale(after: min(stale?.after ?? seq, seq), until: max(stale?.until ?? until, until))
    }

    /// An event of the session's order has arrived.
    mutating func received(_ seq: Seq) {
        order?.advance(to: seq)
        order?.heard = seq
        if order?.gap?.liveFrom == nil { order?.gap?.liveFrom = seq }
    }

    /// A message was edited, or changed in a way that this version does not know (CHG-2): that is asked for.
    mutating func changed(_ event: ChangeEvent, now: WallTime) {
        received(event.seq)
        if event.change == nil, hasHistory { age(after: Seq(event.seq.rawValue - 1), until: event.seq) }
        underway?.overlay.note(event, now: now)
        boundOverlay()
    }

    mutating func erased(_ erasure: Erasure, seq: Seq?) {
        underway?.overlay.note(erasure, seq: seq)
        boundOverlay()
    }

    mutating func overlay(_ event: ReactionsEvent) {
        underway?.overlay.note(event)
        boundOverlay()
    }

    /// The user has these reactions now.
    mutating func overlay(_ own: OwnReactions) {
        underway?.overlay.note(own)
        boundOverlay()
    }

    private mutating func boundOverlay() {
        if underway?.overlay.count ?? 0 > Self.overlayLimit { underway = nil }
    }

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
    /// - Parameter shown: what the chat shows.
    mutating func next(_ shown: ChatTimeline) -> Errand? {
        guard case .up(let wantsEarlier, nil) = phase, let present = order, present.hasHistory else { return nil }
        let oldest = present.stale == nil && present.again == nil ? nil : shown.oldestSeq
        // What is not shown cannot be old.
        if !present.tellsChanges || oldest == nil {
            order?.stale = nil
            order?.again = nil
        }
        if let order, !order.isStalled {
            if let stale = order.stale {
                let request = HistoryRequest(.changedAfter(stale.after), limit: Self.gapLimit)
                return ask(.changed, request, until: stale.until)
            }
            if !order.hasRead { return ask(.newest, HistoryRequest(limit: Self.pageLimit)) }
            if let again = order.again, let oldest {
                let first = min(Seq(oldest.rawValue - 1), order.gap?.after ?? .greatest)
                let after = max(again, first)
                return ask(.again, HistoryRequest(.after(after), limit: Self.gapLimit))
            }
            if let gap = order.gap { return ask(.missed, HistoryRequest(.after(gap.after), limit: Self.gapLimit)) }
        }
        guard wantsEarlier, present.hasRead else { return nil }
        return ask(.earlier, HistoryRequest(shown.floor.map { .before($0) } ?? .newest, limit: Self.pageLimit))
    }

    private mutating func ask(_ purpose: Errand.Purpose, _ request: HistoryRequest, until: Seq? = nil) -> Errand {
        lastNumber += 1
        let errand = Errand(purpose: purpose, request: request, number: lastNumber)
        underway = Underway(errand: errand, position: lastSeq, until: until)
        return errand
    }

    /// Handles the answer to an errand.
    ///
    /// - Parameter shown: what the chat shows.
    /// - Returns: where the page belongs; nil: the answer comes too late.
    mutating func answer(_ errand: Errand, _ page: HistoryPage, _ shown: ChatTimeline) -> HistoryPlace? {
        guard let underway, settle(errand) else { return nil }
        error = nil
        let last = page.messages.last?.seq
        order?.oldest = page.range?.lowerBound
        let page = underway.overlay.applied(to: page)
        var place = place(of: errand, page, last: last, underway, shown)
        place.known = max(underway.position, order?.heard ?? Seq(0))
        return place
    }

    private mutating func place(
        of errand: Errand, _ page: HistoryPage, last: Seq?, _ underway: Underway, _ shown: ChatTimeline
    ) -> HistoryPlace {
        switch errand.purpose {
        case .newest: return readNewest(page, more: page.more, shown, through: underway.position)
        case .missed:
            let isForgotten = order?.gap.map { hasForgotten(after: $0.after, page, shown) } ?? false
            return readMissed(page, last: last, isForgotten: isForgotten)
        case .again: return readAgain(page, last: last, underway)
        case .changed: return readChanged(page, underway)
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
    mutating func answerToConnect(_ page: HistoryPage, _ shown: ChatTimeline) -> HistoryPlace {
        order?.oldest = page.range?.lowerBound
        let page = underway?.overlay.applied(to: page) ?? page
        if let range = page.range {
            guard let last = page.messages.last?.seq, last >= range.upperBound else { return HistoryPlace(page) }
        }
        if underway?.errand.purpose == .newest { underway = nil }
        let hasEarlier = page.range.map { range in page.messages.first.map { $0.seq > range.lowerBound } ?? false }
        return readNewest(page, more: hasEarlier ?? false, shown, through: page.range?.upperBound ?? Seq(0))
    }

    /// - Returns: false if the answer comes too late.
    mutating func fail(_ errand: Errand, _ error: SignalingError) -> Bool {
        guard settle(errand) else { return false }
        self.error = error
        if errand.purpose != .earlier { order?.isStalled = true }
        if errand.purpose == .newest || errand.purpose == .earlier { isLoadingEarlier = false }
        return true
    }

    /// - Returns: false if another page, or none, is being read.
    private mutating func settle(_ errand: Errand) -> Bool {
        guard errand == underway?.errand else { return false }
        underway = nil
        return true
    }

    private mutating func readNewest(
        _ page: HistoryPage, more: Bool, _ shown: ChatTimeline, through: Seq
    ) -> HistoryPlace {
        isLoadingEarlier = false
        var place = HistoryPlace(page)
        let first = page.messages.first?.seq
        place.floor = first
        place.isBeginning = !more
        var isRenewed = false
        if order?.again != nil {
            let after = more ? first.map { Seq($0.rawValue - 1) } ?? .greatest : Seq(0)
            place.anew = .init(after: after, through: through, isLast: true)
            isRenewed = !more || first.flatMap { first in shown.oldestSeq.map { first <= $0 } } ?? false
        }
        var left: Gap?
        if isRenewed {
            order?.again = nil
            place.closes = .init(from: Seq(0), through: nil)
        } else if let gap = order?.gap {
            let reaches = first.map { $0.rawValue - 1 <= gap.after.rawValue } ?? false
            let joins = gap.after == Seq(0) || reaches || !more
            let isForgotten = hasForgotten(after: gap.after, page, shown)
            if joins, !isForgotten { place.closes = .init(from: gap.after, through: nil) }
            if !joins, !isForgotten { left = gap }
        }
        order?.hasRead = true
        if order?.heard == Seq(0), let last = page.messages.last?.seq { order?.heard = last }
        leave(left)
        order?.advance(to: page.messages.last?.seq)
        return place
    }

    /// - Parameters:
    ///   - last: the last message of the page, erased or not.
    ///   - isForgotten: the history begins behind the gap, which then stays for good.
    private mutating func readMissed(_ page: HistoryPage, last: Seq?, isForgotten: Bool) -> HistoryPlace {
        var place = HistoryPlace(page)
        place.countsUnread = true
        // The page of the connect may have closed the gap.
        guard let gap = order?.gap else { return place }
        let through = max(gap.after, last ?? gap.after)
        let isFilled = !page.more || through == gap.after || gap.liveFrom.map { through >= $0 } ?? false
        place.closes = .init(
            from: isForgotten ? Seq(gap.after.rawValue + 1) : gap.after, through: isFilled ? nil : through)
        place.gapAt = isFilled ? nil : through
        leave(isFilled ? nil : Gap(after: through, liveFrom: gap.liveFrom))
        order?.advance(to: page.messages.last?.seq)
        return place
    }

    /// What is shown, once more: what the history does not have goes. The last page also has what was missed.
    private mutating func readAgain(_ page: HistoryPage, last: Seq?, _ underway: Underway) -> HistoryPlace {
        guard case .after(let after) = underway.errand.request.position else { return HistoryPlace(page) }
        let last = last ?? Seq(0)
        let isDone = !page.more || last <= after || last >= order?.gap?.after ?? underway.position
        order?.again = isDone ? nil : last
        var place = HistoryPlace(page)
        place.countsUnread = true
        let gap = order?.gap
        // What is read in one go has no gaps, apart from the one that may be behind it.
        place.closes = .init(from: after, through: gap.map { min(last, Seq($0.after.rawValue - 1)) } ?? last)
        if let gap, !page.more || last > gap.after {
            place = readMissed(page, last: last, isForgotten: false)
            place.closes?.from = after
        }
        place.isBeginning = page.messages.first?.seq == page.range?.lowerBound
        place.anew = .init(
            after: after, through: page.more ? last : max(last, underway.position), isLast: !page.more)
        return place
    }

    /// Of messages that are not shown the chat needs no edition.
    private mutating func readChanged(_ page: HistoryPage, _ underway: Underway) -> HistoryPlace {
        var place = HistoryPlace(page)
        place.isOfShown = true
        guard let stale = order?.stale, case .changedAfter(let after) = underway.errand.request.position else {
            return place
        }
        let (through, isAll) = page.changes.map { ($0.through, $0.isAll) } ?? (Seq(0), false)
        let goesOn = (page.more && through > after) || stale.until > underway.until ?? Seq(0)
        order?.stale = goesOn && !isAll ? Stale(after: max(through, stale.after), until: stale.until) : nil
        if isAll { order?.again = Seq(0) }
        if order?.stale == nil, let heard = order?.heard { order?.heard = max(heard, through) }
        return place
    }

    /// A page has come, and left this gap.
    private mutating func leave(_ gap: Gap?) {
        order?.gap = gap
        if gap == nil { order?.isStalled = false }
    }

    /// Whether messages behind `gap` are in no history any more: the chat knows older ones than the history has.
    private func hasForgotten(after gap: Seq, _ page: HistoryPage, _ shown: ChatTimeline) -> Bool {
        let isBehind = page.range.map { $0.lowerBound.rawValue - 1 > gap.rawValue } ?? true
        return isBehind && shown.knows(gap)
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
    /// The user's own reactions to them.
    let mine: [Seq: [String]]
    /// Up to this seq the page knows all reactions.
    var known = Seq(0)
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
    /// Only messages that are shown count.
    var isOfShown = false
    /// The history has nothing else in this range.
    var anew: Anew?

    /// The seqs behind one, up to another.
    struct Anew {
        var after: Seq
        var through: Seq
        /// Behind the range the history has nothing of former orders.
        var isLast: Bool
    }

    init(_ page: HistoryPage) {
        messages = page.messages
        mine = Dictionary(page.mine.map { ($0.ref, $0.keys) }, uniquingKeysWith: { _, last in last })
    }
}
