import SignalingProtocol

/// The keys of messages in the session's order, and where they are in a ``TimelineLayout``. An era begins where seq starts
/// anew.
struct SessionOrder: Sendable {
    private(set) var era = 0
    private var lastSeq: Int64 = 0

    /// In so many former orders a page's messages may be, too.
    private static let repeatedEraCount = 4

    mutating func startEra() {
        era += 1
        lastSeq = 0
    }

    // MARK: Keys

    /// The key of the message with this seq.
    func key(of seq: Seq) -> OrderKey { OrderKey(era: era, seq: seq.rawValue, tie: 0) }

    /// Nil if there is no seq, or another message has it.
    mutating func freeKey(of seq: Seq?, in layout: TimelineLayout) -> OrderKey? {
        guard let seq, index(of: key(of: seq), in: layout) == nil else { return nil }
        lastSeq = max(lastSeq, seq.rawValue)
        return key(of: seq)
    }

    /// Behind all messages that have arrived. The number is the layout's next one.
    func arrivalKey(_ number: Int) -> OrderKey { OrderKey(era: era, seq: lastSeq, tie: number) }

    // MARK: Messages

    /// The index of the message with this seq; nil: there is none. One of a former order counts if `isThis` says so.
    func index(
        of seq: Seq, in layout: TimelineLayout, ofFormer isThis: (ChatMessage) -> Bool = { _ in false }
    ) -> Int? {
        for candidate in stride(from: era, through: max(era - Self.repeatedEraCount, 0), by: -1) {
            let key = OrderKey(era: candidate, seq: seq.rawValue, tie: 0)
            guard let index = index(of: key, in: layout), let shown = layout.lines[index].entry?.message else {
                continue
            }
            if candidate == era || isThis(shown) { return index }
        }
        return nil
    }

    private func index(of key: OrderKey, in layout: TimelineLayout) -> Int? {
        let index = layout.index(of: key)
        return index < layout.lines.count && layout.lines[index].key == key ? index : nil
    }

    /// Whether a message of the present order with at most this seq is there.
    func knows(_ seq: Seq, in layout: TimelineLayout) -> Bool {
        var index = layout.lines.firstIndex(notBefore: OrderKey(era: era, seq: 0, tie: 0), rank: 0)
        while index < layout.lines.count, layout.lines[index].key <= key(of: seq) {
            // One without a seq is an own message that has not come back yet.
            if layout.lines[index].entry?.message.seq != nil { return true }
            index += 1
        }
        return false
    }

    /// The least seq of all messages; nil: none has one.
    func oldestSeq(in layout: TimelineLayout) -> Seq? {
        var oldest: Seq?
        for index in 0..<layout.lines.count {
            guard let seq = layout.lines[index].entry?.message.seq else { continue }
            oldest = min(oldest ?? seq, seq)
            // Behind its first message an order has greater ones.
            if layout.lines[index].key.era == era { break }
        }
        return oldest
    }
}
