import SignalingProtocol

/// `connected` and the list of the other connections (CON-11), as far as a client has not been sent them.
///
/// A long list is dequeued in small parts, directly from the blocks that all clients share. So a client that does not
/// read costs the memory of one part, whatever the size of its session is.
struct Entrance: Sendable {
    private enum Step {
        /// Next: `within`, `pages`, `complete`.
        case start(EncodedWelcome, ConnectionListing)
        /// A part of `connected` has been dequeued. These connections follow, and then the end of `connected`. Next:
        /// `complete`.
        case within(UnsentConnections, end: ArraySlice<UInt8>)
        /// `connected` has been dequeued. Next: `complete`.
        case pages(UnsentConnections)
        case complete
    }

    /// A part gets no more blocks of the list when it would have more than this many bytes.
    static let partByteCount = 16_384

    private var step: Step

    init(_ welcome: EncodedWelcome, _ others: ConnectionListing) { step = .start(welcome, others) }

    /// Whether the last part ended in the middle of a text message.
    var isWithinMessage: Bool {
        switch step {
        case .within: true
        case .start, .pages, .complete: false
        }
    }

    /// Appends the next part.
    ///
    /// - Parameters:
    ///   - byteLimit: at least one block of the list is appended, whatever the limit is.
    ///   - start: the index in `bytes` at which the text message begins.
    /// - Returns: whether nothing is left.
    mutating func dequeue(byteLimit: Int, into bytes: inout [UInt8], separatedFrom start: Int) -> Bool {
        let byteLimit = min(byteLimit, Self.partByteCount)
        if case .start(let welcome, let others) = step { begin(welcome, others, into: &bytes, separatedFrom: start) }
        switch step {
        case .start: return false
        case .within(var others, let end):
            others.appendElements(byteLimit: byteLimit - (bytes.count - start), to: &bytes)
            guard others.isEmpty else {
                step = .within(others, end: end)
                return false
            }
            bytes.append(contentsOf: end)
        case .pages(var others):
            others.appendPage(byteLimit: byteLimit - (bytes.count - start), to: &bytes, separatedFrom: start)
            guard others.isEmpty else {
                step = .pages(others)
                return false
            }
        case .complete: break
        }
        step = .complete
        return true
    }

    /// Appends `connected` without the rest of the list, for a connection whose session has ended.
    mutating func dequeueWithoutList(into bytes: inout [UInt8], separatedFrom start: Int) {
        switch step {
        case .start(let welcome, _): EncodedLine.append(welcome.bytes, to: &bytes, separatedFrom: start)
        case .within(_, let end): bytes.append(contentsOf: end)
        case .pages, .complete: break
        }
        step = .complete
    }

    private mutating func begin(
        _ welcome: EncodedWelcome, _ others: ConnectionListing, into bytes: inout [UInt8], separatedFrom start: Int
    ) {
        switch others {
        case .withinConnected(let others) where !others.isEmpty:
            if bytes.count > start { bytes.append(UInt8(ascii: "\n")) }
            bytes.append(contentsOf: welcome.bytes[..<welcome.listOffset])
            step = .within(others, end: welcome.bytes[welcome.listOffset...])
        case .inPages(let others) where !others.isEmpty:
            EncodedLine.append(welcome.bytes, to: &bytes, separatedFrom: start)
            step = .pages(others)
        case .none, .withinConnected, .inPages:
            EncodedLine.append(welcome.bytes, to: &bytes, separatedFrom: start)
            step = .complete
        }
    }
}
