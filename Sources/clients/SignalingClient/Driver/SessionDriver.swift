import JSONText
import Locking
import SignalingProtocol

/// Executes the effects of a session's ``ClientState``: owns the socket and the timer, and calls the completions.
///
/// Its methods run on the environment's loop, and so do the completions that they are given. A completion may be called
/// before the method returns; it posts to the loop to call the driver again. `SessionDriver+Tasks.swift` has the entry
/// points for other threads.
///
/// Unchecked: all stored variables except the mutexes are touched on the loop only.
final class SessionDriver: @unchecked Sendable {
    let environment: any ClientEnvironment
    let snapshot = Lock(Session.Snapshot())
    let streams = Lock(EventStreams())
    let returns = Lock(ReturnStreams())
    private let log: ClientLog
    private let journal = Lock(Journal())

    private(set) var state: ClientState
    private var link: (any ClientLink)?
    /// Distinguishes the events of an older socket from those of the current one.
    private var generation = 0
    private var target: (url: String, trustedCertificatesFile: String?) = ("", nil)
    private var timer: (any ClientTimer)?
    private var parser = JSONParser(
        limits: JSONLimits(depth: Limits.jsonDepth, byteCount: Limits.clientMessageByteCount))
    private var unsent = OutboundLines()
    private var isFlushPosted = false
    private var connectCompletion: ((Result<Void, SignalingError>) -> Void)?
    private var completions: [ClientState.CallID: Completion] = [:]
    private var disconnectCompletions: [() -> Void] = []

    /// What a request of the application waits for.
    private enum Completion {
        case acknowledgement((Result<Seq?, SignalingError>) -> Void)
        case page((Result<HistoryPage, SignalingError>) -> Void)
        case restrictions((Result<[RestrictionRecord], SignalingError>) -> Void)
        case reactors((Result<[Reactors], SignalingError>) -> Void)
    }

    private var lastCall: UInt64 = 0
    private var lastConnect: UInt64 = 0

    init(environment: any ClientEnvironment, log: ClientLog = .none) {
        self.environment = environment
        self.log = log
        state = ClientState(random: { environment.random() })
    }

    func keepJournal(_ write: @escaping @Sendable (JournalEntry) -> Void) { journal.withLock { $0.write = write } }

    // MARK: - The application's requests

    /// Returns the number of this attempt, for ``cancelConnect(_:)``.
    @discardableResult
    func connect(
        _ request: ConnectRequest, to address: ServerAddress, trustedCertificatesFile: String? = nil,
        completion: @escaping (Result<Void, SignalingError>) -> Void
    ) -> UInt64 {
        switch state.phase {
        case .disconnected, .disconnecting: break
        case .opening, .connecting, .connected, .reconnecting:
            // The completion of the first connect still waits.
            completion(.failure(SignalingError(.illegalState, "already connected or connecting")))
            return 0
        }
        lastConnect += 1
        let attempt = lastConnect
        connectCompletion = completion
        target = (address.webSocketURL(for: request.sessionId), trustedCertificatesFile)
        handle(.connect(request))
        return attempt
    }

    @discardableResult
    func call(
        _ input: (ClientState.CallID) -> ClientState.Input,
        completion: @escaping (Result<Seq?, SignalingError>) -> Void
    ) -> ClientState.CallID {
        let call = nextCall()
        completions[call] = .acknowledgement(completion)
        let input = input(call)
        if case .signal(let request, _, _) = input { note(.sent(call.rawValue, request)) }
        handle(input)
        return call
    }

    @discardableResult
    func read(
        _ request: HistoryRequest, completion: @escaping (Result<HistoryPage, SignalingError>) -> Void
    ) -> ClientState.CallID {
        let call = nextCall()
        completions[call] = .page(completion)
        handle(.history(request, call))
        return call
    }

