import SignalingProtocol

extension WireJudge.Terms {
    /// Which signals the server keeps (HIS-1).
    public struct KeptHistory: Sendable {
        /// nil: all types, and signals without a type.
        public var types: Set<String>?
        /// Whether the bounds may trim messages. Then a page need not have what is older than its `first`.
        public var isTrimmed: Bool

        public init(types: Set<String>?, isTrimmed: Bool = false) {
            self.types = types
            self.isTrimmed = isTrimmed
        }

        func keeps(_ type: String?) -> Bool { types.map { types in type.map(types.contains) ?? false } ?? true }
    }
}

/// What the wire has shown of the messages that a session keeps. It outlives an epoch, since the history does (HIS-3).
struct WireHistory: Sendable {
    struct Message: Sendable {
        var seq: Int
        /// The number of its sending.
        var signal: Int32
    }

    /// In the order of their seqs, erased ones included.
    private(set) var messages: [Message] = []
    private(set) var erasures: [(seq: Int, erasure: WireOrder.Erasure, seenAt: MonotonicInstant)] = []

    /// Those of which no client may have heard.
    private var erasuresByREST: [WireOrder.Erasure] = []

    mutating func noteByREST(_ erasure: WireOrder.Erasure) { erasuresByREST.append(erasure) }

    /// Whether an erasure explains that the message is not there, or has no content.
    func mayBeErased(_ seq: Int) -> Bool { isErased(seq) || erasuresByREST.contains { $0.covers(seq) } }

    /// Whether no message is left, not even without its content.
    var isEmpty: Bool { messages.allSatisfy { mayBeRemoved($0.seq) } }

    /// - Returns: the other signal that has this seq already (HIS-3).
    mutating func note(_ signal: Int32, at seq: Int) -> Int32? {
        let index = index(of: seq)
        if index < messages.count, messages[index].seq == seq {
            return messages[index].signal == signal ? nil : messages[index].signal
        }
        messages.insert(Message(seq: seq, signal: signal), at: index)
        return nil
    }

    mutating func note(_ erasure: WireOrder.Erasure, at seq: Int, _ now: MonotonicInstant) {
        if !erasures.contains(where: { $0.seq == seq }) { erasures.append((seq, erasure, now)) }
    }

    /// Whether an erasure, of those that were seen before a moment, covers the message.
    func isErased(_ seq: Int, before moment: MonotonicInstant? = nil) -> Bool {
        erasures.contains { $0.seq > seq && $0.erasure.covers(seq) && $0.seenAt < moment ?? .distantFuture }
    }

    /// Whether nothing is left of the message (HIS-9).
    func isRemoved(_ seq: Int, before moment: MonotonicInstant? = nil) -> Bool {
        erasures.contains { last, erasure, seenAt in
            guard case .through = erasure else { return false }
            return last > seq && erasure.covers(seq) && seenAt < moment ?? .distantFuture
        }
    }

    private func mayBeRemoved(_ seq: Int) -> Bool {
        isRemoved(seq) || erasuresByREST.contains { if case .through = $0 { $0.covers(seq) } else { false } }
    }

    /// The messages that a page with this span must have.
    func due(in span: ClosedRange<Int>) -> [Message] {
        messages[index(of: span.lowerBound)...].prefix { $0.seq <= span.upperBound }.filter { !isRemoved($0.seq) }
    }

    /// The index of the first message that does not come before this seq.
    private func index(of seq: Int) -> Int {
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension MonotonicInstant {
    fileprivate static let distantFuture = MonotonicInstant(nanoseconds: .max)
}

extension WireOrder.Erasure {
    init(_ erasure: Erasure) {
        self =
            switch erasure {
            case .message(let seq): .message(Int(seq.rawValue))
            case .through(let seq): .through(Int(seq.rawValue))
            }
    }

    /// nil if the line names nothing.
    init?(_ line: WireLine) {
        if let seq = line.position("ref") {
            self = .message(seq)
        } else if let seq = line.position("through") {
            self = .through(seq)
        } else {
            return nil
        }
    }
}
