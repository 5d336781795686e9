import SignalingProtocol

/// Online-only signals between nodes (SIG-10). The sender's node checks them, and the others deliver them to their
/// clients.
extension ClusterEngine {
    /// Passes the online-only signals among the effects of a command to the other nodes.
    func relay(_ effects: [SessionEffect], of session: SessionID) {
        for case .onlineOnly(let signal) in effects {
            guard let hosted = sessions[session], let epoch = hosted.state?.epoch else { continue }
            let relayed = RelayedSignal(
                epoch: epoch, node: run, number: hosted.position?.number ?? 0, signal: signal)
            log.relay(relayed.encoded(), of: session)
        }
    }

    public func log(relayed bytes: [UInt8], of session: SessionID) {
        guard let hosted = sessions[session], let relayed = try? RelayedSignal(decoding: bytes) else { return }
        report { deliverOrHold(relayed, of: hosted) }
    }

    /// Delivers the signals that have waited for this entry.
    func deliverHeldSignals(of hosted: Hosted) {
        if hosted.node.heldSignals.isEmpty { return }
        for signal in hosted.node.heldSignals.takeAll(now) { deliverOrHold(signal, of: hosted) }
    }

    private func deliverOrHold(_ relayed: RelayedSignal, of hosted: Hosted) {
        guard let state = hosted.state, let position = hosted.position, relayed.epoch == state.epoch else { return }
        guard relayed.number <= position.number else { return hosted.node.heldSignals.hold(relayed, now) }
        guard !isOutdated(relayed, hosted, state) else { return }
        var signal = relayed.signal
        signal.after = state.log.lastSeq
        observer?.engine(hosted.id, caused: .onlineOnly(signal))
    }

    /// Whether a client would get the signal twice, or behind a newer one of the same sender (G6), or from a sender who may
    /// not signal.
    private func isOutdated(_ relayed: RelayedSignal, _ hosted: Hosted, _ state: SessionState) -> Bool {
        // A client that came here since then may have got it on the node where it was before.
        if hosted.node.lastJoin > relayed.number { return true }
        if let sender = relayed.signal.from {
            // The sender has moved to another node, which may have relayed newer signals.
            guard state.roster[sender]?.isAttached(toNode: relayed.node) == true else { return true }
            // Its node may not have known of the restriction yet (MOD-4).
            if state.silencing(sender, sessions.lastTime) != nil { return true }
        }
        return state.log.entries(after: relayed.signal.after)?
            .contains { $0.isSignal(ofSenderOf: relayed.signal) } ?? true
    }
}

extension LogEntry {
    fileprivate func isSignal(ofSenderOf other: OnlineOnlySignal) -> Bool {
        switch kind {
        case .presence, .change, .reactions, .erasure, .erased, .moderation: false
        case .signal: line.insertion?.bytes == other.line.insertion?.bytes
        }
    }
}