    @discardableResult
    func readRestrictions(
        completion: @escaping (Result<[RestrictionRecord], SignalingError>) -> Void
    ) -> ClientState.CallID {
        let call = nextCall()
        completions[call] = .restrictions(completion)
        handle(.restrictions(call))
        return call
    }

    @discardableResult
    func read(
        _ request: ReactorsRequest, completion: @escaping (Result<[Reactors], SignalingError>) -> Void
    ) -> ClientState.CallID {
        let call = nextCall()
        completions[call] = .reactors(completion)
        handle(.reactors(request, call))
        return call
    }

    private func nextCall() -> ClientState.CallID {
        lastCall += 1
        return ClientState.CallID(rawValue: lastCall)
    }

    /// Ends this connect if it has no answer yet.
    func cancelConnect(_ attempt: UInt64) {
        if attempt == lastConnect, connectCompletion != nil { handle(.cancelConnect) }
    }

    /// Withdraws a request of which no byte was written. A request that was written may have arrived, so its answer
    /// completes it.
    func withdraw(_ call: ClientState.CallID) {
        if let id = state.pending.sentID(of: call), !unsent.withdraw(id) { return }
        handle(.withdraw(call))
    }

    /// Calls `completion` when the connection has ended.
    func disconnect(completion: @escaping () -> Void) {
        disconnectCompletions.append(completion)
        handle(.disconnect)
    }

    /// The device's network or the app's place on the screen has changed.
    func lifeChanged(_ change: DeviceLife) {
        switch change {
        case .background: handle(.suspended)
        case .foreground: handle(.awake)
        case .networkBack: handle(.networkBack)
        }
    }

    // MARK: - Events of the socket and the timer

    private func linkEvent(_ event: ClientLinkEvent, generation: Int) {
        guard generation == self.generation else { return }
        switch event {
        case .opened: handle(.socketOpened)
        case .drained: flush()
        case .closed(let code):
            link = nil
            handle(.socketClosed(code: code))
        case .failed(let error):
            link = nil
            handle(.socketFailed(error))
        case .received(let message):
            for line in MessageLines(message) {
                received(line)
                if generation != self.generation { return }
            }
        }
    }

    private func received(_ line: UnsafeRawBufferPointer) {
        do {
            guard let message = try ServerMessage.decode(line: line, parser: &parser) else {
                return handle(.receivedUnknown)
            }
            // The list of any other `connected` may follow in pages: it is noted when it is complete.
            if case .connected(_, let welcome) = message, welcome.outcome == .resumed { note(.welcomed(welcome)) }
            handle(.received(message))
        } catch {
            log.malformed(error)
            handle(.receivedMalformed(error))
        }
    }

    private func timerFired() {
        perform(state.advance(to: environment.now))
        settle()
    }

    // MARK: - Effects

    private func handle(_ input: ClientState.Input) {
        perform(state.handle(input, now: environment.now))
        settle()
    }

    private func settle() {
        let timer = timer ?? environment.makeTimer { [weak self] in self?.timerFired() }
        self.timer = timer
        if let deadline = state.nextDeadline { timer.schedule(at: deadline) } else { timer.cancel() }
        if case .disconnected = state.phase { completeDisconnects() }
    }

