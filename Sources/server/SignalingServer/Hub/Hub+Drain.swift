import SignalingCore
import SignalingProtocol

/// A drain that has begun.
struct DrainRun<Timer> {
    var rules: Drain
    let timer: Timer
    /// Called once, when it is over.
    var whenDone: (() -> Void)?
}

/// Sending clients away: at the end of a server, which disconnects all and stops (LEAVE-5), and alone without Redis.
extension Hub {
    /// Disconnects all clients, spread over at most `longest`, and every socket that is opened from now on. Call it
    /// once.
    ///
    /// - Parameter whenDone: called on the loop, in the turn in which the drain is over.
    func drain(over longest: Duration, whenDone: @escaping () -> Void) {
        // Oldest first, so that the order does not depend on the dictionary.
        let sockets = peers.values.filter { !$0.state.isClosing }.map(\.socket.id).sorted()
        drain = DrainRun(
            rules: Drain(sockets: sockets, longest: longest, pace: limits.drain, now: environment.now),
            timer: environment.makeTimer { [weak self] in self?.continueDrain() }, whenDone: whenDone)
        if isHurried { drain?.rules.hurry() }
        continueDrain()
    }

    /// Disconnects all remaining clients now. Without a drain, the next one disconnects all at once.
    func hurry() {
        isHurried = true
        drain?.rules.hurry()
        continueDrain()
    }

    /// The other nodes may have declared this one lost: it sends its clients away with 1001, which finds another node if
    /// there is one (LOG-34), and every client that comes until it is over. The sessions wait for their clients.
    func standAlone(_ isIsolated: Bool) {
        self.isIsolated = isIsolated
        guard isIsolated else { return }
        for socket in peers.values.filter({ !$0.state.isClosing }).map(\.socket.id).sorted() {
            if let peer = peers[socket] { handle(.mustClose(.goingAway), for: peer) }
        }
        turnEnded()
    }

    /// After this call nothing changes and nothing is acknowledged.
    func end() { hasEnded = true }

    func continueDrain() {
        while let step = drain?.rules.nextStep(now: environment.now, hasOpenSockets: !peers.isEmpty) {
            switch step {
            case .disconnect(let sockets, let moment):
                for socket in sockets {
                    if let peer = peers[socket] { disconnect(peer) }
                }
                guard let moment else { continue }
                drain?.timer.schedule(at: moment)
            case .awaitClosing(let end): drain?.timer.schedule(at: end)
            case .finish:
                turnEnded()
                drain?.whenDone?()
                drain?.whenDone = nil
            case .none: break
            }
            return
        }
    }

    /// Disconnects one client of a draining server.
    func disconnect(_ peer: Peer<Environment.Socket>) {
        guard let drain else { return }
        let random = Double.random(in: 0...1, using: &randomness)
        let wait = drain.rules.plan.returnWait(at: environment.now, random: random)
        handle(.serverStops(returnAfter: wait), for: peer)
    }

    /// Continues the drain when the last socket that it waits for has closed.
    func noteSocketClosed() {
        if peers.isEmpty, drain?.rules.awaitsClosing == true { drain?.timer.schedule(at: environment.now) }
    }
}
