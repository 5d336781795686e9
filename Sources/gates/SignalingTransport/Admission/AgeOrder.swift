/// Numbers in the order in which they were added. Adding, removing and reading the oldest take constant time.
///
/// A doubly linked list in a dictionary: connections leave from the middle all the time.
struct AgeOrder {
    private struct Link {
        var older: UInt64?
        var newer: UInt64?
    }
    private var links: [UInt64: Link] = [:]
    private(set) var oldest: UInt64?
    private var newest: UInt64?

    var count: Int { links.count }

    /// Adds a number that is not in the order.
    mutating func append(_ id: UInt64) {
        guard links[id] == nil else { return }
        links[id] = Link(older: newest, newer: nil)
        if let newest { links[newest]?.newer = id } else { oldest = id }
        newest = id
    }

    mutating func remove(_ id: UInt64) {
        guard let link = links.removeValue(forKey: id) else { return }
        if let older = link.older { links[older]?.newer = link.newer } else { oldest = link.newer }
        if let newer = link.newer { links[newer]?.older = link.older } else { newest = link.older }
    }
}
