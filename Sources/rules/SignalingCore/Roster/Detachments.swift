import DequeModule
import SignalingProtocol

/// Recognizes the connections that began with the same token, without the token: the first 64 bits of the
/// SHA-256 of its signed content.
public struct TokenFingerprint: Hashable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The connections of a session that have lost their sockets, in the order of the losses: all of them, and those of
/// each token.
///
/// Each operation takes constant time on average. An entry whose connection came back stays until it is the oldest, or
/// until such entries are the majority.
struct Detachments: Sendable {
    struct Loss: Hashable, Sendable {
        let connectionId: ConnectionID
        /// The end of the resume window.
        let until: MonotonicInstant
        /// The token whose losses this one is counted with; `nil` for a loss that counts for no token.
        let token: TokenFingerprint?
    }

    fileprivate struct Entry {
        let loss: Loss
        /// Tells this loss from others of the same connection.
        let number: UInt64
    }

    /// The loss that counts for a connection.
    fileprivate struct Current {
        let number: UInt64
        let token: TokenFingerprint?
    }

    /// Losses in their order. Some may not count any more, but the oldest always does.
    private struct Line: Sendable {
        var entries: Deque<Entry> = []
        /// The number of losses that count.
        var count = 0

        mutating func append(_ entry: Entry) {
            entries.append(entry)
            count += 1
        }

        /// One loss does not count any more.
        mutating func removeOne(_ current: [ConnectionID: Current]) {
            count -= 1
            while let first = entries.first, !current.has(first) { entries.removeFirst() }
            guard entries.count > Detachments.smallCount, entries.count > 2 * count else { return }
            entries.removeAll { !current.has($0) }
        }
    }

    private var all = Line()
    private var ofTokens: [TokenFingerprint: Line] = [:]
    private var current: [ConnectionID: Current] = [:]
    private var lastNumber: UInt64 = 0
    /// With fewer entries than this, those that do not count are removed from the beginning only.
    static let smallCount = 32

    init() {}

    /// - Parameter losses: in the order of `until`, at most one of each connection.
    init(_ losses: some Sequence<Loss>) { for loss in losses { add(loss) } }

    /// The number of connections without a socket.
    var count: Int { all.count }
    /// The number of entries, including those that do not count any more.
    var entryCount: Int { all.entries.count }
    /// The losses that count, in their order.
    var losses: [Loss] { all.entries.filter(current.has).map(\.loss) }

    func count(of token: TokenFingerprint) -> Int { ofTokens[token]?.count ?? 0 }

    /// When the resume window of the oldest loss ends; `nil` without a loss.
    var nextDeadline: MonotonicInstant? { oldest?.until }

    /// Adds the loss of a connection's socket. Add losses in the order of `until`.
    mutating func add(_ loss: Loss) {
        lastNumber += 1
        let entry = Entry(loss: loss, number: lastNumber)
        current[loss.connectionId] = Current(number: lastNumber, token: loss.token)
        all.append(entry)
        if let token = loss.token { ofTokens[token, default: Line()].append(entry) }
    }

    /// The connection came back, or left. Does nothing for a connection that is not here.
    mutating func remove(_ connection: ConnectionID) {
        guard let removed = current.removeValue(forKey: connection) else { return }
        all.removeOne(current)
        guard let token = removed.token else { return }
        ofTokens[token]?.removeOne(current)
        if ofTokens[token]?.count == 0 { ofTokens[token] = nil }
    }

    /// The oldest loss.
    var oldest: Loss? { all.entries.first?.loss }

    /// The oldest loss that counts for this token.
    func oldest(of token: TokenFingerprint) -> Loss? { ofTokens[token]?.entries.first?.loss }
}

extension [ConnectionID: Detachments.Current] {
    fileprivate func has(_ entry: Detachments.Entry) -> Bool { self[entry.loss.connectionId]?.number == entry.number }
}
