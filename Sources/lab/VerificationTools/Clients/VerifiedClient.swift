import Foundation
import SignalingClient
import SignalingProtocol
import SignalingVerification
import Synchronization

/// One client under test: a session behind its own relay, and a record of its actions and events.
final class VerifiedClient: Sendable {
    private struct Notes {
        var steps: [ProgramRecord.Step] = []
        var calls: [UInt64: (data: String, at: MonotonicInstant, isKept: Bool)] = [:]
        /// The seqs of the newest signals that the history keeps.
        var ownMessages: [Seq] = []
        /// Equal texts share their memory: a long run has millions of steps.
        var ids: [ConnectionID: ConnectionID] = [:]
        /// The users of connections.
        var users: [ConnectionID: UserID] = [:]
        var lastSignals: Set<String> = []
        /// What cut the client off, and when; nil while it is connected.
        var cut: (cause: ServiceGap.Cause, at: MonotonicInstant)?
        var interruptions: [ServiceGap] = []
        var latencies = DurationCounts()
        var lastAcknowledgedAt: ContinuousClock.Instant?
        var lastAcknowledgedSeq: Seq?
        var sentCount = 0
        /// How many actions the client was told, and how many signals were refused because of a restriction.
        var actionCount = 0
        var restrictedCount = 0
        /// How many pages came after a connect (HIS-5).
        var pageCount = 0
        /// The session has ended the connection, or refused to continue it.
        var hasEnded = false
        /// The client stays away on purpose.
        var isResting = false
        /// Nothing is recorded any more.
        var hasCrashed = false
    }

    /// The type of the signals that end a run.
    static let lastSignalType = "last"
    private static let ownMessageCount = 40

    let name: String
    let session: Session
    let relay: NetworkRelay
    let suppressesPresence: Bool
    let token: String
    /// nil for a guest.
    let user: UserID?
    private let start: ContinuousClock.Instant
    private let notes = Mutex(Notes())

    init(
        name: String, apiKey: String, sessionId: SessionID, token: String, user: UserID?, suppressesPresence: Bool,
        history: HistoryRequest? = nil, relay: NetworkRelay, start: ContinuousClock.Instant
    ) {
        self.name = name
        self.token = token
        self.user = user
        self.start = start
        self.relay = relay
        self.suppressesPresence = suppressesPresence
        session = Session(
            apiKey: apiKey, sessionId: sessionId.rawValue, server: "http://127.0.0.1:\(relay.port)",
            options: Session.Options(
                connectionEventsSuppressed: suppressesPresence, connectionAwayEvents: true, history: history))
        session.keepJournal { [weak self] in self?.note($0) }
    }

    var program: ProgramRecord {
        notes.withLock { notes in
            ProgramRecord(name, suppressesPresence: suppressesPresence, users: notes.users, steps: notes.steps)
        }
    }
    var actionCount: Int { notes.withLock { $0.actionCount } }
    var restrictedCount: Int { notes.withLock { $0.restrictedCount } }
    var pageCount: Int { notes.withLock { $0.pageCount } }
    /// Whether the client was connected, and its connection has ended for good.
    var hasEnded: Bool { notes.withLock { $0.hasEnded } }
    var interruptions: [ServiceGap] { notes.withLock { $0.interruptions } }
    var latencies: DurationCounts { notes.withLock { $0.latencies } }
    /// When the client got its last acknowledgement of a signal that the session keeps.
    var lastAcknowledgedAt: ContinuousClock.Instant? { notes.withLock { $0.lastAcknowledgedAt } }
    /// The seq of the client's last signal that the session keeps.
    var lastAcknowledgedSeq: Seq? { notes.withLock { $0.lastAcknowledgedSeq } }
    /// The seqs of the client's newest messages.
    var ownMessages: [Seq] { notes.withLock { $0.ownMessages } }
    func hasReceived(_ data: String) -> Bool { notes.withLock { $0.lastSignals.contains(data) } }

