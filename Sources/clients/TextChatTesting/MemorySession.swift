import Locking
import SignalingProtocol

/// A session in memory: connections send signals to each other in one order, at the pace of the test.
///
/// A signal gets its seq when it is sent. Each connection's events wait in its inbox until the test removes them, so
/// the test decides what arrives when. Answers come at once unless they are held. If it keeps a history, all broadcasts
/// but online-only ones are in it, each a second after the one before.
public final class MemorySession: Sendable {
    struct State {
        var lastSeq: Int64 = 0
        var lastConnection = 0
        var channels: [MemoryChannel] = []
        var kept: [HistoryMessage] = []
        /// The messages that were changed, in the order of their last changes.
        var changed: [(ref: Seq, seq: Seq)] = []
        /// Before it, erasures have changed more than can be told.
        var listedFrom = Seq(0)
        /// Who has chosen which key, in the order of choosing, by message.
        var reactions: [Seq: [(user: UserID, key: String)]] = [:]
        var markers: [UserID: Seq] = [:]

        mutating func noteChange(of ref: Seq) {
            changed.removeAll { $0.ref == ref }
            changed.append((ref, Seq(lastSeq)))
        }
    }

    /// Whether the session keeps a history.
    public let keepsHistory: Bool
    /// What the session permits the authors of messages; nil: it tells no changes.
    public let changes: [ChangeKind]?
    /// What becomes of read markers.
    public let readMarkers: ReadMarkers
    /// The name of the session's order.
    public let epoch = Epoch(rawValue: "memory")

    let state = Lock(State())

    public init(keepsHistory: Bool = false, changes: [ChangeKind]? = nil, readMarkers: ReadMarkers = .off) {
        self.keepsHistory = keepsHistory || changes != nil || readMarkers != .off
        self.changes = changes
        self.readMarkers = readMarkers
    }

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
                        seq: seq, from: sender, time: Self.time(of: seq),
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
                case .message, .user:
                    message.content = .erased
                    message.edit = nil
                    message.reactions = nil
                    state.reactions[message.seq] = nil
                case .through: return nil
                }
                return message
            }
            if case .message(let ref) = erasure {
                state.noteChange(of: ref)
            } else {
                state.listedFrom = Seq(state.lastSeq)
            }
            for channel in state.channels { channel.put(.erased(erasure, seq: Seq(state.lastSeq))) }
            if case .user(let user) = erasure { state.forget(user) }
        }
    }

    func change(_ request: ChangeRequest, by sender: Connection) throws(SignalingError) -> Seq {
        let result = state.withLock { state -> Result<Seq, SignalingError> in
            guard let index = state.kept.firstIndex(where: { $0.seq == request.ref }),
                case .signal(let type, _, _) = state.kept[index].content
            else { return .failure(SignalingError(.notFound, "the session has no such message")) }
            guard permits(request.change.kind, of: state.kept[index], to: sender) else {
                return .failure(SignalingError(.permissionDenied, "the message cannot be changed"))
            }
            state.lastSeq += 1
            let seq = Seq(state.lastSeq)
            switch request.change {
            case .edit(let data, let isJSON):
                state.kept[index].content = .signal(type: type, data: data, isJSON: isJSON)
                state.kept[index].edit = .init(seq: seq, time: Self.time(of: seq))
            }
            state.noteChange(of: request.ref)
            let event = ChangeEvent(
                seq: seq, ref: request.ref, from: sender.connectionId, sender: sender, change: request.change)
            for channel in state.channels { channel.put(.changed(event)) }
            return .success(seq)
        }
        return try result.get()
    }

    func erase(message ref: Seq, by sender: Connection) throws(SignalingError) -> Seq {
        guard let message = state.withLock({ $0.kept.first { $0.seq == ref } }), message.content != .erased else {
            throw SignalingError(.notFound, "the session has no such message")
        }
        guard permits(.erase, of: message, to: sender) else {
            throw SignalingError(.permissionDenied, "the message cannot be erased")
        }
        erase(.message(ref))
        return Seq(state.withLock { $0.lastSeq })
    }

    /// The author is the user, or for a guest the connection (CHG-5).
    private func permits(_ kind: ChangeKind, of message: HistoryMessage, to sender: Connection) -> Bool {
        guard changes?.contains(kind) == true, let author = message.from else { return false }
        return author.user.map { $0 == sender.user } ?? (author.connectionId == sender.connectionId)
    }

    private static func time(of seq: Seq) -> WallTime {
        WallTime(milliseconds: 1_700_000_000_000 + seq.rawValue * 1000)
    }

    func page(_ request: HistoryRequest, for user: UserID?) -> HistoryPage {
        let (kept, changed, listedFrom, last) = state.withLock { ($0.kept, $0.changed, $0.listedFrom, $0.lastSeq) }
        let found: [HistoryMessage]
        let messages: ArraySlice<HistoryMessage>
        var changes: HistoryPage.Changes?
        switch request.position {
        case .newest:
            found = kept
            messages = found.suffix(request.limit)
        case .before(let seq):
            found = kept.filter { $0.seq < seq }
            messages = found.suffix(request.limit)
        case .after(let seq):
            found = kept.filter { $0.seq > seq }
            messages = found.prefix(request.limit)
        case .changedAfter(let seq):
            let isAll = seq < listedFrom
            let told = isAll ? [] : changed.filter { $0.seq > seq }
            found = told.compactMap { change in kept.first { $0.seq == change.ref } }
            messages = found.prefix(request.limit)
            let through = messages.count < found.count ? told[messages.count - 1].seq : Seq(last)
            changes = .init(through: through, isAll: isAll)
        }
        var range: ClosedRange<Seq>?
        if let first = kept.first, let last = kept.last { range = first.seq...last.seq }
        return HistoryPage(
            range: range, more: messages.count < found.count, messages: Array(messages), changes: changes,
            mine: user.map { own($0, of: messages.map(\.seq)) } ?? [])
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
