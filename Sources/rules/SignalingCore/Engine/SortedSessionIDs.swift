import SignalingProtocol

/// IDs of sessions in their order. Adding and removing one hardly costs more when there are many. A pure value.
struct SortedSessionIDs {
    /// Parts of the order, none of them empty.
    private var parts: [[SessionID]] = []
    /// A part with more is cut in two.
    static let partCount = 512

    mutating func insert(_ id: SessionID) {
        guard let part = part(of: id) else { return parts.insert([id], at: 0) }
        let index = parts[part].partitioningIndex { $0 >= id }
        if index < parts[part].count, parts[part][index] == id { return }
        parts[part].insert(id, at: index)
        guard parts[part].count > Self.partCount else { return }
        let half = Self.partCount / 2
        parts.insert(Array(parts[part][half...]), at: part + 1)
        parts[part].removeSubrange(half...)
    }

    mutating func remove(_ id: SessionID) {
        guard let part = part(of: id) else { return }
        let index = parts[part].partitioningIndex { $0 >= id }
        guard index < parts[part].count, parts[part][index] == id else { return }
        parts[part].remove(at: index)
        if parts[part].isEmpty { parts.remove(at: part) }
    }

    /// Reads the IDs of a range, the greatest first, as long as `body` returns true.
    func read(in range: Range<SessionID>, _ body: (SessionID) -> Bool) {
        guard var part = part(of: range.upperBound) else { return }
        var index = parts[part].partitioningIndex { $0 >= range.upperBound }
        while true {
            while index > 0 {
                index -= 1
                guard parts[part][index] >= range.lowerBound, body(parts[part][index]) else { return }
            }
            guard part > 0 else { return }
            part -= 1
            index = parts[part].count
        }
    }

    /// The part in which an ID is, or would be; `nil` if it precedes all of them.
    private func part(of id: SessionID) -> Int? {
        let index = parts.partitioningIndex { $0[0] > id }
        return index > 0 ? index - 1 : nil
    }
}

extension Array {
    /// The index of the first element with a property that all later ones have, too.
    fileprivate func partitioningIndex(where hasProperty: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if hasProperty(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
