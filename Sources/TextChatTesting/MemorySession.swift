import SignalingProtocol
import Synchronization

/// A session in memory: connections send signals to each other in one order, at the pace of the test.
///
/// A signal gets its seq when it is sent. Each connection's events wait in its inbox until the test removes them, so
/// the test decides what arrives when. Answers come at once unless they are held.
public final class MemorySession: Sendable {
    private struct State {
        var lastSeq: Int64 = 0
        var lastConnection = 0
        var channels: [MemoryChannel] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// A new connection, whose inbox begins with `connected`; the others get `connectionCreated`. Its ID is `name`, or
    /// `connection-1` and so on.
    public func connect(_ name: String? = nil, data: String = "") -> MemoryChannel {
        state.withLock { state in
            state.lastConnection += 1
            let id = ConnectionID(name ?? "connection-\(state.lastConnection)")
            let joined = Connection(
                connectionId: id, creationTime: WallTime(milliseconds: Int64(state.lastConnection)), data: data)
            state.lastSeq += 1
            for other in state.channels { other.put(.connectionCreated(joined)) }
            let channel = MemoryChannel(session: self, connection: joined)
            channel.put(.connected(id))
            state.channels.append(channel)
            return channel
        }
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
            let signal = Signal(
                type: request.type, data: request.data, from: sender, seq: seq, isDirected: request.to != nil)
            for channel in state.channels where request.to == nil || request.to == channel.connection.connectionId {
                channel.put(.signal(signal))
            }
            return seq
        }
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
