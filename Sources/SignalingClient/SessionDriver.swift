import JSONText
import Logging
import SignalingProtocol
import SignalingTransport
import Synchronization

/// Carries out a session's rules: owns the socket and the timer, and keeps who waits for what.
///
/// Unchecked: all stored variables but the two mutexes are touched on the loop only.
final class SessionDriver: @unchecked Sendable {
    typealias Answer<Value> = CheckedContinuation<Result<Value, SignalingError>, Never>

    let snapshot = Mutex(Session.Snapshot())
    let streams = Mutex(EventStreams())

    private let loop = ClientLoop.shared
    private var state = ClientState()
    private var socket: ClientSocket?
    /// Tells the events of an older socket from those of the present one.
    private var generation = 0
    private var target: (url: String, trustedCertificatesFile: String?) = ("", nil)
    private var timer: LoopTimer?
    private var parser = JSONParser(
        limits: JSONLimits(depth: Limits.jsonDepth, byteCount: Limits.clientMessageByteCount))
    private let frame = OutboundFrame()
    private var unsent: [UInt8] = []
    private var isWriteArmed = false
    private var connectAnswer: Answer<Void>?
    private var callAnswers: [ClientState.CallID: Answer<Seq?>] = [:]
    private var disconnectAnswers: [CheckedContinuation<Void, Never>] = []
    private var lastCall: UInt64 = 0
    private let journal = Mutex(Journal())

    // MARK: - From anywhere

    func connect(
        _ request: ConnectRequest, to address: ServerAddress, trustedCertificatesFile: String?
    ) async throws(SignalingError) {
        let loop = try startedLoop()
        let result = await withCheckedContinuation { (answer: Answer<Void>) in
            loop.post {
                guard case .disconnected = self.state.phase else {
                    answer.resume(
                        returning: .failure(SignalingError(.illegalState, "already connected or connecting")))
                    return
                }
                self.connectAnswer = answer
                self.target = (address.webSocketURL, trustedCertificatesFile)
                self.handle(.connect(request))
            }
        }
        try result.get()
    }

    func call(
        _ input: @escaping @Sendable (ClientState.CallID) -> ClientState.Input
    ) async throws(SignalingError) -> Seq? {
        let loop = try startedLoop()
        let result = await withCheckedContinuation { (answer: Answer<Seq?>) in
            loop.post {
                self.lastCall += 1
                let call = ClientState.CallID(rawValue: self.lastCall)
                self.callAnswers[call] = answer
                let input = input(call)
                if case .signal(let request, _, _) = input { self.note(.sent(call.rawValue, request)) }
                self.handle(input)
            }
        }
        return try result.get()
    }

    func keepJournal(_ write: @escaping @Sendable (JournalEntry) -> Void) { journal.withLock { $0.write = write } }

    private func note(_ entry: @autoclosure () -> JournalEntry) {
        if let write = journal.withLock({ $0.write }) { write(entry()) }
    }

    func disconnect() async {
        guard let loop = try? startedLoop() else { return }
        await withCheckedContinuation { (answer: CheckedContinuation<Void, Never>) in
            loop.post {
                self.disconnectAnswers.append(answer)
                self.handle(.disconnect)
                self.answerDisconnects()
            }
        }
    }

    /// The application has let go of its session.
    func abandon() {
        for stream in streams.withLock({ $0.removeAll() }) { stream.finish() }
        guard let loop = try? startedLoop() else { return }
        loop.post {
            self.handle(.disconnect)
        }
    }

    private func startedLoop() throws(SignalingError) -> LoopThread {
        do { return try loop.get() } catch {
            throw SignalingError(.connectFailed, "no event loop: \(error.message)")
        }
    }

    // MARK: - On the loop

    private func handle(_ input: ClientState.Input) {
        guard let loop = try? loop.get() else { return }
        perform(state.handle(input, now: loop.now))
        settle(loop)
    }

    private func settle(_ loop: LoopThread) {
        let timer = timer ?? LoopTimer(loop: loop) { [weak self] in self?.timerFired() }
        self.timer = timer
        if let deadline = state.nextDeadline { timer.schedule(at: deadline) } else { timer.cancel() }
        answerDisconnects()
    }

    private func timerFired() {
        guard let loop = try? loop.get() else { return }
        perform(state.advance(to: loop.now))
        settle(loop)
    }

