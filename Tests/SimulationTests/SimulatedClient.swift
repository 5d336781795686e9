import SignalingProtocol
import SignalingVerification

@testable import SignalingClient

/// The product's own client, with a socket of the simulated network, and the notes that it takes.
final class SimulatedClient {
    unowned let world: World
    let name: String
    let suppressesPresence: Bool
    var hasExpiringToken = false
    private var state: ClientState
    private(set) var notes: [History.Step] = []
    private(set) var link: Link?
    private var generation = 0
    private var isOpening = false
    private var calls: [ClientState.CallID: String?] = [:]
    private var lastCall: UInt64 = 0
    private var sendCount = 0
    private var wake: MonotonicInstant?
    /// The seq of the event that is being heard.
    private var seqHeard: Seq?
    private var lastSeqSent = Seq.zero

    init(world: World, name: String, suppressesPresence: Bool) {
        self.world = world
        self.name = name
        self.suppressesPresence = suppressesPresence
        state = ClientState(random: { [unowned world] in Double.random(in: 0..<1, using: &world.random) })
    }

    var connection: ConnectionID? { state.connection?.connectionId }
    var isConnected: Bool { if case .connected = state.phase { true } else { false } }
    var isOut: Bool { if case .disconnected = state.phase { true } else { false } }

    func connect() {
        act(
            .connect(
                ConnectRequest(
                    apiKey: APIKey("100"), sessionId: SimulatedServer.session, token: "token of \(name)",
                    connectionEventsSuppressed: suppressesPresence)))
    }

    func signal(type: String?, to: ConnectionID?, isOnlineOnly: Bool) {
        sendCount += 1
        let data = "\(name)-\(sendCount)"
        note(.sent(History.Sending(data: data, type: type, to: to, isOnlineOnly: isOnlineOnly)))
        lastCall += 1
        let call = ClientState.CallID(rawValue: lastCall)
        calls[call] = data
        act(.signal(SignalRequest(type: type, data: data, to: to, isOnlineOnly: isOnlineOnly), call))
    }

    func forceDisconnect(_ target: ConnectionID) {
        lastCall += 1
        let call = ClientState.CallID(rawValue: lastCall)
        calls.updateValue(nil, forKey: call)
        act(.forceDisconnect(target, call))
    }

    func leave() { act(.disconnect) }

    func hear(_ input: ClientState.Input, _ generation: Int) {
        guard generation == self.generation else { return }
        checkWire(input)
        switch input {
        case .socketOpened, .socketFailed: isOpening = false
        case .socketClosed(4504): world.fail("\(name) was sent away for its own sake")
        case .received(.connectionCreated(let seq, _)), .received(.connectionDestroyed(let seq, _, _)): seqHeard = seq
        case .received(.connected(_, let welcome)):
            world.trace("\(name) \(welcome.outcome) as \(welcome.connection.connectionId), \(welcome.seq)")
            note(.entered(History.Entry(welcome)))
        default: seqHeard = nil
        }
        act(input)
        seqHeard = nil
    }

    /// A client drops what it has seen already; the server is not to send it in the first place.
    private func checkWire(_ input: ClientState.Input) {
        guard case .received(let message) = input else { return }
        let seq: Seq?
        switch message {
        case .connected(_, let welcome):
            lastSeqSent = welcome.seq
            return
        case .signal(let event): seq = event.seq
        case .connectionCreated(let own, _), .connectionDestroyed(let own, _, _): seq = own
        case .ack, .error, .disconnected, .ping: return
        }
        guard let seq else { return }
        if seq <= lastSeqSent { world.fail("G1, G3: \(name) was sent \(seq) after \(lastSeqSent)") }
        lastSeqSent = seq
    }

    private func act(_ input: ClientState.Input) {
        perform(state.handle(input, now: world.now))
        settle()
    }

    private func settle() {
        guard let deadline = state.nextDeadline else { return }
        if let wake, wake <= deadline { return }
        wake = deadline
        world.schedule(at: deadline) { [self] in
            guard wake == deadline else { return }
            wake = nil
            if case .connected = state.phase, let due = state.nextDeadline, due <= world.now { world.count("silence") }
            perform(state.advance(to: world.now))
            settle()
        }
    }

    private func note(_ what: History.What) { notes.append(History.Step(world.now, what)) }

    private func perform(_ effects: [ClientState.Effect]) {
        for effect in effects {
            switch effect {
            case .openSocket:
                note(.opening)
                generation += 1
                let own = generation
                link = world.open(self, own)
                isOpening = true
                // As the transport does.
                world.schedule(at: world.now.advanced(by: .seconds(10))) { [self] in
                    guard isOpening else { return }
                    hear(.socketFailed(SignalingError(.connectFailed, "no answer")), own)
                }
                if link == nil {
                    world.schedule(at: world.now.advanced(by: .milliseconds(5))) { [self] in
                        hear(.socketFailed(SignalingError(.connectFailed, "refused")), own)
                    }
                }
            case .send(let message):
                var message = message
                if case .connect(let id, var request) = message, hasExpiringToken, request.resume != nil {
                    request.token = "expired \(name)"
                    message = .connect(id, request)
                }
                link?.clientSends(message)
            case .closeSocket(let reason):
                link?.clientCloses(code: reason.rawValue)
                generation += 1
                link = nil
            case .connectSucceeded, .connectionReplaced: break
            case .connectFailed: note(.ended)
            case .callSucceeded(let call, let seq): answer(call, .acknowledged(seq))
            case .callFailed(let call, let error): answer(call, error.code == .notConnected ? .unknown : .refused)
            case .emit(let event): note(event)
            }
        }
    }

    private func answer(_ call: ClientState.CallID, _ answer: History.Answer) {
        guard let data = calls.removeValue(forKey: call), let data else { return }
        world.trace("\(name) \(data) \(answer)")
        switch answer {
        case .acknowledged: world.count("acknowledged")
        case .refused: world.count("refused")
        case .unknown: world.count("unknown fate")
        }
        note(.answered(data, answer))
    }

    private func note(_ event: SessionEvent) {
        switch event {
        case .signal(let signal):
            if signal.seq == nil { world.count("online-only") }
            if signal.isDirected { world.count("directed") }
            note(
                .received(
                    History.Reception(
                        seq: signal.seq, from: signal.from?.connectionId, data: signal.data ?? "")))
        case .connectionCreated(let peer): note(.created(peer.connectionId, seqHeard))
        case .connectionDestroyed(let peer, _): note(.destroyed(peer.connectionId, seqHeard))
        case .disconnected(let reason):
            world.trace("\(name) is out: \(reason)")
            note(.ended)
        case .reconnecting: world.trace("\(name) is cut off")
        case .reconnected, .overflowed: break
        }
    }
}
