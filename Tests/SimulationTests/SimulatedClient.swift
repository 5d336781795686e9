import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingVerification

@testable import SignalingClient
@testable import SignalingServer

/// A client of the product, `SessionDriver`, in virtual time, with the journal that it keeps.
///
/// Unchecked: a world and everything in it stay on one thread.
final class SimulatedClient: @unchecked Sendable {
    unowned let scenario: Scenario
    let world: World
    let name: String
    let suppressesPresence: Bool
    private let getsAbsences: Bool
    /// The next token expires within seconds.
    var getsExpiringTokens: Bool
    /// The newest socket.
    fileprivate(set) var link: Link?
    private(set) var steps: [ProgramRecord.Step] = []
    /// The users of the connections of which the client has heard.
    private(set) var users: [ConnectionID: UserID] = [:]
    private let driver: SessionDriver
    private let environment: Environment
    private var signalCount = 0
    /// The broadcasts that the client has got, and whether they are its user's.
    private var messages: [(seq: Seq, isOwn: Bool)] = []
    /// The data of the signals that have no answer yet.
    private var calls: [UInt64: String] = [:]
    /// The seqs of the connection events in the message that is being received.
    private var createdSeqs: [ConnectionID: Seq] = [:]
    private var destroyedSeqs: [ConnectionID: Seq] = [:]
    /// The absences that the newest socket has been told (PRES-4), and those that the program has been told.
    private var absencesSent: Set<ConnectionID> = []
    private(set) var absences: Set<ConnectionID> = []
    private var departed: Set<ConnectionID> = []

    init(scenario: Scenario, name: String, suppressesPresence: Bool) {
        self.scenario = scenario
        world = scenario.world
        self.name = name
        self.suppressesPresence = suppressesPresence
        getsAbsences = world.chance(2)
        getsExpiringTokens = world.chance(8)
        environment = Environment(world: world)
        driver = SessionDriver(environment: environment)
        environment.client = self
        driver.keepJournal { [unowned self] in note($0) }
    }

    /// Ends the cycles between the driver and its sockets.
    func tearDown() { driver.keepJournal { _ in } }

    var connection: ConnectionID? { driver.state.connection?.connectionId }
    /// Whether the program knows every absence (PRES-4).
    func knows(_ present: Set<ConnectionID>) -> Bool { !getsAbsences || suppressesPresence || absences == present }

    var isConnected: Bool { if case .connected = driver.state.phase { true } else { false } }
    var isDisconnected: Bool { if case .disconnected = driver.state.phase { true } else { false } }

    // MARK: - The application

    func connect() {
        guard let address = try? ServerAddress("ws://simulated") else { return }
        let token = Tokens.make(for: self)
        let request = ConnectRequest(
            apiKey: Tokens.project.apiKey, sessionId: Tokens.session, token: token,
            connectionEventsSuppressed: suppressesPresence, connectionAwayEvents: getsAbsences,
            history: world.judge.terms.history == nil ? nil : HistoryRequest(limit: 3))
        driver.connect(request, to: address) { [unowned self] result in
            if case .failure = result { steps.append(ProgramRecord.Step(world.now, .ended)) }
        }
    }

    /// - Returns: the signal's data.
    @discardableResult
    func signal(type: String?, to: ConnectionID?, isOnlineOnly: Bool) -> String {
        let data = nextData()
        let request = SignalRequest(type: type, data: data, to: to, isOnlineOnly: isOnlineOnly)
        driver.call({ .signal(request, $0) }, completion: { _ in })
        return data
    }

    private func nextData() -> String {
        signalCount += 1
        return "\(name)-\(signalCount)"
    }

    func forceDisconnect(_ target: ConnectionID) { driver.call({ .forceDisconnect(target, $0) }, completion: { _ in }) }

    func moderate(_ request: ModerationRequest) {
        driver.call({ .moderate(request, $0) }, completion: { _ in })
        driver.readRestrictions { [world] result in
            if case .success = result { world.count("restrictions") }
        }
    }

    func readSomeHistory() {
        let seq = Seq(Int64.random(in: 0...60, using: &world.random))
        let position: HistoryRequest.Position = world.chance(3) ? .newest : world.chance(2) ? .before(seq) : .after(seq)
        let limit = Int.random(in: 1...12, using: &world.random)
        readHistory(HistoryRequest(position, limit: limit))
    }

    func readHistory(_ request: HistoryRequest) {
        driver.read(request) { [world] result in
            if case .success = result { world.count("page") }
        }
    }

    /// One of the client's own, and now and then another's.
    func randomMessage() -> Seq? {
        let isAny = world.chance(6)
        let found = messages.filter { isAny || $0.isOwn }
        return (world.chance(2) ? found.suffix(4) : found[...]).randomElement(using: &world.random)?.seq
    }

    func edit(_ message: Seq) {
        let data = nextData()
        world.note("\(name) edits \(message) to \(data)")
        let request = ChangeRequest(message, .edit(data: data, isJSON: false))
        driver.call({ .change(request, $0) }, completion: { [unowned self] in noteChange("edit", $0) })
    }

