import SignalingProtocol

/// Online-only signals between nodes (SIG-10). The sender's node checks them, and the others deliver them to their
/// clients.
extension LoggedEngine {
    /// Passes the online-only signals among the effects of a command to the other nodes.
    func relay(_ effects: [SessionEffect], of session: SessionID) {
        for case .onlineOnly(let signal) in effects {
            guard let epoch = sessions[session]?.state?.epoch else { continue }
            shared?.relay(RelayedSignal(epoch: epoch, signal: signal).encoded(), of: session)
        }
    }

    public func log(relayed bytes: [UInt8], of session: SessionID) {
        guard let hosted = sessions[session], let epoch = hosted.state?.epoch,
            let relayed = try? RelayedSignal(decoding: bytes), relayed.epoch == epoch
        else { return }
        report({ if !deliver(relayed.signal, of: hosted) { hosted.node.heldSignals.hold(relayed.signal, now) } }, now)
    }

    /// Delivers the signals that have waited for this entry.
    func deliverHeldSignals(of hosted: LoggedSession) {
        if hosted.node.heldSignals.isEmpty { return }
        for signal in hosted.node.heldSignals.takeAll(now) where !deliver(signal, of: hosted) {
            hosted.node.heldSignals.hold(signal, now)
        }
    }

    /// - Returns: false if this node does not have the events before the signal yet.
    private func deliver(_ signal: OnlineOnlySignal, of hosted: LoggedSession) -> Bool {
        guard let log = hosted.state?.log else { return true }
        guard signal.after <= log.lastSeq else { return false }
        // G6: never behind a later signal of the same sender.
        guard let later = log.entries(after: signal.after), !later.contains(where: { $0.isSignal(ofSenderOf: signal) })
        else { return true }
        var signal = signal
        signal.after = log.lastSeq
        observer?.engine(hosted.id, caused: .onlineOnly(signal))
        return true
    }
}

extension LogEntry {
    fileprivate func isSignal(ofSenderOf other: OnlineOnlySignal) -> Bool {
        switch kind {
        case .presence: false
        case .signal: line.insertion?.bytes == other.line.insertion?.bytes
        }
    }
}

/// Relayed signals of a session that wait until this node has the events before them.
struct HeldSignals {
    /// A node that is further behind drops them (LOG-8).
    static let longestWait = Duration.seconds(1)
    /// The maximum number of signals. Over the limit new ones are dropped.
    static let limit = 32

    private var signals: [(signal: OnlineOnlySignal, until: MonotonicInstant)] = []

    var isEmpty: Bool { signals.isEmpty }

    mutating func hold(_ signal: OnlineOnlySignal, _ now: MonotonicInstant) {
        signals.removeAll { $0.until <= now }
        guard signals.count < Self.limit else { return }
        signals.append((signal, now.advanced(by: Self.longestWait)))
    }

    /// The signals that have not waited too long, in their order.
    mutating func takeAll(_ now: MonotonicInstant) -> [OnlineOnlySignal] {
        defer { signals = [] }
        return signals.filter { $0.until > now }.map(\.signal)
    }
}
