import SignalingCore
import SignalingProtocol

/// What a hub counts. Plain integers of the loop, so that counting costs next to nothing; ``ServerMetrics`` publishes
/// them.
final class HubStatistics {
    // On the path of every message.
    @exclusivity(unchecked) var receivedMessages = 0
    @exclusivity(unchecked) var receivedBytes = 0
    @exclusivity(unchecked) var sentMessages = 0
    @exclusivity(unchecked) var sentBytes = 0
    var backlogs = 0
    @exclusivity(unchecked) var eventDeliveries = 0
    var onlineOnlyDeliveries = 0
    @exclusivity(unchecked) var acceptedClientSignals = 0
    var acceptedServerSignals = 0
    @exclusivity(unchecked) var flushSize = Histogram(.sizes)
    @exclusivity(unchecked) var flushDelay = Histogram(.durations)
    @exclusivity(unchecked) var ackLatency = Histogram(.durations)
    @exclusivity(unchecked) var ackSampler = AckSampler()

    // Rare.
    var pauses = 0
    var malformedLines = 0
    private(set) var connects: [Welcome.Outcome: Int] = [:]
    private(set) var connectRefusals: [SignalingError.Code: Int] = [:]
    private(set) var clientSignalRefusals: [SignalingError.Code: Int] = [:]
    private(set) var serverSignalRefusals: [SignalingError.Code: Int] = [:]
    private(set) var closes: [CloseReason: Int] = [:]
    private(set) var onlineOnlyDrops: [OnlineOnlyDrop: Int] = [:]
    /// By the names of the actions.
    private(set) var moderations: [String: Int] = [:]
    /// Of clients, authors and moderators.
    private(set) var changes: [ChangeKind: Int] = [:]
    private(set) var markers = 0
    /// Signals and connects.
    private(set) var restrictionRefusals: [Restriction.Kind: Int] = [:]

    var signalRefusalCount: Int {
        clientSignalRefusals.values.reduce(0, +) + serverSignalRefusals.values.reduce(0, +)
    }

    func noteConnected(_ outcome: Welcome.Outcome) { connects[outcome, default: 0] += 1 }
    func noteConnectRefused(_ error: SignalingError) {
        connectRefusals[error.code, default: 0] += 1
        noteRestriction(error)
    }
    func noteClosed(_ reason: CloseReason) { closes[reason, default: 0] += 1 }
    func noteModerated(_ action: String) { moderations[action, default: 0] += 1 }
    func noteDropped(_ drop: OnlineOnlyDrop) { onlineOnlyDrops[drop, default: 0] += 1 }

    /// The outcome of a request of a connected client.
    func noteAnswer(_ outcome: SessionOutcome) {
        switch outcome {
        case .signalled: acceptedClientSignals += 1
        case .changed: changes[.edit, default: 0] += 1
        case .erased: changes[.erase, default: 0] += 1
        case .reacted: changes[.react, default: 0] += 1
        case .marked: markers += 1
        case .refused(let error) where Self.signalErrors.contains(error.code):
            clientSignalRefusals[error.code, default: 0] += 1
            noteRestriction(error)
        case .refused, .unavailable, .joined, .wasForceDisconnected, .superseded, .done, .forceDisconnected,
            .moderated, .reactors, .announced, .restrictions, .refreshed:
            break
        }
    }

    /// The outcome of a signal that a backend has sent by REST.
    func noteServerSignal(_ outcome: SessionOutcome) {
        switch outcome {
        case .signalled: acceptedServerSignals += 1
        case .refused(let error): serverSignalRefusals[error.code, default: 0] += 1
        case .unavailable, .joined, .wasForceDisconnected, .superseded, .done, .forceDisconnected, .changed, .erased,
            .reacted, .marked, .reactors, .moderated, .announced, .restrictions, .refreshed:
            break
        }
    }

    private func noteRestriction(_ error: SignalingError) {
        if let kind = error.restriction?.kind { restrictionRefusals[kind, default: 0] += 1 }
    }

    /// The errors with which a session refuses a signal. Those of moderation are others.
    private static let signalErrors: Set<SignalingError.Code> = [
        .invalidParameter, .permissionDenied, .notFound, .tooLong, .rateLimited, .notConnected, .illegalState,
    ]
}

/// Measures how long acknowledgements take, one signal at a time: a time for each signal would cost memory and a read
/// of the clock on the path of every message.
struct AckSampler {
    private enum Phase {
        case idle
        /// The session has not answered yet.
        case submitted(origin: UInt64, request: RequestID, at: MonotonicInstant)
        /// The acknowledgement waits to be written.
        case answered(origin: UInt64, at: MonotonicInstant)
    }

    private var phase = Phase.idle

    var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// The socket of the sampled signal, if its acknowledgement waits to be written.
    var answeredOrigin: UInt64? { if case .answered(let origin, _) = phase { origin } else { nil } }

    /// A client has sent a signal that it wants to have acknowledged.
    mutating func submitted(origin: UInt64, request: RequestID, now: MonotonicInstant) {
        if isIdle { phase = .submitted(origin: origin, request: request, at: now) }
    }

    mutating func answered(origin: UInt64, request: RequestID?) {
        guard case .submitted(origin, let sampled, let at) = phase, sampled == request else { return }
        phase = .answered(origin: origin, at: at)
    }

    /// The acknowledgement was written.
    ///
    /// - Returns: how long it took.
    mutating func written(now: MonotonicInstant) -> Duration? {
        guard case .answered(_, let at) = phase else { return nil }
        phase = .idle
        return now.duration(since: at)
    }

    /// The socket is gone: its signal is no sample.
    mutating func closed(origin: UInt64) {
        switch phase {
        case .submitted(origin, _, _), .answered(origin, _): phase = .idle
        case .idle, .submitted, .answered: break
        }
    }
}
