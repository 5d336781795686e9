import SignalingProtocol

/// The batches of a session that its archive was told, and that the log has not confirmed (HIS-3).
///
/// An archive in Redis answers after several seconds. So that the feed is not as late (FEED-1), batches may follow each
/// other unanswered, if none of them changes a message: a change needs its message there, and comes before what is told
/// of it. The log learns of an answer once all earlier batches have theirs. After a fault, the batch and all behind it are
/// told again.
struct ArchivingBatches {
    /// What may be told now.
    enum Room: Hashable {
        case nothing
        case anything
        /// Items behind this seq, up to the first change.
        case additions(after: Seq)
    }

    private struct Batch {
        let number: UInt64
        let last: Seq
        let isAddition: Bool
        var isAnswered = false
        /// Whether the log learns of the answer.
        var isTold = false
    }

    static let limit = 16

    private var batches: [Batch] = []
    private var lastNumber: UInt64 = 0

    /// The archive was told everything up to this seq; `nil` if nothing is on its way.
    var told: Seq? { batches.last?.last }

    /// - Parameter announces: whether a feed tells of the session. Otherwise nobody waits.
    func room(announces: Bool) -> Room {
        guard let last = batches.last else { return .anything }
        guard announces, batches.count < Self.limit, last.isAddition else { return .nothing }
        return .additions(after: last.last)
    }

    /// - Returns: the number of the batch.
    mutating func begin(_ batch: Unarchived.Batch) -> UInt64 {
        lastNumber += 1
        batches.append(Batch(number: lastNumber, last: batch.last, isAddition: batch.isAddition))
        return lastNumber
    }

    /// - Returns: through which seq the archive has everything now, if that is news for the log.
    mutating func answered(_ number: UInt64) -> Seq? {
        guard let index = batches.firstIndex(where: { $0.number == number }) else { return nil }
        batches[index].isAnswered = true
        let count = batches.prefix(while: \.isAnswered).count
        guard count > 0, !batches[count - 1].isTold else { return nil }
        for index in 0..<count { batches[index].isTold = true }
        return batches[count - 1].last
    }

    /// - Returns: whether the batch and those behind it are to be told again; false if that is so already.
    mutating func failed(_ number: UInt64) -> Bool {
        guard let index = batches.firstIndex(where: { $0.number == number }) else { return false }
        batches.removeSubrange(index...)
        return true
    }

    /// The session has ended: its next seqs are of another order. Late answers are of no interest.
    mutating func removeAll() { batches = [] }

    /// The log has confirmed everything up to this seq.
    mutating func archived(through seq: Seq) { batches.removeAll { $0.last <= seq } }
}