    private func perform(_ effects: [ClientState.Effect]) {
        for effect in effects {
            switch effect {
            case .openSocket:
                note(.opening)
                openSocket()
            case .send(let message): send(message)
            case .closeSocket(let reason): closeSocket(reason)
            case .connectSucceeded(let welcome):
                note(.welcomed(welcome))
                snapshot.withLock { $0 = Session.Snapshot(welcome) }
                log.connected(welcome.connection)
                completeConnect(.success(()))
            case .connectFailed(let error):
                log.connectFailed(error)
                completeConnect(.failure(error))
            case .connectionReplaced(let welcome):
                if welcome.outcome != .resumed { note(.welcomed(welcome)) }
                snapshot.withLock { $0.replace(welcome) }
            case .connectionResumed(let welcome): snapshot.withLock { $0.resume(welcome) }
            case .callSucceeded(let call, let seq): complete(call, .success(seq))
            case .pageRead(let call, let page):
                if case .page(let completion)? = completions.removeValue(forKey: call) { completion(.success(page)) }
            case .reactorsRead(let call, let reactors):
                if case .reactors(let completion)? = completions.removeValue(forKey: call) {
                    completion(.success(reactors))
                }
            case .restrictionsRead(let call, let records):
                if case .restrictions(let completion)? = completions.removeValue(forKey: call) {
                    completion(.success(records))
                }
            case .callFailed(let call, let error): fail(call, error)
            case .emit(let event):
                note(.heard(event))
                log.event(event, connection: snapshot.withLock { $0.connection })
                snapshot.withLock { $0.note(event) }
                for ended in streams.withLock({ $0.yield(event) }) {
                    log.overflowed()
                    ended.finish()
                }
                if case .disconnected = event { completeDisconnects() }
            }
        }
    }

    private func completeConnect(_ result: Result<Void, SignalingError>) {
        let completion = connectCompletion
        connectCompletion = nil
        completion?(result)
    }

    private func complete(_ call: ClientState.CallID, _ result: Result<Seq?, SignalingError>) {
        note(.answered(call.rawValue, result))
        if case .acknowledgement(let completion)? = completions.removeValue(forKey: call) { completion(result) }
    }

    private func fail(_ call: ClientState.CallID, _ error: SignalingError) {
        log.refused(error)
        if let restriction = error.restriction {
            let now = environment.wallTime
            snapshot.withLock { $0.refused(by: restriction, retryAfter: error.retryAfter, now: now) }
        }
        switch completions[call] {
        case .acknowledgement?, nil: complete(call, .failure(error))
        case .page(let completion)?:
            completions[call] = nil
            completion(.failure(error))
        case .restrictions(let completion)?:
            completions[call] = nil
            completion(.failure(error))
        case .reactors(let completion)?:
            completions[call] = nil
            completion(.failure(error))
        }
    }

    private func completeDisconnects() {
        let completions = disconnectCompletions
        disconnectCompletions = []
        for completion in completions { completion() }
    }

    private func note(_ entry: @autoclosure () -> JournalEntry) {
        if let write = journal.withLock({ $0.write }) { write(entry()) }
    }

    // MARK: - The socket

    private func openSocket() {
        generation += 1
        log.opening(target.url)
        // With a first connect, the IDs of requests begin anew.
        if case .opening = state.phase { unsent = OutboundLines() } else { unsent.removeAll() }
        let generation = generation
        do {
            link = try environment.openLink(url: target.url, trustedCertificatesFile: target.trustedCertificatesFile) {
                self.linkEvent($0, generation: generation)
            }
        } catch {
            handle(.socketFailed(error))
        }
    }

    /// The messages of one turn of the loop are sent together, at its end.
    private func send(_ message: ClientMessage) {
        unsent.append(message, request: message.withdrawableID)
        if isFlushPosted { return }
        isFlushPosted = true
        environment.post { [self] in
            isFlushPosted = false
            flush()
        }
    }

    private func flush() {
        guard let link else { return }
        while !unsent.isEmpty, !link.isBacklogged { unsent.writeNext { link.write($0) } }
    }

    private func closeSocket(_ reason: CloseReason) {
        flush()
        link?.close(code: reason.rawValue)
        link = nil
        generation += 1
    }
}

extension ClientMessage {
    /// The ID of a request that an application may withdraw.
    fileprivate var withdrawableID: RequestID? {
        switch self {
        case .signal(let id, _), .forceDisconnect(let id, _), .refreshToken(let id, _), .history(let id, _),
            .change(let id, _), .react(let id, _), .reactors(let id, _), .read(let id, _), .erase(let id, _),
            .moderate(let id, _), .restrictions(let id):
            id
        case .connect, .streams, .disconnect, .pong: nil
        }
    }
}
