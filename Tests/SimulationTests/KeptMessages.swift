import SignalingProtocol

/// What a session's history must have, by the events of its log.
struct KeptMessages {
    private var messages: [(seq: Seq, data: String, user: UserID?)] = []
    private var erasures: [(seq: Seq, erasure: Erasure)] = []

    /// - Parameter user: of the sender.
    mutating func note(_ data: String, of user: UserID?, at seq: Seq) { messages.append((seq, data, user)) }
    mutating func note(_ erasure: Erasure, at seq: Seq) { erasures.append((seq, erasure)) }

    /// The messages that are left. An erased one has no data.
    var left: [(seq: Seq, data: String?)] {
        messages.compactMap { seq, data, user in
            var data = Optional(data)
            for (last, erasure) in erasures where last > seq && erasure.covers(seq, of: user) {
                if case .through = erasure { return nil }
                data = nil
            }
            return (seq, data)
        }
    }
}
