import SignalingProtocol

/// What the wire has shown of the messages that a session keeps. It outlives an epoch, since the history does (HIS-3).
struct WireHistory: Sendable {
    struct Message: Sendable {
        var seq: Int
        /// The number of its sending.
        var signal: Int32
        /// Of its sender; nil for a guest and for REST.
        var user: WireOrder.User?
    }

    /// In the order of their seqs, erased ones included.
    private(set) var messages: [Message] = []
    /// By message, in the order of their versions.
    private(set) var editions: [Int: [Edition]] = [:]
    /// What was told of the reactions to each message, in the order of the seqs.
    private(set) var tellings: [Int: [(seq: Int, number: Int32)]] = [:]
    private(set) var erasures: [(seq: Int, erasure: WireOrder.Erasure, seenAt: MonotonicInstant)] = []

    /// Those of which no client may have heard.
    private var erasuresByREST: [WireOrder.Erasure] = []

    /// The greatest seq whose acknowledgement has passed to any client.
    private(set) var acknowledgedThrough = 0
    /// The archive was told of everything up to this seq, by a server that stopped in order.
    private(set) var storedThrough = 0
    /// The last message of the copy that was made of the server's files.
    private var copiedThrough = 0
    /// The messages that went with files of the server.
    private var lost: [ClosedRange<Int>] = []
    /// Clients may know seqs up to this one of an order that was lost.
    private(set) var knownThrough = 0

    mutating func noteByREST(_ erasure: WireOrder.Erasure) { erasuresByREST.append(erasure) }

    /// Whether an erasure explains that the message is not there, or has no content.
    ///
    /// - Parameter user: its sender, of a signal that the history does not keep: an erasure also takes it out of the log.
    func mayBeErased(_ seq: Int, of user: WireOrder.User? = nil) -> Bool {
        isErased(seq, of: user) || erasuresByREST.contains { $0.covers(seq, of: user ?? self.user(of: seq)) }
    }

    private func user(of seq: Int) -> WireOrder.User? { message(at: seq)?.user }

    /// Whether no message is left, not even without its content.
    var isEmpty: Bool { messages.allSatisfy { mayBeRemoved($0.seq) } }

    mutating func note(_ signal: Int32, of user: WireOrder.User?, at seq: Int) {
        if message(at: seq) == nil {
            messages.insert(Message(seq: seq, signal: signal, user: user), at: index(of: seq))
        }
    }

    func message(at seq: Int) -> Message? {
        let index = index(of: seq)
        return index < messages.count && messages[index].seq == seq ? messages[index] : nil
    }

    mutating func note(_ number: Int32, _ change: WireChange, at seq: Int) {
        var known = editions[change.message] ?? []
        if known.contains(where: { $0.version == seq }) { return }
        known.insert(
            Edition(version: seq, change: number), at: known.firstIndex { $0.version > seq } ?? known.endIndex)
        editions[change.message] = known
    }

    mutating func note(reactions number: Int32, to message: Int, at seq: Int) {
        var known = tellings[message] ?? []
        if known.contains(where: { $0.seq == seq }) { return }
        known.insert((seq, number), at: known.firstIndex { $0.seq > seq } ?? known.endIndex)
        tellings[message] = known
    }

    /// Whether the messages of a user were erased, perhaps by somebody who got no answer.
    func mayErase(_ user: WireOrder.User) -> Bool {
        erasures.contains { $0.erasure == .user(user) } || erasuresByREST.contains(.user(user))
    }

    mutating func note(_ erasure: WireOrder.Erasure, at seq: Int, _ now: MonotonicInstant) {
        // The erasure of a message that is still to come changes nothing.
        if case .message(let message) = erasure, message >= seq { return }
        if !erasures.contains(where: { $0.seq == seq }) { erasures.append((seq, erasure, now)) }
    }

    /// Whether an erasure covers the message, of those that were seen before a moment.
    ///
    /// - Parameters:
    ///   - user: its sender, if no client has got it.
    ///   - position: of a client. Erasures up to it count, too: the client has got them.
    func isErased(
        _ seq: Int, of user: WireOrder.User? = nil, before moment: MonotonicInstant? = nil, orUpTo position: Int = 0
    ) -> Bool {
        erasures.contains {
            $0.seq > seq && $0.erasure.covers(seq, of: user ?? self.user(of: seq))
                && ($0.seenAt < moment ?? .never || $0.seq <= position)
        }
    }

    /// Whether nothing is left of the message (HIS-9).
    func isRemoved(_ seq: Int, before moment: MonotonicInstant? = nil, orUpTo position: Int = 0) -> Bool {
        erasures.contains { last, erasure, seenAt in
            guard case .through = erasure else { return false }
            return last > seq && erasure.covers(seq, of: nil) && (seenAt < moment ?? .never || last <= position)
        }
    }

    /// When the tap first saw that the message was erased.
    func erasedAt(_ seq: Int) -> MonotonicInstant? {
        erasures.filter { $0.seq > seq && $0.erasure.covers(seq, of: user(of: seq)) }.map(\.seenAt).min()
    }

    mutating func noteAcknowledged(_ seq: Int) { acknowledgedThrough = max(acknowledgedThrough, seq) }
    mutating func noteStop() { storedThrough = messages.last?.seq ?? 0 }
    mutating func noteCopy() { copiedThrough = max(messages.last?.seq ?? 0, lastChange(through: .max)) }

    /// The server continues the copy: what came later is gone, and its seqs must not come again (HIS-3).
    mutating func losesWhatFollowedTheCopy() {
        let last = max(messages.last?.seq ?? 0, lastChange(through: .max))
        guard last > copiedThrough else { return }
        editions = editions.mapValues { $0.filter { $0.version <= copiedThrough } }
        tellings = tellings.mapValues { $0.filter { $0.seq <= copiedThrough } }
        lost.append((copiedThrough + 1)...last)
        knownThrough = last
    }

    /// The server has nothing of the present messages any more.
    mutating func losesEverything() {
        if let last = messages.last?.seq { lost.append(0...last) }
        (editions, tellings) = ([:], [:])
    }

    private func mayBeRemoved(_ seq: Int) -> Bool {
        isRemoved(seq) || erasuresByREST.contains { if case .through = $0 { $0.covers(seq, of: nil) } else { false } }
    }

    /// The messages that a page with this span must have.
    func due(in span: ClosedRange<Int>) -> [Message] {
        messages[index(of: span.lowerBound)...].prefix { $0.seq <= span.upperBound }.filter { isThere($0.seq) }
    }

    private func isThere(_ seq: Int) -> Bool { !isRemoved(seq) && !lost.contains { $0.contains(seq) } }

    /// Whether a message is known that is certainly there.
    func isKept(_ seq: Int) -> Bool { message(at: seq) != nil && isThere(seq) && !mayBeRemoved(seq) }

    /// The index of the first message that does not come before this seq.
    private func index(of seq: Int) -> Int {
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
