import Dispatch
import Foundation
import SignalingClient
import Synchronization

/// A session of OpenTok's iOS library, over Signalbox's client.
///
/// ```swift
/// let session = OTSession(apiKey: kApiKey, sessionId: kSessionId, delegate: self)!
/// var error: OTError?
/// session.connect(withToken: kToken, error: &error)
/// ```
///
/// May be used from any thread. A call checks what it can at once and puts an error where its `error` points; what the
/// server refuses later comes as ``OTSessionDelegate/session(_:didFailWithError:)``. Calls of one thread reach the server
/// in their order.
open class OTSession: NSObject, @unchecked Sendable {
    // Unchecked, since it may be inherited from: all that changes is in the mutex.

    /// Signals and other requests that may wait for the server's answer at a time.
    static let waitingLimit = 10_000

    private struct State {
        var status = OTSessionConnectionStatus.notConnected
        /// Counts the connects: what an earlier one still has to say is not heard any more.
        var attempt = 0
        var channel: Session?
        var connection: OTConnection?
        var capabilities: OTSessionCapabilities?
        /// The others, as far as the delegate knows them.
        var peers: [ConnectionID: OTConnection] = [:]
        var waitingCount = 0
        var apiQueue = DispatchQueue.main

        /// Whether there is a connection, be its socket there or not.
        var isIn: Bool { status == .connected || status == .reconnecting }

        /// The connection is over, or came to nothing.
        mutating func end(_ status: OTSessionConnectionStatus) {
            self.status = status
            channel = nil
            connection = nil
            capabilities = nil
            peers = [:]
        }
    }

    /// Unchecked: the reference is only read and written under the mutex, and the object only used on the `apiQueue`.
    private struct Listener: @unchecked Sendable {
        weak var delegate: (any OTSessionDelegate)?
    }

    public let apiKey: String
    public let sessionId: String

    fileprivate let apiURL: URL?
    private let options: Session.Options
    private let state = Mutex(State())
    private let listener: Mutex<Listener>
    let order = CallOrder()

    /// Opens nothing yet. It is never `nil`, although callers have to unwrap it: what is wrong with an argument is told by
    /// ``connect(withToken:error:)``.
    public convenience init?(apiKey: String, sessionId: String, delegate: (any OTSessionDelegate)?) {
        self.init(apiKey: apiKey, sessionId: sessionId, delegate: delegate, settings: nil)
    }

    /// The settings count as they are now.
    public init?(
        apiKey: String, sessionId: String, delegate: (any OTSessionDelegate)?, settings: OTSessionSettings?
    ) {
        self.apiKey = apiKey
        self.sessionId = sessionId
        apiURL = settings?.apiURL
        options = Session.Options(
            connectionEventsSuppressed: settings?.connectionEventsSuppressed ?? false,
            trustedCertificatesFile: settings?.trustedCertificatesFile)
        listener = Mutex(Listener(delegate: delegate))
    }

    // MARK: - Where it stands

    public var sessionConnectionStatus: OTSessionConnectionStatus { state.withLock { $0.status } }

    /// One's own connection; `nil` unless connected.
    public var connection: OTConnection? { state.withLock { $0.connection } }

    /// What the token permits; `nil` unless connected.
    public var capabilities: OTSessionCapabilities? { state.withLock { $0.capabilities } }

    /// Always empty: there are no streams.
    public var streams: [String: OTStream] { [:] }

    /// Who hears what happens; held weakly.
    public weak var delegate: (any OTSessionDelegate)? {
        get { listener.withLock { $0 }.delegate }
        set {
            let new = Listener(delegate: newValue)
            listener.withLock { $0 = new }
        }
    }

    /// Where the delegate is called; a serial queue. By default the main one, which a program without a user interface has
    /// to run itself: `dispatchMain()`, or `RunLoop.main.run()`.
    public var apiQueue: DispatchQueue {
        get { state.withLock { $0.apiQueue } }
        set { state.withLock { $0.apiQueue = newValue } }
    }

