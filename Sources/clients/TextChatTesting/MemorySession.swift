import Locking
import SignalingProtocol

/// A session in memory: connections send signals to each other in one order, at the pace of the test.
///
/// A signal gets its seq when it is sent. Each connection's events wait in its inbox until the test removes them, so
/// the test decides what arrives when. Answers come at once unless they are held. If it keeps a history, all broadcasts
/// but online-only ones are in it, each a second after the one before.
public final class MemorySession: Sendable {
    private struct State {
        var lastSeq: Int64 = 0
        var lastConnection = 0
        var channels: [MemoryChannel] = []
        var kept: [HistoryMessage] = []
    }

    /// Whether the session keeps a history.
    public let keepsHistory: Bool
    /// The name of the session's order.
    public let epoch = Epoch(rawValue: "memory")

    private let state = Lock(State())

    public init(keepsHistory: Bool = false) { self.keepsHistory = keepsHistory }

    /// A new connection, whose inbox begins with `connected`; the others get `connectionCreated`. Its ID is `name`, or
    /// `connection-1` and so on. Without a user it is a guest.
    public func connect(_ name: String? = nil, data: String = "", user: UserID? = nil) -> MemoryChannel {
        state.withLock { state in
            state.lastConnection += 1
            let id = ConnectionID(name ?? "connection-\(state.lastConnection)")
            let joined = Connection(
                connectionId: id, creationTime: WallTime(milliseconds: Int64(state.lastConnection)), data: data,
                user: user)
            state.lastSeq += 1
            for other in state.channels { other.put(.connectionCreated(joined)) }
            let channel = MemoryChannel(session: self, connection: joined)
            channel.put(.connected(id))
            state.channels.append(channel)
            return channel
        }
    }

    func isMember(_ connection: ConnectionID) -> Bool {
        state.withLock { $0.channels.contains { $0.connection.connectionId == connection } }
    }

    var memberCount: Int { state.withLock { $0.channels.count } }

    /// Delivers a signal without a sender, as REST does.
    @discardableResult
    public func signal(_ request: SignalRequest) -> Seq? { deliver(request, from: nil) }

    func deliver(_ request: SignalRequest, from sender: Connection?) -> Seq? {
        state.withLock { state in
            var seq: Seq?
            if !request.isOnlineOnly {
                state.lastSeq += 1
                seq = Seq(state.lastSeq)
            }
            if keepsHistory, let seq, request.to == nil {
                state.kept.append(
                    HistoryMessage(
                        seq: seq, from: sender, time: WallTime(milliseconds: 1_700_000_000_000 + seq.rawValue * 1000),
                        content: .signal(type: request.type, data: request.data, isJSON: false)))
            }
            let signal = Signal(
                type: request.type, data: request.data, from: sender, seq: seq, isDirected: request.to != nil)
            for channel in state.channels where request.to == nil || request.to == channel.connection.connectionId {
                channel.put(.signal(signal))
            }
            return seq
        }
    }

    /// Erases messages, as a moderator does. Every channel gets `erased`.
    public func erase(_ erasure: Erasure) {
        state.withLock { state in
            state.lastSeq += 1
            state.kept = state.kept.compactMap { message in
                guard erasure.covers(message.seq, of: message.from?.user) else { return message }
                var message = message
                switch erasure {
                case .message, .user: message.content = .erased
                case .through: return nil
                }
                return message
            }
            for channel in state.channels { channel.put(.erased(erasure, seq: Seq(state.lastSeq))) }
        }
    }

    func page(_ request: HistoryRequest) -> HistoryPage {
        let kept = state.withLock { $0.kept }
        let found: [HistoryMessage]
        let messages: ArraySlice<HistoryMessage>
        switch request.position {
        case .newest, .changedAfter:
            found = kept
            messages = found.suffix(request.limit)
        case .before(let seq):
            found = kept.filter { $0.seq < seq }
            messages = found.suffix(request.limit)
        case .after(let seq):
            found = kept.filter { $0.seq > seq }
            messages = found.prefix(request.limit)
        }
        var range: ClosedRange<Seq>?
        if let first = kept.first, let last = kept.last { range = first.seq...last.seq }
        return HistoryPage(range: range, more: messages.count < found.count, messages: Array(messages))
    }

    func remove(_ connection: Connection) {
        state.withLock { state in
            guard let index = state.channels.firstIndex(where: { $0.connection == connection }) else { return }
            state.channels.remove(at: index)
            state.lastSeq += 1
            for other in state.channels { other.put(.connectionDestroyed(connection)) }
        }
    }
}
