import HeapModule

/// Finds the key with the greatest size among keys whose sizes change often.
struct LargestFirst<Key: Comparable & Hashable> {
    /// Has an entry for the present size of each key, and others for earlier sizes.
    private var sizes: Heap<Size> = []

    private struct Size: Comparable, Hashable {
        let byteCount: Int
        let key: Key

        static func < (left: Size, right: Size) -> Bool {
            (left.byteCount, left.key) < (right.byteCount, right.key)
        }
    }

    /// - Parameters:
    ///   - count: of the keys.
    ///   - present: returns the present size of a key.
    mutating func note(_ byteCount: Int, of key: Key, among count: Int, _ present: (Key) -> Int?) {
        sizes.insert(Size(byteCount: byteCount, key: key))
        // Earlier sizes must not add up.
        guard sizes.count > 2 * count + 64 else { return }
        sizes = Heap(Set(sizes.unordered.filter { present($0.key) == $0.byteCount }))
    }

    /// Takes the key with the greatest size, which must be noted again.
    mutating func popLargest(_ present: (Key) -> Int?) -> Key? {
        while let largest = sizes.popMax() {
            if present(largest.key) == largest.byteCount { return largest.key }
        }
        return nil
    }
}