    func erase(_ message: Seq) {
        world.note("\(name) erases \(message)")
        driver.call({ .erase(.message(message), $0) }, completion: { [unowned self] in noteChange("erasure", $0) })
    }

    private func noteChange(_ what: String, _ result: Result<Seq?, SignalingError>) {
        world.note("\(name)'s \(what): \(result)")
        switch result {
        case .success: world.count("\(what) acknowledged")
        case .failure(let error): world.count("\(what) refused \(error.code.number)")
        }
    }

    func readChanges(after seq: Seq) {
        driver.read(HistoryRequest(.changedAfter(seq), limit: Int.random(in: 1...12, using: &world.random))) {
            [world] result in
            guard case .success(let page) = result else { return }
            world.count(page.changes?.isAll == true ? "all changed" : "list of changes")
        }
    }

    func leave() { driver.disconnect {} }

    // MARK: - Events of the client

    private func note(_ entry: JournalEntry) {
        switch entry {
        case .opening: break
        case .welcomed(let welcome):
            world.name(welcome.connection.connectionId, of: name)
            for connection in welcome.connections + [welcome.connection] {
                users[connection.connectionId] = connection.user
            }
            world.note("\(name) \(welcome.outcome) as \(welcome.connection.connectionId), \(welcome.seq)")
            world.newestSecrets[welcome.connection.connectionId] = ResumeSecretHash(of: welcome.resume.secret)
            steps.append(ProgramRecord.Step(world.now, .entered(ProgramRecord.Entry(welcome))))
        case .sent(let call, let request):
            let data = request.data ?? ""
            calls[call] = data
            steps.append(ProgramRecord.Step(world.now, .sent(data)))
        case .answered(let call, let result):
            guard let data = calls.removeValue(forKey: call) else { return }
            let answer: ProgramRecord.Answer
            switch result {
            case .success(let seq): answer = .acknowledged(seq)
            case .failure(let error):
                answer = error.code == .notConnected ? .unknown : .refused
                if let restriction = error.restriction { world.count("refused by a \(restriction.kind)") }
            }
            noteAnswer(answer, to: data)
        case .heard(let event): note(event)
        }
    }

    private func noteAnswer(_ answer: ProgramRecord.Answer, to data: String) {
        world.note("\(name) \(data) \(answer)")
        switch answer {
        case .acknowledged: world.count("acknowledged")
        case .refused: world.count("refused")
        case .unknown: world.count("unknown fate")
        }
        steps.append(ProgramRecord.Step(world.now, .answered(data, answer)))
    }

    private func note(_ event: SessionEvent) {
        switch event {
        case .signal(let signal):
            if signal.seq == nil { world.count("online-only") }
            if signal.isDirected { world.count("directed") }
            let reception = ProgramRecord.Reception(
                seq: signal.seq, from: signal.from?.connectionId, data: signal.data ?? "")
            steps.append(ProgramRecord.Step(world.now, .received(reception)))
            if let seq = signal.seq, !signal.isDirected {
                let user = signal.from.flatMap { users[$0.connectionId] }
                let isOwn = user.map { $0 == Tokens.user(of: name) } ?? (reception.from == connection)
                messages.append((seq, isOwn))
            }
        case .connectionCreated(let peer):
            users[peer.connectionId] = peer.user
            steps.append(ProgramRecord.Step(world.now, .created(peer.connectionId, createdSeqs[peer.connectionId])))
        case .connectionAway(let peer):
            world.count("away")
            steps.append(ProgramRecord.Step(world.now, .away(peer.connectionId)))
            if !absences.insert(peer.connectionId).inserted || departed.contains(peer.connectionId) {
                world.fail("PRES-4: \(name) heard that \(peer.connectionId) is away, twice or after its end")
            }
        case .connectionBack(let peer):
            world.count("back")
            steps.append(ProgramRecord.Step(world.now, .back(peer.connectionId)))
            if absences.remove(peer.connectionId) == nil || departed.contains(peer.connectionId) {
                world.fail("PRES-4: \(name) heard that \(peer.connectionId) is back, and it was not away")
            }
        case .connectionDestroyed(let peer, _):
            absences.remove(peer.connectionId)
            departed.insert(peer.connectionId)
            steps.append(ProgramRecord.Step(world.now, .destroyed(peer.connectionId, destroyedSeqs[peer.connectionId])))
        case .disconnected(let reason, let ban):
            world.note("\(name) is disconnected: \(reason)\(ban == nil ? "" : ", banned")")
            if ban != nil { world.count("told of a ban") }
            absences = []
            steps.append(ProgramRecord.Step(world.now, .ended))
        case .reconnecting: world.note("\(name) has lost its socket")
        case .erased: steps.append(ProgramRecord.Step(world.now, .erased))
        case .userJoined(let user): steps.append(ProgramRecord.Step(world.now, .userJoined(user.id)))
        case .userLeft(let user):
            world.count("user left")
            steps.append(ProgramRecord.Step(world.now, .userLeft(user.id)))
        case .moderated(let event, let seq): steps.append(ProgramRecord.Step(world.now, .moderated(event, seq)))
        case .reconnected: steps.append(ProgramRecord.Step(world.now, .reconnected))
        case .restricted(let restriction): world.count("restricted by a \(restriction.kind)")
        case .unrestricted(let kind): world.count("end of a \(kind)")
        case .changed(let event):
            world.count("edit told")
            steps.append(ProgramRecord.Step(world.now, .changed(event)))
        case .history, .reactions, .reacted, .read, .overflowed: break
        }
    }