    private var now: MonotonicInstant { MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds) }

    // MARK: - Actions

    /// Connects if the session is not connected, with repeated attempts until the deadline.
    func connect(until deadline: ContinuousClock.Instant) async -> Bool {
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if session.isConnected { return true }
            if !notes.withLock(\.isResting), (try? await session.connect(token: token)) != nil { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return session.isConnected
    }

    /// Connects once.
    ///
    /// - Returns: the error of the server or the client; nil when the client is connected.
    func connectOnce() async -> SignalingError? {
        do throws(SignalingError) {
            try await session.connect(token: token)
            return nil
        } catch { return error }
    }

    /// Disconnects, stays away for a while, and lets others connect it again.
    func leave(for time: Duration) async {
        notes.withLock { $0.isResting = true }
        await session.disconnect()
        try? await Task.sleep(for: time)
        notes.withLock { $0.isResting = false }
    }

    /// Disconnects for good.
    func depart() async {
        await session.disconnect()
        relay.stop()
    }

    /// The client is gone without a word: its sockets are reset, and it never comes back.
    func crash() async {
        let now = now
        notes.withLock { notes in
            notes.steps.append(ProgramRecord.Step(now, .ended))
            notes.hasCrashed = true
        }
        relay.stop()
        await session.disconnect()
    }

    /// A text that no other signal or edit has: of at most 15 bytes, which Swift keeps in place.
    func takeData() -> String {
        let number = notes.withLock { notes in
            notes.sentCount += 1
            return notes.sentCount
        }
        return "\(name)-\(number)"
    }

    /// Sends a signal with unique data, and returns when the call has ended in any way.
    ///
    /// - Parameter padding: how many bytes the data has beside its unique part.
    /// - Returns: the data, and the error of the call.
    @discardableResult
    func send(
        to: ConnectionID?, type: String, isOnlineOnly: Bool, padding: Int = 0
    ) async -> (data: String, error: SignalingError?) {
        let data = takeData() + String(repeating: ".", count: padding)
        do throws(SignalingError) {
            _ = try await session.send(SignalRequest(type: type, data: data, to: to, isOnlineOnly: isOnlineOnly))
            return (data, nil)
        } catch { return (data, error) }
    }

    /// Sends signals to all as fast as possible, a few at a time.
    func sendBurst(_ count: Int, padding: Int = 0) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { await group.next() }
                group.addTask { await self.send(to: nil, type: "a", isOnlineOnly: false, padding: padding) }
            }
        }
    }

    // MARK: - Interruptions

    /// Notes that the client is cut off from now on. An interruption that lasts goes on from its own cut.
    func willBeCut(by cause: ServiceGap.Cause) {
        let now = now
        notes.withLock { notes in
            if notes.cut == nil, session.isConnected { notes.cut = (cause, now) }
        }
    }

    /// A network that was down on purpose is up again: the interruption that counts begins here.
    func networkIsBack() {
        let now = now
        notes.withLock { notes in
            if notes.cut?.cause == .absence { notes.cut?.at = now }
        }
    }

    // MARK: - The record

    private func note(_ entry: JournalEntry) {
        let now = now
        notes.withLock { notes in
            if notes.hasCrashed { return }
            func add(_ action: ProgramRecord.Action) { notes.steps.append(ProgramRecord.Step(now, action)) }
            func shared(_ id: ConnectionID) -> ConnectionID {
                if let known = notes.ids[id] { return known }
                notes.ids[id] = id
                return id
            }
            func note(_ connection: Connection) -> ConnectionID {
                let id = shared(connection.connectionId)
                if let user = connection.user { notes.users[id] = user }
                return id
            }
            switch entry {
            case .opening: break
            case .welcomed(let welcome):
                for connection in welcome.connections + [welcome.connection] { _ = note(connection) }
                notes.hasEnded = false
                add(.entered(ProgramRecord.Entry(welcome)))
            case .sent(let call, let request):
                let data = request.data ?? ""
                let isKept =
                    request.to == nil && !request.isOnlineOnly && ServerTerms.keptTypes.contains(request.type ?? "")
                notes.calls[call] = (data, now, isKept)
                add(.sent(data))
            case .answered(let call, let result):
                guard let (data, sentAt, isKept) = notes.calls.removeValue(forKey: call) else { return }
                switch result {
                case .success(let seq):
                    notes.latencies.add(now.duration(since: sentAt))
                    if let seq {
                        (notes.lastAcknowledgedAt, notes.lastAcknowledgedSeq) = (.now, seq)
                        if isKept { notes.ownMessages = notes.ownMessages.suffix(Self.ownMessageCount - 1) + [seq] }
                    }
                    add(.answered(data, .acknowledged(seq)))
                case .failure(let error):
                    if error.restriction != nil { notes.restrictedCount += 1 }
                    add(.answered(data, error.code == .notConnected ? .unknown : .refused))
                }
            case .heard(.signal(let signal)):
                let data = signal.data ?? ""
                if signal.type == Self.lastSignalType { notes.lastSignals.insert(data) }
                let from = signal.from.map { shared($0.connectionId) }
                add(.received(ProgramRecord.Reception(seq: signal.seq, from: from, data: data)))
            case .heard(.connectionCreated(let peer)): add(.created(note(peer), nil))
            case .heard(.connectionDestroyed(let peer, _)): add(.destroyed(shared(peer.connectionId), nil))
            case .heard(.reconnecting): if notes.cut == nil { notes.cut = (.other, now) }
            case .heard(.reconnected):
                add(.reconnected)
                if let cut = notes.cut {
                    notes.interruptions.append(ServiceGap(client: name, cause: cut.cause, start: cut.at, end: now))
                }
                notes.cut = nil
            case .heard(.disconnected):
                notes.cut = nil
                notes.hasEnded = true
                add(.ended)
            case .heard(.connectionAway(let peer)): add(.away(shared(peer.connectionId)))
            case .heard(.connectionBack(let peer)): add(.back(shared(peer.connectionId)))
            case .heard(.erased): add(.erased)
            case .heard(.userJoined(let user)): add(.userJoined(user.id))
            case .heard(.userLeft(let user)): add(.userLeft(user.id))
            case .heard(.moderated(let event, let seq)):
                notes.actionCount += 1
                add(.moderated(event, seq))
            case .heard(.history): notes.pageCount += 1
            case .heard(.changed(let event)): add(.changed(event))
            case .heard(.reactions), .heard(.reacted), .heard(.read), .heard(.restricted), .heard(.unrestricted),
                .heard(.overflowed):
                break
            }
        }
    }
}