    private func perform(_ effects: [ClientState.Effect]) {
        for effect in effects {
            switch effect {
            case .openSocket:
                note(.opening)
                openSocket()
            case .send(let message): send(message)
            case .closeSocket(let code): closeSocket(code)
            case .connectSucceeded(let welcome):
                snapshot.withLock { $0 = Session.Snapshot(welcome) }
                connectAnswer?.resume(returning: .success(()))
                connectAnswer = nil
            case .connectFailed(let error):
                connectAnswer?.resume(returning: .failure(error))
                connectAnswer = nil
            case .connectionReplaced(let welcome): snapshot.withLock { $0.replace(welcome) }
            case .callSucceeded(let call, let seq):
                note(.answered(call.rawValue, .success(seq)))
                callAnswers.removeValue(forKey: call)?.resume(returning: .success(seq))
            case .callFailed(let call, let error):
                note(.answered(call.rawValue, .failure(error)))
                callAnswers.removeValue(forKey: call)?.resume(returning: .failure(error))
            case .emit(let event):
                note(.heard(event))
                snapshot.withLock { $0.note(event) }
                for ended in streams.withLock({ $0.yield(event) }) { ended.finish() }
            }
        }
    }

    private func answerDisconnects() {
        guard case .disconnected = state.phase, !disconnectAnswers.isEmpty else { return }
        for answer in disconnectAnswers { answer.resume() }
        disconnectAnswers = []
    }

    private func openSocket() {
        guard let loop = try? loop.get() else { return }
        generation += 1
        unsent = []
        isWriteArmed = false
        do {
            var options = ClientSocket.Options()
            options.trustedCertificatesFile = target.trustedCertificatesFile
            socket = try ClientSocket.connect(
                loop: loop, url: target.url, options: options,
                handler: SocketEvents(driver: self, generation: generation))
        } catch {
            let isOurOptions = error.code == .invalidURL || error.code == .libraryFailed
            handle(.socketFailed(SignalingError(isOurOptions ? .invalidParameter : .connectFailed, error.message)))
        }
    }

    /// What one turn of the loop wants to say goes out as one text message (WIRE-3).
    private func send(_ message: ClientMessage) {
        if !unsent.isEmpty { unsent.append(UInt8(ascii: "\n")) }
        unsent.append(contentsOf: message.encoded())
        if isWriteArmed { return }
        isWriteArmed = true
        (try? loop.get())?.post { [self] in
            isWriteArmed = false
            flush()
        }
    }

    private func flush() {
        guard let socket, !socket.isBacklogged, !unsent.isEmpty else { return }
        let byteCount = takeable()
        frame.removeAll()
        frame.append(contentsOf: unsent.prefix(byteCount))
        // A client's frame is masked where it lies: what is in it afterwards means nothing.
        socket.write(frame)
        unsent.removeFirst(min(unsent.count, byteCount + 1))
        if !unsent.isEmpty, !socket.isBacklogged { flush() }
    }

    /// Whole lines up to the server's limit for one message; a single line is never longer.
    private func takeable() -> Int {
        guard unsent.count > Limits.messageByteCount else { return unsent.count }
        let window = unsent.prefix(Limits.messageByteCount + 1)
        return window.lastIndex(of: UInt8(ascii: "\n")) ?? unsent.count
    }

    private func closeSocket(_ code: UInt16) {
        flush()
        socket?.close(code: code, reason: "")
        socket = nil
        generation += 1
    }

    /// What the socket says, if it is the present one.
    func heard(_ event: SocketEvents.Event, generation: Int) {
        guard generation == self.generation else { return }
        switch event {
        case .opened: handle(.socketOpened)
        case .drained: flush()
        case .closed(let code):
            socket = nil
            handle(.socketClosed(code: code))
        case .failed(let error):
            socket = nil
            handle(.socketFailed(SignalingError(.connectFailed, error.message)))
        case .received(let message):
            for line in MessageLines(message) {
                do {
                    if let message = try ServerMessage.decode(line: line, parser: &parser) {
                        if case .connected(_, let welcome) = message { note(.welcomed(welcome)) }
                        handle(.received(message))
                    }
                } catch {
                    handle(.receivedMalformed(error))
                }
                if generation != self.generation { return }
            }
        }
    }
}

/// The library's one loop, for all sessions of a process; started when the first one needs it.
enum ClientLoop {
    static let shared: Result<LoopThread, TransportError> = {
        // What goes wrong is told to the callers; a library does not write to its application's log.
        let logger = Logger(label: "signalbox.client") { _ in SwiftLogNoOpLogHandler() }
        let loop = LoopThread(name: "signalbox-client", logger: logger)
        do throws(TransportError) {
            try loop.start()
            return .success(loop)
        } catch {
            return .failure(error)
        }
    }()
}