    // MARK: - Connecting

    /// Connects; `sessionDidConnect` or `didFailWithError` follows.
    ///
    /// At once: 1011 for an empty key, session id or token, 1015 unless not connected. Later: 1004 for a key or token that
    /// is refused, 1005 for such a session id, 1006 when the server cannot be reached, 1027 when the session is full.
    public func connect(withToken token: String, error: OTErrorPointer?) {
        error?.pointee = nil
        for (name, value) in [("API key", apiKey), ("session id", sessionId), ("token", token)] where value.isEmpty {
            error?.pointee = OTError(.nullOrInvalidParameter, "the \(name) is empty")
            return
        }
        let channel = Session(
            apiKey: apiKey, sessionId: sessionId, server: server(), options: options)
        let attempt: Int? = state.withLock { state in
            guard state.status == .notConnected || state.status == .failed else { return nil }
            state.status = .connecting
            state.channel = channel
            state.attempt += 1
            return state.attempt
        }
        guard let attempt else {
            error?.pointee = OTError(.sessionIllegalState, "already connected, connecting or disconnecting")
            return
        }
        // Asked for before the connect, so that nothing is missed.
        let events = channel.events
        Task(executorPreference: order) { [weak self] in
            var refusal: SignalingError?
            do throws(SignalingError) { try await channel.connect(token: token) } catch { refusal = error }
            guard let self else { return }
            if let refusal {
                await onAPIQueue { $0.connectFailed(refusal) }
            } else {
                await onAPIQueue { $0.connected(through: channel) }
                follow(events, attempt)
            }
        }
    }

    /// Leaves; `sessionDidDisconnect` follows. What was asked for before still reaches the server. At once: 1010 unless
    /// connected or connecting.
    public func disconnect(_ error: OTErrorPointer? = nil) {
        error?.pointee = nil
        let channel: Session? = state.withLock { state in
            guard state.isIn || state.status == .connecting else { return nil }
            state.status = .disconnecting
            return state.channel
        }
        guard let channel else {
            error?.pointee = OTError(.notConnected, "not connected to the session")
            return
        }
        Task(executorPreference: order) { await channel.disconnect() }
    }

    // MARK: - Signals

    /// Sends a signal to one connection, or with `nil` to everybody, oneself included. A type that is `nil` or empty is none.
    ///
    /// At once: 1413 for a string over 8192 UTF-16 units, 1461 for a type over 128 characters or with others than letters,
    /// digits and `-._~`, 1010 when not connected, 1550 when 10,000 requests wait for their answers. Later: 1011 when the
    /// connection is not in the session, 1550 when the token permits no signals.
    public func signal(withType type: String?, string: String?, connection: OTConnection?, error: OTErrorPointer?) {
        signal(withType: type, string: string, connection: connection, retryAfterReconnect: true, error: error)
    }

    /// The same. With `retryAfterReconnect` a signal waits while the session is reconnecting, and is delivered once. Without
    /// it, it fails with 1010: at once while reconnecting, or later when the socket is lost before the server has answered.
    public func signal(
        withType type: String?, string: String?, connection: OTConnection?, retryAfterReconnect: Bool,
        error: OTErrorPointer?
    ) {
        error?.pointee = nil
        let request = SignalRequest(type: type, data: string, to: connection.map { ConnectionID($0.connectionId) })
        do throws(SignalingError) {
            try SignalRequest(data: request.data, to: request.to).validate()
        } catch let refusal {
            error?.pointee = OTError(refusal)
            return
        }
        do throws(SignalingError) {
            try request.validate()
        } catch let refusal {
            // Only its type is left. OpenTok's iOS library has one number for all that can be wrong with it.
            error?.pointee = OTError(.sessionInvalidSignalType, refusal.message)
            return
        }
        ask(error, whileReconnecting: retryAfterReconnect) { channel throws(SignalingError) in
            try await channel.send(request, retryAfterReconnect: retryAfterReconnect)
        }
    }

