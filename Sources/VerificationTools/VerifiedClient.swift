import Foundation
import SignalingClient
import SignalingProtocol
import SignalingVerification
import Synchronization

/// One client under test: a session behind its own relay, and a record of its actions and events.
final class VerifiedClient: Sendable {
    private struct Notes {
        var steps: [History.Step] = []
        var calls: [UInt64: String] = [:]
        var lastSignals: Set<String> = []
        var cutOffAt: MonotonicInstant?
        var longestInterruption = Duration.zero
        var sentCount = 0
    }

    /// The type of the signals that end a run.
    static let lastSignalType = "last"

    let name: String
    let session: Session
    let relay: NetworkRelay
    private let token: String
    private let start: ContinuousClock.Instant
    private let notes = Mutex(Notes())

    init(
        name: String, apiKey: String, sessionId: SessionID, token: String, port: Int, tap: WireTap,
        start: ContinuousClock.Instant
    ) throws {
        self.name = name
        self.token = token
        self.start = start
        relay = try NetworkRelay(to: port, tap: tap)
        session = Session(apiKey: apiKey, sessionId: sessionId.rawValue, server: "http://127.0.0.1:\(relay.port)")
        session.keepJournal { [weak self] in self?.note($0) }
    }

    var history: History.Client { History.Client(name, steps: notes.withLock { $0.steps }) }
    var longestInterruption: Duration { notes.withLock { $0.longestInterruption } }
    func hasReceived(_ data: String) -> Bool { notes.withLock { $0.lastSignals.contains(data) } }

    /// Connects if the session is not connected, with repeated attempts until the deadline.
    func connect(until deadline: ContinuousClock.Instant) async -> Bool {
        while ContinuousClock.now < deadline {
            if session.isConnected { return true }
            if (try? await session.connect(token: token)) != nil { return true }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return session.isConnected
    }

    /// Sends a signal with unique data, and returns when the call has ended in any way.
    ///
    /// - Returns: the data.
    func send(to: ConnectionID?, type: String, isOnlineOnly: Bool) async -> String {
        let number = notes.withLock { notes in
            notes.sentCount += 1
            return notes.sentCount
        }
        let data = "\(name)-\(number)"
        _ = try? await session.send(SignalRequest(type: type, data: data, to: to, isOnlineOnly: isOnlineOnly))
        return data
    }

    private func note(_ entry: JournalEntry) {
        let now = MonotonicInstant(nanoseconds: start.duration(to: .now).wholeNanoseconds)
        notes.withLock { notes in
            func add(_ action: History.Action) { notes.steps.append(History.Step(now, action)) }
            switch entry {
            case .opening: add(.opening)
            case .welcomed(let welcome): add(.entered(History.Entry(welcome)))
            case .sent(let call, let request):
                let data = request.data ?? ""
                notes.calls[call] = data
                add(
                    .sent(
                        History.Sending(
                            data: data, type: request.type, to: request.to, isOnlineOnly: request.isOnlineOnly)))
            case .answered(let call, let result):
                guard let data = notes.calls.removeValue(forKey: call) else { return }
                switch result {
                case .success(let seq): add(.answered(data, .acknowledged(seq)))
                case .failure(let error): add(.answered(data, error.code == .notConnected ? .unknown : .refused))
                }
            case .heard(.signal(let signal)):
                let data = signal.data ?? ""
                if signal.type == Self.lastSignalType { notes.lastSignals.insert(data) }
                add(.received(History.Reception(seq: signal.seq, from: signal.from?.connectionId, data: data)))
            case .heard(.connectionCreated(let peer)): add(.created(peer.connectionId, nil))
            case .heard(.connectionDestroyed(let peer, _)): add(.destroyed(peer.connectionId, nil))
            case .heard(.reconnecting): notes.cutOffAt = now
            case .heard(.reconnected):
                if let since = notes.cutOffAt {
                    notes.longestInterruption = max(notes.longestInterruption, now.duration(since: since))
                }
                notes.cutOffAt = nil
            case .heard(.disconnected):
                notes.cutOffAt = nil
                add(.ended)
            case .heard(.connectionAway), .heard(.connectionBack), .heard(.overflowed): break
            }
        }
    }
}
