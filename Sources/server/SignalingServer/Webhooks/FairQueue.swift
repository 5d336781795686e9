import DequeModule
import HeapModule

/// A queue of elements from several sources, which take turns: a source with many elements delays the others by one
/// element at a time. Its owner decides when it is full, and then drops from the source that uses the most memory.
///
/// Each operation takes logarithmic time on average.
struct FairQueue<Source: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct Line: Sendable {
        var elements: Deque<Element> = []
        var byteCount = 0
    }

    /// The size of a source when the entry was made. An outdated entry is replaced when it is found.
    private struct Size: Comparable, Sendable {
        let byteCount: Int
        let source: Source

        static func < (left: Size, right: Size) -> Bool { left.byteCount < right.byteCount }
        static func == (left: Size, right: Size) -> Bool { left.byteCount == right.byteCount }
    }

    private var lines: [Source: Line] = [:]
    /// The sources in the order of their turns, each once. One whose elements were dropped may still be listed.
    private var turns: Deque<Source> = []
    private var listed: Set<Source> = []
    /// For each source at least one entry, of its present size or more.
    private var sizes = Heap<Size>()
    private let size: @Sendable (Element) -> Int
    private(set) var count = 0
    private(set) var byteCount = 0

    /// - Parameter size: the size of an element in bytes.
    init(size: @escaping @Sendable (Element) -> Int) { self.size = size }

    /// Adds an element behind the others of its source.
    mutating func append(_ element: Element, of source: Source) {
        if listed.insert(source).inserted { turns.append(source) }
        lines[source, default: Line()].elements.append(element)
        add(element, of: source)
    }

    /// Puts an element back: it is the next one of the whole queue.
    mutating func prepend(_ element: Element, of source: Source) {
        if !listed.insert(source).inserted { turns.removeAll { $0 == source } }
        turns.prepend(source)
        lines[source, default: Line()].elements.prepend(element)
        add(element, of: source)
    }

    /// Removes the oldest element of the source whose turn it is.
    mutating func popFirst() -> Element? {
        while let source = turns.popFirst() {
            listed.remove(source)
            guard let element = removeOldest(of: source) else { continue }
            if lines[source] != nil {
                listed.insert(source)
                turns.append(source)
            }
            return element
        }
        return nil
    }

    /// Removes the oldest element of the source with the most bytes.
    mutating func popFromLargest() -> Element? {
        while let largest = sizes.popMax() {
            guard let line = lines[largest.source] else { continue }
            guard line.byteCount == largest.byteCount else {
                sizes.insert(Size(byteCount: line.byteCount, source: largest.source))
                continue
            }
            let element = removeOldest(of: largest.source)
            if let rest = lines[largest.source] {
                sizes.insert(Size(byteCount: rest.byteCount, source: largest.source))
            }
            return element
        }
        return nil
    }

    /// The oldest element of each source.
    var firstElements: some Sequence<Element> { lines.values.lazy.compactMap { $0.elements.first } }

    mutating func removeAll() { self = FairQueue(size: size) }

    private mutating func add(_ element: Element, of source: Source) {
        let byteCount = size(element)
        count += 1
        self.byteCount += byteCount
        lines[source]?.byteCount += byteCount
        // The outdated entries must not outgrow the queue.
        if turns.count > 2 * lines.count + 64 {
            turns.removeAll { lines[$0] == nil }
            listed = Set(turns)
        }
        if sizes.count > 2 * lines.count + 64 {
            sizes = Heap(lines.map { Size(byteCount: $1.byteCount, source: $0) })
        } else if let line = lines[source] {
            sizes.insert(Size(byteCount: line.byteCount, source: source))
        }
    }

    private mutating func removeOldest(of source: Source) -> Element? {
        guard let element = lines[source]?.elements.popFirst() else { return nil }
        let byteCount = size(element)
        count -= 1
        self.byteCount -= byteCount
        lines[source]?.byteCount -= byteCount
        if lines[source]?.elements.isEmpty == true { lines[source] = nil }
        return element
    }
}
