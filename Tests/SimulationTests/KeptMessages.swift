import SignalingProtocol

/// What a session's history must have, by the events of its log.
struct KeptMessages {
    private var messages: [(seq: Seq, data: String, user: UserID?, version: Seq?)] = []
    private var erasures: [(seq: Seq, erasure: Erasure)] = []

    /// - Parameter user: of the sender.
    mutating func note(_ data: String, of user: UserID?, at seq: Seq) { messages.append((seq, data, user, nil)) }
    mutating func note(_ data: String, in message: Seq, at seq: Seq) {
        guard let index = messages.firstIndex(where: { $0.seq == message }) else { return }
        (messages[index].data, messages[index].version) = (data, seq)
    }
    mutating func note(_ erasure: Erasure, at seq: Seq) { erasures.append((seq, erasure)) }

    /// The messages that are left, with the seqs of their last edits. An erased one has no data.
    var left: [(seq: Seq, data: String?, version: Seq?)] {
        messages.compactMap { seq, data, user, version in
            var (data, version) = (Optional(data), version)
            for (last, erasure) in erasures where last > seq && erasure.covers(seq, of: user) {
                if case .through = erasure { return nil }
                (data, version) = (nil, nil)
            }
            return (seq, data, version)
        }
    }
}