    /// Ends another's connection.
    ///
    /// At once: 1010 when not connected, 1520 without a moderator's token. Later: 1011 when it is not in the session.
    public func forceDisconnect(_ connection: OTConnection, error: OTErrorPointer?) {
        error?.pointee = nil
        if let capabilities, !capabilities.canForceDisconnect {
            error?.pointee = OTError(.sessionUnableToForceDisconnect, "only a moderator may end another's connection")
            return
        }
        let id = ConnectionID(connection.connectionId)
        ask(error, whileReconnecting: true) { channel throws(SignalingError) in try await channel.forceDisconnect(id) }
    }

    /// Starts a request; its refusal is told to the delegate, unless the whole connection is gone, which is told anyway.
    private func ask(
        _ error: OTErrorPointer?, whileReconnecting: Bool,
        _ request: @escaping @Sendable (Session) async throws(SignalingError) -> Void
    ) {
        let place: Result<(channel: Session, attempt: Int), OTError> = state.withLock { state in
            guard state.status == .connected || (whileReconnecting && state.isIn), let channel = state.channel else {
                return .failure(OTError(.notConnected, "not connected to the session"))
            }
            guard state.waitingCount < Self.waitingLimit else {
                return .failure(
                    OTError(.sessionUnableToSendSignal, "too many requests are waiting for an answer"))
            }
            state.waitingCount += 1
            return .success((channel, state.attempt))
        }
        switch place {
        case .failure(let refusal): error?.pointee = refusal
        case .success(let (channel, attempt)):
            Task(executorPreference: order) { [weak self] in
                var refusal: SignalingError?
                do throws(SignalingError) { try await request(channel) } catch { refusal = error }
                guard let self else { return }
                state.withLock { $0.waitingCount -= 1 }
                // If the whole connection is gone, that is told instead.
                if let refusal, refusal.code != .notConnected || channel.isConnected {
                    await onAPIQueue { $0.refused(refusal, attempt) }
                }
            }
        }
    }

    // MARK: - What happens, on the apiQueue

    /// Waits until it has been done, so that events wait where their number has a limit, and not on the queue.
    private func onAPIQueue(_ body: @escaping @Sendable (OTSession) -> Void) async {
        let queue = apiQueue
        await withCheckedContinuation { done in
            queue.async {
                body(self)
                done.resume()
            }
        }
    }

    private func connectFailed(_ error: SignalingError) {
        let wasWanted = state.withLock { state in
            defer { state.end(state.status == .connecting ? .failed : .notConnected) }
            return state.status == .connecting
        }
        if wasWanted {
            delegate?.session(self, didFailWithError: OTError(error))
        } else {
            delegate?.sessionDidDisconnect(self)
        }
    }

    private func connected(through channel: Session) {
        // It can be over already; then the events say so next.
        let own = channel.connection
        let others = channel.connections.filter { $0.connectionId != own?.connectionId }
        let isIn = state.withLock { state in
            guard state.status == .connecting, let own else { return false }
            state.status = .connected
            state.connection = OTConnection(own)
            state.capabilities = OTSessionCapabilities(channel.capabilities)
            return true
        }
        guard isIn else { return }
        delegate?.sessionDidConnect(self)
        for other in others { introduce(other) }
    }

    /// The connection of that id; the delegate is told of it when it has not been.
    @discardableResult
    private func introduce(_ peer: Connection) -> OTConnection {
        let (connection, isNew) = state.withLock { state in
            if let own = state.connection, own.connectionId == peer.connectionId.rawValue { return (own, false) }
            if let known = state.peers[peer.connectionId] { return (known, false) }
            let connection = OTConnection(peer)
            guard state.isIn, !options.connectionEventsSuppressed else { return (connection, false) }
            state.peers[peer.connectionId] = connection
            return (connection, true)
        }
        if isNew { delegate?.session(self, connectionCreated: connection) }
        return connection
    }

