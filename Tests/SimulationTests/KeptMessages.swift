import SignalingProtocol

/// What a session's history must have, by the events of its log.
struct KeptMessages {
    private var messages: [(seq: Seq, data: String)] = []
    private var erasures: [(seq: Seq, erasure: Erasure)] = []

    mutating func note(_ data: String, at seq: Seq) { messages.append((seq, data)) }
    mutating func note(_ erasure: Erasure, at seq: Seq) { erasures.append((seq, erasure)) }

    /// The messages that are left. An erased one has no data.
    var left: [(seq: Seq, data: String?)] {
        messages.compactMap { seq, data in
            var data = Optional(data)
            for (last, erasure) in erasures where last > seq && erasure.covers(seq) {
                if case .through = erasure { return nil }
                data = nil
            }
            return (seq, data)
        }
    }
}
