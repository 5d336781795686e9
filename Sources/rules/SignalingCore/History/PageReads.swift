import SignalingProtocol

/// The erasures of a session while its archive reads pages (HIS-9): the archive may read a message before it erases it,
/// and answer afterwards. Keeps nothing while no page is being read.
struct PageReads {
    struct Reading {
        /// The last erasure before the page was asked for.
        let after: Seq
    }

    private var count = 0
    private var erasures: [ErasureScope] = []

    mutating func begin(after last: Seq) -> Reading {
        count += 1
        return Reading(after: last)
    }

    /// - Parameter newest: of the session. The same one may be noted again.
    mutating func note(_ newest: ErasureScope) {
        if count > 0, erasures.last.map({ $0.seq < newest.seq }) ?? true { erasures.append(newest) }
    }

    mutating func end(_ reading: Reading) -> [ErasureScope] {
        defer {
            count -= 1
            if count == 0 { erasures = [] }
        }
        return erasures.filter { $0.seq > reading.after }
    }
}
