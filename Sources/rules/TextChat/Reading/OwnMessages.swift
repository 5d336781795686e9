/// Where the user's own messages are that the session has, in its order.
struct OwnMessages: Sendable {
    private var keys: [OrderKey] = []

    mutating func add(_ key: OrderKey) { keys.insert(key, at: count(before: key)) }

    mutating func remove(_ key: OrderKey) {
        let index = count(before: key)
        if index < keys.count, keys[index] == key { keys.remove(at: index) }
    }

    /// The last one up to this key.
    func last(through key: OrderKey) -> OrderKey? {
        let index = count(before: key)
        if index < keys.count, keys[index] == key { return key }
        return index > 0 ? keys[index - 1] : nil
    }

    private func count(before key: OrderKey) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
