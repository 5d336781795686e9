import DequeModule
import SignalingProtocol

/// Recognizes the connections that began with the same token, without the token: the first 64 bits of its SHA-256.
public struct TokenFingerprint: Hashable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The connections of a session that have lost their sockets, in the order of the losses: all of them, and those of
/// each token.
///
/// Each operation takes constant time on average. An entry whose connection came back stays until it is found or until
/// such entries are the majority.
struct Detachments: Sendable {
    struct Loss: Sendable {
        let connectionId: ConnectionID
        /// The end of the resume window.
        let until: MonotonicInstant
        let token: TokenFingerprint?
        fileprivate let number: UInt64
    }

    /// Losses in their order. Some may not count any more.
    private struct Line: Sendable {
        var losses: Deque<Loss> = []
        /// The number of losses that count.
        var count = 0

        mutating func append(_ loss: Loss) {
            losses.append(loss)
            count += 1
        }

        /// One loss does not count any more.
        mutating func removeOne(_ current: [ConnectionID: UInt64]) {
            count -= 1
            guard losses.count > Detachments.smallCount, losses.count > 2 * count else { return }
            losses.removeAll { current[$0.connectionId] != $0.number }
        }

        mutating func oldest(_ current: [ConnectionID: UInt64]) -> Loss? {
            while let loss = losses.first {
                if current[loss.connectionId] == loss.number { return loss }
                losses.removeFirst()
            }
            return nil
        }
    }

    private var all = Line()
    private var ofTokens: [TokenFingerprint: Line] = [:]
    /// The number of the loss that counts for each connection.
    private var current: [ConnectionID: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    /// With fewer entries than this, those that do not count are not removed.
    private static let smallCount = 32

    /// The number of connections without a socket.
    var count: Int { all.count }
    /// The number of entries, including those that do not count any more.
    var entryCount: Int { all.losses.count }

    func count(of token: TokenFingerprint) -> Int { ofTokens[token]?.count ?? 0 }

    /// When the oldest entry ends, or earlier if its connection came back; `nil` without entries.
    var nextDeadline: MonotonicInstant? { all.losses.first?.until }

    /// Adds the loss of a connection's socket. Add losses in the order of `until`.
    ///
    /// - Parameter token: `nil` if it is not known, after a restart.
    mutating func add(_ connection: ConnectionID, until: MonotonicInstant, token: TokenFingerprint?) {
        lastNumber += 1
        let loss = Loss(connectionId: connection, until: until, token: token, number: lastNumber)
        current[connection] = lastNumber
        all.append(loss)
        if let token { ofTokens[token, default: Line()].append(loss) }
    }

    /// The connection came back, or left. Does nothing for a connection that is not here.
    mutating func remove(_ connection: ConnectionID, token: TokenFingerprint?) {
        guard current.removeValue(forKey: connection) != nil else { return }
        all.removeOne(current)
        guard let token else { return }
        ofTokens[token]?.removeOne(current)
        if ofTokens[token]?.count == 0 { ofTokens[token] = nil }
    }

    /// The oldest loss.
    mutating func oldest() -> Loss? { all.oldest(current) }

    /// The oldest loss of a connection that began with this token.
    mutating func oldest(of token: TokenFingerprint) -> Loss? { ofTokens[token]?.oldest(current) }
}
