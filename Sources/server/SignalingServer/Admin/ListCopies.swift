import SignalingProtocol

/// Lists that were made lately, by who may see them. Repeated requests get the same copy. A pure value.
///
/// A copy of a long list is kept for longer, so that making lists takes a bounded share of the loop's time, however
/// often they are requested. A short list is made again almost at once, so that it shows every change.
struct ListCopies<Scope: Hashable, List> {
    private struct Copy {
        let list: List
        let until: MonotonicInstant
    }

    /// For each item of the list. Reading an item for the list takes about a hundredth of that.
    static var agePerItem: Duration { .microseconds(200) }
    static var longestAge: Duration { .seconds(1) }

    private var copies: [Scope: Copy] = [:]

    var count: Int { copies.count }

    /// When the next copy is too old.
    var nextDeadline: MonotonicInstant? { copies.values.lazy.map(\.until).min() }

    /// The copy of a list, if it is young enough.
    func list(of scope: Scope, now: MonotonicInstant) -> List? {
        copies[scope].flatMap { now < $0.until ? $0.list : nil }
    }

    /// - Parameter madeAt: when reading the items began.
    mutating func keep(_ list: List, of scope: Scope, itemCount: Int, madeAt: MonotonicInstant) {
        let age = min(Self.longestAge, Self.agePerItem * itemCount)
        copies[scope] = Copy(list: list, until: madeAt.advanced(by: age))
    }

    /// Gives the memory of old copies back.
    mutating func expire(upTo now: MonotonicInstant) { copies = copies.filter { now < $0.value.until } }
}