    private func isConnected(_ attempt: Int) -> Bool {
        state.withLock { $0.isIn && $0.attempt == attempt }
    }

    private func refused(_ error: SignalingError, _ attempt: Int) {
        guard isConnected(attempt) else { return }
        delegate?.session(self, didFailWithError: OTError(error))
    }

    /// Lets go of the session between two events, so that the last one who uses it ends its connection.
    private func follow(_ events: AsyncStream<SessionEvent>, _ attempt: Int) {
        Task(executorPreference: order) { [weak self] in
            for await event in events {
                guard let self else { return }
                await onAPIQueue { $0.happened(event, attempt) }
            }
        }
    }

    private func happened(_ event: SessionEvent, _ attempt: Int) {
        switch event {
        case .signal(let signal):
            guard isConnected(attempt) else { return }
            let sender = signal.from.map(introduce)
            guard isConnected(attempt) else { return }
            delegate?.session(self, receivedSignalType: signal.type, from: sender, with: signal.data)
        case .connectionCreated(let peer):
            guard isConnected(attempt) else { return }
            introduce(peer)
        case .connectionDestroyed(let peer, _):
            guard isConnected(attempt), let known = state.withLock({ $0.peers.removeValue(forKey: peer.connectionId) })
            else { return }
            delegate?.session(self, connectionDestroyed: known)
        case .reconnecting:
            guard move(to: .reconnecting, attempt) else { return }
            delegate?.sessionDidBeginReconnecting(self)
        case .reconnected(let outcome):
            guard move(to: .connected, attempt) else { return }
            if outcome != .resumed { replaceConnection() }
            delegate?.sessionDidReconnect(self)
        case .disconnected(let reason):
            ended(reason == .networkDisconnected ? "the connection to the server was lost" : nil, attempt)
        case .overflowed:
            let channel = state.withLock { $0.attempt == attempt ? $0.channel : nil }
            Task(executorPreference: order) { await channel?.disconnect() }
            ended("the delegate fell too far behind what happened in the session", attempt)
        }
    }

    /// Whether there was a connection that could be moved there.
    private func move(to status: OTSessionConnectionStatus, _ attempt: Int) -> Bool {
        state.withLock { state in
            guard state.isIn, state.attempt == attempt else { return false }
            state.status = status
            return true
        }
    }

    /// It came back too late to be the same: ``connection`` is another one, as ``sessionDidReconnect`` finds it.
    private func replaceConnection() {
        state.withLock { state in
            if let own = state.channel?.connection { state.connection = OTConnection(own) }
        }
    }

    private func ended(_ loss: String?, _ attempt: Int) {
        let status: OTSessionConnectionStatus? = state.withLock { state in
            guard state.attempt == attempt else { return nil }
            defer { state.end(.notConnected) }
            return state.status
        }
        guard let status else { return }
        if let loss, status != .disconnecting {
            delegate?.session(self, didFailWithError: OTError(.connectionDropped, loss))
        }
        delegate?.sessionDidDisconnect(self)
    }
}

extension OTSession {
    private static let chosenServer = Mutex<URL?>(nil)

    /// Not OpenTok's: the server of the sessions whose settings name none. `nil`, as it is at first: the environment's
    /// `SIGNALBOX_SERVER`, or `http://127.0.0.1:8080`. A session asks for it when it connects.
    public static var serverURL: URL? {
        get { chosenServer.withLock { $0 } }
        set { chosenServer.withLock { $0 = newValue } }
    }

    /// A text that is not a URL is told as one that cannot be reached.
    func server(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        (apiURL ?? Self.serverURL)?.absoluteString ?? environment["SIGNALBOX_SERVER"] ?? "http://127.0.0.1:8080"
    }
}