    // MARK: - The wire

    /// A client ignores events that it has seen already. The server must not send them in the first place.
    func willReceive(_ message: [UInt8], on link: Link) {
        for line in message.split(separator: UInt8(ascii: "\n")) {
            // Only these messages have a seq that matters: signals, and messages that begin with `connect`.
            guard line.starts(with: Self.signalStart) || line.starts(with: Self.connectionStart) else { continue }
            switch world.decoded(Array(line)) {
            case .connected(_, let welcome):
                lastSeqSent = (link, welcome.seq)
                absencesSent = Set(welcome.away ?? [])
                let isAsked = getsAbsences && !suppressesPresence
                if (welcome.away != nil) != isAsked { world.fail("PRES-4: \(name) got `away` without asking, or none") }
            case .connectionAway(let id):
                if !absencesSent.insert(id).inserted { world.fail("PRES-4: \(name) was sent twice that \(id) is away") }
            case .connectionBack(let id):
                if absencesSent.remove(id) == nil { world.fail("PRES-4: \(name) was sent that \(id) is back, twice") }
            case .signal(let event): checkSeq(event.seq, on: link)
            case .connectionCreated(let seq, let peer):
                createdSeqs[peer.connectionId] = seq
                checkSeq(seq, on: link)
            case .connectionDestroyed(let seq, let id, _):
                destroyedSeqs[id] = seq
                absencesSent.remove(id)
                checkSeq(seq, on: link)
            case .connections(_, let rest): if rest > 0 { world.count("list in pages") }
            case .ack, .error, .history, .change, .reactions, .reacted, .reactors, .read, .erased, .moderated,
                .restricted, .unrestricted, .restrictions,
                .disconnected,
                .ping, nil:
                world.fail("\(name) got a line of no known form")
            }
        }
    }

    func didReceive() {
        createdSeqs = [:]
        destroyedSeqs = [:]
    }

    func willClose(_ link: Link, code: UInt16) {
        guard link === self.link else { return }
        switch CloseReason(rawValue: code) {
        case .normal where !calls.isEmpty && !isOverrun(on: link):
            world.fail("LEAVE-1: \(name) left, and \(calls.values.sorted()) was not answered before")
        default: break
        }
    }

    /// Whether the log has lost events that the client lacks. Then its answers are lost, too, and it counts them as
    /// unknown.
    private func isOverrun(on link: Link) -> Bool {
        guard let last = lastSeqSent, last.link === link else { return false }
        return link.server.engine.withLog(of: Tokens.session) { last.seq < $0.reachesBackTo } ?? false
    }

    /// Whether the client has received a signal with this data.
    func hasReceived(_ data: String) -> Bool {
        steps.contains { step in
            if case .received(let reception) = step.action { reception.data == data } else { false }
        }
    }

    private static let signalStart = Array(#"{"ev":"signal""#.utf8)
    private static let connectionStart = Array(#"{"ev":"connect"#.utf8)
    private var lastSeqSent: (link: Link, seq: Seq)?

    private func checkSeq(_ seq: Seq?, on link: Link) {
        guard let seq else { return }
        guard let last = lastSeqSent, last.link === link else {
            return world.fail("CON-6: \(name) was sent \(seq) before `connected`")
        }
        if seq <= last.seq { world.fail("G1, G3: \(name) was sent \(seq) after \(last.seq)") }
        lastSeqSent = (link, seq)
    }

    // MARK: - The environment

    private final class Environment: ClientEnvironment, @unchecked Sendable {
        unowned let world: World
        weak var client: SimulatedClient?

        init(world: World) { self.world = world }

        func start() throws(SignalingError) {}
        func post(_ work: @escaping @Sendable () -> Void) { world.schedule(at: world.now, work) }
        var now: MonotonicInstant { world.now }
        var wallTime: WallTime { world.wallTime }
        func random() -> Double { Double.random(in: 0..<1, using: &world.random) }

        func makeTimer(_ fire: @escaping () -> Void) -> any ClientTimer {
            VirtualTimer(world: world) { [weak self] in
                // A connected client has one deadline: HB-3.
                if let client = self?.client, client.isConnected { self?.world.count("silence") }
                fire()
            }
        }

        func openLink(
            url: String, trustedCertificatesFile: String?, onEvent: @escaping (ClientLinkEvent) -> Void
        ) throws(SignalingError) -> any ClientLink {
            guard let client else { throw SignalingError(.connectFailed, "the simulation is over") }
            if let link = client.scenario.openLink(for: client, onEvent: onEvent) {
                client.link = link
                return link.clientEnd
            }
            world.schedule(after: .milliseconds(5)) {
                onEvent(.failed(SignalingError(.connectFailed, "connection refused")))
            }
            return ClientEnd()
        }
    }
}
